#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "hand_made.hpp"

namespace heddle::trace {
namespace recorder_test {
namespace {

TEST(recorder, has_a_ring_for_each_worker_and_one_for_foreign_threads) {
  recorder rec(2, test::options());
  ASSERT_NE(rec.of(0), nullptr);
  ASSERT_NE(rec.of(1), nullptr);
  EXPECT_EQ(rec.of(1)->worker(), 1);
  EXPECT_EQ(rec.of(2), nullptr);
  EXPECT_EQ(rec.of(~0u), nullptr);
  EXPECT_EQ(rec.foreign()->worker(), foreign_worker);
}

TEST(recorder, refuses_a_missing_clock_and_too_many_workers) {
  recorder_options o = test::options();
  o.now = nullptr;
  EXPECT_THROW(recorder(1, o), std::invalid_argument);
  EXPECT_THROW(recorder(65'535, test::options()), std::invalid_argument);
}

TEST(recorder, gives_one_number_to_all_texts_beyond_its_room) {
  recorder rec(1, test::options());
  std::uint32_t last = 0, before = 0;
  for (int i = 0; i < 6000; ++i) {
    before = last;
    last = rec.text(std::to_string(i));
  }
  EXPECT_EQ(last, before);
  EXPECT_EQ(rec.collect().texts.at(last), "(further texts)");
  EXPECT_EQ(rec.text("17"), 17u);
}

TEST(recorder, gives_equal_texts_equal_numbers) {
  recorder rec(1, test::options());
  const std::uint32_t a = rec.text("work"), b = rec.text("bytes");
  EXPECT_NE(a, b);
  EXPECT_EQ(rec.text("work"), a);
  EXPECT_EQ(rec.collect().texts.at(b), "bytes");
}

std::string some_symbol(std::uint64_t address) { return address == 0x1000 ? "weave" : ""; }

TEST(recorder, collects_records_places_symbols_and_the_time) {
  recorder_options o = test::options();
  o.symbol = some_symbol;
  recorder rec(2, o);
  rec.place(1, "pu:1");
  rec.place(7, "nowhere");
  test::at<event::task_begin>(10, rec.of(1), 0, 1, 0x1000);
  test::at<event::task_begin>(11, rec.of(1), 0, 2, 0x2000);
  test::at<event::task_end>(12, rec.of(1), 2);
  test::time_now = 50;
  const recording got = rec.collect();
  EXPECT_EQ(got.program, "loom");
  EXPECT_EQ(got.policy, "random_ws");
  EXPECT_EQ(got.end_ns, 50u);
  ASSERT_EQ(got.workers.size(), 2u);  // the foreign ring is empty and left out
  EXPECT_EQ(got.workers[1].place, "pu:1");
  EXPECT_EQ(got.workers[1].records.size(), 3u);
  EXPECT_EQ(got.symbols, (std::map<std::uint64_t, std::string>{{0x1000, "weave"}}));
  emit<event::thread_wake>(rec.foreign(), 1);
  EXPECT_EQ(rec.collect().workers.at(2).worker, foreign_worker);
}

}  // namespace
}  // namespace recorder_test
}  // namespace heddle::trace
