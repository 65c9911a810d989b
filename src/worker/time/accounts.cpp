#include "worker/time/accounts.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace heddle::worker {

account_store::~account_store() {
  while (slabs_ != nullptr) platform::release(std::exchange(slabs_, slabs_->next), slab_bytes);
}

account_slot* account_store::take() noexcept {
  const std::lock_guard hold(mutex_);
  account_slot* chain = nullptr;
  for (unsigned i = 0; i < batch; ++i) {
    account_slot* slot = free_;
    if (slot != nullptr) {
      free_ = slot->next;
    } else {
      if (fresh_ == 0) {
        auto* slab = static_cast<account_slot*>(platform::reserve(slab_bytes));
        if (slab == nullptr) return chain;
        ::new (static_cast<void*>(slab)) account_slot();
        slab->next = slabs_;
        slabs_ = slab;
        fresh_ = in_slab;
      }
      slot = ::new (static_cast<void*>(slabs_ + fresh_--)) account_slot();
    }
    slot->next = chain;
    chain = slot;
  }
  return chain;
}

void account_store::give(account_slot* chain) noexcept {
  const std::lock_guard hold(mutex_);
  while (chain != nullptr) {
    account_slot* const slot = std::exchange(chain, chain->next);
    slot->next = free_;
    free_ = slot;
  }
}

account_slot* accounts_at_hand::take() noexcept {
  if (free_ == nullptr) {
    free_ = store_.take();
    for (const account_slot* slot = free_; slot != nullptr; slot = slot->next) ++count_;
    if (free_ == nullptr) return nullptr;
  }
  --count_;
  return std::exchange(free_, free_->next);
}

void accounts_at_hand::give(account_slot& slot) noexcept {
  slot.next = free_;
  free_ = &slot;
  if (++count_ < 2 * account_store::batch) return;
  account_slot* chain = nullptr;
  for (; count_ > account_store::batch; --count_) {
    account_slot* const one = std::exchange(free_, free_->next);
    one->next = chain;
    chain = one;
  }
  store_.give(chain);
}

}  // namespace heddle::worker
