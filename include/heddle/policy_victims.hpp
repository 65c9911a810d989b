/// Components of work-stealing policies that choose which victims a thief tries, and in which order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

/// Makes one attempt of a thief: takes from the victim or, at a glance, asks it to make work public. A thief that looks
/// without asking finds nothing while all work is private, however often it looks.
inline entry rob(scheduler& host, unsigned self, unsigned victim, effort how) noexcept {
  const entry found = host.steal(self, victim, how);
  if (found == 0 && how == effort::glance) host.request(self, victim);
  return found;
}

/// Goes round `count` places, beginning with place `from`, until attempt(place) finds something. At a glance it tries
/// one place; with `insist` it tries all.
template <class Attempt>
entry go_round(unsigned count, unsigned from, effort how, Attempt&& attempt) noexcept {
  for (unsigned tried = 0; tried < (how == effort::insist ? count : std::min(count, 1u)); ++tried) {
    if (const entry found = attempt((from + tried) % count); found != 0) return found;
  }
  return 0;
}

/// Where a thief begins to look: at a random victim, or at one where it found something before.
/// - history: the thief begins at the victim of the last steal, until an attempt there fails.
/// - hybrid: steals alternate. After a success the thief looks at random once, and goes back to the victim if it has
///   found nothing. If the attempt there fails, too, it goes back to what it did before that success.
/// Thieves that look at random find tasks early that only wait for a message. Thieves that stay with one victim find
/// all tasks that it makes, in its order, and the messages wait for each other.
enum class victim_rule : unsigned char { random, history, hybrid };

/// The victims of one thief's steals, as such a rule remembers them.
///
/// Source: Bak, Hernandez, Gates, Luszczek, Sarkar, "Task-graph scheduling extensions for efficient synchronization and
/// communication" (ICS 2021), Algorithm 3. The stack is bounded here, and the oldest victims are forgotten.
class past_victims {
 public:
  /// Returns the victim to try first, as a number below 65535 of the caller's choice, or `nobody` for a random one.
  unsigned first() const noexcept {
    const std::uint16_t newest = count_ == 0 ? at_random : stack_[(top_ + most - 1u) % most];
    return newest == at_random ? nobody : newest;
  }
  void succeeded(unsigned victim, victim_rule how) noexcept {
    if (how == victim_rule::random) return;
    if (how == victim_rule::history) count_ = 0;
    push(static_cast<std::uint16_t>(victim));
    if (how == victim_rule::hybrid) push(at_random);
  }
  void failed() noexcept {
    if (count_ == 0) return;
    top_ = static_cast<std::uint8_t>((top_ + most - 1u) % most);
    --count_;
  }

 private:
  static constexpr unsigned most = 30;
  static constexpr std::uint16_t at_random = 0xffff;
  void push(std::uint16_t what) noexcept {
    stack_[top_] = what;
    top_ = static_cast<std::uint8_t>((top_ + 1u) % most);
    if (count_ < most) ++count_;
  }

  // A ring: a value that is pushed onto a full stack replaces the oldest one.
  std::array<std::uint16_t, most> stack_{};
  std::uint8_t top_{0}, count_{0};  // the newest is below top_
};

/// The memories of all thieves of a policy whose `make` takes the parameter victim=random|history|hybrid. There are two
/// deviations from Algorithm 3. A round with `insist` counts as one attempt. A glance at a remembered victim that has
/// work, but none that is public, is not an attempt, because the victim has been asked.
class victim_memory {
 public:
  using rule = victim_rule;
  static rule asked_for(parameters& given) {
    return static_cast<rule>(given.choice("victim", "random|history|hybrid"));
  }

  explicit victim_memory(rule how) noexcept : rule_(how) {}
  void start(unsigned workers) {
    if (rule_ != rule::random) thieves_.reset(new thief[workers]);
  }

