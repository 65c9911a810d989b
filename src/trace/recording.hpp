// A finished trace in memory. recorder::collect returns it, files hold it, and summary and writers read it.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace/ring.hpp"

namespace heddle::trace {

struct worker_log {
  std::uint16_t worker = 0;  // or foreign_worker
  std::string place;         // the place where it runs, e.g. "pu:3"; may be empty
  std::uint64_t written = 0;
  std::uint64_t lost = 0;       // the oldest records, which were overwritten because the ring was full
  std::vector<record> records;  // by time
};

// An address in the form for debugging tools: addr2line -e MODULE OFFSET.
struct code_place {
  std::string module;  // the file
  std::uint64_t offset = 0;

  friend bool operator==(const code_place&, const code_place&) = default;
};

struct recording {
  std::string program;
  std::string machine;  // one line, for people
  std::string policy;
  std::uint64_t end_ns = 0;  // the time when it was collected
  // Further facts about the run, by name: "clock" ("real" or "virtual"), "event_ns" (the cost of writing an event),
  // "forks" ("all" if each fork and join is here), "fork_ns" (the cost of that for a fork, beside its events), "seed".
  // Readers ignore names that they do not know.
  std::map<std::string, std::string> attributes;
  std::vector<worker_log> workers;
  std::vector<std::string> texts;                // by text id
  std::map<std::uint64_t, std::string> symbols;  // function names by address, as far as known
  std::map<std::uint64_t, code_place> places;    // the same addresses within their files
  std::map<std::string, std::uint64_t> unknown;  // records dropped on reading: events that this
                                                 // version does not know, with their number
};

// A trace that cannot be read or written. The message is one line and names the file, if there is one, and the remedy.
class trace_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heddle::trace
