// All operations are seq_cst, because requests and answers are rare, and each is one side of Dekker's algorithm.
#include "queue/askers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "platform/platform.hpp"

namespace heddle::queue {

namespace {

constexpr unsigned bits = 64;
constexpr std::uint64_t bit(unsigned rank) noexcept { return std::uint64_t{1} << (rank % bits); }

}  // namespace

askers::askers(unsigned workers)
    : words_((workers + bits - 1) / bits),
      stride_((words_ + line - 1) / line * line),
      bytes_(workers * (sizeof(box) + stride_ * sizeof(std::uint64_t))),
      memory_(platform::reserve(bytes_)),
      boxes_(static_cast<box*>(memory_)),
      sets_(reinterpret_cast<std::atomic<std::uint64_t>*>(boxes_ + workers)) {
  if (memory_ == nullptr) throw std::bad_alloc();
}

askers::~askers() { platform::release(memory_, bytes_); }

bool askers::post(unsigned asker, unsigned victim, fork_queue& queue) noexcept {
  std::atomic<std::uint64_t>& word = set_of(victim)[asker / bits];
  if ((word.load() & bit(asker)) != 0) return false;
  // This load must come after the load of the word: a request that stood until then may be being answered.
  if (boxes_[asker].item.load() != 0) return false;
  word.fetch_or(bit(asker));
  // even if the flag is raised, because the thief that raised it may not have come to its poisons yet
  request_anew(queue);
  return true;
}

bool askers::withdraw(unsigned asker, unsigned victim) noexcept {
  return (set_of(victim)[asker / bits].fetch_and(~bit(asker)) & bit(asker)) != 0;
}

bool askers::stands(unsigned asker, unsigned victim) const noexcept {
  return (set_of(victim)[asker / bits].load() & bit(asker)) != 0;
}

unsigned askers::count(unsigned victim) const noexcept {
  int all = 0;
  for (unsigned i = 0; i < words_; ++i) all += std::popcount(set_of(victim)[i].load());
  return static_cast<unsigned>(all);
}

bool askers::is_asked(unsigned victim) const noexcept {
  const auto* set = set_of(victim);
  return std::any_of(set, set + words_, [](const auto& word) { return word.load() != 0; });
}

void askers::answer(unsigned owner, fork_queue& queue, giver& by) noexcept {
  bool again = true;
  while (again) {
    again = false;
    // begins behind the owner's own rank, so that the same askers are not always served first
    for (unsigned i = 0; i < words_; ++i) again = answer_word(owner, (owner / bits + i) % words_, queue, by) || again;
  }
  if (is_asked(owner)) stand(queue);  // [ask:4]
}

// Returns true if a flag was answered on the way, so that a thief may have joined the set after we had looked at it.
bool askers::answer_word(unsigned owner, unsigned index, fork_queue& queue, giver& by) noexcept {
  std::atomic<std::uint64_t>& word = set_of(owner)[index];
  const unsigned room = size(queue);
  const std::uint64_t asked = room == 0 ? 0 : word.load();
  if (asked == 0) return false;
  // A mailbox is reserved while the bit is set, so an asker that finds its bit taken finds its mailbox reserved.
  std::array<unsigned, bits> ranks;
  unsigned count = 0;
  std::uint64_t taken = 0;
  for (std::uint64_t rest = std::rotr(asked, static_cast<int>(owner % bits)); rest != 0; rest &= rest - 1) {
    const unsigned r = index * bits + (static_cast<unsigned>(std::countr_zero(rest)) + owner) % bits;
    entry now = 0;
    if (!by.may_give(r)) {
      taken |= bit(r);
    } else if (count < room && boxes_[r].item.compare_exchange_strong(now, reserved)) {
      taken |= bit(r);
      ranks[count++] = r;
    } else if (now > reserved) {
      taken |= bit(r);  // another owner has answered it meanwhile
    }
  }
  const std::uint64_t before = word.fetch_and(~taken);
  const auto release = [&](unsigned r) { boxes_[r].item.store(0); };
  const auto end = std::remove_if(ranks.begin(), ranks.begin() + count, [&](unsigned r) {
    const bool withdrawn = (before & bit(r)) == 0;
    if (withdrawn) release(r);
    return withdrawn;
  });
  count = static_cast<unsigned>(end - ranks.begin());
  std::array<entry, bits> items;
  bool again = false;
  const unsigned got = take_oldest(queue, items.data(), count, again);
  std::uint64_t left = 0;
  for (unsigned i = got; i < count; ++i) {  // thieves were quicker
    release(ranks[i]);
    left |= bit(ranks[i]);
  }
  if (left != 0) word.fetch_or(left);
  for (unsigned i = 0; i < got; ++i) {
    boxes_[ranks[i]].from.store(owner, std::memory_order_relaxed);  // relaxed: pairs with take: by the entry
    boxes_[ranks[i]].item.store(items[i]);
  }
  for (unsigned i = 0; i < got; ++i) by.given(ranks[i]);
  return again;
}

bool askers::put(unsigned asker, unsigned from, entry item) noexcept {
  box& b = boxes_[asker];
  entry empty = 0;
  if (!b.item.compare_exchange_strong(empty, reserved)) return false;
  b.from.store(from, std::memory_order_relaxed);  // relaxed: pairs with take: by the entry
  b.item.store(item);
  return true;
}

entry askers::take(unsigned rank, unsigned& from) noexcept {
  box& b = boxes_[rank];
  entry item = b.item.load();
  if (item <= reserved) return 0;
  // relaxed: pairs with answer_word, by the entry. It is wrong only if the same entry has gone and come back meanwhile.
  from = b.from.load(std::memory_order_relaxed);
  return b.item.compare_exchange_strong(item, 0) ? item : 0;
}

}  // namespace heddle::queue
