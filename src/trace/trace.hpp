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
  std::map<std::string, std::string> attributes;  // recording::attributes; the recorder adds those that it knows itself
  // The usage of a worker's kernel thread; null if it is not told.
  usage_function use = nullptr;
  // Returns the name of the function at an address, or an empty string if it is unknown. collect calls it.
  std::string (*symbol)(std::uint64_t) = nullptr;
  code_place (*place)(std::uint64_t) = nullptr;  // returns the address's place in a file
};

// Holds a ring for each worker and one for all foreign threads. Threads keep plain ring pointers, so the recorder must
// outlive them.
class recorder {
 public:
  // Throws std::bad_alloc, and std::invalid_argument for a missing clock or more than 65,534 workers.
  recorder(unsigned workers, recorder_options options);

  // Returns the worker's ring, for emit. Returns null for a worker number out of range.
  [[nodiscard]] ring* of(unsigned worker) noexcept;
  [[nodiscard]] ring* foreign() noexcept { return rings_.back().get(); }

  // Returns a ring of its own for a kernel thread that is no worker and computes beside the workers. Readers see it as
  // one more worker, whose number comes after those of the workers. Returns null if there are `most_lanes` already, or
  // no memory. Any thread may call it, but not a signal handler, because it takes a lock and allocates.
  [[nodiscard]] ring* add_lane() noexcept;
  static constexpr std::size_t most_lanes = 64;

  // Says where a worker runs; this is shown beside the worker. Any thread may call it, but not a signal handler.
  void place(unsigned worker, std::string where);

  // Returns a number for a text, which is given as a field of unit text. The same text gets the same number. Any thread
  // may call it, but not a signal handler, because it takes a lock (policies call it when they start). It allocates
  // nothing, because preemptive threads call it inside the runtime. If there is no room left, further texts share one
  // number, that of "(further texts)".
  [[nodiscard]] std::uint32_t text(std::string_view words);

  // Distinguishes this recorder from all others of the process, including those that have ended.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  // Returns all that the rings hold. Any thread may call it, also while workers run; each ring is then read up to about
  // the present.
  [[nodiscard]] recording collect() const;

 private:
  std::uint64_t serial_;
  recorder_options options_;
  std::vector<std::unique_ptr<ring>> rings_;  // the last one belongs to the foreign threads
  mutable sync::slow_mutex places_mutex_;     // guards places_ and lanes_
  std::vector<std::string> places_;
  static constexpr std::size_t most_texts = 4096, text_room = std::size_t{256} << 10;
  sync::mutex texts_mutex_;  // held by the thread that adds a text
  // At most most_texts, in room_; those below text_count_ do not change.
  std::vector<std::string_view> texts_;
  std::unique_ptr<char[]> room_;
  std::size_t room_used_{0};                  // under texts_mutex_
  std::atomic<std::size_t> text_count_{0};    // written under texts_mutex_, publishes texts
  std::vector<std::unique_ptr<ring>> lanes_;  // under places_mutex_
};

}  // namespace heddle::trace
