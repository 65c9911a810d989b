// A module that comes and goes: thread-local variables outside the static
// block, a constructor and a destructor of its own, exceptions that leave it.
#include <atomic>
#include <stdexcept>
#include <string>

namespace {

thread_local long calls = 0;
thread_local long marks[200];

struct lifetime {
  std::atomic<long>* unloads{nullptr};
  int magic{4711};
  ~lifetime() {
    magic = 0;
    if (unloads != nullptr) unloads->fetch_add(1);
  }
};
lifetime here;

}  // namespace

extern "C" {

// Where to count that the module is gone.
void plugin_count(std::atomic<long>* unloads) { __atomic_store_n(&here.unloads, unloads, __ATOMIC_RELAXED); }

// A kernel thread may have been another user-level thread's before.
void plugin_begin() { calls = 0; }

// How often this thread has called it since, 0 if the module is not in order.
long plugin_call(int who) {
  if (here.magic != 4711) return 0;
  if (calls != 0 && marks[199] != who) return 0;
  marks[199] = who;
  return ++calls;
}

void plugin_throw(int who) { throw std::runtime_error("from the plug-in, for " + std::to_string(who)); }
}
