// Threads on fewer workers than they were made for. After Fig. 3.12 of the thesis.
#include <cstring>

#include "measure.hpp"

namespace preempt {

// As many equal threads as workers, on fewer and fewer of them. The ideal is threads / active workers.
nlohmann::json packing(const settings& given) {
  nlohmann::json rows = nlohmann::json::array();
  settings s = given;
  const unsigned repeats = s.repeats != 0 ? s.repeats : 5;
  say("%-22s %8s %12s %12s\n", "packing", "active", "time", "ideal");
  for (const way& w : ways()) {
    if (w.threads || std::strcmp(w.klt, "direct") != 0) continue;
    try {
      const auto rt = runtime_for(w, s);
      const auto timed = [&](unsigned active) {
        rt->set_active_workers(active);
        std::vector<double> times;
        for (unsigned r = 0; r < repeats; ++r) {
          const double begin = seconds();
          run_threads(w, s, rt.get(), s.workers, [](unsigned i) {
            volatile std::uint64_t keep = compute(30'000'000, i);
            static_cast<void>(keep);
          });
          times.push_back(seconds() - begin);
        }
        return median(times);
      };
      timed(s.workers);  // to warm up
      const double all = timed(s.workers);
      for (unsigned n = s.workers; n >= 1; --n) {
        const double time = timed(n) / all, ideal = static_cast<double>(s.workers) / n;
        say("%-22s %8u %12.3f %12.3f\n", w.name, n, time, ideal);
        rows.push_back({{"way", w.name}, {"active", n}, {"workers", s.workers}, {"time", time}, {"ideal", ideal}});
      }
    } catch (const std::system_error& e) {
      say("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

}  // namespace preempt
