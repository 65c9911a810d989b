#include "bench/decision_tree/heddle_executor.hpp"

#include "bench/decision_tree/generator.hpp"
#include "bench/decision_tree/trainer.hpp"

#include <gtest/gtest.h>

namespace heddle::bench::decision_tree {
namespace trainer_heddle_test {
namespace {

class training_on_heddle : public testing::TestWithParam<char const*> {};

TEST_P(training_on_heddle, makes_the_serial_tree) {
  dataset data;
  data.resize(20000, generated_features);
  generate_rows(1, 0, data.rows(), data);
  serial_executor alone;
  std::uint64_t const expected = trainer(alone, data, {}).train().trained.hash();

  training_options fine;  // so small that few rows exercise every parallel form
  fine.recursion_cutoff = 2048;
  fine.loop_cutoff = 8192;
  for (unsigned workers : {1u, 2u, 6u}) {
    heddle_executor run(workers, GetParam());
    EXPECT_EQ(run.workers(), workers);
    trainer many(run, data, fine);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(many.train().trained.hash(), expected) << workers;
    EXPECT_EQ(trainer(run, data, {}).train().trained.hash(), expected) << workers;
  }
}

INSTANTIATE_TEST_SUITE_P(policies, training_on_heddle, testing::Values("random_ws"));

}  // namespace
}  // namespace trainer_heddle_test
}  // namespace heddle::bench::decision_tree
