#include "omp/core/tasks/task_reduction.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "omp/core/tasks/task_run.hpp"

namespace heddle::omp {

// The copies of a group, or of the groups of all members. Until the end each copy is touched by its member alone.
struct reduction_copies {
  struct item {
    std::size_t stride;
    std::byte* first;
  };
  reduction_copies(const reduction_item* items, std::size_t count, unsigned members, unsigned users)
      : members_(members), left(users), of(new item[count]), begun(new bool[count * members]{}), count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      of[i].stride = (items[i].size + 63) & ~std::size_t{63};  // copies of two members share no cache line
      of[i].first = static_cast<std::byte*>(::operator new(of[i].stride * members, std::align_val_t{64}));
    }
  }
  ~reduction_copies() {
    for (std::size_t i = 0; i < count_; ++i) ::operator delete(of[i].first, std::align_val_t{64});
  }

  unsigned members_;
  // Groups that have not ended. acq_rel: publishes what their tasks have put into the copies.
  std::atomic<unsigned> left;
  std::unique_ptr<item[]> of;
  std::unique_ptr<bool[]> begun;  // [item * members + number]
  std::size_t count_;
};

struct task_reductions {
  std::unique_ptr<reduction_item[]> items;  // with this member's addresses
  std::size_t count;
  reduction_copies* copies;
  team* shared_in{nullptr};  // null if the copies are the group's own
  unsigned which{0};
};

namespace {

void make(task_group& group, const reduction_item* items, std::size_t count, reduction_copies* copies) {
  auto* const r = new task_reductions{std::make_unique<reduction_item[]>(count), count, copies};
  std::copy(items, items + count, r->items.get());
  group.reductions = r;
}

void begin_copy(const reduction_item& item, void* copy) noexcept {
  if (item.init == nullptr) std::memset(copy, 0, item.size);
  else if (item.original != nullptr) reinterpret_cast<void (*)(void*, void*)>(item.init)(copy, item.original);
  else reinterpret_cast<void (*)(void*)>(item.init)(copy);
}

}  // namespace

void begin_reductions(thread& self, const reduction_item* items, std::size_t count) {
  make(*self.running->group, items, count, new reduction_copies(items, count, self.in->size, 1));
}

void begin_shared_reductions(thread& self, bool of_work_share, const reduction_item* items, std::size_t count) {
  begin_group(self);
  task_group& group = *self.running->group;
  group.of_work_share = true;
  std::atomic<reduction_copies*>& known = self.in->tasks.shared_reductions[of_work_share ? 1 : 0];
  // pairs with the exchange: makes the copies visible
  reduction_copies* copies = known.load(std::memory_order_acquire);
  if (copies == nullptr) {
    auto made = std::make_unique<reduction_copies>(items, count, self.in->size, self.in->size);
    if (known.compare_exchange_strong(copies, made.get())) copies = made.release();
  }
  make(group, items, count, copies);
  group.reductions->shared_in = self.in;
  group.reductions->which = of_work_share ? 1 : 0;
}

void end_shared_reductions(thread& self) { end_group(self); }

void* private_copy(thread& self, task_group* group, void* data) {
  if (group == nullptr) group = self.running->group;
  for (; group != nullptr; group = group->outer) {
    task_reductions* const r = group->reductions;
    if (r == nullptr) continue;
    for (std::size_t i = 0; i < r->count; ++i) {
      const reduction_copies::item& c = r->copies->of[i];
      auto* const at = static_cast<std::byte*>(data);
      if (data != r->items[i].shared && (at < c.first || at >= c.first + c.stride * r->copies->members_)) continue;
      std::byte* const copy = c.first + c.stride * self.number;
      bool& begun = r->copies->begun[i * r->copies->members_ + self.number];
      if (!begun) begin_copy(r->items[i], copy);
      begun = true;
      return copy;
    }
  }
  return nullptr;
}

