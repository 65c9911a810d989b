// OpenMP's tasks in a graph: which paths the ends of dependences, groups and barriers take.
#include "tools/trace/dag_tasks.hpp"

#include <gtest/gtest.h>

namespace heddle::trace::dag_tasks_test {
namespace {

constexpr std::uint32_t in = 0, out = 1, mutexinoutset = 2, inoutset = 3;
constexpr std::uint64_t team = 1;

longest_path path(double ns) { return {ns, ns, no_stretch}; }

// A graph without burden, and the implicit task of a member, whose region began at 100.
struct one_member {
  task_graph graph{0};
  task_graph::number self;

  one_member() {
    graph.begin_region(team, path(100));
    self = graph.begin_member(team, 7);
  }
  void make(std::uint64_t id, double at, bool awaited = false) { graph.make(self, id, path(at), 0, awaited); }
  // Begins the task and ends it `ns` later. Returns when it began.
  double run(std::uint64_t id, double ns) {
    task_graph::number which = 0;
    const longest_path start = graph.begin(id, which);
    EXPECT_NE(which, 0U);
    longest_path back = path(0);
    graph.end(id, which, path(start.span + ns), ns, back);
    return start.span;
  }
};

TEST(dag_tasks, a_member_begins_where_its_region_does) {
  one_member m;
  EXPECT_EQ(m.graph.start_of(m.self).span, 100);
  EXPECT_EQ(m.graph.function_of(m.self), 7U);
}

TEST(dag_tasks, a_wait_takes_the_longest_child) {
  one_member m;
  m.make(1, 110);
  m.make(2, 120);
  EXPECT_EQ(m.run(1, 50), 110);
  EXPECT_EQ(m.run(2, 10), 120);
  EXPECT_EQ(m.graph.children(m.self, path(130)).span, 160);
  EXPECT_EQ(m.graph.children(m.self, path(200)).span, 200);
  EXPECT_EQ(m.graph.work_of(m.self), 60);
}

TEST(dag_tasks, a_writer_follows_readers_and_readers_follow_a_writer) {
  one_member m;
  for (std::uint64_t id = 1; id <= 5; ++id) m.make(id, 100);
  m.graph.depend(1, out, 0x10);
  m.graph.depend(2, in, 0x10);
  m.graph.depend(3, in, 0x10);
  m.graph.depend(4, out, 0x10);
  m.graph.depend(5, out, 0x20);
  EXPECT_EQ(m.run(1, 10), 100);
  EXPECT_EQ(m.run(2, 20), 110);
  EXPECT_EQ(m.run(3, 5), 110);
  EXPECT_EQ(m.run(4, 1), 130);
  EXPECT_EQ(m.run(5, 1), 100);
}

TEST(dag_tasks, tasks_of_one_kind_of_set_stand_side_by_side) {
  for (const std::uint32_t kind : {in, mutexinoutset, inoutset}) {
    one_member m;
    for (std::uint64_t id = 1; id <= 4; ++id) m.make(id, 100);
    m.graph.depend(1, out, 0x10);
    m.graph.depend(2, kind, 0x10);
    m.graph.depend(3, kind, 0x10);
    m.graph.depend(4, kind == in ? inoutset : in, 0x10);
    EXPECT_EQ(m.run(1, 10), 100);
    EXPECT_EQ(m.run(2, 20), 110) << kind;
    EXPECT_EQ(m.run(3, 30), 110) << kind;
    EXPECT_EQ(m.run(4, 1), 140) << kind;
  }
}

TEST(dag_tasks, all_memory_follows_all_and_all_follow_it) {
  one_member m;
  for (std::uint64_t id = 1; id <= 4; ++id) m.make(id, 100);
  m.graph.depend(1, out, 0x10);
  m.graph.depend(2, in, 0x20);
  m.graph.depend(3, out, 0);
  m.graph.depend(4, in, 0x30);
  EXPECT_EQ(m.run(1, 10), 100);
  EXPECT_EQ(m.run(2, 20), 100);
  EXPECT_EQ(m.run(3, 5), 120);
  EXPECT_EQ(m.run(4, 1), 125);
}

TEST(dag_tasks, a_group_waits_for_descendants_and_a_taskwait_does_not) {
  one_member m;
  m.graph.begin_group(m.self);
  m.make(1, 100);
  task_graph::number outer = 0;
  EXPECT_EQ(m.graph.begin(1, outer).span, 100);
  m.graph.make(outer, 2, path(105), 0, false);
  longest_path back = path(0);
  m.graph.end(1, outer, path(110), 10, back);
  EXPECT_EQ(m.run(2, 100), 105);
  EXPECT_EQ(m.graph.children(m.self, path(100)).span, 110);
  EXPECT_EQ(m.graph.group(m.self, path(100)).span, 205);
  m.graph.end_group(m.self);
  m.make(3, 300);
  EXPECT_EQ(m.run(3, 1), 300);
}

TEST(dag_tasks, the_maker_of_an_awaited_task_goes_on_behind_it) {
  one_member m;
  m.make(1, 100, true);
  task_graph::number which = 0;
  const longest_path start = m.graph.begin(1, which);
  longest_path back = path(100);
  m.graph.end(1, which, path(start.span + 40), 40, back);
  EXPECT_EQ(back.span, 140);
}

TEST(dag_tasks, a_barrier_takes_all_arrivals_and_all_tasks) {
  one_member m;
  const task_graph::number other = m.graph.begin_member(team, 7);
  m.make(1, 100);
  EXPECT_EQ(m.run(1, 70), 100);
  m.graph.arrive(m.self, path(120));
  m.graph.arrive(other, path(150));
  EXPECT_EQ(m.graph.leave(m.self, path(120)).span, 170);
  // A member that is slow to leave does not see what comes behind the barrier.
  m.make(2, 170);
  EXPECT_EQ(m.run(2, 500), 170);
  EXPECT_EQ(m.graph.leave(other, path(150)).span, 170);
  m.graph.arrive(m.self, path(180));
  m.graph.arrive(other, path(175));
  EXPECT_EQ(m.graph.leave(other, path(175)).span, 670);
}

TEST(dag_tasks, burden_is_paid_on_the_way_out_and_on_the_way_back) {
  task_graph graph(5);
  graph.begin_region(team, path(0));
  const task_graph::number self = graph.begin_member(team, 0);
  graph.make(self, 1, path(10), 0, false);
  task_graph::number which = 0;
  const longest_path start = graph.begin(1, which);
  EXPECT_EQ(start.span, 10);
  EXPECT_EQ(start.burdened, 15);
  longest_path back = path(0);
  graph.end(1, which, {30, 35, no_stretch}, 20, back);
  EXPECT_EQ(graph.children(self, path(10)).span, 30);
  EXPECT_EQ(graph.children(self, path(10)).burdened, 40);
}

}  // namespace
}  // namespace heddle::trace::dag_tasks_test
