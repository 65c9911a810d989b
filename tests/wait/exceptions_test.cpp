// Waiting inside exception handlers and during unwinding: what is handled goes
// with the thread, whatever carrier it goes on on, and never with the worker.
#include <heddle/blocking.hpp>
#include <heddle/mutex.hpp>
#include <heddle/parallel_invoke.hpp>
#include <heddle/sleep.hpp>

#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

#include "support/waiting.hpp"

namespace exceptions_test {
namespace {

using namespace std::chrono_literals;

class exceptions : public heddle_test::waiting {};

// Waits in one of the ways there are.
void wait_somehow(heddle_test::chance& c, heddle::mutex& m) {
  switch (c.below(5)) {
    case 0: heddle::this_thread::yield(); break;
    case 1: heddle::this_thread::sleep_for(std::chrono::microseconds(c.below(50))); break;
    case 2: heddle::blocking([] {}); break;
    case 3: {
      std::lock_guard hold(m);
      heddle::this_thread::yield();
      break;
    }
    default: heddle::parallel_invoke([] { heddle::this_thread::yield(); }, [] {});
  }
}

TEST_P(exceptions, a_handler_that_waits_keeps_its_exception) {
  heddle::mutex m;
  together(8, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 50 * heddle_test::stress(); ++k) {
      const std::string mine = std::to_string(i) + "/" + std::to_string(k);
      try {
        try {
          throw std::runtime_error(mine);
        } catch (const std::runtime_error& outer) {
          wait_somehow(c, m);
          try {
            throw std::logic_error(mine + " inner");
          } catch (const std::logic_error& inner) {
            wait_somehow(c, m);
            EXPECT_EQ(inner.what(), mine + " inner");
          }
          wait_somehow(c, m);
          EXPECT_EQ(outer.what(), mine);
          throw;  // the current exception of this thread, and of no other
        }
      } catch (const std::runtime_error& again) {
        EXPECT_EQ(again.what(), mine);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    }
    progress();
  });
}

TEST_P(exceptions, unwinding_that_waits_stays_with_its_thread) {
  heddle::mutex m;
  struct waits_when_it_goes {
    heddle_test::chance& c;
    heddle::mutex& m;
    int before = std::uncaught_exceptions();
    ~waits_when_it_goes() {
      EXPECT_EQ(std::uncaught_exceptions(), before + 1);
      wait_somehow(c, m);
      EXPECT_EQ(std::uncaught_exceptions(), before + 1);
    }
  };
  together(8, 2, [&](int i) {
    heddle_test::chance c(i);
    for (int k = 0; k < 50 * heddle_test::stress(); ++k) {
      try {
        waits_when_it_goes here{c, m};
        throw k;
      } catch (int caught) {
        EXPECT_EQ(caught, k);
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    progress();
  });
}

HEDDLE_OVER_RUNTIMES(exceptions);

}  // namespace
}  // namespace exceptions_test
