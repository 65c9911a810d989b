// Allocators in the form of OMP_ALLOCATOR.
#include <charconv>
#include <optional>
#include <vector>

#include "omp/core/memory/allocator.hpp"
#include "omp/core/memory/allocator_traits.hpp"

namespace heddle::omp::allocators {

namespace {

constexpr std::string_view predefined[] = {"omp_null_allocator",   "omp_default_mem_alloc", "omp_large_cap_mem_alloc",
                                           "omp_const_mem_alloc",  "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",
                                           "omp_cgroup_mem_alloc", "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
constexpr std::string_view spaces[] = {"omp_default_mem_space", "omp_large_cap_mem_space", "omp_const_mem_space",
                                       "omp_high_bw_mem_space", "omp_low_lat_mem_space"};
constexpr std::string_view keys[] = {"",         "sync_hint", "alignment", "access",   "pool_size",
                                     "fallback", "fb_data",   "pinned",    "partition"};
struct word {
  std::string_view name;
  trait_value value;
};
constexpr word words[] = {{"default", value_default},
                          {"false", value_false},
                          {"true", value_true},
                          {"contended", value_contended},
                          {"uncontended", value_uncontended},
                          {"serialized", value_serialized},
                          {"sequential", value_serialized},
                          {"private", value_private},
                          {"all", value_all},
                          {"thread", value_thread},
                          {"pteam", value_pteam},
                          {"cgroup", value_cgroup},
                          {"default_mem_fb", value_default_mem_fb},
                          {"null_fb", value_null_fb},
                          {"abort_fb", value_abort_fb},
                          {"allocator_fb", value_allocator_fb},
                          {"environment", value_environment},
                          {"nearest", value_nearest},
                          {"blocked", value_blocked},
                          {"interleaved", value_interleaved}};

template <std::size_t Count>
std::optional<std::size_t> index_in(const std::string_view (&names)[Count], std::string_view text) noexcept {
  for (std::size_t i = 0; i < Count; ++i) {
    if (!names[i].empty() && names[i] == text) return i;
  }
  return std::nullopt;
}

std::string_view until(std::string_view& rest, char separator) noexcept {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

std::optional<trait> trait_from(std::string_view text) noexcept {
  const std::optional<std::size_t> key = index_in(keys, until(text, '='));
  if (!key) return std::nullopt;
  trait t{static_cast<std::int32_t>(*key), 0};
  if (t.key == key_fb_data) {
    const std::optional<std::size_t> which = index_in(predefined, text);
    if (!which) return std::nullopt;
    t.value = *which;
    return t;
  }
  if (t.key == key_alignment || t.key == key_pool_size) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), t.value);
    if (error == std::errc() && end == text.data() + text.size()) return t;
  }
  for (const word& w : words) {
    if (w.name != text) continue;
    t.value = w.value;
    return t;
  }
  return std::nullopt;
}

}  // namespace

bool from_text(std::string_view text, handle& result) {
  if (const std::optional<std::size_t> known = index_in(predefined, text); known && *known != null) {
    result = *known;
    return true;
  }
  const std::optional<std::size_t> space = index_in(spaces, until(text, ':'));
  if (!space) return false;
  std::vector<trait> traits;
  while (!text.empty()) {
    const std::optional<trait> t = trait_from(until(text, ','));
    if (!t) return false;
    traits.push_back(*t);
  }
  const handle of = make(*space, static_cast<int>(traits.size()), traits.data());
  if (of == null) return false;
  result = of;
  return true;
}

std::string to_text(handle of) {
  return of < std::size(predefined) ? std::string(predefined[of]) : "one that the program or OMP_ALLOCATOR has made";
}

}  // namespace heddle::omp::allocators
