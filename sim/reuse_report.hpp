// The question that `heddle reuse` asks of a stream of accesses, and the answer as JSON. The stream is that of a
// simulated process, which hands both on as text, or that of a trace. Fields: docs/guide/reuse.md.
#pragma once

#include <heddle/reuse_distance.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::sim {

struct reuse_question {
  double rate{1};                     // of reuse_distance
  std::uint64_t line_bytes{64};       // a power of two
  std::uint64_t cache_bytes{0};       // the size of the cache that the cores share; 0 if there is none
  unsigned cores{1};                  // the cores that share it
  std::uint64_t iterations{0};        // of the stream; 0 if not known
  double slack{0.05};                 // of propose_window
  static constexpr char marks = ';';  // between the fields of text()

  std::string text() const {
    std::string t;
    const auto add = [&t](auto value) {
      char digits[64];
      t.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
      t += marks;
    };
    add(rate), add(line_bytes), add(cache_bytes), add(cores), add(iterations), add(slack);
    return t;
  }
  // Reads the form that text() writes; empty if it is anything else.
  static std::optional<reuse_question> of(const std::string& text) {
    reuse_question q;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto read = [&](auto& value) {
      const auto [behind, error] = std::from_chars(at, end, value);
      if (error != std::errc() || behind == end || *behind != marks) return false;
      at = behind + 1;
      return true;
    };
    const bool right = read(q.rate) && read(q.line_bytes) && read(q.cache_bytes) && read(q.cores) &&
                       read(q.iterations) && read(q.slack) && at == end;
    if (!right || q.line_bytes == 0 || (q.line_bytes & (q.line_bytes - 1)) != 0 || q.cores == 0) return std::nullopt;
    return q;
  }
};

// Calls access(line) for each line of [address, address + bytes).
inline void access_lines(reuse_distance& of, const reuse_question& q, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t last = (address + bytes - 1) / q.line_bytes;
  for (std::uint64_t line = address / q.line_bytes; line <= last; ++line) of.access(line);
}

inline const char* name(window_proposal::reason why) noexcept {
  switch (why) {
    case window_proposal::reason::window: return "window";
    case window_proposal::reason::fits: return "fits";
    case window_proposal::reason::too_long: return "too long";
    default: return "no sharing";
  }
}

// The capacities of the table: powers of two from 4 KiB up to the first that holds everything, and the cache's
// capacity.
inline std::vector<std::uint64_t> shown_capacities(const reuse_distance& of, const reuse_question& q) {
  std::vector<std::uint64_t> bytes;
  const std::uint64_t all = of.elements() * q.line_bytes;
  for (std::uint64_t b = 4096;; b *= 2) {
    if (q.cache_bytes != 0 && q.cache_bytes < b && (bytes.empty() || q.cache_bytes > bytes.back()))
      bytes.push_back(q.cache_bytes);
    bytes.push_back(b);
    if (b >= all && b >= q.cache_bytes) return bytes;
  }
}

inline std::string reuse_json(reuse_distance& of, const reuse_question& q) {
  if (q.iterations != 0) of.set_iterations(q.iterations);
  std::string t = "{";
  const auto add = [&t](const char* key, auto value) {
    char digits[64];
    if (t.back() != '{' && t.back() != '[') t += ", ";
    (((t += '"') += key) += "\": ").append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  add("rate", of.rate());
  add("line_bytes", q.line_bytes);
  add("cache_bytes", q.cache_bytes);
  add("cores", q.cores);
  add("accesses", of.accesses());
  add("lines", of.elements());
  add("iterations", of.iterations());
  t += ", \"capacities\": [";
  for (const std::uint64_t bytes : shown_capacities(of, q)) {
    t += t.back() == '[' ? "{" : ", {";
    add("bytes", bytes);
    add("misses", of.misses(bytes / q.line_bytes));
    add("misses_apart", of.misses_apart(bytes / q.line_bytes, q.cores));
    t += '}';
  }
  t += "], \"curve\": [";
  for (const reuse_distance::point& p : of.curve()) {
    t += t.back() == '[' ? "[" : ", [";
    t += std::to_string(p.capacity) + ", " + std::to_string(p.misses) + ']';
  }
  const window_proposal w = of.propose_window(q.cache_bytes / q.line_bytes, q.cores, q.slack);
  t += "], \"window\": {\"why\": \"";
  (t += name(w.why)) += '"';
  add("length", w.length);
  add("reach", w.reach);
  add("misses_alone", w.misses_alone);
  add("misses_apart", w.misses_apart);
  add("misses_within", w.misses_within);
  return t + "}}";
}

}  // namespace heddle::sim
