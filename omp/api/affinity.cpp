// Places and binding: OpenMP 5.1, section 3.3.
#include <algorithm>
#include <cstring>
#include <string>

#include "omp/api/api.hpp"
#include "omp/core/places/binding.hpp"
#include "omp/core/settings/affinity_format.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace {

using namespace heddle::omp;

const place_list& places() noexcept { return process_environment().all_places; }

const place* place_numbered(int number) noexcept {
  return number >= 0 && static_cast<std::size_t>(number) < places().size() ? &places()[static_cast<std::size_t>(number)]
                                                                           : nullptr;
}

member_place here() noexcept { return bound_place(thread::current()); }

std::string line_of(const char* format) {
  const bool own = format != nullptr && *format != '\0';
  return affinity_line(own ? std::string(format) : affinity_format(), facts_of(thread::current()));
}

// Returns the length of the text. The buffer gets the part of it that fits, and a terminating zero.
std::size_t copy_out(const std::string& text, char* buffer, std::size_t size) noexcept {
  if (buffer != nullptr && size > 0) {
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size();
}

}  // namespace

extern "C" {

int omp_get_proc_bind() { return static_cast<int>(thread::current().running->variables->bind); }
int omp_get_num_places() { return static_cast<int>(places().size()); }

int omp_get_place_num_procs(int number) {
  const place* const p = place_numbered(number);
  return p == nullptr ? 0 : static_cast<int>(p->size());
}
void omp_get_place_proc_ids(int number, int* ids) {
  const place* const p = place_numbered(number);
  if (p != nullptr) std::copy(p->begin(), p->end(), ids);
}

int omp_get_place_num() { return here().place; }
int omp_get_partition_num_places() { return here().count; }
void omp_get_partition_place_nums(int* numbers) {
  const member_place at = here();
  const int all = static_cast<int>(places().size());
  for (int i = 0; i < at.count; ++i) numbers[i] = (at.first + i) % all;
}

void omp_set_affinity_format(const char* format) { set_affinity_format(format); }
std::size_t omp_get_affinity_format(char* buffer, std::size_t size) {
  return copy_out(affinity_format(), buffer, size);
}
void omp_display_affinity(const char* format) { print_line(line_of(format)); }
std::size_t omp_capture_affinity(char* buffer, std::size_t size, const char* format) {
  return copy_out(line_of(format), buffer, size);
}

}  // extern "C"
