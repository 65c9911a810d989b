// Loops with a named schedule. Protocols: README.md, "Loops by name".
#include <heddle/detail/loop_named.hpp>
#include <heddle/detail/loop_runtime.hpp>
#include <heddle/detail/loop_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <stop_token>

#include "loop/members.hpp"

namespace heddle::detail {

void run_by_name(loop_chunks body, std::size_t n, const loop_schedule& how, const std::stop_token& stop,
                 std::size_t bytes, loop_named_site& site) {
  if (on_foreign_thread()) [[unlikely]]
    return run_in_runtime([&] { run_by_name(body, n, how, stop, bytes, site); });
  if (how.how >= loop_schedule::kind::window) return site.by_window(body, n, how, stop, bytes, site);
  const loop_start start = loop_begin();
  const std::size_t members = std::min<std::size_t>(start.workers, n);
  loop_members all(body, n, how, members, stop, site.adaptive, start.measure);
  if (how.how == loop_schedule::kind::affinity) {
    run_on_each_worker(&loop_members::run_noted, &all, members);
    return all.rethrow();
  }
  loop_site unknown;  // the time of a member is no measure of an iteration
  run_loop(all, members, unknown, 1, stop, bytes * (n / members));
}

}  // namespace heddle::detail
