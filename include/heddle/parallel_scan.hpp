/// Prefix sums of any associative operation.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <heddle/detail/loop_tree.hpp>
#include <heddle/loop_options.hpp>

namespace heddle {
namespace detail {

// One scan: its input, its output and its operation. Positions count from the start of the range.
template <class In, class Out, class T, class Combine, bool Inclusive>
struct scan_work {
  using in_step = std::iter_difference_t<In>;
  using out_step = std::iter_difference_t<Out>;
  In in;
  Out out;
  Combine& join;

  // Returns the bytes of a step, as policies are told.
  static constexpr std::size_t bytes_per_step() noexcept {
    return sizeof(std::iter_value_t<In>) + sizeof(std::iter_value_t<Out>);
  }

  // Scans [low, high) with `before`, the value of everything in front. Returns the value of everything up to high.
  std::optional<T> scan(std::size_t low, std::size_t high, std::optional<T> before) {
    In from = in + static_cast<in_step>(low);
    Out to = out + static_cast<out_step>(low);
    const In end = in + static_cast<in_step>(high);
    if (from == end) return before;
    if (!before) {  // an inclusive scan without an initial value: the first element starts the sum
      before.emplace(*from);
      *to = *before;
      ++from, ++to;
    }
    T sum = std::move(*before);
    for (; from != end; ++from, ++to) {
      if constexpr (Inclusive) {
        sum = join(std::move(sum), *from);
        *to = sum;
      } else {
        T next = join(sum, *from);  // comes before the write, because `to` may be `from`
        *to = std::move(sum);
        sum = std::move(next);
      }
    }
    return sum;
  }
  // Returns the combination of `before`, if there is one, and [low, high), which is not empty.
  std::optional<T> sum(std::size_t low, std::size_t high, std::optional<T> before) {
    In from = in + static_cast<in_step>(low);
    const In end = in + static_cast<in_step>(high);
    if (!before) before.emplace(*from++);
    T total = std::move(*before);
    for (; from != end; ++from) total = join(std::move(total), *from);
    return total;
  }
};

inline constexpr std::uint64_t scan_block_nanoseconds = 20000;

// Calls value = f(from, to, value) for blocks of [low, high) in turn. The caller gives way to what waits between two
// blocks: [service:1] of src/worker/searching/service.md.
template <class T, class F>
std::optional<T> in_scan_blocks(std::size_t low, std::size_t high, std::optional<T> value, const loop_site& site,
                                F&& f) {
  std::size_t block = std::max<std::size_t>(site.iterations_in(scan_block_nanoseconds), 1);
  std::uint64_t before = loop_cycles();
  while (high - low > block) {
    value = f(low, low + block, std::move(value));
    low += block;
    const std::uint64_t now = loop_cycles();
    if (now - before < loop_site::ticks_in(scan_block_nanoseconds / 2)) block *= 2;
    else if (now - before > loop_site::ticks_in(scan_block_nanoseconds * 4))
      block = std::max<std::size_t>(block / 4, 1);
    before = now;
    if (is_time_to_serve(now)) [[unlikely]] {
      serve_what_waits();
      before = loop_cycles();
    }
  }
  return f(low, high, std::move(value));
}

// Runs f(0) .. f(count - 1) as pieces of a loop's tree. It keeps no memory of the site, because count and the work of f
// vary from scan to scan.
template <class F>
void for_each_block(std::size_t count, F&& f, const std::stop_token& stop, std::size_t bytes) {
  struct work {
    using result = nothing_returned;
    std::remove_reference_t<F>& f;
    void operator()(result&, std::size_t low, std::size_t high) {
      for (; low < high; ++low) f(low);
    }
    static result combine(result, result) noexcept { return {}; }
    static result nothing() noexcept { return {}; }
  } w{f};
  loop_site unknown;
  run_loop(w, count, unknown, 1, stop, bytes);
}

inline constexpr std::uint64_t least_scan_nanoseconds = 3000;  // shorter scans are not worth two passes

// Scans in two passes over workers + 1 parts. In the first pass the first part is scanned and the middle ones are
// summed. In the second pass the middle parts and the last one are scanned. That takes 2 n / (workers + 1) steps, the
// least for this scheme. More parts would balance better but cost nearly 2 n / workers.
template <class Work, class T>
void run_scan(Work& work, std::size_t n, std::optional<T> init, loop_site& site, const loop_options& options) {
  if (on_foreign_thread()) return run_in_runtime([&] { run_scan(work, n, std::move(init), site, options); });
  if (options.stop.stop_requested()) return;
  const unsigned workers = loop_begin().workers;
  const std::size_t worthwhile = site.iterations_in(least_scan_nanoseconds);
  const std::size_t parts = std::min<std::size_t>(workers + 1, n / std::max<std::size_t>(options.grain, 2));
  const auto scan = [&](std::size_t low, std::size_t high, std::optional<T> before) {
    return in_scan_blocks(
        low, high, std::move(before), site,
        [&](std::size_t from, std::size_t to, std::optional<T> b) { return work.scan(from, to, std::move(b)); });
  };
  const auto sum = [&](std::size_t low, std::size_t high) {
    return in_scan_blocks(
        low, high, std::optional<T>(), site,
        [&](std::size_t from, std::size_t to, std::optional<T> b) { return work.sum(from, to, std::move(b)); });
  };
  if (workers == 1 || parts < 3 || n < worthwhile) {
    const std::uint64_t start = loop_cycles();
    scan(0, n, std::move(init));
    site.observe(n, loop_cycles() - start);
    return;
  }
  const auto edge = [&](std::size_t part) { return n / parts * part + std::min(part, n % parts); };
  const std::size_t bytes = n / parts * work.bytes_per_step();
  // the value of everything up to the end of a part
  const std::unique_ptr<std::optional<T>[]> value(new std::optional<T>[parts]);
  for_each_block(
      parts - 1,
      [&](std::size_t part) {
        if (part != 0) {
          value[part] = sum(edge(part), edge(part + 1));
          return;
        }
        const std::uint64_t start = loop_cycles();
        value[0] = scan(0, edge(1), std::move(init));
        site.observe(edge(1), loop_cycles() - start);
      },
      options.stop, bytes);
  if (options.stop.stop_requested()) return;
  for (std::size_t part = 1; part + 1 < parts; ++part)
    value[part].emplace(work.join(*value[part - 1], std::move(*value[part])));
  for_each_block(
      parts - 1, [&](std::size_t part) { scan(edge(part + 1), edge(part + 2), std::move(value[part])); }, options.stop,
      bytes);
}

template <bool Inclusive, class T, class In, class Out, class Combine>
Out scan_into(In first, In last, Out out, std::optional<T> init, Combine& combine, const loop_options& options) {
  if (!(first < last)) return out;
  using work_type = scan_work<In, Out, T, Combine, Inclusive>;
  const auto n = static_cast<std::size_t>(last - first);
  work_type work{first, out, combine};
  run_scan(work, n, std::move(init), loop_site_of<work_type>, options);
  return out + static_cast<std::iter_difference_t<Out>>(n);
}

}  // namespace detail

/// Writes to out[k] the combination of the first k + 1 elements, in order. `combine` must be associative and need not
/// be commutative. The number of workers decides how the values are bracketed. `out` may be `first`, and must not
/// overlap the input otherwise. Returns the end of the output. Each element may be read twice and is combined at most
/// twice.
///
/// After an exception of `combine`, or a stop request (options.stop), the output holds some results and some old
/// values. Exceptions, suspension and thread context are those of parallel_for_range. options.grain is the least length
/// of a part. Source: Hillis, Steele, "Data parallel algorithms" (1986); Blelloch (1990), with the sums of parts of a
/// two-pass scan.
template <std::random_access_iterator In, std::random_access_iterator Out, class Combine = std::plus<>>
Out parallel_inclusive_scan(In first, In last, Out out, Combine combine = {}, const loop_options& options = {}) {
  return detail::scan_into<true, std::iter_value_t<In>>(first, last, out, {}, combine, options);
}

/// Does the same with a value in front of the first element. The type of that value is the type of the sums.
template <std::random_access_iterator In, std::random_access_iterator Out, class Combine, class T>
  requires(!std::same_as<T, loop_options>)
Out parallel_inclusive_scan(In first, In last, Out out, Combine combine, T init, const loop_options& options = {}) {
  return detail::scan_into<true, T>(first, last, out, std::optional<T>(std::move(init)), combine, options);
}

/// Writes to out[k] the combination of `init` and the first k elements, without the k-th itself. Otherwise it is like
/// parallel_inclusive_scan.
template <std::random_access_iterator In, std::random_access_iterator Out, class T, class Combine = std::plus<>>
Out parallel_exclusive_scan(In first, In last, Out out, T init, Combine combine = {},
                            const loop_options& options = {}) {
  return detail::scan_into<false, T>(first, last, out, std::optional<T>(std::move(init)), combine, options);
}

/// Does an inclusive scan of a range in place.
template <std::ranges::random_access_range Range, class Combine = std::plus<>>
void parallel_scan(Range&& range, Combine combine = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  parallel_inclusive_scan(first, first + std::ranges::distance(range), first, std::move(combine), options);
}

}  // namespace heddle
