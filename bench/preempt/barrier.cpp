// Threads that spin for each other. After Fig. 3.8 of the thesis.
#include "measure.hpp"

namespace preempt {

// Ten threads a worker meet at a barrier by spinning. Without preemption they would never meet.
nlohmann::json barrier(const settings& s) {
  nlohmann::json rows = nlohmann::json::array();
  const unsigned phases = s.repeats != 0 ? s.repeats : 1000;
  say("%-22s %12s\n", "barrier", "us each");
  for (const way& w : ways()) {
    if (!w.threads && w.how == heddle::preemption::none) continue;
    try {
      const auto rt = runtime_for(w, s);
      const int count = static_cast<int>(10 * s.workers);
      std::atomic<int> arrived{0};
      std::atomic<unsigned> phase{0};
      const double begin = seconds();
      run_threads(w, s, rt.get(), static_cast<unsigned>(count), [&](unsigned) {
        for (unsigned p = 0; p < phases; ++p) {
          if (arrived.fetch_add(1) == count - 1) {
            arrived.store(0);
            phase.fetch_add(1);
          }
          while (phase.load() <= p) {
          }
        }
      });
      const double each = (seconds() - begin) * 1e6 / phases;
      say("%-22s %12.1f\n", w.name, each);
      rows.push_back({{"way", w.name},
                      {"us", each},
                      {"threads", count},
                      {"phases", phases},
                      {"interval_us", s.interval.count() / 1000}});
    } catch (const std::system_error& e) {
      say("%-22s %s\n", w.name, e.what());
    }
  }
  return rows;
}

}  // namespace preempt
