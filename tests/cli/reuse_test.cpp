// heddle reuse on traces. On programs: tests/sim/reuse_test.cpp.
#include "captured.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/reuse_report.hpp"

namespace heddle::cli {
namespace reuse_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class reuse : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("heddle_reuse_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string write(const std::string& text) const {
    const std::string name = (folder_ / "trace.txt").string();
    std::ofstream(name) << text;
    return name;
  }

  // Three sweeps over 256 lines of 64 bytes, as valgrind writes them, with its own lines and instructions between.
  [[nodiscard]] std::string sweeps() const {
    std::string text = "==123== Lackey, an example Valgrind tool\n";
    for (int sweep = 0; sweep < 3; ++sweep) {
      for (unsigned line = 0; line < 256; ++line) {
        char access[64];
        std::snprintf(access, sizeof access, "I  04001130,3\n %c %08x,8\n", "LSM"[line % 3], 0x100000 + line * 64);
        text += access;
      }
    }
    return write(text + "==123== Exit code: 0\n");
  }

 private:
  std::filesystem::path folder_;
};

json only_row(const captured& o) {
  EXPECT_EQ(o.status, 0) << o.err;
  const json rows = json::parse(o.out);
  EXPECT_EQ(rows.size(), 1u);
  return rows.at(0);
}

TEST_F(reuse, a_trace_has_misses_for_every_capacity) {
  const json r = only_row(run_captured({"reuse", "--json", "--cache", "32768", "--cores", "4", "--trace", sweeps()}));
  EXPECT_EQ(r.at("accesses"), 768);
  EXPECT_EQ(r.at("lines"), 256);
  EXPECT_EQ(r.at("curve"), json::parse("[[0, 768], [256, 256]]"));
  for (const json& c : r.at("capacities")) {
    const std::uint64_t bytes = c.at("bytes");
    EXPECT_EQ(c.at("misses"), bytes < 256 * 64 ? 768 : 256) << bytes;
    EXPECT_EQ(c.at("misses_apart"), bytes / 4 < 256 * 64 ? 768 : 256) << bytes;
  }
  const json& w = r.at("window");
  EXPECT_EQ(w.at("why"), "window");
  EXPECT_EQ(w.at("misses_alone"), 256);
  EXPECT_EQ(w.at("misses_apart"), 768);
  EXPECT_EQ(w.at("misses_within"), 256);
  EXPECT_EQ(w.at("length"), 768) << "all of it: 256 lines stay even if all are touched in between";
}

TEST_F(reuse, a_table_names_the_cache_and_the_window) {
  const captured o = run_captured(
      {"reuse", "--machine", "nehalem-e5530", "--cache", "24000", "--iterations", "96", "--trace", sweeps()});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("768 accesses to 256 lines of 64 bytes"));
  EXPECT_THAT(o.out, HasSubstr("the cache"));
  EXPECT_THAT(o.out, HasSubstr("4 cores that share 23.44 KiB"));
  EXPECT_THAT(o.out, HasSubstr("iterations touches"));
}

TEST_F(reuse, a_machine_without_a_shared_cache_has_no_window) {
  const captured o = run_captured({"reuse", "--machine", "opteron-2x2", "--trace", sweeps()});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("No window: no cores share a cache there"));
}

TEST_F(reuse, long_lines_are_told) {
  const json r = only_row(run_captured({"reuse", "--json", "--line", "256", "--trace", sweeps()}));
  EXPECT_EQ(r.at("lines"), 64);
  EXPECT_EQ(r.at("line_bytes"), 256);
}

TEST_F(reuse, bad_input_is_named) {
  expect_refused(run_captured({"reuse"}), {"nothing to look at", "--trace FILE"});
  expect_refused(run_captured({"reuse", "--trace", "/nowhere/trace"}), {"/nowhere/trace", "No such file"});
  expect_refused(run_captured({"reuse", "--trace", write("hello\n")}), {"has no accesses", "lackey"});
  expect_refused(run_captured({"reuse", "--trace", sweeps(), "--", "program"}), {"--trace and a program"});
  expect_refused(run_captured({"reuse", "--rate", "0", "--trace", sweeps()}), {"--rate"});
  expect_refused(run_captured({"reuse", "--line", "48", "--trace", sweeps()}), {"--line", "power of two", "48"});
  expect_refused(run_captured({"reuse", "--machine", "nehalem", "--trace", sweeps()}), {"--machine", "nehalem"});
}

TEST(reuse_question, survives_its_text) {
  sim::reuse_question q{.rate = 0.01, .line_bytes = 128, .cache_bytes = 1 << 23, .cores = 8, .iterations = 77};
  q.slack = 0.125;
  const auto read = sim::reuse_question::of(q.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), q.text());
  EXPECT_EQ(read->cores, 8u);
  for (const char* text : {"", "1;64;", "1;64;0;1;0;0.05", "1;48;0;1;0;0.05;", "1;64;0;0;0;0.05;", "1;64;0;1;0;0.05;x"})
    EXPECT_FALSE(sim::reuse_question::of(text)) << text;
}

}  // namespace
}  // namespace reuse_test
}  // namespace heddle::cli
