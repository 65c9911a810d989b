// A list with two ends whose links are members of its elements: nothing is allocated.
#pragma once

namespace heddle::detail {

// `Next` and `Previous` are the members that hold the links. An element is in one list by them at a time; what they
// hold while it is in none, and whether it is in one, is for the caller to know. Whoever uses the list holds its lock.
template <class T, T* T::* Next = &T::next, T* T::* Previous = &T::previous>
class linked_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  T* front() const noexcept { return first_; }
  T* back() const noexcept { return last_; }

  void push_front(T& t) noexcept { insert_before(t, first_); }
  void push_back(T& t) noexcept { insert_before(t, nullptr); }
  // At the end when `place` is null.
  void insert_before(T& t, T* place) noexcept {
    T* const before = place != nullptr ? place->*Previous : last_;
    t.*Next = place;
    t.*Previous = before;
    (before != nullptr ? before->*Next : first_) = &t;
    (place != nullptr ? place->*Previous : last_) = &t;
  }
  // It is in the list. Its links stay what they were.
  void remove(T& t) noexcept {
    T* const next = t.*Next;
    T* const previous = t.*Previous;
    (previous != nullptr ? previous->*Next : first_) = next;
    (next != nullptr ? next->*Previous : last_) = previous;
  }
  T* pop_front() noexcept {
    T* t = first_;
    if (t != nullptr) remove(*t);
    return t;
  }
  T* pop_back() noexcept {
    T* t = last_;
    if (t != nullptr) remove(*t);
    return t;
  }

 private:
  T* first_{nullptr};
  T* last_{nullptr};
};

}  // namespace heddle::detail
