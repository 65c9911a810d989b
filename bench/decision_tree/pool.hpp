// Arrays of one size that are lent and returned. The last one returned is lent first, while it is still in the cache.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::bench::decision_tree {

template <class T>
class array_pool {
 public:
  class loan {
   public:
    loan() = default;
    loan(array_pool* owner, std::unique_ptr<T[]> array) : owner_(owner), array_(std::move(array)) {}
    loan(loan&&) noexcept = default;
    loan& operator=(loan&& other) noexcept {
      give_back();
      owner_ = other.owner_;
      array_ = std::move(other.array_);
      return *this;
    }
    ~loan() { give_back(); }

    [[nodiscard]] T* get() const { return array_.get(); }

   private:
    void give_back() {
      if (array_) owner_->take_back(std::move(array_));
    }

    array_pool* owner_ = nullptr;
    std::unique_ptr<T[]> array_;
  };

  explicit array_pool(std::size_t size) : size_(size) {}

  // The contents are not defined. Any thread may call it; the lock is held for a few instructions.
  [[nodiscard]] loan lend() {
    {
      std::lock_guard const lock(mutex_);
      if (!free_.empty()) {
        loan lent(this, std::move(free_.back()));
        free_.pop_back();
        return lent;
      }
    }
    return loan(this, std::make_unique_for_overwrite<T[]>(size_));
  }

 private:
  void take_back(std::unique_ptr<T[]> array) {
    std::lock_guard const lock(mutex_);
    free_.push_back(std::move(array));
  }

  std::size_t size_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T[]>> free_;
};

}  // namespace heddle::bench::decision_tree
