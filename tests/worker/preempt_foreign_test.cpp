// Code that nobody here wrote, inside threads that are preempted every 100 us: the C library, zlib, SQLite, OpenBLAS, modules that come and go.
// Libraries are opened at run time, and a test without its library is skipped. HEDDLE_TEST_SECONDS=60 lets each test run so long.
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
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using heddle::preemption;
using heddle::tls;

struct means {
  preemption how;
  tls storage;
};

std::chrono::milliseconds span() {
  const char* text = std::getenv("HEDDLE_TEST_SECONDS");
  return text == nullptr ? 300ms : std::chrono::seconds(std::atol(text));
}

class foreign_code : public testing::TestWithParam<means> {
 protected:
  // Eight threads on two workers; each does `round` (its number, how many it has done) again and again.
  static void repeat(const std::function<void(int, int)>& round) {
    heddle::runtime_options o;
    o.workers = 2;
    o.preempt = preemption::none;
    o.preempt_interval = 100us;
    heddle::runtime rt(o);
    heddle::thread_options kind;
    kind.where = &rt;
    kind.preemption = GetParam().how;
    kind.tls = GetParam().storage;
    std::atomic<int> rounds{0};
    const auto end = std::chrono::steady_clock::now() + span();
    std::vector<heddle::thread> all;
    try {
      for (int i = 0; i < 8; ++i) {
        all.emplace_back(kind, [&, i] {
          int done = 0;
          do round(i, done++);
          while (std::chrono::steady_clock::now() < end && !HasFailure());
          rounds.fetch_add(done);
        });
      }
    } catch (const std::system_error& e) {
      GTEST_SKIP() << e.what();  // the first one: none runs
    }
    for (auto& t : all) t.join();
    EXPECT_GE(rounds.load(), 8);
    EXPECT_GT(rt.statistics().ticks, 0u);
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
    qsort_r(v.data(), v.size(), sizeof v[0], [](const void* a, const void* b, void* count) {
      ++*static_cast<std::size_t*>(count);
      const unsigned l = *static_cast<const unsigned*>(a), r = *static_cast<const unsigned*>(b);
      return l < r ? -1 : l > r ? 1 : 0;
    }, &compared);
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
    if (round >= 20000) return;
    EXPECT_EQ(std::fprintf(out, "<%d %06d %8.3f %s>\n", who, round, who + 0.125, "line"), bytes);
    lines.fetch_add(1);
  });
  std::fclose(out);
  if (IsSkipped()) return std::free(text);
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
    EXPECT_EQ(getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV), 0);
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
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<unsigned char>((i * i / 97 + static_cast<std::size_t>(who + round)) % 61);
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
  ASSERT_TRUE(load(library, open, "sqlite3_open") && load(library, close, "sqlite3_close") && load(library, exec, "sqlite3_exec"));
  repeat([&](int who, int) {
    void* base = nullptr;
    EXPECT_EQ(open(":memory:", &base), 0);
    EXPECT_EQ(exec(base, "create table t(a integer, b text); begin", nullptr, nullptr, nullptr), 0);
    long sum = 0;
    for (int i = 0; i < 100; ++i) {
      const int value = who * 1000 + i;
      sum += value;
      const std::string text = std::to_string(value);
      EXPECT_EQ(exec(base, ("insert into t values(" + text + ", 'row " + text + "')").c_str(), nullptr, nullptr, nullptr), 0);
    }
    std::string got;
    EXPECT_EQ(exec(base, "commit; select sum(a) || ':' || count(distinct b) from t", [](void* data, int, char** columns, char**) {
      *static_cast<std::string*>(data) = columns[0];
      return 0;
    }, &got, nullptr), 0);
    EXPECT_EQ(got, std::to_string(sum) + ":100");
    EXPECT_EQ(close(base), 0);
  });
  dlclose(library);
}

TEST_P(foreign_code, openblas_on_one_thread) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << dlerror();
  void (*dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int) = nullptr;
  ASSERT_TRUE(load(library, dgemm, "cblas_dgemm"));
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
      for (int j = 0; j < n; ++j) EXPECT_DOUBLE_EQ(c[static_cast<std::size_t>(i * n + j)], static_cast<double>(n) * (i + who) * j);
    }
  });
}

// libz again: no thread of this process keeps it, so most rounds map and unmap it.
TEST_P(foreign_code, modules_come_and_go) {
  repeat([](int, int) {
    void* library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    unsigned long (*crc)(unsigned long, const unsigned char*, unsigned) = nullptr;
    EXPECT_TRUE(load(library, crc, "crc32"));
    EXPECT_EQ(crc(0, reinterpret_cast<const unsigned char*>("123456789"), 9), 0xcbf43926ul);
    EXPECT_EQ(dlclose(library), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(preempt, foreign_code,
                         testing::Values(means{preemption::klt_switching, tls::carrier}, means{preemption::signal_yield, tls::own},
                                         means{preemption::klt_switching, tls::own}),
                         [](const auto& info) {
                           return std::string(info.param.how == preemption::signal_yield ? "signal_yield" : "klt_switching") +
                                  (info.param.storage == tls::own ? "_own" : "_carrier");
                         });

}  // namespace
