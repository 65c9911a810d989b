// Sending and receiving through a channel, and waiting for that. Protocol and proof: channel.md.
#include <heddle/blocking.hpp>
#include <heddle/detail/channel_core.hpp>

#include <algorithm>
#include <optional>

#include "arch/arch.hpp"
#include "platform/platform.hpp"
#include "wait/channel_parts.hpp"
#include "worker/preemption/section.hpp"
#include "worker/runtime.hpp"
#include "worker/worker.hpp"

namespace heddle::detail {

namespace {

// In items. Shorter channels hand items over and do not buffer.
constexpr std::size_t least_worth_a_look = 16;
// Items between two looks. It is not worth waiting for a slower receiver.
constexpr std::size_t pace = 16;
constexpr std::size_t longest_batch = 512;  // items

}  // namespace

// --- Waiting.

bool channel_core::enqueue_sender(void* data, waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  waiter_list served;
  bool stay;
  {
    const both hold(*r.object);
    r.result = r.object->send_now(r, served);
    // Either the stop's callback has run, which we see here, or it will find w.
    stay = r.result == outcome::not_now && (r.stop == nullptr || !r.stop->stop_requested());
    if (stay) {
      w.payload = &r;
      r.linked = true;
      r.object->senders_.push_back(w);
    }
  }
  while (waiter* other = served.pop_front()) resume(*other);
  return stay;
}

bool channel_core::enqueue_receiver(void* data, waiter& w) noexcept {
  auto& r = *static_cast<request*>(data);
  waiter_list served;
  bool stay;
  {
    const both hold(*r.object);
    r.result = r.object->receive_now(r, served);
    stay = r.result == outcome::not_now && (r.stop == nullptr || !r.stop->stop_requested());  // as above
    if (stay) {
      w.payload = &r;
      r.linked = true;
      r.object->receivers_.push_back(w);
    }
  }
  while (waiter* other = served.pop_front()) resume(*other);
  return stay;
}

void channel_core::leave(waiter_list& list, waiter& w) noexcept {
  const worker::section inside;
  const both hold(*this);
  list.remove(w);
}

channel_core::outcome channel_core::wait(request& r, bool (*enqueue)(void*, waiter&) noexcept, waiter_list& list,
                                         wait_limit limit) noexcept {
  wake_reason reason;
  {
    const auto let_go = [this, &r, &list]() noexcept {
      const worker::section in;
      bool mine;
      {
        const both hold(*this);
        mine = r.linked && claim(r.w, wake_reason::timed_out);
        if (mine) list.remove(r.w);
      }
      if (mine) resume(r.w);
    };
    std::optional<std::stop_callback<decltype(let_go)>> on_stop;
    if (limit.stop != nullptr) on_stop.emplace(*limit.stop, let_go);
    reason = limit.limit == nullptr ? suspend(r.w, enqueue, &r) : suspend_until(r.w, enqueue, &r, *limit.limit);
    // If a callback is under way, this waits for it in the kernel. As for condition variables, the callback's thread
    // may be a preempted one.
    if (limit.stop != nullptr && worker::has_preemption() && limit.stop->stop_requested())
      blocking([&] { on_stop.reset(); });
  }
  switch (reason) {
    case wake_reason::notified: return outcome::done;
    case wake_reason::cancelled: return outcome::closed;
    case wake_reason::timed_out: leave(list, r.w); return outcome::not_now;
    case wake_reason::none: break;
  }
  return r.result;  // it was possible, or the channel was closed, at the last look
}

// Called before a wait. Returns true if it is worth trying again. The other side may be at work on another worker, and
// may make room or send something long before a suspension and the way back would be over. Between two looks the other
// side is left alone for a microsecond or two. So it gets ahead by many items, and the cache line with its count moves
// seldom. Once `amount` is not 0, up to eight looks follow, until it is `enough` or grows by less than `pace` between
// two looks. After four looks in vain, the next 2, 4 .. 1,024 waits do not look. See channel.md, "Looking before a
// wait".
template <class Amount>
[[gnu::noinline]] bool channel_core::comes_soon(Amount amount, std::size_t enough) noexcept {
  // Simulated time does not pass by looking.
  if (platform::simulated || capacity_ < least_worth_a_look) return false;
  if (const std::uint32_t left = unlooked_.load(std::memory_order_relaxed); left != 0) {  // a hint
    unlooked_.store(left - 1, std::memory_order_relaxed);                                 // a hint
    return false;
  }
  const worker::section inside;
  const worker::worker* me = worker::worker::current_or_null();
  if (me != nullptr && me->home.workers() == 1) return false;
  const auto look = [&] {
    for (int i = 0; i < 64; ++i) arch::pause();
    return amount();
  };
  for (int looks = 0; looks < 4; ++looks) {
    std::size_t n = look();
    if (n == 0) continue;
    in_vain_.store(0, std::memory_order_relaxed);  // a hint
    std::size_t before = 0;
    for (int more = 0; more < 8 && n < enough && n >= before + pace; ++more) {
      before = n;
      n = look();
    }
    return true;
  }
  const std::uint32_t times = std::min(in_vain_.load(std::memory_order_relaxed) + 1, std::uint32_t{10});  // a hint
  in_vain_.store(times, std::memory_order_relaxed);                                                       // a hint
  unlooked_.store(std::uint32_t{1} << times, std::memory_order_relaxed);                                  // a hint
  return false;
}

// --- The functions that users call.

channel_core::outcome channel_core::try_send(const void* item) {
  segment* fresh = nullptr;
  for (;;) {
    const fast result = put(item, fresh);
    if (result == fast::no_segment) {
      fresh = make_segment();
      continue;
    }
    if (result == fast::slow && fresh == nullptr && (fresh = spare_or_null()) == nullptr) fresh = make_segment();
    outcome then = result == fast::done ? outcome::done : result == fast::closed ? outcome::closed : outcome::not_now;
    if (result == fast::slow) {
      const worker::section inside;
      request r{this, item, nullptr, fresh, nullptr, outcome::not_now, false, waiter("channel, to send")};
      waiter_list served;
      {
        const both hold(*this);
        then = send_now(r, served);
      }
      fresh = r.spare;
      while (waiter* w = served.pop_front()) resume(*w);
    }
    keep_or_free(fresh);
    return then;
  }
}

channel_core::outcome channel_core::send(const void* item, wait_limit limit) {
  // First, so that a loop of sends ends although the receivers always make room.
  if (limit.stop != nullptr && limit.stop->stop_requested()) return outcome::not_now;
  do {
    if (const outcome result = try_send(item); result != outcome::not_now) return result;
  } while (limit.limit == nullptr &&
           comes_soon([this] { return closed_.load() ? capacity_ : capacity_ - std::min(size(), capacity_); },
                      std::min(capacity_ / 2, longest_batch)));
  segment* spare = spare_or_null();
  if (spare == nullptr) spare = make_segment();
  request r{this, item, nullptr, spare, limit.stop, outcome::not_now, false, waiter("channel, to send")};
  const outcome result = wait(r, enqueue_sender, senders_, limit);
  keep_or_free(r.spare);
  return result;
}

channel_core::outcome channel_core::try_receive(void* item) noexcept {
  segment* drained = nullptr;
  const fast result = take(item, drained);
  outcome then = result == fast::done ? outcome::done : outcome::not_now;
  if (result == fast::slow) {
    const worker::section inside;
    request r{this, nullptr, item, nullptr, nullptr, outcome::not_now, false, waiter("channel, to receive")};
    waiter_list served;
    {
      const both hold(*this);
      then = receive_now(r, served);
    }
    drained = r.spare;
    while (waiter* w = served.pop_front()) resume(*w);
  }
  keep_or_free(drained);
  return then;
}

channel_core::outcome channel_core::receive(void* item, wait_limit limit) noexcept {
  if (limit.stop != nullptr && limit.stop->stop_requested()) return outcome::not_now;  // as in send
  do {
    if (try_receive(item) == outcome::done) return outcome::done;
  } while (limit.limit == nullptr && !closed_.load() &&
           comes_soon([this] { return std::size_t{size() != 0 || closed_.load()}; }, 1));
  request r{this, nullptr, item, nullptr, limit.stop, outcome::not_now, false, waiter("channel, to receive")};
  const outcome result = wait(r, enqueue_receiver, receivers_, limit);
  keep_or_free(r.spare);
  return result;
}

void channel_core::close() noexcept {
  const worker::section inside;
  waiter_list chosen;
  {
    const both hold(*this);
    closed_.store(true);
    for (waiter_list* list : {&senders_, &receivers_}) {
      while (waiter* w = list->pop_front()) {
        if (claim(*w, wake_reason::cancelled)) chosen.push_back(*w);
      }
    }
  }
  while (waiter* w = chosen.pop_front()) resume(*w);
}

}  // namespace heddle::detail
