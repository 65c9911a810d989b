// Stacks where the system cannot guard them: this program's own
// madvise and mprotect stand before those of the C library.
#include "fiber/stack_pool.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace guards_test {
namespace {

constexpr int guard_install = 102;  // MADV_GUARD_INSTALL
bool old_kernel = false;            // before 6.13
int guards_left = 0;                // by mprotect

}  // namespace
}  // namespace guards_test

using namespace guards_test;  // the C library's functions stand outside

extern "C" int madvise(void* where, std::size_t bytes, int advice) noexcept {
  if (old_kernel && advice == guard_install) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(syscall(SYS_madvise, where, bytes, advice));
}
extern "C" int mprotect(void* where, std::size_t bytes, int protection) noexcept {
  if (protection == PROT_NONE && guards_left-- <= 0) {
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_mprotect, where, bytes, protection));
}

namespace guards_test {
namespace {

bool is_guarded(const heddle::fiber::thread& t) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  // EFAULT below a guarded stack
  const bool readable = write(ends[1], static_cast<const char*>(t.stack_memory.low) - 1, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return !readable;
}

TEST(guards, where_there_are_none_left_threads_are_made_and_it_is_said_once) {
  using heddle::fiber::stack_pool;
  old_kernel = true;
  guards_left = 3;
  stack_pool pool(64 << 10, 100);
  testing::internal::CaptureStderr();
  heddle::fiber::thread* chain = pool.take(pool.default_class(), 8);
  const std::string said = testing::internal::GetCapturedStderr();
  int guarded = 0, made = 0;
  for (heddle::fiber::thread* t = chain; t != nullptr; t = t->next) {
    guarded += is_guarded(*t) ? 1 : 0;
    ++made;
    std::memset(t->stack_memory.low, 1, 64);
  }
  EXPECT_EQ(made, 8);
  EXPECT_EQ(guarded, 3);
  const std::string begin = "heddle: the system has no guard for a stack";
  ASSERT_NE(said.find(begin), std::string::npos) << said;
  EXPECT_EQ(said.find(begin, said.find(begin) + 1), std::string::npos) << said;
  pool.give(chain);
}

}  // namespace
}  // namespace guards_test
