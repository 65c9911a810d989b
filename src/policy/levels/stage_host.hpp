// The host that the policy of a stage sees. Its workers are the stage's members. Its queues are those of the real host,
// or, above the innermost level, those of the members' queues.
#pragma once

#include <cstdint>
#include <utility>

#include <heddle/policy.hpp>
#include "policy/levels/machine_part.hpp"

namespace heddle::policy {

class stage;

// Called only through `scheduler`; ranks are members.
class stage_host final : public scheduler {
 public:
  stage_host(stage& of, scheduler& real, machine_part part) noexcept
      : stage_(of), real_(real), part_(std::move(part)) {}

 private:
  unsigned workers() const noexcept override;
  unsigned distance(unsigned a, unsigned b) const noexcept override;
  machine::view machine() const noexcept override { return part_.view(); }
  double speed(unsigned worker) const noexcept override;
  source speed_source(unsigned worker) const noexcept override;
  std::uint32_t random(unsigned self, std::uint32_t bound) noexcept override;
  entry steal(unsigned self, unsigned victim, effort how) noexcept override;
  bool has_work(unsigned victim) const noexcept override;
  void request(unsigned self, unsigned victim) noexcept override;
  entry newest(unsigned self) noexcept override;
  entry oldest(unsigned self) noexcept override;
  unsigned queued(unsigned worker) const noexcept override;
  // No worker asks another one by name, and nothing is measured, because `levels` takes no policy that wants either.
  bool ask(unsigned, unsigned) noexcept override { return false; }
  bool asks(unsigned, unsigned) const noexcept override { return false; }
  bool withdraw(unsigned, unsigned) noexcept override { return false; }
  unsigned askers(unsigned) const noexcept override { return 0; }
  entry given(unsigned) noexcept override { return 0; }
  const task* running(unsigned) const noexcept override { return nullptr; }
  entry entry_of(task& t) noexcept override;
  bool wake(unsigned rank) noexcept override;
  void wake_any(unsigned near) noexcept override;
  void widened() noexcept override;
  void interrupt(unsigned victim) noexcept override;
  bool all_idle() const noexcept override { return real_.all_idle(); }
  void watch(unsigned self, bool on) noexcept override;
  void warn_of_hint(unsigned self, const char* text, double value) noexcept override;
  void remark(unsigned self, const char* text, std::uint64_t value) noexcept override;

  stage& stage_;
  scheduler& real_;
  const machine_part part_;
};

}  // namespace heddle::policy
