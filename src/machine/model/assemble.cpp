// Conversion of a machine file, completed by the defaults, to the model, with every check that needs more than one key.
#include "machine/model/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "machine/model/assembler.hpp"

namespace heddle::machine {

void assembler::run() {
  about();
  made_.frequency = *top_.number("frequency", range::positive);
  if (made_.frequency > 50)
    refuse(top_.place("frequency"), "frequency", fmt::format("{} GHz; give GHz, not MHz", made_.frequency));
  made_.overlap = static_cast<unsigned>(*top_.whole("overlap", 1, 1024));
  made_.window = *top_.number("window", range::not_negative);
  made_.page_size = *top_.bytes("page_size");
  if (!std::has_single_bit(made_.page_size) || made_.page_size < 512) {
    refuse(top_.place("page_size"), "page_size", "expected a power of two, 512 or more");
  }
  made_.time_slice = *top_.number("time_slice", range::positive);
  read_cores();
  read_caches();
  read_nodes();
  read_links();
  complete_coherence();
  tell_latencies();
  read_costs();
  tell_figures();
  top_.finish();
  check_assumptions();
  for (const figure& f : derived_figures_)
    made_.assumed.push_back(fmt::format("{}: {}; {:.3g} to {:.3g}", f.key, f.why, f.least, f.most));
  made_.assumed.insert(made_.assumed.begin(), assumed_.begin(), assumed_.end());
}

void assembler::about() {
  made_.title = top_.text("title").value_or("");
  made_.sources = top_.texts("sources");
  for (const char* key : {"assumptions", "base"}) top_.has(key);
  top_.has("tree");
  top_.has("name");
}

// Checks that each line is "KEY: REASON" with a key that the file has. An inherited line may name a key that was left
// behind.
void assembler::check_assumptions() {
  const std::vector<std::string> lines = top_.texts("assumptions");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view rest(lines[i]);
    rest = rest.substr(0, rest.find(':'));
    const file_node* at = &file_;
    while (at != nullptr && !rest.empty()) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      at = at->is == file_node::type::table ? at->find(rest.substr(0, dot)) : nullptr;
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    const file_node& item = top_.place("assumptions").items[i];
    if (at != nullptr && lines[i].find(':') != std::string::npos) made_.assumed.push_back(lines[i]);
    else if (!item.inherited) {
      refuse(item, "assumptions",
             fmt::format("\"{}\": expected \"KEY: REASON\" with a key of this file, like \"cache.l3.latency: "
                         "measured on a sibling\"",
                         lines[i]));
    }
  }
}

void assembler::read_costs() {
  file_table costs(*top_.table("costs"), "costs", assumed_);
  for (const cost_key& cost : cost_keys()) made_.costs.*cost.member = *costs.number(cost.name, range::not_negative);
  costs.finish();
  if (made_.costs.signal_lock <= made_.costs.signal) return;
  if (!costs.given("signal_lock")) {
    made_.costs.signal_lock = made_.costs.signal;
  } else {
    refuse(costs.place("signal_lock"), "costs.signal_lock",
           fmt::format("is {} ns, more than the {} ns of costs.signal, of which it is a part", made_.costs.signal_lock,
                       made_.costs.signal));
  }
}

void assemble(const file_node& file, model& made) { assembler(file, made).run(); }

}  // namespace heddle::machine
