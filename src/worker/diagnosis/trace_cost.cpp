#include "worker/diagnosis/trace_cost.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "platform/platform.hpp"
#include "queue/fork_queue.hpp"

namespace heddle::worker {

std::uint64_t cost_of_traced_fork() noexcept {
  if constexpr (platform::simulated) return 0;
  constexpr std::size_t capacity = 64;
  constexpr unsigned rounds = 5, forks = 200;
  const std::unique_ptr<detail::slot[]> memory(new (std::nothrow) detail::slot[queue::slots_for(capacity)]());
  if (memory == nullptr) return 0;
  detail::fork_queue q;
  queue::attach(q, memory.get(), capacity);
  static_cast<void>(queue::watch_every_fork(q, true, true));
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned round = 0; round < rounds; ++round) {
    const platform::nanoseconds start = platform::now();
    for (unsigned i = 0; i < forks; ++i) {
      detail::slot* const position = detail::store_newest(q, 4);
      static_cast<void>(queue::push(q, position));
      detail::remove_newest(q, position);
      static_cast<void>(queue::pop(q, position));
    }
    least = std::min<std::uint64_t>(least, (platform::now() - start) / forks);
  }
  return least;
}

}  // namespace heddle::worker
