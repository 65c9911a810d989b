// Allocation with alignment, pools and fallbacks.
//
// In front of each block there is a header with the address of malloc's block and with the allocator from which the
// block came, so that omp_free needs neither.
#include "omp/core/memory/allocator.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "omp/core/memory/allocator_traits.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp::allocators {

namespace {

struct allocator {
  std::size_t alignment{alignof(std::max_align_t)};
  std::size_t pool_size{std::numeric_limits<std::size_t>::max()};
  std::uintptr_t fallback{value_default_mem_fb};
  handle fallback_allocator{null};
  // Bytes of blocks that are in use. Relaxed: it counts, and publishes nothing.
  std::atomic<std::size_t> used{0};
};

struct header {
  void* block;        // malloc's
  std::size_t size;   // the size that was asked for
  std::size_t taken;  // bytes taken from the pool, including overhead
  handle from;
};

allocator* made(handle of) noexcept { return of > last_predefined ? reinterpret_cast<allocator*>(of) : nullptr; }

header& header_of(void* memory) noexcept { return static_cast<header*>(memory)[-1]; }

bool take(allocator& pool, std::size_t bytes) noexcept {
  if (pool.pool_size == std::numeric_limits<std::size_t>::max()) return true;
  // relaxed, here and below: a count, which publishes no memory
  std::size_t used = pool.used.load(std::memory_order_relaxed);
  do {
    if (bytes > pool.pool_size - used) return false;
  } while (!pool.used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void give_back(handle from, std::size_t bytes) noexcept {
  allocator* const pool = made(from);
  if (pool != nullptr && pool->pool_size != std::numeric_limits<std::size_t>::max())
    pool->used.fetch_sub(bytes, std::memory_order_relaxed);
}

// Returns null if there is no memory, or if the pool is too small.
void* try_allocate(std::size_t alignment, std::size_t size, handle of, bool zeroed) noexcept {
  allocator* const pool = made(of);
  std::size_t aligned = std::max(alignment, alignof(std::max_align_t));
  if (pool != nullptr) aligned = std::max(aligned, pool->alignment);
  const std::size_t more = sizeof(header) + (aligned - alignof(std::max_align_t));
  if (size > std::numeric_limits<std::size_t>::max() / 2 - more) return nullptr;
  if (pool != nullptr && !take(*pool, size + more)) return nullptr;
  void* const block = zeroed ? std::calloc(1, size + more) : std::malloc(size + more);
  if (block == nullptr) {
    give_back(of, size + more);
    return nullptr;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(header);
  void* const memory = reinterpret_cast<void*>((first + aligned - 1) & ~(aligned - 1));
  new (&header_of(memory)) header{block, size, size + more, of};
  return memory;
}

void* allocate_or_fall_back(std::size_t alignment, std::size_t size, handle of, bool zeroed) noexcept {
  if (size == 0) return nullptr;
  if (of == null) of = thread::current().running->variables->allocator;
  for (;;) {
    if (void* const memory = try_allocate(alignment, size, of, zeroed); memory != nullptr) return memory;
    allocator* const pool = made(of);
    if (pool == nullptr) return nullptr;
    switch (pool->fallback) {
      case value_null_fb: return nullptr;
      case value_abort_fb:
        say("an OpenMP allocator has no memory for " + std::to_string(size) + " bytes, and its fallback is to abort");
        std::abort();
      case value_allocator_fb: of = pool->fallback_allocator; break;
      default:
        alignment = std::max(alignment, pool->alignment);
        of = default_memory;
        break;
    }
  }
}

}  // namespace

handle make(std::uintptr_t space, int count, const trait* traits) noexcept {
  if (space == space_high_bandwidth) {
    say_once("omp_init_allocator: high-bandwidth memory is not supported");
    return null;
  }
  auto* const a = new (std::nothrow) allocator;
  if (a == nullptr) return null;
  for (int i = 0; i < count; ++i) {
    const std::uintptr_t value = traits[i].value;
    bool good = true;
    switch (traits[i].key) {
      case key_sync_hint: good = value == value_default || (value >= value_contended && value <= value_private); break;
      case key_alignment:
        if (value == value_default) break;
        good = std::has_single_bit(value);
        if (good) a->alignment = std::max(a->alignment, static_cast<std::size_t>(value));
        break;
      case key_access: good = value == value_default || (value >= value_all && value <= value_cgroup); break;
      case key_pool_size:
        if (value != value_default) a->pool_size = value;
        good = value != 0;
        break;
      case key_fallback:
        if (value != value_default) a->fallback = value;
        good = value == value_default || (value >= value_default_mem_fb && value <= value_allocator_fb);
        break;
      case key_fb_data: a->fallback_allocator = value; break;
      case key_pinned:
        good = value == value_default || value == value_false;
        if (value == value_true) say_once("omp_init_allocator: pinned memory is not supported");
        break;
      case key_partition:
        good = value == value_default || (value >= value_environment && value <= value_interleaved);
        if (good && value > value_environment)
          say_once("omp_init_allocator: the trait partition has no effect: pages lie where they are first touched");
        break;
      default: good = false;
    }
    if (!good) {
      delete a;
      return null;
    }
  }
  if (a->fallback == value_allocator_fb && a->fallback_allocator == null) a->fallback = value_null_fb;
  return reinterpret_cast<handle>(a);
}

void destroy(handle of) noexcept { delete made(of); }

void* allocate(std::size_t alignment, std::size_t size, handle of) noexcept {
  return allocate_or_fall_back(alignment, size, of, false);
}

void* allocate_zeroed(std::size_t alignment, std::size_t count, std::size_t size, handle of) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return allocate_or_fall_back(alignment, bytes, of, true);
}

void* reallocate(void* memory, std::size_t size, handle of) noexcept {
  if (memory == nullptr) return allocate(0, size, of);
  if (size == 0) {
    release(memory);
    return nullptr;
  }
  const header& old = header_of(memory);
  void* const fresh = allocate(0, size, of == null ? old.from : of);
  if (fresh == nullptr) return nullptr;
  std::memcpy(fresh, memory, std::min(size, old.size));
  release(memory);
  return fresh;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  const header h = header_of(memory);
  give_back(h.from, h.taken);
  std::free(h.block);
}

}  // namespace heddle::omp::allocators
