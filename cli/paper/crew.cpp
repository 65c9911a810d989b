#include "cli/paper/crew.hpp"

#include <algorithm>

namespace heddle::cli::paper {

crew::crew(std::size_t jobs, std::size_t entries, work does) : does_(std::move(does)), done_(entries, false) {
  for (std::size_t job = 0; job < std::min(jobs, entries); ++job) threads_.emplace_back(&crew::work_on, this, job);
}

crew::~crew() {
  {
    const std::lock_guard hold(mutex_);
    ends_ = true;
  }
  for (std::thread& one : threads_) one.join();
}

void crew::work_on(std::size_t job) {
  std::unique_lock hold(mutex_);
  while (!ends_ && next_ < done_.size()) {
    const std::size_t entry = next_++;
    news_.notify_all();
    hold.unlock();
    std::exception_ptr failure;
    try {
      does_(entry, job);
    } catch (...) {
      failure = std::current_exception();
    }
    hold.lock();
    if (failure) {
      ends_ = true;
      if (!failure_) failure_ = failure;
    } else {
      done_[entry] = true;
    }
    news_.notify_all();
  }
}

void crew::wait(std::size_t count, const std::function<void(std::size_t done)>& changed) {
  std::unique_lock hold(mutex_);
  for (;;) {
    if (failure_) std::rethrow_exception(failure_);
    const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto done = static_cast<std::size_t>(std::count(done_.begin(), end, true));
    hold.unlock();
    changed(done);
    if (done == count) return;
    hold.lock();
    // The state may have changed during the call above; otherwise this waits for a change.
    if (failure_ || static_cast<std::size_t>(std::count(done_.begin(), end, true)) != done) continue;
    news_.wait(hold);
  }
}

}  // namespace heddle::cli::paper
