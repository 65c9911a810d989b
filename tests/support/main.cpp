// The program of an area's tests. Its arguments name files of that area, and it runs their tests: `worker_tests
// idle_test`. Without a name it runs all, or those that --gtest_filter chooses.
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

std::string_view stem_of(std::string_view file) {
  file = file.substr(file.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

// The filter that lets the tests of the files through; empty if one of them has none.
std::string filter_of(const std::vector<std::string_view>& files) {
  std::string filter;
  const auto& all = *testing::UnitTest::GetInstance();
  for (const std::string_view file : files) {
    bool found = false;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *all.GetTestSuite(i);
      std::string of_file;
      int count = 0;
      for (int j = 0; j < suite.total_test_count(); ++j) {
        const testing::TestInfo& test = *suite.GetTestInfo(j);
        if (stem_of(test.file()) != file) continue;
        ++count;
        of_file.append(suite.name()).append(".").append(test.name()).append(":");
      }
      if (count == 0) continue;
      found = true;
      // As a rule a suite is one file's. GoogleTest prints the filter, so a short one is better.
      if (count == suite.total_test_count()) filter.append(suite.name()).append(".*:");
      else filter.append(of_file);
    }
    if (!found) {
      std::fprintf(stderr, "no test here is from a file %.*s.cpp\n", static_cast<int>(file.size()), file.data());
      return {};
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  // A shell without job control starts what is in the background with these ignored, and tests send them.
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_DFL);
  testing::InitGoogleMock(&argc, argv);  // takes its own options out
  const std::vector<std::string_view> files(argv + 1, argv + argc);
  // A death test starts the program anew, with the same files and a filter for one test.
  if (!files.empty() && GTEST_FLAG_GET(filter) == "*") {
    const std::string filter = filter_of(files);
    if (filter.empty()) return 2;
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
