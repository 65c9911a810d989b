// heddle run: what it finds out about programs, what it refuses, and, where the library is built, what it starts.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/run/elf.hpp"
#include "cli/run/libraries.hpp"
#include "cli/run/survey.hpp"
#include "process/run.hpp"
#include "support/sanitized.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace run_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class run_command : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "heddle_run_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path file = folder_ / name;
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  // Returns the message of `survey` against the program.
  static std::string refusal(const fs::path& program) {
    try {
      return "taken: " + to_text(survey(program));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  fs::path folder_;
};

TEST(openmp_names, known_ones_and_copies_under_other_names) {
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so", "libomp.so"})
    EXPECT_EQ(openmp_name_of(name), openmp_name::known) << name;
  for (const char* name : {"libgomp-a34b3233.so.1.0.0", "libomp-19.so.5", "libiomp5-0123abcd.so"})
    EXPECT_EQ(openmp_name_of(name), openmp_name::renamed) << name;
  for (const char* name : {"libgompx.so", "libm.so.6", "libcomp.so.5", "libgomp-plugin.txt"})
    EXPECT_EQ(openmp_name_of(name), openmp_name::none) << name;
}

TEST(elf_files, the_command_itself) {
  const auto read = read_elf("/proc/self/exe");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->dynamic);
  EXPECT_THAT(read->interpreter, HasSubstr("ld"));
  EXPECT_THAT(read->needed, Contains(HasSubstr("libc.so")));
  const library_finder finder;
  const auto library = finder.find("libc.so.6", *read, {});
  ASSERT_TRUE(library);
  EXPECT_TRUE(read_elf(*library));
  EXPECT_FALSE(finder.find("libthatisnowhere.so.7", *read, {}));
}

TEST_F(run_command, damaged_files_are_said_to_be) {
  EXPECT_FALSE(read_elf(write("text", "no program")));
  EXPECT_FALSE(read_elf(folder_ / "absent"));
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string head(300, 0);
  whole.read(head.data(), static_cast<std::streamsize>(head.size()));
  EXPECT_THROW(read_elf(write("cut", head)), std::runtime_error);
  head[18] = 3;  // e_machine: a 386
  head[19] = 0;
  EXPECT_THAT(refusal(write("other", head)), HasSubstr("another kind of machine"));
}

TEST_F(run_command, scripts_are_followed_to_their_interpreters) {
  const openmp_use direct = survey(write("a.sh", "#!/bin/sh\nexit 0\n"));
  EXPECT_EQ(direct.file, "/bin/sh");
  EXPECT_THAT(to_text(direct), HasSubstr("a.sh, run by sh, may load OpenMP later"));
  EXPECT_EQ(survey(write("b.sh", "#!/usr/bin/env sh\n")).file.filename(), "sh");
  EXPECT_EQ(survey(write("c.sh", "#! /usr/bin/env -S X=1 sh -e\n")).file.filename(), "sh");
  EXPECT_EQ(survey(write("d", "#!" + (folder_ / "a.sh").string() + "\n")).file, "/bin/sh");
  EXPECT_THAT(refusal(write("e", "echo\n")), HasSubstr("neither a program nor a script"));
  EXPECT_THAT(refusal(folder_ / "e"), HasSubstr("heddle run -- INTERPRETER"));
  EXPECT_THAT(refusal(write("g", "#!/no/such/shell\n")), HasSubstr("not there: /no/such/shell"));
  fs::permissions(folder_ / "b.sh", fs::perms::owner_read);
  if (::geteuid() != 0) {
    EXPECT_THAT(refusal(folder_ / "b.sh"), HasSubstr("chmod +x"));
  }
  EXPECT_THAT(refusal(write("f", "#!" + (folder_ / "f").string() + "\n")), HasSubstr("neither a program nor a script"));
}

TEST_F(run_command, packages_of_an_interpreter) {
  const fs::path packages = folder_ / "lib" / "python3.9" / "site-packages";
  for (const char* folder : {"some_learn.libs", "torch/lib", "older/.libs", "plain"})
    fs::create_directories(packages / folder);
  fs::create_directories(folder_ / "bin");
  write("lib/python3.9/site-packages/some_learn.libs/libgomp-a34b3233.so.1.0.0", "");
  write("lib/python3.9/site-packages/some_learn.libs/libgfortran-91cc3cb1.so.3", "");
  write("lib/python3.9/site-packages/torch/lib/libgomp.so.1", "");
  write("lib/python3.9/site-packages/older/.libs/libiomp5-0123abcd.so", "");
  fs::copy_file(fs::canonical("/proc/self/exe"), folder_ / "bin" / "python3");
  const openmp_use use = survey(folder_ / "bin" / "python3");
  ASSERT_THAT(use.in_wheels, SizeIs(3));
  EXPECT_TRUE(use.loads_later);
  EXPECT_THAT(to_text(use),
              AllOf(HasSubstr("packages bring "), HasSubstr("libgomp-a34b3233.so.1.0.0 (of some_learn.libs)"),
                    HasSubstr("libgomp.so.1 (of torch)"), HasSubstr("libiomp5-0123abcd.so (of older)")));
}

