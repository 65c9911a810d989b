// The initial values of the thread-local variables that every thread has from its start: those of modules in the static
// block. With a copy of them the variables are reset without the loader's lock. If each thread that ends took that
// lock, all of them would queue behind one that was preempted while it held it.
#pragma once

#include <memory>
#include <vector>

#include "platform/linux/glibc.hpp"

namespace heddle::platform {

// The values of the modules that were loaded at one time. Immutable. Its users, which it counts, are the blocks that
// were last reset from it. Values are copied, because a module may be unloaded.
class tls_images {
 public:
  // Returns the images of the modules that are loaded at present. `old`, which may be null, is released if the result
  // is another. If modules have come or gone, this takes a lock and the loader's lock, and calls malloc. Returns null
  // if there is no memory; `old` is kept then.
  static const tls_images* now(const tls_images* old) noexcept;
  static void drop(const tls_images& images) noexcept;
  // Whether no module with thread-local variables has come or gone since. Takes no lock.
  bool current() const noexcept;
  // Resets the variables of the block, except the C library's, whose caches for malloc stay, and the runtime's own.
  void renew(void* thread_pointer) const noexcept;
  // The same including the C library's variables. It serves a block whose kernel thread has ended. Pointers into the
  // control block, which were set when that thread began, are kept.
  void renew_all(void* thread_pointer) const noexcept;

  tls_images() = default;
  tls_images(const tls_images&) = delete;
  tls_images& operator=(const tls_images&) = delete;

 private:
  struct piece {
    std::ptrdiff_t from;  // relative to the thread pointer
    std::size_t bytes;    // copied
    std::size_t zeros;    // after the copied bytes
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
