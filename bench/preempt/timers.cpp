// The time that a tick takes from the thread it interrupts, for each kind of timer and number of workers. After Fig.
// 3.4 of the thesis.
#include "measure.hpp"

namespace preempt {

namespace {

// Gaps in a thread's looks at the clock. Shorter gaps are the loop's own; during longer ones another process had the
// processor.
constexpr double least_us = 0.5, most_us = 500;

struct alignas(64) gaps {
  double sum_us = 0;
  std::vector<double> each;
};

// Runs one computing thread a worker for `span`, so that every tick finds nothing else to run.
void watch_the_clock(const way& w, const settings& s, heddle::runtime& rt, double span, double rate,
                     std::vector<gaps>& all) {
  all.assign(s.workers, {});
  for (gaps& g : all) g.each.reserve(1u << 16);
  run_threads(w, s, &rt, s.workers, [&](unsigned i) {
    const std::uint64_t begin = stamp(), end = begin + static_cast<std::uint64_t>(span * 1e6 * rate);
    const auto least = static_cast<std::uint64_t>(least_us * rate), most = static_cast<std::uint64_t>(most_us * rate);
    gaps& mine = all[i];
    for (std::uint64_t before = begin, now; before < end; before = now) {
      now = stamp();
      const std::uint64_t gap = now - before;
      if (gap < least || gap > most) continue;
      mine.sum_us += static_cast<double>(gap) / rate;
      if (mine.each.size() < mine.each.capacity()) mine.each.push_back(static_cast<double>(gap) / rate);
    }
  });
}

double sum(const std::vector<gaps>& all) {
  double us = 0;
  for (const gaps& g : all) us += g.sum_us;
  return us;
}

}  // namespace

nlohmann::json timers(const settings& given) {
  nlohmann::json rows = nlohmann::json::array();
  const way& plain = ways()[1];
  const way& preempted = ways()[2];
  const double rate = stamps_per_microsecond();
  const unsigned repeats = given.repeats != 0 ? given.repeats : 5;
  constexpr double span = 0.4;
  say("%-14s %8s %12s %12s %12s %14s %10s\n", "timer", "workers", "median, us", "10 %", "90 %", "mean, us", "ticks");
  for (unsigned workers = 1; workers <= std::min(given.workers, processors());
       workers = workers < 4 ? workers + 1 : 2 * workers) {
    std::vector<std::string> kinds = {"creation", "aligned", "one-to-all", "chain"};
    for (unsigned groups = 2; groups <= workers; groups *= 2) kinds.push_back("hybrid:" + std::to_string(groups));
    for (const std::string& kind : kinds) {
      settings s = given;
      s.workers = workers;
      s.timer = kind;
      const auto rt = runtime_for(preempted, s);
      std::vector<gaps> with, without;
      std::vector<double> means, each;
      std::uint64_t ticks = 0;
      for (unsigned r = 0; r < repeats; ++r) {
        // the kernel's own interruptions are subtracted from the mean, not from the median
        watch_the_clock(plain, s, *rt, span, rate, without);
        const std::uint64_t before = rt->statistics().ticks;
        watch_the_clock(preempted, s, *rt, span, rate, with);
        const std::uint64_t came = rt->statistics().ticks - before;
        ticks += came;
        for (const gaps& g : with) each.insert(each.end(), g.each.begin(), g.each.end());
        means.push_back((sum(with) - sum(without)) / static_cast<double>(std::max<std::uint64_t>(came, 1)));
      }
      if (each.empty()) continue;
      std::sort(each.begin(), each.end());
      const double middle = each[each.size() / 2], low = each[each.size() / 10], high = each[each.size() * 9 / 10];
      say("%-14s %8u %12.2f %12.2f %12.2f %14.2f %10llu\n", kind.c_str(), workers, middle, low, high, median(means),
          static_cast<unsigned long long>(ticks));
      rows.push_back({{"timer", kind},
                      {"workers", workers},
                      {"median_us", middle},
                      {"p10_us", low},
                      {"p90_us", high},
                      {"mean_us", median(means)},
                      {"ticks", ticks},
                      {"interval_us", s.interval.count() / 1000}});
    }
  }
  return rows;
}

}  // namespace preempt
