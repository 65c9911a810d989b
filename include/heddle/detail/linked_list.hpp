// A list with two ends whose links are members of its elements, so nothing is allocated.
#pragma once

#include <type_traits>

namespace heddle::detail {

// `Next` and `Previous` are the members that hold the links, or functions that name them. Through them an element is in
// at most one list at a time. The list does not record whether an element is in it; the caller keeps track of that, and
// decides what the links hold outside a list. The caller must hold the list's lock.
template <class T, auto Next = &T::next, auto Previous = &T::previous>
class linked_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  T* front() const noexcept { return first_; }
  T* back() const noexcept { return last_; }

  void push_front(T& t) noexcept { insert_before(t, first_); }
  void push_back(T& t) noexcept { insert_before(t, nullptr); }
  // Inserts before `place`, or at the end if `place` is null.
  void insert_before(T& t, T* place) noexcept {
    T* const before = place != nullptr ? previous_of(*place) : last_;
    next_of(t) = place;
    previous_of(t) = before;
    (before != nullptr ? next_of(*before) : first_) = &t;
    (place != nullptr ? previous_of(*place) : last_) = &t;
  }
  // Removes `t`, which must be in the list. The links of `t` keep their values.
  void remove(T& t) noexcept {
    T* const next = next_of(t);
    T* const previous = previous_of(t);
    (previous != nullptr ? next_of(*previous) : first_) = next;
    (next != nullptr ? previous_of(*next) : last_) = previous;
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
  static T*& next_of(T& t) noexcept { return link<Next>(t); }
  static T*& previous_of(T& t) noexcept { return link<Previous>(t); }
  template <auto Link>
  static T*& link(T& t) noexcept {
    if constexpr (std::is_member_object_pointer_v<decltype(Link)>) return t.*Link;
    else return Link(t);
  }

  T* first_{nullptr};
  T* last_{nullptr};
};

}  // namespace heddle::detail
