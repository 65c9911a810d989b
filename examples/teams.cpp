// Teams: threads that execute one function together. Teams compute the panels of a factorisation. Their threads wait
// for each other at a barrier of a library that knows nothing of heddle. Tasks update the rest of the matrix meanwhile.
#include <heddle/pause.hpp>
#include <heddle/runtime.hpp>
#include <heddle/task_group.hpp>
#include <heddle/team.hpp>

#include <atomic>
#include <cstdio>
#include <vector>

// A barrier as in many libraries: it spins, and cannot be changed.
class library_barrier {
 public:
  explicit library_barrier(unsigned all) : all_(all) {}
  void wait() {
    const unsigned phase = phase_.load();
    if (here_.fetch_add(1) + 1 == all_) {
      here_.store(0);
      phase_.store(phase + 1);
    } else {
      while (phase_.load() == phase) heddle::this_thread::pause();
    }
  }

 private:
  std::atomic<unsigned> here_{0};
  std::atomic<unsigned> phase_{0};
  const unsigned all_;
};

// Sums a column in steps, by as many threads as there are workers.
long factorise(std::vector<long>& column) {
  heddle::team panel;  // a gang: its threads run all at once, or none does
  library_barrier step(panel.size());
  std::vector<long> parts(panel.size());
  long sum = 0;
  panel.run([&](heddle::team_member& self) {
    for (std::size_t i = self.number(); i < column.size(); i += self.size()) parts[self.number()] += column[i];
    step.wait();
    self.single([&] {
      for (const long part : parts) sum += part;
    });
    step.wait();
    for (std::size_t i = self.number(); i < column.size(); i += self.size()) column[i] = sum;
  });
  return sum;
}

// Tasks that a team makes and executes at its barrier.
long count_with_tasks() {
  std::atomic<long> count{0};
  heddle::team all;
  all.run([&](heddle::team_member& self) {
    self.single([&] {
      for (int i = 0; i < 100; ++i) self.task([&] { count.fetch_add(1); });
    });
    self.barrier();  // members that wait here execute the tasks
    if (count.load() != 100) count.store(-1);
  });
  return count.load();
}

int main() {
  constexpr int panels = 8;
  std::vector<std::vector<long>> columns(panels, std::vector<long>(1000, 1));
  std::vector<long> sums(panels);
  heddle::runtime::global().run([&] {
    heddle::task_group tasks;
    for (int p = 0; p < panels; ++p) tasks.run([&, p] { sums[p] = factorise(columns[p]); });
    tasks.wait();
  });
  bool right = count_with_tasks() == 100;
  for (int p = 0; p < panels; ++p) right = right && sums[p] == 1000 && columns[p][999] == 1000;
  std::printf("%s\n", right ? "8 panels, all at once: right" : "wrong");
  return right ? 0 : 1;
}
