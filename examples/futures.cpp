// Results that come later: async, then, when_all, and an exception on its way through them.
#include <heddle/future.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

int parse(const std::string& text) { return std::stoi(text); }

int main() {
  // Each then() runs on a thread of its own when the value is there; no thread waits in between.
  heddle::future<std::string> chain =
      heddle::async([] { return std::string("20"); }).then(parse).then([](int x) { return x + 1; }).then([](int x) {
        return std::to_string(2 * x);
      });

  std::vector<heddle::future<int>> parts;
  for (int i = 0; i < 10; ++i) parts.push_back(heddle::async([i] { return i * i; }));
  heddle::future<int> sum = heddle::when_all(std::move(parts)).then([](std::vector<heddle::future<int>> done) {
    int total = 0;
    for (auto& part : done) total += part.get();
    return total;
  });

  // The exception passes by then(f) and comes out of get(); a continuation that takes the future sees it first.
  heddle::future<int> repaired =
      heddle::async([] { return std::string("no number"); }).then(parse).then([](heddle::future<int> before) {
        try {
          return before.get();
        } catch (const std::invalid_argument&) {
          return 0;
        }
      });

  const std::string text = chain.get();
  const int total = sum.get();
  std::printf("%s, %d, %d\n", text.c_str(), total, repaired.get());
  return text == "42" && total == 285 ? 0 : 1;
}
