// HEDDLE_POLICY=auto; see automatic.cpp.
#pragma once

#include <atomic>
#include <memory>

#include "policy/ml_adaptive.hpp"

namespace heddle::policy {

class automatic final : public ml_adaptive {
 public:
  automatic() noexcept : ml_adaptive(settings{}) {}
  static std::unique_ptr<policy> make(parameters& given);

  void start(scheduler& host) override;
  placement started(unsigned self, const task_info& info) noexcept override;
  void place(unsigned self, task& t) noexcept override;

 protected:
  void descend(unsigned self, laid_out& at, double bytes) const noexcept override;
  void root_ended(unsigned self) noexcept override;

 private:
  enum class choice : std::uint8_t { one_worker, flat_machine, watching, no_levels, levels, too_small };
  void choose(unsigned self, choice what, std::uint64_t value) noexcept;
  bool is_random() const noexcept;

  std::atomic<choice> chosen_{choice::watching};
  std::atomic<std::uint64_t> passed_{0};              // tasks passed between workers in this run
  mutable std::atomic<std::uint64_t> most_bytes_{0};  // of a group that was laid out
  // Written by the one root task's worker at its end, one at a time; read by whoever starts the next one.
  std::atomic<unsigned> small_runs_{0};  // in a row
  std::atomic<unsigned> left_out_{0};    // runs since random stealing was chosen
};

}  // namespace heddle::policy