  /// Works like the free function, beginning at the remembered place, or else at draw(). A place must mean the same at
  /// each call by one thief. has_work(place) must say whether the worker at that place has work that it has been asked
  /// for.
  template <class Draw, class Attempt, class HasWork>
  entry go_round(unsigned self, unsigned count, effort how, Draw&& draw, Attempt&& attempt,
                 HasWork&& has_work) noexcept {
    if (rule_ == rule::random) return heddle::policy::go_round(count, draw(), how, attempt);
    const unsigned remembered = first(self);
    unsigned where = 0;
    const entry found =
        heddle::policy::go_round(count, remembered < count ? remembered : draw(), how, [&](unsigned place) -> entry {
          where = place;
          return attempt(place);
        });
    if (found != 0 || remembered >= count || how == effort::insist || !has_work(where))
      note(self, found != 0 ? where : nobody);
    return found;
  }
  /// These are for thieves whose ring changes. first() returns the victim to try first, as a number below 65535 of the
  /// caller's choice, or `nobody` for a random one. note() says where something was found, or `nobody` if nothing was.
  unsigned first(unsigned self) const noexcept { return rule_ == rule::random ? nobody : thieves_[self].first(); }
  void note(unsigned self, unsigned victim) noexcept {
    if (rule_ == rule::random) return;
    if (victim != nobody) thieves_[self].succeeded(victim, rule_);
    else thieves_[self].failed();
  }

 private:
  struct alignas(64) thief : past_victims {};

  const rule rule_;
  std::unique_ptr<thief[]> thieves_;
};

/// The workers [first, first + count) without `self`, in the order of their ranks.
class others {
 public:
  others(unsigned self, unsigned first, unsigned count) noexcept
      : self_(self), first_(first), count_(self - first < count ? count - 1 : count) {}
  others(unsigned self, const scheduler& host) noexcept : others(self, 0, host.workers()) {}

  unsigned size() const noexcept { return count_; }
  unsigned operator[](unsigned place) const noexcept {
    const unsigned worker = first_ + place;
    return worker + (worker >= self_ && self_ >= first_ ? 1u : 0u);
  }
  /// Robs them in a ring, beginning with a random one or with the remembered one. Source: Blumofe, Leiserson,
  /// "Scheduling multithreaded computations by work stealing" (J. ACM 46(5), 1999).
  entry rob_at_random(scheduler& host, effort how) const noexcept {
    if (count_ == 0) return 0;
    return go_round(count_, host.random(self_, count_), how,
                    [&](unsigned place) { return rob(host, self_, (*this)[place], how); });
  }
  entry rob_as_remembered(scheduler& host, effort how, victim_memory& memory) const noexcept {
    if (count_ == 0) return 0;
    return memory.go_round(
        self_, count_, how, [&] { return host.random(self_, count_); },
        [&](unsigned place) { return rob(host, self_, (*this)[place], how); },
        [&](unsigned place) { return host.has_work((*this)[place]); });
  }

 private:
  unsigned self_, first_, count_;
};

/// All other workers, nearest first, in rings of equal distance. Within a ring they stand by rank, or in the order of a
/// walk round the circle of all ranks that begins behind `self`.
class rings {
 public:
  enum class order { by_rank, by_circle };
  rings() = default;
  rings(unsigned self, const scheduler& host, order among_equals) {
    const unsigned workers = host.workers();
    for (unsigned i = 1; i < workers; ++i) workers_.push_back((self + i) % workers);
    const auto nearer = [&](unsigned a, unsigned b) { return host.distance(self, a) < host.distance(self, b); };
    const auto place = [&](unsigned w) { return among_equals == order::by_rank ? w : (w + workers - self) % workers; };
    std::sort(workers_.begin(), workers_.end(),
              [&](unsigned a, unsigned b) { return nearer(a, b) || (!nearer(b, a) && place(a) < place(b)); });
    for (unsigned i = 0; i < workers_.size(); ++i) {
      if (i + 1 == workers_.size() || nearer(workers_[i], workers_[i + 1])) ends_.push_back(i + 1);
    }
  }

  const std::vector<unsigned>& workers() const noexcept { return workers_; }
  unsigned count() const noexcept { return static_cast<unsigned>(ends_.size()); }
  /// Return where in workers() ring `i` begins, and where it ends.
  unsigned begin_of(unsigned i) const noexcept { return i == 0 ? 0 : ends_[i - 1]; }
  unsigned end_of(unsigned i) const noexcept { return ends_[i]; }
  unsigned size_of(unsigned i) const noexcept { return end_of(i) - begin_of(i); }

 private:
  std::vector<unsigned> workers_;
  std::vector<unsigned> ends_;
};

}  // namespace heddle::policy
