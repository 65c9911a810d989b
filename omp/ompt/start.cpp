// The search for a tool. What OMP_TOOL_VERBOSE_INIT writes has the form that LLVM's runtime gives it, for tools' own
// tests read it.
#include "omp/ompt/start.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include <heddle/mutex.hpp>

#include "omp/core/locks/kept.hpp"
#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/members.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/inquiry.hpp"
#include "omp/ompt/regions.hpp"

// A tool in the program's own address space. The reference, though it may stay without a definition, makes linkers let
// an executable's function be seen here.
extern "C" __attribute__((weak, visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned,
                                                                                                  const char*);

namespace heddle::omp::ompt {

namespace {

using start_function = ompt_start_tool_result_t* (*)(unsigned omp_version, const char* runtime_version);

constexpr unsigned version_of_standard = 202011;  // 5.1
constexpr const char* version_of_runtime = "heddle OpenMP runtime";

// OMP_TOOL_VERBOSE_INIT: disabled, stdout, stderr or a file.
class search_log {
 public:
  explicit search_log(const std::string& where) {
    if (where.empty() || where == "disabled" || where == "DISABLED") return;
    if (where == "stdout" || where == "STDOUT") to_ = stdout;
    else if (where == "stderr" || where == "STDERR") to_ = stderr;
    else to_ = own_ = std::fopen(where.c_str(), "w");
    if (to_ == nullptr) say("OMP_TOOL_VERBOSE_INIT=" + where + " cannot be opened");
    write("----- START LOGGING OF TOOL REGISTRATION -----\n");
  }
  search_log(const search_log&) = delete;
  ~search_log() {
    write("----- END LOGGING OF TOOL REGISTRATION -----\n");
    if (own_ != nullptr) std::fclose(own_);
  }
  void write(const std::string& text) noexcept {
    if (to_ == nullptr) return;
    std::fwrite(text.data(), 1, text.size(), to_);
    std::fflush(to_);  // what the tool prints comes after it
  }

 private:
  std::FILE* to_{nullptr};
  std::FILE* own_{nullptr};
};

std::string last_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown error";
}

ompt_start_tool_result_t* try_library(const std::string& path, search_log& log) {
  log.write("Opening " + path + "... ");
  void* const handle = dlopen(path.c_str(), RTLD_LAZY);
  if (handle == nullptr) {
    log.write("Failed: " + last_error() + '\n');
    return nullptr;
  }
  log.write("Success.\nSearching for ompt_start_tool in " + path + "... ");
  const auto start = reinterpret_cast<start_function>(dlsym(handle, "ompt_start_tool"));
  if (start == nullptr) {
    log.write("Failed: " + last_error() + '\n');
  } else if (ompt_start_tool_result_t* const found = start(version_of_standard, version_of_runtime)) {
    log.write("Success.\n");
    return found;
  } else {
    log.write("Found but not using the OMPT interface.\nContinuing search...\n");
  }
  dlclose(handle);
  return nullptr;
}

ompt_start_tool_result_t* try_libraries(const std::string& paths, search_log& log) {
  if (paths.empty()) {
    log.write("No OMP_TOOL_LIBRARIES defined.\n");
    return nullptr;
  }
  log.write("Searching tool libraries...\nOMP_TOOL_LIBRARIES = " + paths + '\n');
  for (std::size_t at = 0; at <= paths.size();) {
    const std::size_t end = std::min(paths.find(':', at), paths.size());
    if (end != at)
      if (auto* const found = try_library(paths.substr(at, end - at), log)) return found;
    at = end + 1;
  }
  return nullptr;
}

ompt_start_tool_result_t* search() {
  const environment& e = process_environment();
  if (!e.tool) return nullptr;
  search_log log(e.tool_verbose_init);
  log.write("Search for OMP tool in current address space... ");
  start_function start = &ompt_start_tool;
  if (start == nullptr) start = reinterpret_cast<start_function>(dlsym(RTLD_DEFAULT, "ompt_start_tool"));
  ompt_start_tool_result_t* found = start != nullptr ? start(version_of_standard, version_of_runtime) : nullptr;
  if (found != nullptr) {
    log.write("Success.\n");
  } else {
    log.write("Failed.\n");
    found = try_libraries(e.tool_libraries, log);
    if (found == nullptr) log.write("...searching tool libraries failed.\n");
  }
  log.write(found != nullptr ? "Tool was started and is using the OMPT interface.\n" : "No OMP tool loaded.\n");
  return found;
}

// Under `starting`.
constinit ompt_start_tool_result_t* the_tool = nullptr;
// The kernel thread that is in the tool's code meanwhile: for it there is no tool yet.
constinit std::atomic<pthread_t> starter{};

constinit kept<heddle::mutex> starting;  // events come until the process's very end
[[maybe_unused]] const bool told_of_forks = forget_in_children<starting>();

bool start() {
  ompt_start_tool_result_t* const found = search();
  if (found == nullptr || found->initialize == nullptr) return false;
  if (found->initialize(lookup, 0, &found->tool_data) == 0) return false;
  the_tool = found;
  std::atexit(finish);
  return true;
}

}  // namespace

bool find_out() noexcept {
  // acquire pairs with the store below: the tool has been initialised
  const attached now = tool_is.load(std::memory_order_acquire);
  if (now != attached::unknown) return now == attached::yes;
  if (starter.load() == pthread_self()) return false;
  const std::lock_guard held(starting.object);
  if (tool_is.load() == attached::unknown) {
    starter.store(pthread_self());
    const bool found = start();
    starter.store({});
    if (found) tool_was_there.store(true);
    tool_is.store(found ? attached::yes : attached::no);
  }
  return tool_is.load() == attached::yes;
}

void finish() noexcept {
  if (tool_is.load() != attached::yes) return;
  thread* const self = thread::current_or_null();
  if (self != nullptr && !is_user_level() && self->in == self->root && self->running == &self->root->implicit[0]) {
    dismiss_teams(*self);
    initial_thread_ends(*self);
  }
  const std::lock_guard held(starting.object);
  if (tool_is.exchange(attached::no) != attached::yes) return;
  forget_callbacks();
  if (the_tool->finalize != nullptr) the_tool->finalize(&the_tool->tool_data);
}

}  // namespace heddle::omp::ompt
