#include "support/waiting.hpp"

#include <heddle/thread.hpp>

#include <string>
#include <thread>
#include <vector>

namespace heddle_test {

waiting::waiting() = default;
waiting::~waiting() = default;

void waiting::SetUp() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  dog_ = std::make_unique<watchdog>(std::string(test->test_suite_name()) + "." + test->name());
  over_runtimes::SetUp();
}

void waiting::together(int user, int kernel, const std::function<void(int)>& body) {
  std::vector<heddle::thread> users;
  std::vector<std::thread> kernels;
  for (int i = 0; i < user; ++i)
    users.emplace_back(heddle::thread_options{.where = &runtime()}, [&body, i] { body(i); });
  for (int i = 0; i < kernel; ++i) kernels.emplace_back([&body, i, user] { body(user + i); });
  for (auto& t : users) t.join();
  for (auto& t : kernels) t.join();
}

}  // namespace heddle_test
