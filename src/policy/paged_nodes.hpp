// Nodes of one kind, in chunks that come straight from the system. A policy may not call malloc, because a preempted
// thread that waits for this worker may hold malloc's locks. A component of policies that keep more data of a task than
// fits into its room. The free nodes of a worker are a chain that the caller keeps; `Link` is the member by which nodes
// are chained while they are free.
#pragma once

#include <mutex>
#include <new>

#include <heddle/detail/wait.hpp>

#include "platform/platform.hpp"

namespace heddle::policy {

template <class Node, Node* Node::* Link>
class paged_nodes {
 public:
  paged_nodes() = default;
  paged_nodes(const paged_nodes&) = delete;
  paged_nodes& operator=(const paged_nodes&) = delete;
  ~paged_nodes() {
    while (chunks_ != nullptr) {
      chunk* next = chunks_->next;
      platform::release(chunks_, sizeof(chunk));
      chunks_ = next;
    }
  }

  // Returns null if there is no memory, or if there are too many nodes.
  Node* take(Node*& own) noexcept {
    if (own == nullptr) {
      std::lock_guard hold(lock_);
      for (unsigned i = 0; i < chunk_size && free_ != nullptr; ++i) {
        Node* n = free_;
        free_ = n->*Link;
        give(own, *n);
      }
      if (own == nullptr && count_ < most_chunks) {
        if (void* const memory = platform::reserve(sizeof(chunk)); memory != nullptr) {
          auto* c = ::new (memory) chunk;
          c->next = chunks_;
          chunks_ = c;
          ++count_;
          for (unsigned i = chunk_size; i-- > 0;) give(own, c->nodes[i]);
        }
      }
      if (own == nullptr) return nullptr;
    }
    Node* n = own;
    own = n->*Link;
    return n;
  }
  static void give(Node*& own, Node& n) noexcept {
    n.*Link = own;
    own = &n;
  }
  // Puts the chain to the free nodes that any worker may take.
  void give_back(Node* chain) noexcept {
    if (chain == nullptr) return;
    Node* last = chain;
    while (last->*Link != nullptr) last = last->*Link;
    std::lock_guard hold(lock_);
    last->*Link = free_;
    free_ = chain;
  }

 private:
  static constexpr unsigned chunk_size = 256;
  static constexpr unsigned most_chunks = 4096;
  struct chunk {
    chunk* next;
    Node nodes[chunk_size];
  };

  detail::spin_word lock_;
  chunk* chunks_{nullptr};  // under lock_, as the next two
  unsigned count_{0};
  Node* free_{nullptr};
};

}  // namespace heddle::policy
