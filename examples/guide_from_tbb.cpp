// The right-hand sides of docs/guide/from_tbb.md.
#include <heddle/heddle.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

// parallel_for over a blocked_range.
void scale(std::vector<float>& x, float factor) {
  heddle::parallel_for_range(std::size_t{0}, x.size(), [&](std::size_t low, std::size_t high) {
    for (std::size_t i = low; i < high; ++i) x[i] *= factor;
  });
}

// combinable, enumerable_thread_specific: the values that a chunk collects are added up at its end.
std::vector<int> multiples_of(int k, int n) {
  std::vector<int> all;
  heddle::mutex guard;
  heddle::parallel_for_range(0, n, [&](int low, int high) {
    std::vector<int> mine;
    for (int i = low; i < high; ++i) {
      if (i % k == 0) mine.push_back(i);
    }
    std::lock_guard hold(guard);
    all.insert(all.end(), mine.begin(), mine.end());
  });
  return all;
}

// parallel_pipeline: stages in the order in which items pass them.
int pipeline(int items) {
  int next = 0, digits = 0;
  heddle::parallel_pipeline(
      {.tokens = 16},
      heddle::stage::serial_in_order([&] { return next < items ? std::optional(next++) : std::nullopt; }),
      heddle::stage::parallel([](int n) { return std::to_string(n); }),
      heddle::stage::serial_in_order([&](const std::string& text) { digits += static_cast<int>(text.size()); }));
  return digits;
}

// parallel_for over a blocked_range2d.
void transpose(const std::vector<float>& from, std::vector<float>& to, std::size_t rows, std::size_t columns) {
  heddle::parallel_for(heddle::box({0, rows}, {0, columns}),
                       [&](std::size_t i, std::size_t j) { to[j * rows + i] = from[i * columns + j]; });
}

// task_group_context::cancel_group_execution.
int find(const std::vector<int>& x, int wanted) {
  std::stop_source found;
  std::atomic<int> where{-1};
  heddle::parallel_for(0, static_cast<int>(x.size()),
                       [&](int i) {
                         if (x[i] == wanted) {
                           where = i;
                           found.request_stop();
                         }
                       },
                       {.stop = found.get_token()});
  return where;
}

// task::suspend and resume: a promise.
int answer_of_a_callback() {
  heddle::promise<int> answer;
  auto result = answer.get_future();
  heddle::thread elsewhere([&] { answer.set_value(42); });
  const int value = result.get();  // parks the user-level thread, not its worker
  elsewhere.join();
  return value;
}

// flow::graph of continue_nodes: each node counts the predecessors that have not ended, and the last one starts it.
struct node {
  explicit node(int predecessors) : left(predecessors) {}
  std::atomic<int> left;
  std::vector<node*> next;
  int value = 0;
};
void start(node& n, heddle::task_group& group) {
  group.run([&n, &group] {
    ++n.value;
    for (node* successor : n.next) {
      successor->value += n.value;
      if (--successor->left == 0) start(*successor, group);
    }
  });
}
int chain_of_three() {
  node first(0), second(1), third(1);
  first.next = {&second};
  second.next = {&third};
  heddle::task_group group;
  start(first, group);
  group.wait();
  return third.value;
}

int main() {
  std::vector<float> x(1000, 1.0f);
  scale(x, 2);
  std::vector<int> y(10000);
  heddle::parallel_for(0, 10000, [&](int i) { y[i] = i; });
  std::vector<float> turned(1000);
  x[1] = 5;
  transpose(x, turned, 20, 50);
  const bool good = turned[20] == 5 && x[999] == 2 && multiples_of(7, 100).size() == 15 &&
                    multiples_of(1, 5000).size() == 5000 && pipeline(100) == 190 && find(y, 7777) == 7777 &&
                    answer_of_a_callback() == 42 && chain_of_three() == 3;
  std::puts(good ? "ok" : "wrong");
  return good ? 0 : 1;
}
