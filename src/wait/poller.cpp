// The public poller. src/worker/searching/pollers.md says who asks it, and when.
#include <heddle/poller.hpp>

#include <stdexcept>

#include <heddle/blocking.hpp>

#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/pollers.hpp"

namespace heddle {

worker::poller_state* poller::begin(runtime& where, const poller_options& options,
                                    std::unique_ptr<detail::polling_function> f) {
  if (options.bound.count() <= 0 || options.gap.count() < 0)
    throw std::invalid_argument("heddle: a poller's bound is above 0, and its gap not below");
  worker::pollers& all = where.core().pollers();
  // It runs as a foreign kernel thread, which no tick interrupts, because memory is allocated and a kernel thread
  // started.
  if (!all.is_there()) blocking([&] { all.start(); });
  auto* const fresh =
      new worker::poller_state{all, std::move(f), static_cast<platform::nanoseconds>(options.bound.count()),
                               static_cast<platform::nanoseconds>(options.gap.count())};
  const worker::section inside;
  all.enter(*fresh);
  return fresh;
}

poller::~poller() {
  const auto leave = [this] {
    const worker::section inside;
    return state_->of.leave(*state_);
  };
  if (leave()) delete state_;
}

void poller::want() noexcept {
  const worker::section inside;
  state_->of.want(*state_);
}

void poller::unwant() noexcept {
  const worker::section inside;
  state_->of.unwant(*state_);
}

// relaxed: statistics
std::uint64_t poller::asks() const noexcept { return state_->asks.load(std::memory_order_relaxed); }
std::uint64_t poller::found() const noexcept { return state_->found.load(std::memory_order_relaxed); }

}  // namespace heddle
