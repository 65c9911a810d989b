// The initial values of the variables that every thread has from its start: those
// of modules in the static block. For making them new without the loader's lock,
// for which all threads that end would queue behind one that was preempted with it.
#pragma once

#include <memory>
#include <vector>

#include "platform/linux/glibc.hpp"

namespace heddle::platform {

// Of the modules that were loaded at one time. Immutable, counted by the blocks that were made new from it last; values
// are copied, since a module may be unloaded.
class tls_images {
 public:
  // The modules that are loaded now. `old`, which may be null, goes back when it is not that any more. Takes a lock and
  // the loader's, and calls malloc, when modules have come or gone. Null: no memory, `old` is kept.
  static const tls_images* now(const tls_images* old) noexcept;
  static void drop(const tls_images& images) noexcept;
  // No module with thread-local variables has come or gone since. Takes no lock.
  bool current() const noexcept;
  // All variables of the block but the C library's, whose caches for malloc stay, and the runtime's own.
  void renew(void* thread_pointer) const noexcept;
  // The C library's, too: of a block whose kernel thread has ended.
  // Pointers into the control block are kept, which were set when it began.
  void renew_all(void* thread_pointer) const noexcept;

  tls_images() = default;
  tls_images(const tls_images&) = delete;
  tls_images& operator=(const tls_images&) = delete;

 private:
  struct piece {
    std::ptrdiff_t from;  // of the thread pointer
    std::size_t bytes;    // copied
    std::size_t zeros;    // after those
    const char* content;
  };
  struct module {
    std::size_t generation;
    void* map;
  };
  struct adder;
  void add(std::ptrdiff_t from, std::size_t bytes, std::size_t all, const char* content);
  static tls_images* take();

  mutable unsigned users_{0};    // under the lock
  std::vector<module> modules_;  // by number
  std::vector<piece> pieces_;
  piece c_library_{};
  std::vector<std::unique_ptr<char[]>> contents_;
};

}  // namespace heddle::platform
