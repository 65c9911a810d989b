// The fields of affinity lines.
#include "omp/core/settings/affinity_format.hpp"
#include "omp/core/locks/kept.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cctype>
#include <map>
#include <mutex>
#include <optional>

#include <heddle/mutex.hpp>

#include "omp/core/settings/environment.hpp"
#include "omp/core/standard_error.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"

namespace heddle::omp {

namespace {

struct field {
  char letter;
  std::string_view name;
  std::string (*value)(const thread_facts& of);
};

constexpr field fields[] = {
    {'t', "team_num", [](const thread_facts& of) { return std::to_string(of.team_number); }},
    {'T', "num_teams", [](const thread_facts& of) { return std::to_string(of.teams); }},
    {'L', "nesting_level", [](const thread_facts& of) { return std::to_string(of.level); }},
    {'n', "thread_num", [](const thread_facts& of) { return std::to_string(of.number); }},
    {'N', "num_threads", [](const thread_facts& of) { return std::to_string(of.team_size); }},
    {'a', "ancestor_tnum", [](const thread_facts& of) { return std::to_string(of.ancestor); }},
    {'H', "host", [](const thread_facts& of) { return of.host; }},
    {'P', "process_id", [](const thread_facts& of) { return std::to_string(of.process); }},
    {'i', "native_thread_id", [](const thread_facts& of) { return std::to_string(of.kernel_thread); }},
    {'A', "thread_affinity", [](const thread_facts& of) { return ranges_of(of.processors); }},
};

std::optional<std::string> value_of(std::string_view& rest, const thread_facts& of) {
  if (rest.starts_with('{')) {
    const std::size_t end = rest.find('}');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view name = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    for (const field& f : fields) {
      if (f.name == name) return f.value(of);
    }
    return std::nullopt;
  }
  if (rest.empty()) return std::nullopt;
  const char letter = rest.front();
  rest.remove_prefix(1);
  for (const field& f : fields) {
    if (f.letter == letter) return f.value(of);
  }
  return std::nullopt;
}

// The process's format once the program has set one. Until then the environment's format holds.
constinit kept<std::optional<std::string>> program_format;
// Of program_format and of the lines that were printed. A child keeps both.
constinit kept<heddle::mutex> lock;
[[maybe_unused]] const bool format_told_of_forks = forget_in_children<lock>();

// For a thread that is not bound. A user-level thread may run on any worker.
std::vector<int> usable_by_caller() {
  if (is_user_level()) return process_environment().usable;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) processors.push_back(i);
  }
  return processors;
}

}  // namespace

thread_facts facts_of(const thread& self) {
  thread_facts facts;
  const team& in = *self.in;
  facts.team_number = in.league_number;
  facts.teams = in.league_size;
  facts.level = in.level;
  facts.number = static_cast<int>(self.number);
  facts.team_size = static_cast<int>(in.size);
  facts.ancestor = in.level > 0 && in.outer != nullptr ? static_cast<int>(in.outer_number) : -1;
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  facts.host = host;
  facts.process = static_cast<int>(getpid());
  facts.kernel_thread = static_cast<int>(syscall(SYS_gettid));
  const place_list& places = process_environment().all_places;
  facts.processors = self.bound >= 0 && static_cast<std::size_t>(self.bound) < places.size()
                         ? places[static_cast<std::size_t>(self.bound)]
                         : usable_by_caller();
  return facts;
}

std::string affinity_line(std::string_view rest, const thread_facts& of) {
  std::string line;
  while (!rest.empty()) {
    const char symbol = rest.front();
    rest.remove_prefix(1);
    if (symbol != '%') {
      line += symbol;
      continue;
    }
    if (rest.starts_with('%')) {
      rest.remove_prefix(1);
      line += '%';
      continue;
    }
    bool zeros = false, to_the_right = false;
    if (rest.starts_with('0')) {
      zeros = true;
      rest.remove_prefix(1);
    }
    if (rest.starts_with('.')) {
      to_the_right = true;
      rest.remove_prefix(1);
    }
    std::size_t width = 0;
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
      width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(rest.front() - '0'), 4096);
      rest.remove_prefix(1);
    }
    std::string value = value_of(rest, of).value_or("undefined");
    if (value.size() < width) {
      const std::size_t more = width - value.size();
      if (!to_the_right) value.append(more, ' ');
      else if (zeros && value.starts_with('-')) value.insert(1, more, '0');
      else value.insert(0, more, zeros ? '0' : ' ');
    }
    line += value;
  }
  return line;
}

std::string affinity_format() {
  const std::lock_guard held(lock.object);
  return program_format.object ? *program_format.object : process_environment().affinity_format;
}

void set_affinity_format(std::string_view format) {
  const std::lock_guard held(lock.object);
  program_format.object = std::string(format);
}

void display_affinity_of_member(const thread& self) {
  const thread_facts facts = facts_of(self);
  // The kernel thread is not a part of the text, because members change theirs, nor is the format. If the team is bound
  // in another way, all its members say so.
  const placement& where = self.in->variables.places;
  std::string now = affinity_line("%t %T %L %n %N %a %A", facts);
  for (const int part : {where.first, where.count, where.parent, static_cast<int>(where.bind)})
    now += ' ' + std::to_string(part);
  static auto* const last = new std::map<int, std::string>;  // by the thread's number
  {
    const std::lock_guard held(lock.object);
    std::string& before = (*last)[self.global_number];
    if (before == now) return;
    before = now;
  }
  print_line(affinity_line(affinity_format(), facts));
}

}  // namespace heddle::omp
