// Policies of tests, whose thieves ask by name and take by force only what nobody gives them.
#pragma once

#include <heddle/policy_victims.hpp>

#include <memory>

namespace heddle_test {

class asking final : public heddle::policy::policy {
 public:
  asking() { wants_.asks = true; }
  heddle::policy::entry acquire(unsigned self, heddle::policy::effort how) noexcept override {
    const heddle::policy::others victims(self, *host_);
    if (how == heddle::policy::effort::insist) return victims.rob_at_random(*host_, how);
    if (victims.size() != 0) host_->ask(self, victims[host_->random(self, victims.size())]);
    return 0;  // what is given is found in the box
  }
};

// Everybody may rob worker 0, and nobody any other. Worker 1 takes what is public; the others what they are given, and
// what there is by force.
class asking_one final : public heddle::policy::policy {
 public:
  asking_one() { wants_.asks = true; }
  bool may_rob(unsigned self, unsigned victim) noexcept override { return self != 0 && victim == 0; }
  bool may_find(unsigned self) noexcept override { return self != 0 && host_->has_work(0); }
  heddle::policy::entry acquire(unsigned self, heddle::policy::effort how) noexcept override {
    if (self == 0) return 0;
    if (self == 1 || how == heddle::policy::effort::insist) return heddle::policy::rob(*host_, self, 0, how);
    host_->ask(self, 0);
    return 0;
  }
};

// To be called before the first runtime that uses them.
inline void add_asking_policies() {
  static const bool added = [] {
    using namespace heddle::policy;
    add({"asking", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<asking>(); }});
    add({"asking_one", "of a test", [](parameters&) -> std::unique_ptr<policy> { return create<asking_one>(); }});
    return true;
  }();
  static_cast<void>(added);
}

}  // namespace heddle_test
