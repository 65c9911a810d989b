// Code that nobody here wrote, inside threads that are preempted every 100 us: the C and C++
// libraries, a program of pthreads, zlib, SQLite, OpenBLAS, modules that come and go. Libraries
// are opened at run time; scripts/packages.txt installs them, and where one is missing its test
// is skipped. HEDDLE_TEST_SECONDS=60 lets each test run so long (scripts/stress.sh).
#include <heddle/heddle.hpp>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/preemption.hpp"
#include "worker/foreign/barrier.h"

namespace preempt_foreign_test {
namespace {

using namespace std::chrono_literals;
using heddle::tls;

std::chrono::milliseconds span() {
  const char* text = std::getenv("HEDDLE_TEST_SECONDS");
  return text == nullptr ? 300ms : std::chrono::seconds(std::atol(text));
}

class foreign_code : public heddle_test::by_means {
 protected:
  static constexpr int threads = 8;

  // body(its number, the runtime) on eight threads of two workers.
  template <class F>
  static void on_all(const F& body) {
    heddle::runtime rt(heddle_test::options_for(2));
    std::vector<heddle::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(kind(rt), [&body, &rt, i] { body(i, rt); });
    for (auto& t : all) t.join();
  }

  // Each does `round` (its number, how many it has done) again and again, and until one of them was preempted.
  static void repeat(const std::function<void(int, int)>& round) {
    std::atomic<long> rounds{0};
    const auto end = std::chrono::steady_clock::now() + span();
    on_all([&](int i, const heddle::runtime& rt) {
      int done = 0;
      do round(i, done++);
      while ((std::chrono::steady_clock::now() < end || rt.statistics().preemptions == 0) && !HasFailure());
      rounds.fetch_add(done);
    });
    EXPECT_GE(rounds.load(), threads);
  }

  template <class F>
  static bool load(void* library, F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    return function != nullptr;
  }
};

TEST_P(foreign_code, qsort_r_with_a_context) {
  repeat([](int who, int round) {
    std::vector<unsigned> v(3000);
    unsigned x = static_cast<unsigned>(who * 7919 + round);
    for (auto& e : v) e = x = x * 1664525u + 1013904223u;
    const std::uint64_t sum = std::accumulate(v.begin(), v.end(), std::uint64_t{0});
    std::size_t compared = 0;
    qsort_r(
        v.data(), v.size(), sizeof v[0],
        [](const void* a, const void* b, void* count) {
          ++*static_cast<std::size_t*>(count);
          const unsigned l = *static_cast<const unsigned*>(a), r = *static_cast<const unsigned*>(b);
          return l < r ? -1 : l > r ? 1 : 0;
        },
        &compared);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), std::uint64_t{0}), sum);
    EXPECT_GT(compared, v.size());
  });
}

TEST_P(foreign_code, printf_to_a_stream_that_all_share) {
  constexpr int bytes = 25;  // of each line
  char* text = nullptr;
  std::size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  ASSERT_NE(out, nullptr);
  std::atomic<long> lines{0};
  repeat([&](int who, int round) {
    if (round >= 20000) {  // enough lines to keep; the same by way of a buffer
      char line[bytes + 1], expected[bytes + 1] = "<0 000000    0.125 line>\n";
      expected[1] = static_cast<char>('0' + who);
      expected[13] = static_cast<char>('0' + who);
      EXPECT_EQ(std::snprintf(line, sizeof line, "<%d %06d %8.3f %s>\n", who, 0, who + 0.125, "line"), bytes);
      EXPECT_STREQ(line, expected);
      return;
    }
    EXPECT_EQ(std::fprintf(out, "<%d %06d %8.3f %s>\n", who, round, who + 0.125, "line"), bytes);
    lines.fetch_add(1);
  });
  std::fclose(out);
  EXPECT_EQ(size, static_cast<std::size_t>(bytes * lines.load()));
  for (std::size_t at = 0; at + bytes <= size; at += bytes) {
    ASSERT_EQ(text[at], '<');
    ASSERT_EQ(text[at + bytes - 2], '>');
  }
  std::free(text);
}

TEST_P(foreign_code, getaddrinfo_of_this_machine) {
  repeat([](int, int) {
    addrinfo wanted{};
    wanted.ai_family = AF_INET;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo("localhost", "80", &wanted, &found);
    EXPECT_EQ(error, 0) << gai_strerror(error);
    if (error != 0) return;
    char host[64], service[16];
    EXPECT_EQ(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, service, sizeof service,
                          NI_NUMERICHOST | NI_NUMERICSERV),
              0);
    EXPECT_STREQ(host, "127.0.0.1");
    EXPECT_STREQ(service, "80");
    freeaddrinfo(found);
  });
}

