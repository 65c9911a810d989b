// A host for policies and their components that are tested by themselves: workers of which none has anything to do.
#pragma once

#include <heddle/policy.hpp>

namespace heddle_test {

class idle_host : public heddle::policy::scheduler {
 public:
  using entry = heddle::policy::entry;
  using task = heddle::policy::task;
  using effort = heddle::policy::effort;

  explicit idle_host(unsigned workers) noexcept : workers_(workers) {}

  unsigned workers() const noexcept override { return workers_; }
  unsigned distance(unsigned a, unsigned b) const noexcept override { return a == b ? 0 : 1; }
  heddle::machine::view machine() const noexcept override { return {}; }
  double speed(unsigned) const noexcept override { return 1; }
  heddle::policy::source speed_source(unsigned) const noexcept override { return heddle::policy::source::none; }
  const task* running(unsigned) const noexcept override { return nullptr; }
  std::uint32_t random(unsigned, std::uint32_t) noexcept override { return 0; }
  entry steal(unsigned, unsigned, effort) noexcept override { return 0; }
  bool has_work(unsigned) const noexcept override { return false; }
  void request(unsigned, unsigned) noexcept override {}
  entry newest(unsigned) noexcept override { return 0; }
  entry oldest(unsigned) noexcept override { return 0; }
  unsigned queued(unsigned) const noexcept override { return 0; }
  bool ask(unsigned, unsigned) noexcept override { return false; }
  bool asks(unsigned, unsigned) const noexcept override { return false; }
  bool withdraw(unsigned, unsigned) noexcept override { return false; }
  unsigned askers(unsigned) const noexcept override { return 0; }
  entry given(unsigned) noexcept override { return 0; }
  entry entry_of(task&) noexcept override { return 0; }
  bool wake(unsigned) noexcept override { return false; }
  void wake_any(unsigned) noexcept override {}
  void widened() noexcept override {}
  void interrupt(unsigned) noexcept override {}
  bool all_idle() const noexcept override { return false; }
  void watch(unsigned, bool) noexcept override {}
  void warn_of_hint(unsigned, const char*, double) noexcept override {}
  void remark(unsigned, const char*, std::uint64_t) noexcept override {}

 private:
  const unsigned workers_;
};

}  // namespace heddle_test
