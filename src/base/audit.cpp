#include "base/audit.hpp"

#if defined(HEDDLE_AUDIT)
#include <atomic>

namespace heddle::base {

namespace {

constinit std::atomic<bool (*)() noexcept> question{nullptr};  // set once

}  // namespace

void preemption_is_used(bool (*may_be_preempted)() noexcept) noexcept { question.store(may_be_preempted); }

void lock_is_taken(const char* which) noexcept {
  const auto may_be_preempted = question.load(std::memory_order_relaxed);  // relaxed: a function of the program
  if (may_be_preempted == nullptr || !may_be_preempted()) [[likely]]
    return;
  fail(__FILE__, __LINE__,
       "%s was taken by a preemptive thread outside of a section: it may be preempted with it, and workers would wait "
       "for it",
       which);
}

#if defined(HEDDLE_AUDITS_MALLOC)
namespace {

constinit thread_local const char* forbidden_by [[gnu::tls_model("initial-exec")]] = nullptr;

}  // namespace

void forbid_malloc(const char* doing) noexcept {
  if (question.load(std::memory_order_relaxed) != nullptr) forbidden_by = doing;  // relaxed: as above
}
void allow_malloc() noexcept { forbidden_by = nullptr; }
const char* malloc_forbidden_by() noexcept { return forbidden_by; }
#endif

}  // namespace heddle::base
#endif