TEST_P(foreign_code, zlib_there_and_back) {
  void* library = dlopen("libz.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  int (*compress)(unsigned char*, unsigned long*, const unsigned char*, unsigned long) = nullptr;
  int (*uncompress)(unsigned char*, unsigned long*, const unsigned char*, unsigned long) = nullptr;
  ASSERT_TRUE(load(library, compress, "compress") && load(library, uncompress, "uncompress"));
  repeat([&](int who, int round) {
    std::vector<unsigned char> text(20000), packed(21000), back(20000);
    for (std::size_t i = 0; i < text.size(); ++i)
      text[i] = static_cast<unsigned char>((i * i / 97 + static_cast<std::size_t>(who + round)) % 61);
    unsigned long packed_size = packed.size(), back_size = back.size();
    EXPECT_EQ(compress(packed.data(), &packed_size, text.data(), text.size()), 0);
    EXPECT_LT(packed_size, text.size());
    EXPECT_EQ(uncompress(back.data(), &back_size, packed.data(), packed_size), 0);
    EXPECT_EQ(back_size, text.size());
    EXPECT_EQ(std::memcmp(back.data(), text.data(), text.size()), 0);
  });
  dlclose(library);
}

TEST_P(foreign_code, sqlite_counts) {
  void* library = dlopen("libsqlite3.so.0", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  int (*open)(const char*, void**) = nullptr;
  int (*close)(void*) = nullptr;
  int (*exec)(void*, const char*, int (*)(void*, int, char**, char**), void*, char**) = nullptr;
  ASSERT_TRUE(load(library, open, "sqlite3_open") && load(library, close, "sqlite3_close") &&
              load(library, exec, "sqlite3_exec"));
  repeat([&](int who, int) {
    void* base = nullptr;
    EXPECT_EQ(open(":memory:", &base), 0);
    EXPECT_EQ(exec(base, "create table t(a integer, b text); begin", nullptr, nullptr, nullptr), 0);
    long sum = 0;
    for (int i = 0; i < 100; ++i) {
      const int value = who * 1000 + i;
      sum += value;
      const std::string text = std::to_string(value);
      EXPECT_EQ(
          exec(base, ("insert into t values(" + text + ", 'row " + text + "')").c_str(), nullptr, nullptr, nullptr), 0);
    }
    std::string got;
    EXPECT_EQ(exec(
                  base, "commit; select sum(a) || ':' || count(distinct b) from t",
                  [](void* data, int, char** columns, char**) {
                    *static_cast<std::string*>(data) = columns[0];
                    return 0;
                  },
                  &got, nullptr),
              0);
    EXPECT_EQ(got, std::to_string(sum) + ":100");
    EXPECT_EQ(close(base), 0);
  });
  dlclose(library);
}

TEST_P(foreign_code, openblas_on_one_thread) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  void (*dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int) =
      nullptr;
  int (*is_parallel)() = nullptr;
  ASSERT_TRUE(load(library, dgemm, "cblas_dgemm") && load(library, is_parallel, "openblas_get_parallel"));
  // Its buffers have no lock: two pthreads that multiply at a time get wrong numbers, too.
  if (is_parallel() == 0) GTEST_SKIP() << "this OpenBLAS was built for programs of one thread";
  constexpr int n = 64;
  repeat([&](int who, int) {
    std::vector<double> a(n * n), b(n * n), c(n * n, -1.0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        a[static_cast<std::size_t>(i * n + j)] = i + who;
        b[static_cast<std::size_t>(i * n + j)] = j;
      }
    }
    dgemm(101, 111, 111, n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n);  // row major, not transposed
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        EXPECT_DOUBLE_EQ(c[static_cast<std::size_t>(i * n + j)], static_cast<double>(n) * (i + who) * j);
    }
  });
}

// The plug-in is there under two names, so that most of the time one of them is kept by nobody or by few.
TEST_P(foreign_code, modules_come_and_go) {
  static constexpr const char* names[] = {HEDDLE_FOREIGN_PLUGIN_FIRST, HEDDLE_FOREIGN_PLUGIN_SECOND};
  std::atomic<long> unloads{0};
  repeat([&](int who, int round) {
    void* library = dlopen(names[(who + round) % 2], RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    void (*count)(std::atomic<long>*) = nullptr;
    void (*begin)() = nullptr;
    long (*call)(int) = nullptr;
    void (*fail)(int) = nullptr;
    ASSERT_TRUE(load(library, count, "plugin_count") && load(library, begin, "plugin_begin") &&
                load(library, call, "plugin_call") && load(library, fail, "plugin_throw"));
    count(&unloads);
    if (round < 2 && GetParam().storage == tls::carrier) begin();  // the first time with the first of the two
    const long first = call(who);
    EXPECT_GT(first, 0);
    EXPECT_EQ(call(who), first + 1);
    try {
      fail(who);
      ADD_FAILURE() << "the plug-in throws";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "from the plug-in, for " + std::to_string(who));
    }
    EXPECT_EQ(dlclose(library), 0);
  });
  EXPECT_GT(unloads.load(), 0);
}

