// The depend clause: the graph that the children of one task form. All its clauses come from that task's own thread, so
// locations and sets have no lock; only the ends of tasks come from other threads. Protocol: omp/tasks.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

class thread;
struct member_tasks;

// `out` also stands for inout.
enum class depend_kind : std::uint8_t { in, out, mutexinoutset, inoutset };

// One item of a clause. A null address means all memory (omp_all_memory).
struct depend_item {
  const void* address;
  depend_kind kind;
};

// The items of one task, in the form of its ABI: item(from, i) for i < count.
struct depend_list {
  std::size_t count{0};
  depend_item (*item)(const void* from, std::size_t i){nullptr};
  const void* from{nullptr};

  depend_item operator[](std::size_t i) const { return item(from, i); }
};

struct lock_link;
struct depend_node;

// An edge from a predecessor to a successor, in the successor's memory.
struct depend_edge {
  depend_node* to;    // the predecessor, as long as the edge is in no list
  depend_edge* next;  // the next edge of the predecessor's successors
};
// An edge for which a node has no room.
struct further_edge : depend_edge {
  further_edge* sibling;  // the next further edge of the successor
};

// A task in the graph, or the node of a thread that waits for predecessors. In the graph's memory: [depend:3].
struct alignas(64) depend_node {
  // --- for the threads that end its predecessors, and the thread that ends it: one line, with its first edges
  // The successors, the newest first; closed when the task has ended. The parent's thread pushes edges, and the thread
  // that ends the task closes the list. Each publishes what it has done. It comes first, because of successors_of.
  std::atomic<depend_edge*> successors{nullptr};
  explicit_task* of{nullptr};
  // [depend:2] The number of edges that lead here from tasks that have not ended. Written before the first of them is
  // in a list, then counted down by ends and, once, by the parent's thread. The thread that reaches 0 has the task
  // ready.
  std::atomic<std::int32_t> waiting{0};
  // It has locks or a priority, or a thread waits for it. Written before it is known to other threads.
  bool special{false};
  depend_edge first_edges[2];

  // --- for the parent's thread alone
  alignas(64) std::uint32_t held{0};  // memberships of sets
  std::uint32_t edges{0};             // edges that have been taken
  further_edge* further{nullptr};     // all edges but the first ones
  std::uint64_t serial{0};            // its number among the graph's nodes
  std::uint64_t newest{0};            // the serial of the last successor that was added
  depend_node* next{nullptr};         // links free nodes, or nodes to be looked at

  // --- for special nodes
  // mutexinoutset: the locks that it must hold while it runs. Written before it is known to other threads, as the next
  // two.
  lock_link* locks{nullptr};
  // The thread that runs `of` itself, or only waits for predecessors if `of` is null.
  thread* waits{nullptr};
  dependences* graph{nullptr};
  depend_node* next_blocked{nullptr};  // under the graph's guard
  // `waits` may run `of` at once. Set by the thread that has ended the last task for which it waits.
  std::atomic<bool> begins{false};
};

// Puts a counted task into the graph of its parent, the running task. Returns true if it has no predecessor left; the
// caller then queues it. Throws std::bad_alloc, with the graph as it was before or with the task in it.
[[nodiscard]] bool add_node(thread& self, explicit_task& it, const depend_list& list);

// The same for a task that the caller runs itself: returns when it may begin. Meanwhile the caller runs other tasks.
void add_node_and_wait(thread& self, explicit_task& it, const depend_list& list);

// Called when the task has ended. Tells its successors, and queues those that are ready then, in the queue of the
// member `mine`, or of the team if `mine` is null.
void end_node(thread* self, member_tasks* mine, explicit_task& it) noexcept;

// A task's successors so far, the newest first; null if there are none, or if it has ended. Called by its parent's
// thread, which alone adds successors. Tools of the LLVM ABI look into it: a node begins with its list, an edge is
// {node, next, ...}.
[[nodiscard]] depend_edge* successors_of(const explicit_task& it) noexcept;

// Waits until a child of the running task with such a clause could begin. Exclusion of mutexinoutset counts as a
// dependence.
void wait_for_predecessors(thread& self, const depend_list& list);

// Called when the running task's `made` has grown. If the task has very many unfinished children, runs some.
void stay_near(thread& self, task& parent);

// Called when all children have ended, so that the past does not matter.
void forget_dependences(task& of) noexcept;
void drop_dependences(task& of) noexcept;

}  // namespace heddle::omp
