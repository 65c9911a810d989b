// Where a foreign kernel thread's slots and current queue are, as the inline assembly finds them: the addresses that
// the compiler computes, on each kernel thread its own. Run natively and under an emulator, so without GoogleTest.
#include <heddle/detail/current.hpp>
#include <heddle/thread_slot.hpp>

#include <cstdio>
#include <thread>

thread_local constinit void* heddle_foreign_slots[heddle::detail::thread_slots + 1] = {};
thread_local constinit heddle::detail::fork_queue* heddle_current_queue = nullptr;

int main() {
  using namespace heddle::detail;
  bool right = foreign_slots() == heddle_foreign_slots && current_queue() == nullptr && slots_here() == foreign_slots();
  fork_queue queue;
  heddle_current_queue = &queue;
  right = right && current_queue() == &queue;
  heddle_current_queue = nullptr;
  foreign_slots()[1] = &right;
  std::thread([&] {
    right = right && foreign_slots() == heddle_foreign_slots && foreign_slots()[1] == nullptr;
  }).join();
  right = right && foreign_slots()[1] == &right;
  std::puts(right ? "slots are found" : "slots_main: the inline assembly finds other variables");
  return right ? 0 : 1;
}