TEST_P(foreign_code, a_c_program_around_pthread_barrier_wait) {
  program p;
  ASSERT_EQ(program_begin(&p, threads), 0);
  clock_gettime(CLOCK_MONOTONIC, &p.until);
  p.until.tv_sec += span() / 1s;
  p.until.tv_nsec += std::chrono::nanoseconds(span() % 1s).count();
  if (p.until.tv_nsec >= 1'000'000'000) {
    p.until.tv_nsec -= 1'000'000'000;
    ++p.until.tv_sec;
  }
  std::atomic<long> wrong{0};
  on_all([&](int who, const heddle::runtime&) { wrong.fetch_add(program_member(&p, who)); });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(p.phases, 0);
  EXPECT_EQ(p.tally, p.phases * threads);
  program_end(&p);
}

TEST_P(foreign_code, malloc_of_all_sizes) {
  repeat([](int who, int round) {
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    std::size_t size = static_cast<std::size_t>(1 + who + round % 7);
    for (int k = 0; k < 40; ++k) {
      size = size * 13 % 70001 + 1;  // up to what malloc maps apart, now and then
      auto* block = static_cast<unsigned char*>(k % 3 == 0 ? std::calloc(size, 1) : std::malloc(size));
      ASSERT_NE(block, nullptr);
      if (k % 3 == 0) {
        ASSERT_EQ(block[size - 1], 0);
      }
      std::memset(block, who + k, size);
      blocks.emplace_back(block, size);
      if (k % 5 == 4) {
        auto& [old, bytes] = blocks[static_cast<std::size_t>(k / 2)];
        old = static_cast<unsigned char*>(std::realloc(old, bytes + 5000));
        std::memset(old + bytes, old[0], 5000);
        bytes += 5000;
      }
    }
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const auto [block, bytes] = blocks[k];
      const auto value = static_cast<unsigned char>(who + static_cast<int>(k));
      EXPECT_TRUE(std::all_of(block, block + bytes, [value](unsigned char c) { return c == value; }));
      std::free(block);
    }
  });
}

TEST_P(foreign_code, regular_expressions_of_the_standard_library) {
  repeat([](int who, int round) {
    const std::string word = "w" + std::to_string(who);
    const std::regex pattern("([a-c]+)-(" + word + ")-([0-9]+)");
    const std::string text = "abc-" + word + "-" + std::to_string(round) + "; b-" + word + "-7";
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, pattern));
    EXPECT_EQ(found[3], std::to_string(round));
    EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()), 2);
    EXPECT_EQ(std::regex_replace(text, pattern, "$2"), word + "; " + word);
  });
}

// Thrown through frames with destructors, caught, thrown again, nested, kept beyond their handler.
int throw_deep(int depth, int who, int& unwound) {
  struct guard {
    int& count;
    ~guard() { ++count; }
  } here{unwound};
  if (depth == 0) throw std::out_of_range("thread " + std::to_string(who));
  return throw_deep(depth - 1, who, unwound) + 1;
}

TEST_P(foreign_code, exceptions) {
  repeat([](int who, int round) {
    const int depth = 1 + round % 20;
    int unwound = 0;
    std::exception_ptr kept;
    try {
      try {
        throw_deep(depth, who, unwound);
        ADD_FAILURE();
      } catch (const std::out_of_range&) {
        EXPECT_EQ(unwound, depth + 1);
        std::throw_with_nested(std::runtime_error("around " + std::to_string(round)));
      }
    } catch (...) {
      kept = std::current_exception();
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    try {
      std::rethrow_exception(kept);
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "around " + std::to_string(round));
      try {
        std::rethrow_if_nested(e);
        ADD_FAILURE();
      } catch (const std::out_of_range& inner) {
        EXPECT_EQ(inner.what(), "thread " + std::to_string(who));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(preempt, foreign_code, testing::ValuesIn(heddle_test::every_means),
                         [](const auto& info) { return heddle_test::name_of(info.param); });

}  // namespace
}  // namespace preempt_foreign_test
