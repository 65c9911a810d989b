// The recorder that a runtime owns while it is traced.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sync/mutex.hpp"
#include "trace/emit.hpp"
#include "trace/recording.hpp"

namespace heddle::trace {

struct recorder_options {
  std::size_t records = std::size_t{1} << 16;  // per worker; 32 bytes each
  clock_function now = nullptr;                // required
  std::string program;
  std::string machine;
  std::string policy;
  std::map<std::string, std::string> attributes;  // recording::attributes; the recorder adds those it knows itself
  usage_function use = nullptr;                   // of a worker's kernel thread; null: not told
  // Name of the function at an address, empty if unknown; asked by collect.
  std::string (*symbol)(std::uint64_t) = nullptr;
  code_place (*place)(std::uint64_t) = nullptr;  // the same of its place in a file
};

// Holds a ring for each worker and one for all foreign threads. Threads keep plain ring pointers:
// the recorder must outlive them.
class recorder {
 public:
  // Throws std::bad_alloc, and std::invalid_argument for a missing clock or more than 65,534
  // workers.
  recorder(unsigned workers, recorder_options options);

  // The worker's ring, for emit. Null for a worker number out of range.
  [[nodiscard]] ring* of(unsigned worker) noexcept;
  [[nodiscard]] ring* foreign() noexcept { return rings_.back().get(); }

  // A ring of its own for a kernel thread that is no worker and computes beside them. Readers see it as one more worker,
  // whose number comes after those of the workers. Null: there are `most_lanes` already, or no memory. Any thread; takes
  // a lock and allocates.
  [[nodiscard]] ring* add_lane() noexcept;
  static constexpr std::size_t most_lanes = 64;

  // Says where a worker runs; shown beside it. Any thread; not in a signal handler.
  void place(unsigned worker, std::string where);

  // A number for a text, to be given as a field of unit text; the same text gets the same number. Any thread; takes a
  // lock, so not in a signal handler (policies ask when they start). Allocates nothing, because preemptive threads ask
  // inside the runtime. When there is no room left, further texts share one number, that of "(further texts)".
  [[nodiscard]] std::uint32_t text(std::string_view words);

  // Tells this recorder from all others of the process, ended ones included.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  // All that the rings hold. Any thread, also while workers run; each ring is then read up to about the present.
  [[nodiscard]] recording collect() const;

 private:
  std::uint64_t serial_;
  recorder_options options_;
  std::vector<std::unique_ptr<ring>> rings_;  // the last one is the foreign threads'
  mutable sync::slow_mutex places_mutex_;     // guards places_ and lanes_
  std::vector<std::string> places_;
  static constexpr std::size_t most_texts = 4096, text_room = std::size_t{256} << 10;
  sync::mutex texts_mutex_;              // held by who adds one
  std::vector<std::string_view> texts_;  // of most_texts, in room_; those below text_count_ do not change
  std::unique_ptr<char[]> room_;
  std::size_t room_used_{0};                // under texts_mutex_
  std::atomic<std::size_t> text_count_{0};  // written under texts_mutex_, publishes texts
  std::vector<std::unique_ptr<ring>> lanes_;  // under places_mutex_
};

}  // namespace heddle::trace
