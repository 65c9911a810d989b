#include "loop/joining.hpp"

#include <heddle/detail/loop_tree.hpp>

#include "loop/members.hpp"
#include "loop/ranges.hpp"
#include "worker/jobs.hpp"

namespace heddle::detail {

namespace {

const void* body_of(const job* one, job::code code) noexcept {
  if (const void* body = code_of(loop_ranges::work_of(one, code))) return body;
  if (const void* body = code_of(loop_tree<loop_body>::work_of(one, code))) return body;
  if (const void* body = code_of(loop_tree<loop_members>::work_of(one, code))) return body;
  const auto above = body_of_job_above.load(std::memory_order_relaxed);  // a constant
  return above == nullptr ? nullptr : above(one, code);
}

}  // namespace

void name_joining_jobs() noexcept {
  body_of_joined_loop.store(body_of, std::memory_order_relaxed);  // pairs with shown_code: a constant
}

}  // namespace heddle::detail
