// OpenMP's tasks in the graph of a program: dag.md, [dag:6] to [dag:9]. The pass over the recording (dag_builder) tells
// what happens, and asks for the longest path to where a task begins or a wait ends.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/trace/dag_path.hpp"

namespace heddle::trace {

class task_graph {
 public:
  // The number of a task, implicit ones included. 0 stands for none.
  using number = std::uint32_t;

  explicit task_graph(double burden_ns) : burden_ns_(burden_ns), tasks_(1) {}

  // A region begins at the end of the path `at`.
  void begin_region(std::uint64_t team, const longest_path& at);
  // A member's implicit task, whose path begins at its region.
  number begin_member(std::uint64_t team, std::uint32_t function);

  // The task `by`, at the end of that path, has made one. `awaited`: `by` goes on when it has ended.
  void make(number by, std::uint64_t id, const longest_path& at, std::uint32_t function, bool awaited);
  // The task that was just made has a depend clause; kinds as in events.def, address 0 is all memory.
  void depend(std::uint64_t id, std::uint32_t kind, std::uint64_t address);
  // Returns the longest path to the beginning of that task, and its number in `which`, which is 0 if the task is not
  // known.
  longest_path begin(std::uint64_t id, number& which);
  // The task has ended after that path, and `work` of its own. Its maker's path, `back`, joins it if it waited.
  void end(std::uint64_t id, number which, const longest_path& at, double work, longest_path& back);

  void begin_group(number by);
  void end_group(number by);

  // The longest path to the end of a wait of the task `by`, which began to wait at `at`.
  longest_path children(number by, const longest_path& at) const;
  longest_path group(number by, const longest_path& at) const;
  longest_path predecessors(std::uint64_t id, const longest_path& at) const;
  // The implicit task `by` comes to a barrier of its team, or to the end of its region, and goes on behind it. All
  // members have arrived before one of them leaves.
  void arrive(number by, const longest_path& at);
  longest_path leave(number by, const longest_path& at);

  // A task of that id was made and has not ended.
  [[nodiscard]] bool knows(std::uint64_t id) const { return by_id_.contains(id); }
  [[nodiscard]] const longest_path& start_of(number which) const { return tasks_[which].start; }
  [[nodiscard]] std::uint32_t function_of(number which) const { return tasks_[which].function; }
  // Of the task and all below it that have ended.
  [[nodiscard]] double work_of(number which) const { return tasks_[which].work; }

 private:
  // The dependences of one task's children at one address: sets of tasks that may run side by side. Only the last two
  // sets matter.
  struct place {
    std::uint32_t kind = 0;
    std::vector<number> now, before;
  };
  struct group_record {
    std::size_t outer = 0;
    longest_path ended;
  };
  struct task_record {
    number parent = 0;
    std::uint32_t function = 0;
    std::uint64_t team = 0;
    std::size_t group = 0;
    bool awaited = false;
    std::uint32_t barriers = 0;  // that an implicit task has left
    bool over = false;
    double work = 0;
    longest_path start, end;
    longest_path children;                            // the longest path of the ended ones
    std::vector<number> after;                        // predecessors
    std::unordered_map<std::uint64_t, place> places;  // of its children's dependences
    number everything = 0;                            // the last child that depends on all memory
  };
  struct team_record {
    longest_path start;
    longest_path tasks;                 // the longest path of the ended ones
    std::vector<longest_path> arrived;  // by the number of the barrier in the region
    std::vector<longest_path> left;     // fixed when the first member leaves
  };

  [[nodiscard]] number known(std::uint64_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? 0 : found->second;
  }
  void follow(number which, const std::vector<number>& before);

  double burden_ns_;
  std::vector<task_record> tasks_;
  std::vector<group_record> groups_{1};
  std::unordered_map<std::uint64_t, number> by_id_;  // of tasks that have not ended
  std::unordered_map<std::uint64_t, team_record> teams_;
};

}  // namespace heddle::trace
