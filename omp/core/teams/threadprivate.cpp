#include "omp/core/teams/threadprivate.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "omp/core/locks/lock_word.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

struct thread_privates {
  std::unordered_map<void*, void*> copies;
};

namespace {

struct registered {
  private_functions how;
  // A copy of the original from before any thread changed it.
  void* sample{nullptr};
};

// Everything below is under this lock.
constinit lock_word guard;
std::unordered_map<void*, registered>& all() {
  static auto& map = *new std::unordered_map<void*, registered>;
  return map;
}

}  // namespace

void register_private(void* original, const private_functions& how) {
  guard.lock();
  all()[original].how = how;
  guard.unlock();
}

void* private_copy(thread& self, void* original, std::size_t bytes) {
  guard.lock();
  registered& r = all()[original];
  if (r.sample == nullptr) {
    r.sample = std::malloc(bytes != 0 ? bytes : 1);
    if (r.sample == nullptr) throw std::bad_alloc();
    std::memcpy(r.sample, original, bytes);
  }
  const private_functions how = r.how;
  void* const sample = r.sample;
  guard.unlock();
  if (self.global_number == 0) return original;
  if (self.privates == nullptr) self.privates = new thread_privates;
  void*& copy = self.privates->copies[original];
  if (copy == nullptr) {
    copy = std::malloc(bytes != 0 ? bytes : 1);
    if (copy == nullptr) throw std::bad_alloc();
    if (how.copy_all != nullptr) how.copy_all(copy, original, how.elements);
    else if (how.make_all != nullptr) how.make_all(copy, how.elements);
    else if (how.copy != nullptr) how.copy(copy, original);
    else if (how.make != nullptr) how.make(copy);
    else std::memcpy(copy, sample, bytes);
  }
  return copy;
}

void end_privates(thread& self) noexcept {
  if (self.privates == nullptr) return;
  for (const auto& [original, copy] : self.privates->copies) {
    guard.lock();
    const private_functions how = all()[original].how;
    guard.unlock();
    if (how.destroy_all != nullptr) how.destroy_all(copy, how.elements);
    else if (how.destroy != nullptr) how.destroy(copy);
    std::free(copy);
  }
  delete std::exchange(self.privates, nullptr);
}

}  // namespace heddle::omp