TEST_F(run_command, refuses_what_cannot_be_changed) {
  EXPECT_THAT(refusal(folder_), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(folder_ / "absent"), HasSubstr("cannot be run"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program that has another user's rights";
  const fs::path other = write("other", "#!/bin/sh\n");
  ASSERT_EQ(::chown(other.c_str(), 1, 1), 0);
  ASSERT_EQ(::chmod(other.c_str(), 04755), 0);
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("another user's rights"), HasSubstr("cp ")));
}

TEST_F(run_command, bad_arguments) {
  expect_refused(run_captured({"run"}), {"no program", "heddle run [OPTIONS] -- PROGRAM"});
  expect_refused(run_captured({"run", "--policy", "randomws", "--", "true"}), {"randomws", "random_ws"});
  expect_refused(run_captured({"run", "--preempt", "sometimes", "--", "true"}), {"--preempt=sometimes"});
  expect_refused(run_captured({"run", "--workers", "-1", "--", "true"}), {"--workers"});
  expect_refused(run_captured({"run", "--trace", "x.txt", "--", "true"}), {".heddle or .json"});
  const captured absent = run_captured({"run", "--", "heddle-no-such-program"});
  EXPECT_EQ(absent.status, 1);
  EXPECT_THAT(absent.err, HasSubstr("'heddle-no-such-program' is not found in PATH"));
  const fs::path before = fs::current_path();
  write("heddle-here", "#!/bin/sh\n");
  fs::current_path(folder_);
  EXPECT_THAT(run_captured({"run", "--", "heddle-here"}).err, HasSubstr("there is one here: ./heddle-here"));
  fs::current_path(before);
}

#ifdef HEDDLE_OPENMP_PROGRAMS

const fs::path programs = HEDDLE_OPENMP_PROGRAMS;

TEST_F(run_command, finds_the_library_of_a_program) {
  const openmp_use use = survey(programs / "cli_openmp_program");
  ASSERT_THAT(use.libraries, SizeIs(1));
  EXPECT_THAT(use.libraries[0].users, ElementsAre("cli_openmp_program"));
  EXPECT_FALSE(use.libraries[0].renamed);
  EXPECT_THAT(to_text(use), HasSubstr("cli_openmp_program uses OpenMP through " + use.libraries[0].name));
}

TEST_F(run_command, finds_the_library_of_a_library) {
  const openmp_use use = survey(programs / "cli_openmp_user");
  ASSERT_THAT(use.libraries, SizeIs(1));
  EXPECT_THAT(use.libraries[0].users, ElementsAre("libcli_openmp_library.so"));
  const openmp_use none = survey(programs / "cli_openmp_plain");
  EXPECT_THAT(none.libraries, IsEmpty());
  EXPECT_THAT(to_text(none), HasSubstr("is not linked with OpenMP"));
}

TEST_F(run_command, refuses_a_static_program) {
  EXPECT_THAT(refusal(programs / "cli_openmp_static"), HasSubstr("is linked statically"));
}

#ifdef HEDDLE_HAS_OPENMP

// The command becomes the program, so it is run as a process of its own.
process::ended run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {HEDDLE_COMMAND, "run"});
  return process::run(arguments, {.output = process::stream::kept, .errors = process::stream::kept});
}

TEST_F(run_command, runs_a_program_on_heddle) {
  const process::ended ended = run({"--workers", "2", "--", programs / "cli_openmp_program", "7"});
  EXPECT_EQ(ended.status, 7) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("uses OpenMP through lib"), HasSubstr("3 members\n"),
                    HasSubstr("heddle: OpenMP: 1 regions (3 threads in all, at most 3 in a team, depth 1)"),
                    HasSubstr("2 workers"), HasSubstr("%, overhead ")));
}

TEST_F(run_command, runs_a_library_and_tells_of_each_thread) {
  const process::ended ended = run({"--stats", "--preempt", "auto", "--", programs / "cli_openmp_user"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("(of libcli_openmp_library.so)"), HasSubstr("2 members\n"),
                                  HasSubstr("heddle: OpenMP: thread 0: 1 regions")));
}

TEST_F(run_command, writes_a_trace) {
  const fs::path trace = folder_ / "t.json";
  const process::ended ended =
      run({"--trace", trace, "--preempt", "1ms", "--policy", "random_ws", "--", programs / "cli_openmp_program", "0"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_GT(fs::file_size(trace), 0);
}

TEST_F(run_command, runs_what_a_script_runs) {
  const fs::path script = write("s.sh", "#!/bin/sh\n\"$1\" 0\n\"$2\"\n");
  const process::ended ended = run({"--", script, programs / "cli_openmp_program", programs / "cli_openmp_user"});
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("3 members\n"), HasSubstr("2 members\n"), HasSubstr("at most 3 in a team"),
                                  HasSubstr("at most 2 in a team")));
}

#endif
#endif

}  // namespace
}  // namespace run_test
}  // namespace heddle::cli
