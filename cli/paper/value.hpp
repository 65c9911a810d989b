// The formula of a measure of a paper: an expression over executions of programs. It knows its own text and the
// executions that it needs. So one declaration says what is run, how the figure is computed, and what the table says of
// it.
#pragma once

#include <compare>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::cli::paper {

// One program under one policy. `program` is the name of a program of the experiment.
struct execution {
  std::string program;
  std::string policy;   // "serial" means the serial program
  unsigned workers{0};  // 0 means the experiment's number
  // True for a machine on which every access costs as much as a hit in the innermost cache.
  bool free_memory{false};
  bool traced{false};  // true if with a task map

  auto operator<=>(const execution&) const = default;
};

// The result of an execution. Counts are those of `heddle sim --json`; NaN where there are none.
struct outcome;

// Thrown by evidence and values: the reason why there is no figure.
class unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class evidence {
 public:
  virtual ~evidence() = default;
  // Throws unavailable.
  [[nodiscard]] virtual const outcome& at(const execution& what) const = 0;
};

class value {
 public:
  using function = std::function<double(const evidence&)>;
  value(std::string text, std::vector<execution> needs, function compute, bool compound = false)
      : text_(std::move(text)), needs_(std::move(needs)), compute_(std::move(compute)), compound_(compound) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<execution>& needs() const { return needs_; }
  // Throws unavailable.
  [[nodiscard]] double operator()(const evidence& e) const { return compute_(e); }
  [[nodiscard]] std::string as_operand() const { return compound_ ? "(" + text_ + ")" : text_; }

  friend value operator/(const value& a, const value& b);
  friend value operator-(const value& a, const value& b);
  friend value operator*(double factor, const value& a);

 private:
  std::string text_;
  std::vector<execution> needs_;
  function compute_;
  bool compound_;  // true if it needs parentheses as an operand
};

value least(std::vector<value> of);
value greatest(std::vector<value> of);
value mean(std::vector<value> of);

// Returns the seconds of the program's own measurement: one sample after a warm-up, or the median of several.
value time(const std::string& program, const std::string& policy, unsigned workers = 0);
// Returns time(base, serial) / time. `base` is the same program with another placement; empty means the program itself.
value speedup(const std::string& program, const std::string& policy, const std::string& base = {});
// Returns the speedup divided by the number of workers; above 1 it is superlinear.
value efficiency(const std::string& program, const std::string& policy, const std::string& base = {},
                 unsigned workers = 0);
// These are of the whole process, warm-up included: misses of a level in lines, and bytes from other nodes over all
// bytes from memory.
value misses(const std::string& program, const std::string& policy, const std::string& level);
value accesses(const std::string& program, const std::string& policy);
value remote_share(const std::string& program, const std::string& policy);
// Returns the bytes that cores read from their own node, for the node where that is least.
value least_local_bytes(const std::string& program, const std::string& policy);
value steals(const std::string& program, const std::string& policy);
// Return shares of the workers' time, and shares times the length of the run, which are seconds for each worker.
value idle_share(const std::string& program, const std::string& policy);
value overhead_share(const std::string& program, const std::string& policy);
value idle_time(const std::string& program, const std::string& policy);
value busy_time(const std::string& program, const std::string& policy);
// Returns the share of the program's own time for which it waits for caches and memory, compared with the same run on a
// machine where memory costs nothing.
value stall_share(const std::string& program, const std::string& policy);

// Returns the policy's remark with that text (policy::scheduler::remark); of several remarks the largest value.
value noted(const std::string& program, const std::string& policy, const std::string& text);

// The functions below read the task map of a kernel that names the pieces of its grid, by sweep over it; the first
// sweep is 0.
enum class place : std::uint8_t { worker, node };
// Returns the share of neighbouring pieces, side by side or one above the other, that the same worker or node worked on
// in sweep `sweep` (-1 is the last).
value neighbours(const std::string& program, const std::string& policy, place same, int sweep = -1);
// Returns the share of pieces that another worker ran than in the sweep before.
value moved(const std::string& program, const std::string& policy, int sweep = -1);
// Returns the share of pieces that the same worker ran in each sweep.
value steady(const std::string& program, const std::string& policy);

}  // namespace heddle::cli::paper
