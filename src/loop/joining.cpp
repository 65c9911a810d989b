#include "loop/joining.hpp"

#include <heddle/detail/loop_tree.hpp>

#include "loop/members.hpp"
#include "loop/members_in_windows.hpp"
#include "loop/ranges.hpp"
#include "worker/jobs.hpp"

namespace heddle::detail {

namespace {

template <class Work>
const void* code_of(const Work* work) noexcept {
  return work == nullptr ? nullptr : work->code();
}

const void* body_of(const job* one, job::code code) noexcept {
  if (const void* body = code_of(loop_ranges::work_of(one, code))) return body;
  if (const void* body = code_of(loop_tree<loop_body>::work_of(one, code))) return body;
  if (const void* body = code_of(loop_tree<loop_members>::work_of(one, code))) return body;
  return code_of(loop_tree<members_in_windows>::work_of(one, code));
}

}  // namespace

void name_joining_jobs() noexcept {
  body_of_joined_loop.store(body_of, std::memory_order_relaxed);  // pairs with shown_code: a constant
}

}  // namespace heddle::detail
