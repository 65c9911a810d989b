// Allocators: alignment, pools, fallbacks, and memory that changes its size.
#include "omp/core/memory/allocator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "omp/api/api.hpp"
#include "omp/core/memory/allocator_traits.hpp"

namespace allocator_test {
namespace {

using namespace heddle::omp::allocators;

bool is_aligned(const void* memory, std::size_t to) { return reinterpret_cast<std::uintptr_t>(memory) % to == 0; }

handle with(std::vector<trait> traits) { return make(0, static_cast<int>(traits.size()), traits.data()); }

TEST(Allocator, PredefinedOnes) {
  for (handle h = 0; h <= 8; ++h) {
    void* const memory = omp_alloc(100, h);
    ASSERT_NE(memory, nullptr) << h;
    EXPECT_TRUE(is_aligned(memory, alignof(std::max_align_t)));
    std::memset(memory, 1, 100);
    omp_free(memory, 0);
  }
  EXPECT_EQ(omp_alloc(0, 1), nullptr);
  omp_free(nullptr, 0);
}

TEST(Allocator, Alignment) {
  const handle h = with({{key_alignment, 256}});
  ASSERT_NE(h, null);
  for (std::size_t size = 1; size < 2000; size += 111) {
    void* const by_trait = omp_alloc(size, h);
    void* const by_call = omp_aligned_alloc(4096, size, h);
    void* const zeroed = omp_aligned_calloc(64, 3, size, 1);
    EXPECT_TRUE(is_aligned(by_trait, 256));
    EXPECT_TRUE(is_aligned(by_call, 4096));
    EXPECT_TRUE(is_aligned(zeroed, 64));
    for (std::size_t i = 0; i < 3 * size; ++i) ASSERT_EQ(static_cast<char*>(zeroed)[i], 0);
    std::memset(by_trait, 1, size);
    std::memset(by_call, 1, size);
    omp_free(by_trait, h);
    omp_free(by_call, h);
    omp_free(zeroed, 1);
  }
  omp_destroy_allocator(h);
}

TEST(Allocator, PoolsAreLimitedAndFilledAgain) {
  const handle h = with({{key_pool_size, 1000}, {key_fallback, value_null_fb}});
  void* const first = omp_alloc(600, h);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(omp_alloc(600, h), nullptr);
  void* const second = omp_alloc(300, h);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(omp_alloc(50, h), nullptr);
  omp_free(first, h);
  void* const third = omp_alloc(600, h);
  EXPECT_NE(third, nullptr);
  omp_free(second, h);
  omp_free(third, h);
  omp_destroy_allocator(h);
}

TEST(Allocator, Fallbacks) {
  const handle otherwise = with({{key_alignment, 512}});
  const handle chained = with({{key_pool_size, 64}, {key_fallback, value_allocator_fb}, {key_fb_data, otherwise}});
  void* const memory = omp_alloc(100, chained);
  ASSERT_NE(memory, nullptr);
  EXPECT_TRUE(is_aligned(memory, 512));
  omp_free(memory, chained);

  const handle by_default = with({{key_pool_size, 64}, {key_alignment, 128}});
  void* const from_default = omp_alloc(100, by_default);
  ASSERT_NE(from_default, nullptr);
  EXPECT_TRUE(is_aligned(from_default, 128));
  omp_free(from_default, by_default);
  omp_destroy_allocator(chained);
  omp_destroy_allocator(by_default);
  omp_destroy_allocator(otherwise);
}

TEST(Allocator, AbortsWhenThatIsTheFallback) {
  const handle h = with({{key_pool_size, 10}, {key_fallback, value_abort_fb}});
  EXPECT_DEATH(omp_alloc(100, h), "no memory for 100 bytes");
  omp_destroy_allocator(h);
}

TEST(Allocator, TraitsThatCannotBe) {
  EXPECT_EQ(with({{key_alignment, 3}}), null);
  EXPECT_EQ(with({{key_pool_size, 0}}), null);
  EXPECT_EQ(with({{key_access, value_true}}), null);
  EXPECT_EQ(with({{key_fallback, value_all}}), null);
  EXPECT_EQ(with({{99, 1}}), null);
  EXPECT_EQ(with({{key_pinned, value_true}}), null);
  EXPECT_EQ(make(space_high_bandwidth, 0, nullptr), null);
  const handle h =
      with({{key_pinned, value_false}, {key_partition, value_environment}, {key_sync_hint, value_default}});
  EXPECT_NE(h, null);
  destroy(h);
}

TEST(Allocator, MemoryChangesItsSize) {
  auto* memory = static_cast<char*>(omp_realloc(nullptr, 10, 1, 1));
  ASSERT_NE(memory, nullptr);
  for (int i = 0; i < 10; ++i) memory[i] = static_cast<char>(i);
  memory = static_cast<char*>(omp_realloc(memory, 1000, 1, 1));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(memory[i], i);
  const handle aligned = with({{key_alignment, 256}});
  memory = static_cast<char*>(omp_realloc(memory, 5, aligned, 1));
  EXPECT_TRUE(is_aligned(memory, 256));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(memory[i], i);
  EXPECT_EQ(omp_realloc(memory, 0, aligned, aligned), nullptr);
  destroy(aligned);
}

TEST(Allocator, SizesThatOverflow) {
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(omp_alloc(huge, 1), nullptr);
  EXPECT_EQ(omp_calloc(huge / 2, 3, 1), nullptr);
}

TEST(Allocator, TheTasksDefault) {
  const handle h = with({{key_alignment, 1024}});
  omp_set_default_allocator(h);
  EXPECT_EQ(omp_get_default_allocator(), h);
  void* const memory = omp_alloc(10, null);
  EXPECT_TRUE(is_aligned(memory, 1024));
  omp_free(memory, null);
  omp_set_default_allocator(default_memory);
  destroy(h);
}

TEST(Allocator, PoolsOfManyThreads) {
  const handle h = with({{key_pool_size, 4000}, {key_fallback, value_null_fb}});
  std::atomic<int> in_use{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        void* const memory = omp_alloc(1500, h);
        if (memory == nullptr) continue;
        if (++in_use > 2) too_many = true;
        --in_use;
        omp_free(memory, h);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(too_many);
  void* const all = omp_alloc(3900, h);  // what comes with a block is of the pool, too
  EXPECT_NE(all, nullptr);
  omp_free(all, h);
  destroy(h);
}

TEST(Allocator, Texts) {
  handle h = null;
  EXPECT_TRUE(from_text("omp_low_lat_mem_alloc", h));
  EXPECT_EQ(h, 5u);
  EXPECT_EQ(to_text(5), "omp_low_lat_mem_alloc");
  EXPECT_TRUE(from_text("omp_large_cap_mem_space:alignment=128,fallback=null_fb", h));
  void* const memory = allocate(0, 10, h);
  EXPECT_TRUE(is_aligned(memory, 128));
  release(memory);
  destroy(h);
  EXPECT_FALSE(from_text("omp_default_mem_space:alignment", h));
  EXPECT_FALSE(from_text("mine", h));
}

}  // namespace
}  // namespace allocator_test
