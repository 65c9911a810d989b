#include "policy/grouped/access_recorder.hpp"

#include <heddle/detail/current.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/replace_file.hpp"

namespace heddle::policy {

namespace {

// A task's weight stands for its instructions: the cycles that the program declares for arithmetic, and one instruction
// for each eight bytes that it declares for a load or a store.
constexpr double bytes_an_instruction = 8;

// Static, because a thread may come here late, with a model that has been removed.
constinit std::atomic<access_recorder*> recording{nullptr};
constinit std::atomic<const void*> recorded_worker{nullptr};  // the worker's fork queue
constinit std::atomic<bool> busy{false};                      // the worker is inside the recorder
constinit std::atomic<const heddle_cost_model*> behind{nullptr};

}  // namespace

struct recorder_listener {
  template <class F>
  static void hear(F&& f) noexcept {
    const void* const on = recorded_worker.load();
    if (on == nullptr || on != detail::current_queue() || busy.exchange(true)) return;
    access_recorder& r = *recording.load();  // this worker's, so it lives as long as the worker does
    if (r.task_ != access_recorder::nobodys) {
      try {
        f(r);
      } catch (const std::bad_alloc&) {
        r.failed_ = true;
      }
    }
    busy.store(false);
  }

  static void cycles(double n) {
    hear([n](access_recorder& r) { r.current().weight += n > 0 ? n : 0; });
    if (const auto* to = behind.load(); to != nullptr) to->cycles(n);
  }
  static void access(const void* address, std::size_t bytes, int write) {
    hear([=](access_recorder& r) { r.touch(reinterpret_cast<std::uintptr_t>(address), bytes); });
    if (const auto* to = behind.load(); to != nullptr) to->access(address, bytes, write);
  }
  static void rows(const heddle_cost_rows* sets, std::size_t set_count, std::size_t count) {
    hear([=](access_recorder& r) {
      for (std::size_t k = 0; k < set_count; ++k) {
        for (std::size_t row = 0; row < count; ++row)
          r.touch(reinterpret_cast<std::uintptr_t>(sets[k].first) + row * sets[k].stride, sets[k].bytes);
      }
    });
    if (const auto* to = behind.load(); to != nullptr) to->rows(sets, set_count, count);
  }
};

namespace {

constinit heddle_cost_model in_front{recorder_listener::cycles, recorder_listener::access, 0, nullptr, nullptr,
                                     recorder_listener::rows};

}  // namespace

access_recorder::access_recorder(std::string file) : file_(std::move(file)) {
  access_recorder* none = nullptr;
  if (!recording.compare_exchange_strong(none, this))
    throw std::invalid_argument("policy grouped: a profile is being recorded already, for " + none->file_);
  static const int at_exit = std::atexit([] {
    if (access_recorder* const r = recording.load(); r != nullptr) r->write();
  });
  static_cast<void>(at_exit);
  const heddle_cost_model* const before = detail::cost_model();
  behind.store(before);
  in_front.only = before != nullptr ? before->only : 0;
  in_front.place = before != nullptr ? before->place : nullptr;
  in_front.forget = before != nullptr ? before->forget : nullptr;
  // pairs with cost_model: publishes the model, which is filled in
  __atomic_store_n(&heddle_cost, &in_front, __ATOMIC_RELEASE);
}

access_recorder::~access_recorder() {
  const heddle_cost_model* mine = &in_front;
  // A model that was installed later and stands in front of ours keeps its place. It goes on through ours to the model
  // behind.
  __atomic_compare_exchange_n(&heddle_cost, &mine, behind.load(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  write();
  recording.store(nullptr);
}

void access_recorder::write() noexcept {
  recorded_worker.store(nullptr);
  if (busy.exchange(true)) {  // at the end of the process, while the worker is inside for ever
    std::fprintf(stderr, "heddle: grouped: %s is not written: the process ended in a recorded task\n", file_.c_str());
    return;
  }
  try {
    if (failed_) std::fprintf(stderr, "heddle: grouped: out of memory: %s is not whole\n", file_.c_str());
    base::replace_file(file_, heard_.text());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "heddle: grouped: %s\n", e.what());
  }
  busy.store(false);
}

void access_recorder::begin(unsigned site, unsigned task) noexcept {
  recorded_worker.store(detail::current_queue());
  site_ = site;
  task_ = task;
}

profiled_task& access_recorder::current() {
  if (heard_.sites.size() <= site_) heard_.sites.resize(site_ + 1);
  if (heard_.sites[site_].size() <= task_) heard_.sites[site_].resize(task_ + 1);
  return heard_.sites[site_][task_];
}

void access_recorder::touch(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  profiled_task& task = current();
  task.weight += static_cast<double>(bytes) / bytes_an_instruction;
  task.lines.add(address / heard_.line_bytes, (address + bytes - 1) / heard_.line_bytes);
}

}  // namespace heddle::policy
