// The forms of values of environment variables; environment.def names one for each variable. read_ functions return
// false, and leave `into` as it is, if the text has another form. Words are taken in any case, and blanks around values
// do not count. write_ functions return a text that the read_ function takes, or "" for a value that was not given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omp/core/settings/environment.hpp"

namespace heddle::omp::forms {

bool read_boolean(std::string_view text, bool& into);
bool read_boolean(std::string_view text, std::optional<bool>& into);
bool read_enabled(std::string_view text, bool& into);
bool read_whole(std::string_view text, int& into);     // 0 or more
bool read_positive(std::string_view text, int& into);  // 1 or more
bool read_optional_whole(std::string_view text, std::optional<int>& into);
bool read_buffers(std::string_view text, int& into);  // 1 to 4096
bool read_list(std::string_view text, std::vector<int>& into);
bool read_text(std::string_view text, std::string& into);
bool read_size(std::string_view text, std::size_t& into);       // bytes without a suffix
bool read_size_in_k(std::string_view text, std::size_t& into);  // kilobytes without one
bool read_schedule(std::string_view text, schedule& into);
bool read_bind_list(std::string_view text, std::vector<bind_kind>& into);
bool read_bind(std::string_view text, bind_kind& into);  // primary, close, spread
bool read_subset(std::string_view text, machine_subset& into);
bool read_places(std::string_view text, place_request& into);
bool read_cpu_affinity(std::string_view text, place_request& into);
bool read_kmp_affinity(std::string_view text, place_request& into);
bool read_waiting(std::string_view text, wait_policy& into);
bool read_offload(std::string_view text, offload& into);
bool read_display(std::string_view text, display& into);
bool read_library(std::string_view text, library_kind& into);
bool read_preempt(std::string_view text, preempt_members& into);
bool read_team_scheduling(std::string_view text, team_scheduling& into);
bool read_gang_sched(std::string_view text, team_scheduling& into);  // a boolean
bool read_victims(std::string_view text, policy::victim_rule& into);
bool read_allocator(std::string_view text, std::uintptr_t& into);
bool read_blocktime(std::string_view text, std::optional<std::int64_t>& into);  // milliseconds without a suffix
bool read_spin_count(std::string_view text, std::optional<std::int64_t>& into);

std::string write_boolean(bool value);
std::string write_boolean(std::optional<bool> value);
std::string write_enabled(bool value);
std::string write_whole(int value);
std::string write_positive(int value);
std::string write_optional_whole(std::optional<int> value);
std::string write_buffers(int value);
std::string write_list(const std::vector<int>& value);
std::string write_text(const std::string& value);
std::string write_size(std::size_t value);
std::string write_size_in_k(std::size_t value);
std::string write_schedule(const schedule& value);
std::string write_bind_list(const std::vector<bind_kind>& value);
std::string write_bind(bind_kind value);
std::string write_subset(const machine_subset& value);
std::string write_places(const place_request& value);
std::string write_cpu_affinity(const place_request& value);
std::string write_kmp_affinity(const place_request& value);
std::string write_waiting(wait_policy value);
std::string write_offload(offload value);
std::string write_display(display value);
std::string write_library(library_kind value);
std::string write_preempt(preempt_members value);
std::string write_team_scheduling(team_scheduling value);
std::string write_gang_sched(team_scheduling value);
std::string write_victims(policy::victim_rule value);
std::string write_allocator(std::uintptr_t value);
std::string write_blocktime(std::optional<std::int64_t> value);
std::string write_spin_count(std::optional<std::int64_t> value);

}  // namespace heddle::omp::forms
