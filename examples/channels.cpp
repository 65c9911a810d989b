// A pipeline: lines are numbered by one thread, measured by three, and added up in order of arrival by the last.
#include <heddle/channel.hpp>
#include <heddle/runtime.hpp>
#include <heddle/thread.hpp>

#include <cstdio>
#include <string>
#include <vector>

struct line {
  int number;
  std::string text;
};

int main() {
  heddle::channel<line> lines(8);   // at most eight wait in it: a slow stage slows the one before
  heddle::channel<int> lengths(0);  // every send waits for its receiver
  int sum = 0;
  heddle::runtime::global().run([&] {
    heddle::jthread reader([&] {
      for (int i = 0; i < 1000; ++i) lines.send({i, std::string(static_cast<std::size_t>(i % 50), 'x')});
      lines.close();
    });
    heddle::jthread stage([&] {
      std::vector<heddle::jthread> workers;
      for (int i = 0; i < 3; ++i) {
        workers.emplace_back([&] {
          for (const line& l : lines) lengths.send(static_cast<int>(l.text.size()));
        });
      }
      workers.clear();  // joins them
      lengths.close();
    });
    for (int length : lengths) sum += length;
  });
  std::printf("1000 lines, %d characters\n", sum);
  return sum == 1000 / 50 * (49 * 50 / 2) ? 0 : 1;
}
