#include "platform/messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/sim/engine.hpp"

namespace heddle::platform {

namespace {

// There are one kernel thread and one simulated process.
constexpr std::size_t most_workers = 1u << 16;
nanoseconds boxes[most_workers];

// The requests that are under way. One whose `refused_at` is not 0 has been handled.
struct pending {
  request_by_name what;
  nanoseconds refused_at;
};
std::vector<pending> requests;

std::vector<pending>::iterator request_of(unsigned asker) noexcept {
  return std::find_if(requests.begin(), requests.end(), [asker](const pending& p) { return p.what.asker == asker; });
}

// The latest task of each place. A task that is displaced counts as sent long ago.
struct note {
  const void* task{nullptr};
  sent how{~0u, 0, false};
};
constexpr unsigned places_log = 16;
note notes[std::size_t{1} << places_log];

note& place_of(const void* task) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(task));
  return notes[(address * 0x9e3779b97f4a7c15u) >> (64 - places_log)];
}

}  // namespace

double link_messages() noexcept { return sim::here().settings().times.link_messages; }

void pass_message(nanoseconds time) noexcept {
  if (time != 0) sim::here().charge(sim::activity::search, time * sim::nanosecond);
}

void expect_in_box(unsigned rank, nanoseconds when) noexcept {
  if (rank < most_workers) boxes[rank] = std::max(boxes[rank], when);
}

bool has_arrived_in_box(unsigned rank) noexcept { return rank >= most_workers || boxes[rank] <= now(); }

void send_request(const request_by_name& what) noexcept { requests.push_back({what, 0}); }

bool is_under_way(unsigned asker) noexcept {
  const auto found = request_of(asker);
  if (found == requests.end()) return false;
  if (found->refused_at == 0 || now() < found->refused_at) return true;
  requests.erase(found);
  return false;
}

bool due_request(request_by_name& due) noexcept {
  const pending* first = nullptr;
  for (const pending& p : requests) {
    if (p.refused_at == 0 && p.what.arrives <= now() && (first == nullptr || p.what.arrives < first->what.arrives))
      first = &p;
  }
  if (first != nullptr) due = first->what;
  return first != nullptr;
}

void refuse_request(unsigned asker, nanoseconds when) noexcept { request_of(asker)->refused_at = when; }
void end_request(unsigned asker) noexcept { requests.erase(request_of(asker)); }

void note_sent(const void* task, unsigned from, bool is_pushed) noexcept {
  if (link_messages() != 0) place_of(task) = {task, {from, now(), is_pushed}};
}

sent sent_by(const void* task) noexcept {
  const note& known = place_of(task);
  return known.task == task ? known.how : sent{~0u, 0, false};
}

}  // namespace heddle::platform
