// kmp_*: the functions that LLVM's and Intel's runtimes have beside the standard. A function that sets something of
// threads and regions affects those that begin later.
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "omp/api/api.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace {

using namespace heddle::omp;

constexpr std::int64_t millisecond = 1'000'000;

template <class Change>
void change(const Change& how) {
  change_environment([](environment& e, const void* argument) { (*static_cast<const Change*>(argument))(e); }, &how);
}

cpu_set_t* set_in(void** mask) noexcept { return mask == nullptr ? nullptr : static_cast<cpu_set_t*>(*mask); }

// Returns 0, or the error of functions that take a processor of a mask.
int check(int processor, void** mask) noexcept {
  if (set_in(mask) == nullptr || processor < 0 || processor >= kmp_get_affinity_max_proc()) return -1;
  cpu_set_t process;
  CPU_ZERO(&process);
  sched_getaffinity(0, sizeof process, &process);
  return CPU_ISSET(static_cast<std::size_t>(processor), &process) ? 0 : -2;
}

}  // namespace

extern "C" {

std::size_t kmp_get_stacksize_s() { return process_environment().stack_size; }
void kmp_set_stacksize_s(std::size_t bytes) {
  change([=](environment& e) { e.stack_size = std::max<std::size_t>(bytes, 16384); });
}
int kmp_get_stacksize() {
  return static_cast<int>(std::min<std::size_t>(kmp_get_stacksize_s(), std::numeric_limits<int>::max()));
}
void kmp_set_stacksize(int bytes) { kmp_set_stacksize_s(static_cast<std::size_t>(std::max(bytes, 0))); }

int kmp_get_blocktime() {
  const std::int64_t spin = process_environment().spin;
  return spin == unlimited_spin ? std::numeric_limits<int>::max() : static_cast<int>(spin / millisecond);
}
void kmp_set_blocktime(int milliseconds) {
  change([=](environment& e) {
    e.blocktime =
        milliseconds == std::numeric_limits<int>::max() ? unlimited_spin : std::max(milliseconds, 0) * millisecond;
    settle_spin(e);
  });
}

int kmp_get_library() { return static_cast<int>(process_environment().library); }
void kmp_set_library(int kind) {
  if (kind < 1 || kind > 3) return;
  change([=](environment& e) {
    e.library = static_cast<library_kind>(kind);
    settle_spin(e);
  });
  if (kind == static_cast<int>(library_kind::serial)) omp_set_num_threads(1);
}
void kmp_set_library_serial() { kmp_set_library(static_cast<int>(library_kind::serial)); }
void kmp_set_library_turnaround() { kmp_set_library(static_cast<int>(library_kind::turnaround)); }
void kmp_set_library_throughput() { kmp_set_library(static_cast<int>(library_kind::throughput)); }

// The text is "NAME=VALUE" items, separated by bars. Initial threads that have begun already keep their variables.
void kmp_set_defaults(const char* text) {
  std::vector<std::string> lines;
  for (std::string rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::size_t end = rest.find('|');
    lines.push_back(rest.substr(0, end));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  change([&](environment& e) { read_into(e, lines); });
}

// Ignored, because there are as many buffers as are needed.
void kmp_set_disp_num_buffers(int) {}
void kmp_set_warnings_on() { set_warnings(true); }
void kmp_set_warnings_off() { set_warnings(false); }
int kmp_get_num_known_threads() { return omp_get_num_threads(); }
int kmp_get_cancellation_status(int kind) {
  const team& t = *thread::current().in;
  return kind != 0 && static_cast<int>(t.cancellations.in(t.barrier.phase())) == kind ? 1 : 0;
}

// The masks are those of sched_setaffinity. A kernel thread of the program's own can be bound. User-level threads run
// where a worker is free, so binding one of them fails.
void kmp_set_thread_affinity_mask_initial() {}
int kmp_get_affinity_max_proc() {
  int most = 0;
  for (const auto& unit : heddle::detail::facts_of_machine().units) most = std::max(most, unit.number + 1);
  return std::min(most, CPU_SETSIZE);
}
void kmp_create_affinity_mask(void** mask) {
  auto* const made = new cpu_set_t;
  CPU_ZERO(made);
  *mask = made;
}
void kmp_destroy_affinity_mask(void** mask) {
  delete set_in(mask);
  *mask = nullptr;
}
int kmp_set_affinity(void** mask) {
  if (set_in(mask) == nullptr) return -1;
  if (heddle::detail::current_queue() != nullptr) {
    say_once("kmp_set_affinity: threads that the runtime has made cannot be bound");
    return -1;
  }
  return sched_setaffinity(0, sizeof(cpu_set_t), set_in(mask));
}
int kmp_get_affinity(void** mask) {
  if (set_in(mask) == nullptr) return -1;
  return sched_getaffinity(0, sizeof(cpu_set_t), set_in(mask));
}
int kmp_set_affinity_mask_proc(int processor, void** mask) {
  const int error = check(processor, mask);
  if (error == 0) CPU_SET(static_cast<std::size_t>(processor), set_in(mask));
  return error;
}
int kmp_unset_affinity_mask_proc(int processor, void** mask) {
  const int error = check(processor, mask);
  if (error == 0) CPU_CLR(static_cast<std::size_t>(processor), set_in(mask));
  return error;
}
int kmp_get_affinity_mask_proc(int processor, void** mask) {
  const int error = check(processor, mask);
  if (error != 0) return error == -2 ? 0 : -1;
  return CPU_ISSET(static_cast<std::size_t>(processor), set_in(mask)) ? 1 : 0;
}

void* kmp_malloc(std::size_t size) { return std::malloc(size); }
void* kmp_aligned_malloc(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, std::max(alignment, sizeof(void*)), size) == 0 ? memory : nullptr;
}
void* kmp_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
void* kmp_realloc(void* memory, std::size_t size) { return std::realloc(memory, size); }
void kmp_free(void* memory) { std::free(memory); }

}  // extern "C"
