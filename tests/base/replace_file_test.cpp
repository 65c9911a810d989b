#include "base/replace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "support/forked.hpp"

namespace heddle::base {
namespace replace_file_test {
namespace {

class replace_file_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-replace-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(replace_file_test, writes_and_replaces) {
  replace_file(path("a"), "first");
  replace_file(path("a"), "second");
  EXPECT_EQ(text_of(path("a")), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()), 1);
}

TEST_F(replace_file_test, what_cannot_be_written_is_named) {
  try {
    replace_file(path("absent/a"), "text");
    ADD_FAILURE() << "written";
  } catch (const std::system_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("absent/a: cannot be written: No such file or directory"));
  }
  EXPECT_THROW(replace_file("/dev/full", "text"), std::system_error);
}

// A limit on the size of files stands for a disk that gets full.
TEST_F(replace_file_test, a_full_disk_leaves_what_was_there) {
  replace_file(path("a"), "kept");
  const int status = heddle_test::in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &small);
    try {
      replace_file(path("a"), std::string(100'000, 'x'));
    } catch (const std::system_error& e) {
      _exit(e.code().value() == EFBIG ? 0 : 1);
    }
    _exit(2);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(path("a")), "kept");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()), 1);
}
TEST_F(replace_file_test, two_may_write_the_same_file) {
  const std::string a(100'000, 'a'), b(200'000, 'b');
  const auto write = [&](const std::string& what) {
    for (int i = 0; i < 50; ++i) replace_file(path("a"), what);
  };
  std::thread other([&] { write(b); });
  write(a);
  other.join();
  const std::string left = text_of(path("a"));
  EXPECT_TRUE(left == a || left == b) << left.size();
}

}  // namespace
}  // namespace replace_file_test
}  // namespace heddle::base
