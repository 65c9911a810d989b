// A scheduling policy in a shared object: random work stealing, but a thief goes back to the worker that it robbed
// last, and draws another one only after `patience` failures in a row. docs/guide/write_a_policy.md explains how it is
// built and loaded.
#include <heddle/policy.hpp>
#include <heddle/policy_victims.hpp>

#include <memory>

namespace {

using namespace heddle::policy;

class loyal final : public policy {
 public:
  explicit loyal(unsigned patience) : patience_(patience) {}

  void start(scheduler& host) override {
    policy::start(host);
    thieves_.reset(new thief[host.workers()]);
    for (unsigned self = 0; self < host.workers(); ++self) thieves_[self].victim = (self + 1) % host.workers();
  }

  entry acquire(unsigned self, effort how) noexcept override {
    const others victims(self, *host_);
    if (how == effort::insist) return victims.rob_at_random(*host_, how);  // every victim, to miss no work
    if (victims.size() == 0) return 0;
    thief& mine = thieves_[self];
    const entry found = rob(*host_, self, mine.victim, how);
    mine.failures = found != 0 ? 0 : mine.failures + 1;
    if (mine.failures >= patience_) {
      mine.failures = 0;
      mine.victim = victims[host_->random(self, victims.size())];
    }
    return found;
  }

 private:
  struct alignas(64) thief {  // a cache line each, because only one worker writes it
    unsigned victim{0};
    unsigned failures{0};
  };

  const unsigned patience_;
  std::unique_ptr<thief[]> thieves_;  // by rank
};

std::unique_ptr<policy> make_loyal(parameters& given) {
  return create<loyal>(static_cast<unsigned>(given.number("patience", 2, 1, 1e6)));
}

}  // namespace

HEDDLE_POLICIES({"loyal", "work stealing, the last victim first, patience=2 failures in a row", make_loyal})
