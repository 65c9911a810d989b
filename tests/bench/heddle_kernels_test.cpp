// Every kernel on heddle gives serial's results, with fewer and more workers than processors.
#include <gtest/gtest.h>

#include "backend/heddle.hpp"
#include "backend/serial.hpp"
#include "bufsort/bufsort.hpp"
#include "captured.hpp"
#include "cart/cart.hpp"
#include "cells/cells.hpp"
#include "channel/channel.hpp"
#include "fft/fft.hpp"
#include "fib/fib.hpp"
#include "heat2d/heat2d.hpp"
#include "join/join.hpp"
#include "kdtree/kdtree.hpp"
#include "loop/loop.hpp"
#include "lu/lu.hpp"
#include "matmul/matmul.hpp"
#include "memory/memory.hpp"
#include "mergesort/mergesort.hpp"
#include "nqueens/nqueens.hpp"
#include "quicksort/quicksort.hpp"
#include "rendezvous/rendezvous.hpp"
#include "rrm/rrm.hpp"
#include "skynet/skynet.hpp"
#include "spawn/spawn.hpp"
#include "sph2d/sph2d.hpp"
#include "sph3d/sph3d.hpp"
#include "thread/thread.hpp"
#include "uts/uts.hpp"
#include "wavefront/wavefront.hpp"
#include "wide/wide.hpp"

namespace heddle::bench {
namespace heddle_kernels_test {
namespace {

class on_heddle : public testing::TestWithParam<unsigned> {
 protected:
  template <class Kernel>
  static void expect_serial_results(std::size_t n, std::size_t iterations = 0, const char* variant = "") {
    const auto expected = measured<serial_backend, Kernel>(n, 1, iterations, variant);
    const auto given = measured<heddle_backend, Kernel>(n, GetParam(), iterations, variant);
    ASSERT_FALSE(given.empty());
    for (const auto& [metric, m] : given) {
      const std::string work = metric.substr(0, metric.find(", "));  // "spike, guided" is the work of "spike"
      ASSERT_TRUE(expected.contains(work)) << metric;
      EXPECT_EQ(m.checksum, expected.at(work).checksum) << metric;
      EXPECT_FALSE(m.samples.empty()) << metric;
    }
  }
};

TEST_P(on_heddle, fib) { expect_serial_results<fib>(18); }
TEST_P(on_heddle, nqueens) { expect_serial_results<nqueens>(7); }
TEST_P(on_heddle, uts) { expect_serial_results<uts>(5); }
TEST_P(on_heddle, skynet) { expect_serial_results<skynet>(1000); }
TEST_P(on_heddle, spawn) { expect_serial_results<spawn>(12); }
TEST_P(on_heddle, matmul) { expect_serial_results<matmul>(200); }
TEST_P(on_heddle, quicksort) { expect_serial_results<quicksort>(20'000); }
TEST_P(on_heddle, mergesort) { expect_serial_results<mergesort>(20'000); }
TEST_P(on_heddle, heat2d) { expect_serial_results<heat2d>(200, 3); }
TEST_P(on_heddle, heat2d_by_rows_in_equal_parts) {
  const auto by_blocks = measured<serial_backend, heat2d>(200, 1, 3);
  const auto by_rows = measured<heddle_backend, heat2d>(200, GetParam(), 3, "static");
  EXPECT_EQ(by_rows.at("static").checksum, by_blocks.at("time").checksum);
  expect_serial_results<heat2d>(3, 2, "static");  // fewer rows than workers
}
TEST_P(on_heddle, rrm) { expect_serial_results<rrm>(100'000, 2); }
TEST_P(on_heddle, bufsort) { expect_serial_results<bufsort>(100'000); }
TEST_P(on_heddle, kdtree) { expect_serial_results<kdtree>(30'000); }
TEST_P(on_heddle, cart) { expect_serial_results<cart>(5000); }
TEST_P(on_heddle, cells) {
  expect_serial_results<cells>(300, 3);
  expect_serial_results<cells>(300, 4, "shuffled");
  expect_serial_results<cells>(1, 2);
}
TEST_P(on_heddle, matmul_by_quarters) { expect_serial_results<matmul>(256, 0, "quarters"); }
TEST_P(on_heddle, sph2d) { expect_serial_results<sph2d>(3000, 3); }
TEST_P(on_heddle, sph3d) { expect_serial_results<sph3d>(3000, 3); }
TEST_P(on_heddle, lu) { expect_serial_results<lu>(200); }
TEST_P(on_heddle, fft) { expect_serial_results<fft>(std::size_t{1} << 14); }
TEST_P(on_heddle, thread) { expect_serial_results<thread>(2000); }
TEST_P(on_heddle, loop) { expect_serial_results<loop>(0, 4); }
TEST_P(on_heddle, channel) { expect_serial_results<channel>(20'000); }
TEST_P(on_heddle, join) { expect_serial_results<join>(1000, 0, "pair"); }
TEST_P(on_heddle, wavefront) { expect_serial_results<wavefront>(24, 0, "counters"); }
TEST_P(on_heddle, wide) { expect_serial_results<wide>(1, 3); }
TEST_P(on_heddle, nested_block) { expect_serial_results<memory>(10, 2000, "deep"); }
TEST_P(on_heddle, blocked_threads) { expect_serial_results<memory>(10, 2000, "blocked"); }

INSTANTIATE_TEST_SUITE_P(workers, on_heddle, testing::Values(1u, 2u, 4u));

TEST(rendezvous, both_workers_take_part) {
  const auto m = measured<heddle_backend, rendezvous>(20, 2, 0, "hot");
  EXPECT_EQ(m.at("hot").checksum, 2u);
}

TEST(rendezvous, refuses_one_worker) {
  EXPECT_THROW((measured<heddle_backend, rendezvous>(20, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace heddle_kernels_test
}  // namespace heddle::bench
