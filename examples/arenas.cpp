// Arenas: at most two workers at once for a sum, one at a time for a tenant; and a graph of jobs.
#include <heddle/arena.hpp>
#include <heddle/parallel_reduce.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

struct node : heddle::job {
  explicit node(std::vector<node*> next) : job(run), successors(std::move(next)) {}
  static void run(heddle::job& self) noexcept {
    auto& me = static_cast<node&>(self);
    runs.fetch_add(1);
    for (node* n : me.successors) {
      if (n->waits_for.fetch_sub(1) == 1) heddle::submit(*n, {.work = 1.0});
    }
  }
  std::vector<node*> successors;
  std::atomic<int> waits_for{0};
  static inline std::atomic<int> runs{0};
};

int main() {
  heddle::runtime rt({.workers = 4});

  heddle::arena two({.max_concurrency = 2, .name = "two at once", .where = &rt});
  const long sum = two.execute([] {  // waits for the result
    return heddle::parallel_reduce(0L, 1000L, 0L, [](long i) { return i; }, std::plus<>());
  });

  heddle::arena tenant({.max_concurrency = 1, .name = "tenant", .where = &rt});
  std::vector<int> order;  // one place: no lock is needed
  for (int i = 0; i < 5; ++i) tenant.enqueue([&order, i] { order.push_back(i); });
  tenant.wait();  // throws the first exception of a function that was enqueued

  node last({}), left({&last}), right({&last}), first({&left, &right});
  last.waits_for = 2;
  left.waits_for = right.waits_for = 1;
  two.submit(first);
  two.wait();

  const bool right_order = order == std::vector<int>{0, 1, 2, 3, 4};
  std::printf("sum %ld, tenant %s, %d nodes\n", sum, right_order ? "in order" : "out of order", node::runs.load());
  return sum == 499500 && right_order && node::runs.load() == 4 ? 0 : 1;
}