void finish_reductions(task_group& group) noexcept {
  const std::unique_ptr<task_reductions> r(group.reductions);
  group.reductions = nullptr;
  // acq_rel pairs with the other members' decrements: makes visible what their tasks have put into the copies
  if (r->copies->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (r->shared_in != nullptr) r->shared_in->tasks.shared_reductions[r->which].store(nullptr);
  const std::unique_ptr<reduction_copies> copies(r->copies);
  for (std::size_t i = 0; i < r->count; ++i) {
    const reduction_item& item = r->items[i];
    for (unsigned m = 0; m < copies->members_; ++m) {
      if (!copies->begun[i * copies->members_ + m]) continue;
      void* const copy = copies->of[i].first + copies->of[i].stride * m;
      reinterpret_cast<void (*)(void*, void*)>(item.combine)(item.shared, copy);
      if (item.fini != nullptr) reinterpret_cast<void (*)(void*)>(item.fini)(copy);
    }
  }
}

// --- the GNU ABI's
// ----------------------------------------------------------------------------------------------------

namespace {

namespace word {
constexpr std::size_t count = 0, size = 1, copies = 2, next = 4, head = 5, end = 6, entries = 7, of_entry = 3;
}

std::uintptr_t* follow(const std::uintptr_t* words) noexcept {
  return reinterpret_cast<std::uintptr_t*>(words[word::next]);
}

}  // namespace

void register_words(std::uintptr_t* words, std::uintptr_t* older, std::uintptr_t* shared, unsigned members) {
  for (std::uintptr_t* d = words;;) {
    if (shared != nullptr) {
      d[word::copies] = shared[word::copies];
      d[word::end] = shared[word::end];
      shared = follow(shared);
    } else {
      const std::size_t align = std::max<std::size_t>(d[word::copies], sizeof(void*));
      const std::size_t bytes = (d[word::size] * members + align - 1) / align * align;
      void* const memory = std::aligned_alloc(align, std::max(bytes, align));
      if (memory == nullptr) throw std::bad_alloc();
      std::memset(memory, 0, bytes);
      d[word::copies] = reinterpret_cast<std::uintptr_t>(memory);
      d[word::end] = d[word::copies] + d[word::size] * members;
    }
    d[word::head] = 0;
    if (d[word::next] == 0) {
      d[word::next] = reinterpret_cast<std::uintptr_t>(older);
      break;
    }
    d = follow(d);
  }
  words[word::head] = 1;  // the end of the older arrays' successors, for unregister_words
}

void unregister_words(std::uintptr_t* words, bool free_copies) noexcept {
  if (!free_copies) return;
  std::uintptr_t* d = words;
  do {
    std::free(reinterpret_cast<void*>(d[word::copies]));
    d = follow(d);
  } while (d != nullptr && d[word::head] == 0);
}

void remap_words(const task_group* group, unsigned number, std::size_t count, std::size_t originals, void** pointers) {
  std::uintptr_t* const newest = group != nullptr ? group->reduction_words : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointers[i]);
    bool found = false;
    for (std::uintptr_t* d = newest; d != nullptr && !found; d = follow(d)) {
      const bool copied = address >= d[word::copies] && address < d[word::end];
      const std::uintptr_t offset = copied ? (address - d[word::copies]) % d[word::size] : 0;
      if (copied) {
        found = true;
        pointers[i] = reinterpret_cast<void*>(d[word::copies] + number * d[word::size] + offset);
        if (i >= originals) break;
      }
      for (std::size_t j = 0; j < d[word::count]; ++j) {
        const std::uintptr_t* const entry = d + word::entries + j * word::of_entry;
        if (copied ? entry[1] != offset : entry[0] != address) continue;
        found = true;
        if (!copied) pointers[i] = reinterpret_cast<void*>(d[word::copies] + number * d[word::size] + entry[1]);
        if (i < originals) pointers[count + i] = reinterpret_cast<void*>(entry[0]);
        break;
      }
    }
    if (!found) {
      std::fprintf(stderr, "heddle: OpenMP: %p is no item of a task reduction\n", reinterpret_cast<void*>(address));
      std::abort();
    }
  }
}

void begin_shared_words(thread& self, std::uintptr_t* words, void*& shared) {
  begin_region_words(self, words);
  std::uintptr_t* const older =
      self.running->group->outer != nullptr ? self.running->group->outer->reduction_words : nullptr;
  register_words(words, older, static_cast<std::uintptr_t*>(shared), self.in->size);
  if (shared == nullptr) shared = words;
}

void begin_region_words(thread& self, std::uintptr_t* words) {
  begin_group(self);
  self.running->group->of_work_share = true;
  self.running->group->reduction_words = words;
}

}  // namespace heddle::omp
