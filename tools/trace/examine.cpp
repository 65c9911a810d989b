#include "tools/trace/examine.hpp"

#include "tools/trace/dag_builder.hpp"
#include "tools/trace/diagnosis_observer.hpp"
#include "tools/trace/summary_observer.hpp"

namespace heddle::trace {
namespace {

// Tells several visitors what one is told.
class several : public replay_visitor {
 public:
  explicit several(std::vector<replay_visitor*> all) : all_(std::move(all)) {}

  void event(const record& r) override {
    for (replay_visitor* v : all_) v->event(r);
  }
  void opened(std::uint16_t worker, const open_span& s, std::uint64_t ns) override {
    for (replay_visitor* v : all_) v->opened(worker, s, ns);
  }
  void closed(std::uint16_t worker, const open_span& s, std::uint64_t ns, activity counts_as) override {
    for (replay_visitor* v : all_) v->closed(worker, s, ns, counts_as);
  }
  void stray(const record& r) override {
    for (replay_visitor* v : all_) v->stray(r);
  }

 private:
  std::vector<replay_visitor*> all_;
};

}  // namespace

examination examine(const recording& what, const line_finder& line_of, replay_visitor* also) {
  const dag_options costs;
  examination found;
  summary_observer books(what, found.sums);
  dag_builder graph(what, costs, found.dag);
  diagnosis_observer losses(what);
  std::vector<replay_visitor*> all{&books, &graph, &losses};
  if (also != nullptr) all.push_back(also);
  several visitors(std::move(all));
  replay(what, visitors);
  books.finish();
  graph.finish();
  losses.finish();
  found.findings = findings_of(what, losses, found.dag, line_of);
  return found;
}

}  // namespace heddle::trace
