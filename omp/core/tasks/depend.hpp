// The depend clause: the graph that the children of one task form. All its clauses come from that task's own thread, so
// locations and sets have no lock; only the ends of tasks come from others. Protocol: omp/tasks.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "omp/core/tasks/task.hpp"

namespace heddle::omp {

class thread;
struct member_tasks;

// out is inout, too.
enum class depend_kind : std::uint8_t { in, out, mutexinoutset, inoutset };

// What a clause names. Null: all memory (omp_all_memory).
struct depend_item {
  const void* address;
  depend_kind kind;
};

// The items of one task, in whatever form its ABI has them: item(from, i) for i < count.
struct depend_list {
  std::size_t count{0};
  depend_item (*item)(const void* from, std::size_t i){nullptr};
  const void* from{nullptr};

  depend_item operator[](std::size_t i) const { return item(from, i); }
};

struct lock_link;
struct depend_node;

// From a predecessor to a successor, whose memory it is.
struct depend_edge {
  depend_node* to;    // the predecessor, as long as the edge is in no list
  depend_edge* next;  // of the predecessor's successors
};
// Where a node has no room for it.
struct further_edge : depend_edge {
  further_edge* sibling;  // of the successor's
};

// A task in the graph, or that of a thread that waits for predecessors. In the graph's memory: [depend:3].
struct alignas(64) depend_node {
  // --- of all those who end its predecessors, and who ends it: one line, in which its first edges lie, too
  // Successors, the newest first; closed when the task has ended. Pushed by the parent's thread, closed by who ends the
  // task; each publishes what it has done. It comes first: successors_of.
  std::atomic<depend_edge*> successors{nullptr};
  explicit_task* of{nullptr};
  // [depend:2] Edges that lead here from tasks that have not ended. Written before the first of them is in a list, then
  // counted down by ends and, once, by the parent's thread; who reaches 0 has the task ready.
  std::atomic<std::int32_t> waiting{0};
  bool special{false};  // it has locks or a priority, or somebody waits for it; written before it is known to others
  depend_edge first_edges[2];

  // --- the parent's thread's alone
  alignas(64) std::uint32_t held{0};  // memberships of sets
  std::uint32_t edges{0};             // that have been taken
  further_edge* further{nullptr};     // all but the first ones
  std::uint64_t serial{0};            // of the graph's nodes
  std::uint64_t newest{0};            // the last successor that was added
  depend_node* next{nullptr};         // of free ones, or of those to be looked at

  // --- of special ones
  // mutexinoutset: what it must hold while it runs. Written before it is known to others, as the next two.
  lock_link* locks{nullptr};
  thread* waits{nullptr};  // who runs `of` itself, or only waits for predecessors if that is null
  dependences* graph{nullptr};
  depend_node* next_blocked{nullptr};  // under the graph's guard
  std::atomic<bool> begins{false};     // `waits` may run `of` now; set by who has ended the last that it waits for
};

// Puts a counted task into the graph of its parent, the running task. True: it has no predecessor left, and the caller
// queues it. Throws std::bad_alloc with the graph as it was before or the task in it.
[[nodiscard]] bool add_node(thread& self, explicit_task& it, const depend_list& list);

// The same for one that the caller runs itself: returns when it may begin. Meanwhile the caller runs other tasks.
void add_node_and_wait(thread& self, explicit_task& it, const depend_list& list);

// The task has ended: its successors hear of it, and those that are ready now are queued, by the member `mine`, or by
// the team if that is null.
void end_node(thread* self, member_tasks* mine, explicit_task& it) noexcept;

// A task's successors so far, the newest first; null: there are none, or it has ended. By its parent's thread, which
// alone adds some. Tools of the LLVM ABI look into it: a node begins with its list, an edge is {node, next, ...}.
[[nodiscard]] depend_edge* successors_of(const explicit_task& it) noexcept;

// Until a child of the running task with such a clause could begin; exclusion of mutexinoutset counts as a dependence.
void wait_for_predecessors(thread& self, const depend_list& list);

// The running task's `made` has grown: if it has very many unfinished children, it runs some.
void stay_near(thread& self, task& parent);

// All children have ended: nothing of the past matters.
void forget_dependences(task& of) noexcept;
void drop_dependences(task& of) noexcept;

}  // namespace heddle::omp
