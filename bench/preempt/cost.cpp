// The time from one thread to the next at a tick. After Table 3.1 of the thesis.
#include "measure.hpp"

namespace preempt {

// Two threads on one processor look at the clock all the time. A thread that finds the other thread's time there has
// just got the processor. The difference is the cost of the change of threads.
nlohmann::json cost(const settings& given) {
  settings s = given;
  s.workers = 1;
  const unsigned wanted = s.repeats != 0 ? s.repeats : 1000;
  const double rate = stamps_per_microsecond();
  nlohmann::json rows = nlohmann::json::array();
  say("%-22s %12s %12s %12s   %s\n", "preemption, us", "median", "10 %", "90 %", "in the thesis (Table 3.1, Fig. 3.7)");
  for (const way& w : ways()) {
    if (!w.threads && w.how == heddle::preemption::none) continue;
    try {
      const auto rt = runtime_for(w, s);
      std::vector<double> gaps;
      gaps.reserve(wanted + 2);
      std::atomic<std::uint64_t> last{0};  // time << 1 | who
      std::atomic<bool> done{false};
      run_threads(w, s, rt.get(), 2, [&](unsigned who) {
        std::uint64_t before = last.load(std::memory_order_relaxed);
        while (!done.load(std::memory_order_relaxed)) {
          const std::uint64_t now = stamp() & (~std::uint64_t{0} >> 1);  // one bit is for who
          // It fails if the other thread has run since; then `before` is the other's last look at the clock.
          if (last.compare_exchange_strong(before, now << 1 | who, std::memory_order_relaxed)) {
            before = now << 1 | who;
          } else if (before != 0 && (before & 1) != who) {
            // room was reserved, so nothing is allocated
            gaps.push_back(static_cast<double>((stamp() & (~std::uint64_t{0} >> 1)) - (before >> 1)) / rate);
            if (gaps.size() >= wanted) done.store(true);
          }
        }
      });
      std::sort(gaps.begin(), gaps.end());
      const double middle = gaps[gaps.size() / 2], low = gaps[gaps.size() / 10], high = gaps[gaps.size() * 9 / 10];
      say("%-22s %12.2f %12.2f %12.2f   %s\n", w.name, middle, low, high, w.thesis);
      rows.push_back(
          {{"way", w.name}, {"median_us", middle}, {"p10_us", low}, {"p90_us", high}, {"preemptions", gaps.size()}});
    } catch (const std::system_error& e) {
      say("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

}  // namespace preempt
