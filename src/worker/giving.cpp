// The worker's part in requests with an address: [ask:3] to [ask:6] of src/queue/README.md.
#include "worker/inline.hpp"
#include "worker/link_messages.hpp"
#include "worker/runtime.hpp"
#include "worker/searching/sources.hpp"
#include "worker/worker.hpp"

namespace heddle::worker {

namespace {

class giver_of final : public queue::askers::giver {
 public:
  giver_of(worker& self, queue::askers& all) noexcept : self_(self), all_(all) {}

  bool may_give(unsigned asker) noexcept override {
    const worker& to = self_.home.at(asker);
    return self_.home.host().may_rob(asker, self_.rank) && !to.stands_aside() && !may_spin(to);
  }

  void given(unsigned asker) noexcept override {
    const platform::nanoseconds message = message_time(self_.home.options().machine.get(), self_.rank, asker);
    if (message != 0) platform::expect_in_box(asker, platform::now() + message);
    // [ask:6]. seq_cst, as in stand_aside and find_work: one of the two takes it out of the mailbox.
    const worker& to = self_.home.at(asker);
    if (to.aside.load() % 2 != 0 || may_spin(to)) return bring_to_all(asker);
    sources::own_mailbox::announce(self_.home, asker);  // [ask:5]
  }

 private:
  // Returns true if a member of a gang may run there that spins for another one, which in turn spins for what we give.
  bool may_spin(const worker& to) const noexcept { return to.home.gangs().are_used(); }

  void bring_to_all(unsigned asker) noexcept {
    unsigned from = 0;
    // The thread is no ready thread that is bound, because such threads are in no fork queue.
    thread* t = self_.thread_for(all_.take(asker, from));
    if (t == nullptr) return;
    self_.home.incoming().push(*t);
    sources::inbox_threads::announce(self_.home, self_.rank);
  }

  worker& self_;
  queue::askers& all_;
};

}  // namespace

void worker_agenda::answer_askers(queue::askers& all) noexcept {
  giver_of by(whole(), all);
  all.answer(rank, *this, by);
}

}  // namespace heddle::worker
