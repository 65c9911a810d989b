// The model against valgrind's cachegrind, on a run of the shell: small caches, so that there are misses of both
// levels. The kernels' comparison takes minutes and is scripts/cachegrind-check.sh. Skipped without valgrind.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "sim/flat_machine.hpp"
#include "sim/memory_model.hpp"
#include "sim/valgrind_trace.hpp"

namespace heddle::sim {
namespace cachegrind_test {
namespace {

using machine::group_kind;

TEST(valgrind_trace, reads_accesses_and_nothing_else) {
  std::istringstream text(
      "==12== Lackey, an example Valgrind tool\n"
      "I  04001130,3\n"
      " S 1ffeffe7e,8\n"
      " L 04222c80,16\n"
      " M 0421f9a0,4\n"
      "I  nonsense,3\n"
      " L 10\n"
      " L 10,0\n"
      "\n" +
      std::string(5000, 'x') + "\n L ff,1");
  std::vector<traced_access> found;
  read_trace(text, [&](const traced_access& a) { found.push_back(a); });
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].what, traced_access::kind::instruction);
  EXPECT_EQ(found[0].address, 0x4001130u);
  EXPECT_EQ(found[0].bytes, 3u);
  EXPECT_EQ(found[1].what, traced_access::kind::store);
  EXPECT_EQ(found[1].address, 0x1ffeffe7eu);
  EXPECT_EQ(found[2].what, traced_access::kind::load);
  EXPECT_EQ(found[2].bytes, 16u);
  EXPECT_EQ(found[3].what, traced_access::kind::modify);
  EXPECT_EQ(found[4].address, 0xffu) << "behind a line too long to be an access";
}

// The number behind `label` in cachegrind's report, "D1  misses:      16,163  (...)"; 0 if it is not there.
double number_behind(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return 0;
  std::string digits;
  for (std::size_t i = at + label.size(); i < text.size() && text[i] != '(' && text[i] != '\n'; ++i) {
    if (text[i] >= '0' && text[i] <= '9') digits += text[i];
  }
  return std::atof(digits.c_str());
}

struct close_pipe {
  void operator()(std::FILE* f) const { pclose(f); }
};

// Calls f with each line of a command's standard output.
template <class F>
void each_line(const std::string& command, F&& f) {
  const std::unique_ptr<std::FILE, close_pipe> pipe(popen(command.c_str(), "r"));
  ASSERT_NE(pipe, nullptr);
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) f(std::string(line.data()));
}

TEST(cachegrind, counts_the_same_misses) {
  if (std::system("valgrind --tool=lackey --log-file=/dev/null /bin/true >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no valgrind here";
  const cache_form first{group_kind::l1, 4096, 2}, last{group_kind::l2, 32768, 8};
  const std::string program = " /bin/sh -c 'i=0; s=; while [ $i -lt 120 ]; do i=$((i+1)); s=$s$i; done' ";
  std::string report;
  each_line(
      "valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null --I1=4096,2,64 --D1=4096,2,64 "
      "--LL=32768,8,64" +
          program + "2>&1",
      [&](const std::string& line) { report += line; });
  memory_model model(two_level_machine(first, last));
  each_line("valgrind --tool=lackey --trace-mem=yes --log-fd=9" + program + "9>&1 >/dev/null",
            [&](const std::string& line) {
              if (const auto a = parse_traced_access(line.data(), line.data() + line.size())) {
                model.access(a->what == traced_access::kind::instruction ? 1 : 0, a->address, a->bytes,
                             a->what == traced_access::kind::store || a->what == traced_access::kind::modify, 0);
              }
            });
  const auto data = model.levels_of(0), instructions = model.levels_of(1);
  ASSERT_GT(number_behind(report, "D1  misses:"), 1000) << report;
  const auto near = [&](std::uint64_t got, const char* label) {
    const double expected = number_behind(report, label);
    EXPECT_NEAR(static_cast<double>(got), expected, 0.02 * expected) << label;
  };
  near(data[0].misses, "D1  misses:");
  near(data[1].misses, "LLd misses:");
  near(instructions[0].misses, "I1  misses:");
  near(instructions[1].misses, "LLi misses:");
}

}  // namespace
}  // namespace cachegrind_test
}  // namespace heddle::sim
