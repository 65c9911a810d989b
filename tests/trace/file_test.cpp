#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hand_made.hpp"
#include "trace/file.hpp"

namespace heddle::trace {
namespace file_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class trace_file : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) / (std::string("heddle_trace_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static recording sample() {
    recorder rec(1, test::options());
    test::emit_every_event(rec.of(0));
    return rec.collect();
  }

  template <class F>
  static std::string failure(F f) {
    try {
      f();
    } catch (const trace_error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.what();
    }
    return "no error";
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(trace_file, heddle_ending_is_binary_and_loads) {
  save(sample(), path("a.heddle"));
  EXPECT_EQ(load(path("a.heddle")).workers.at(0).records, sample().workers.at(0).records);
}

TEST_F(trace_file, json_ending_is_for_viewers_and_does_not_load) {
  save(sample(), path("a.json"));
  std::ifstream in(path("a.json"));
  EXPECT_TRUE(nlohmann::json::parse(in).contains("traceEvents"));
  EXPECT_THAT(failure([&] { (void)load(path("a.json")); }), StartsWith(path("a.json") + ": a Chrome trace"));
}

TEST_F(trace_file, other_endings_are_refused) {
  for (const char* name : {"a.txt", "a", "heddle", ".json.gz"}) {
    EXPECT_FALSE(is_trace_name(name));
    EXPECT_THAT(failure([&] { save(sample(), path(name)); }), HasSubstr(".heddle"));
    EXPECT_FALSE(std::filesystem::exists(path(name)));
  }
  EXPECT_FALSE(is_trace_name(".heddle"));
  EXPECT_TRUE(is_trace_name("a.heddle"));
  EXPECT_TRUE(is_trace_name("b/a.json"));
}

TEST_F(trace_file, unreadable_and_unwritable_files_are_named) {
  EXPECT_THAT(failure([&] { (void)load(path("absent.heddle")); }),
              StartsWith(path("absent.heddle") + ": cannot open: No such file"));
  EXPECT_THAT(failure([&] { (void)load(path("")); }), HasSubstr("cannot read: Is a directory"));
  EXPECT_THAT(failure([&] { save(sample(), path("no/such/a.heddle")); }), HasSubstr("cannot write the trace"));
  if (std::filesystem::exists("/dev/full")) {
    std::filesystem::create_symlink("/dev/full", path("full.heddle"));
    EXPECT_THAT(failure([&] { save(sample(), path("full.heddle")); }), HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace file_test
}  // namespace heddle::trace
