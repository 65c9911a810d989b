// `heddle paper`: declarations, values, task maps, machines, the page; one short experiment from end to end.
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/paper/map.hpp"
#include "cli/paper/notebook.hpp"
#include "cli/paper/outcome.hpp"
#include "cli/paper/rows.hpp"
#include "machine/model.hpp"
#include "policy/registry.hpp"
#include "support/shell.hpp"
#include "tests/cli/captured.hpp"

namespace heddle::cli {
namespace paper_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- the command ----

TEST(paper, lists_every_experiment_of_the_thesis) {
  const captured o = run_captured({"paper", "list"});
  EXPECT_EQ(o.status, 0) << o.err;
  for (const char* id : {"adws-4.17", "adws-4.18", "adws-4.19", "adws-4.20", "adws-4.22", "adws-tab-4.2", "adws-5.6",
                         "adws-5.7", "adws-5.8", "adws-5.9", "adws-5.10", "adws-5.11", "adws-5.12", "adws-5.13",
                         "adws-5.14", "adws-B.1", "adws-B.3"}) {
    EXPECT_THAT(o.out, HasSubstr(std::string("  ") + id + " "));
  }
}

TEST(paper, refuses_what_it_does_not_know) {
  expect_refused(run_captured({"paper", "run", "adws-4.71"}), {"'adws-4.71'", "adws-4.17"});
  expect_refused(run_captured({"paper", "run"}), {"ID is missing"});
  expect_refused(run_captured({"paper", "rnu", "adws-4.17"}), {"'rnu'", "run"});
  expect_refused(run_captured({"paper"}), {"ACTION is missing"});
  expect_refused(run_captured({"paper", "list", "adws-4.17"}), {"one too many"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--no-sim"}), {"--no-sim", "--real"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--scale", "huge"}), {"huge"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--sclae", "full"}), {"--sclae", "--scale"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--only", "no such measure"}), {"--only", "no such"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--seeds", "0"}), {"--seeds", "1 to 1000"});
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--jobs", "0"}), {"--jobs", "1 to 256"});
  expect_refused(run_captured({"paper", "report"}), {"FILE is missing"});
  for (const char* workers : {"0", "-1", "010", "two", "4097", "2.5"}) {
    expect_refused(run_captured({"paper", "run", "adws-4.17", "--real", "--real-workers", workers}),
                   {"--real-workers", workers, "1 to 4096"});
  }
  expect_refused(run_captured({"paper", "run", "adws-4.17", "--json", "/nowhere/rows.json"}), {"--json", "/nowhere"});
  expect_refused(run_captured({"paper", "report", "rows.json", "--output", "/"}), {"--output", "folder"});
  EXPECT_EQ(run_captured({"paper", "report", "/nowhere/rows.json"}).status, 1);
}

}  // namespace
}  // namespace paper_test
}  // namespace heddle::cli

namespace heddle::cli::paper {
namespace paper_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// ---- the declarations ----

TEST(paper_table, is_sound) {
  std::set<std::string> ids;
  for (const experiment& e : experiments()) {
    SCOPED_TRACE(e.id);
    EXPECT_TRUE(ids.insert(e.id).second);
    EXPECT_FALSE(e.measures.empty());
    EXPECT_NO_THROW(machine::model::from_name(e.machine));
    std::set<std::string> programs, measures, used;
    for (const program& p : e.programs) {
      EXPECT_TRUE(programs.insert(p.name).second) << p.name;
      const bool left_out = !p.quick.left_out.empty() && !p.full.left_out.empty();
      EXPECT_TRUE(p.medium || !p.medium_beside) << p.name << ": beside nothing";
      for (const scale z : {scale::quick, scale::medium, scale::full}) {
        const bool always = p.quick.shrink == p.full.shrink;  // smaller caches are what is measured
        const bool shrunk = !always && size_at(p, z).shrink > 1;
        EXPECT_EQ(shrunk, has_beside(p, z)) << p.name << ": a shrunk figure stands beside that of another shrink";
        EXPECT_TRUE(!shrunk || size_at(p, z).shrink != size_at(p, z, true).shrink);
      }
      std::string_view words = p.command;
      for (std::size_t n = environment_of(p.command).size(); n > 0; --n) words.remove_prefix(words.find(' ') + 1);
      EXPECT_TRUE(left_out || words.starts_with("bench ") || words.starts_with("demo") ||
                  words.starts_with("preempt-model "))
          << p.command;
    }
    for (const measure& m : e.measures) {
      EXPECT_TRUE(measures.insert(m.name).second) << m.name;
      EXPECT_FALSE(m.words.empty()) << m.name;
      const bool directed = m.says == claim::above || m.says == claim::below;
      EXPECT_TRUE(directed || m.number.has_value()) << m.name;
      EXPECT_TRUE(!directed || !m.number || (m.says == claim::above) == (*m.number > m.pivot)) << m.name;
      EXPECT_GE(m.band, 1);
      EXPECT_TRUE(m.says != claim::at_most || m.words.find('+') == std::string::npos) << "a size, not a bound";
      for (const execution& x : m.of.needs()) {
        EXPECT_TRUE(programs.contains(x.program)) << m.name << ": " << x.program;
        used.insert(x.program);
      }
    }
    EXPECT_EQ(used, programs) << "programs that no measure uses";
  }
}

TEST(paper_table, the_medium_size_is_the_quick_one_where_none_is_told) {
  program p{.name = "p",
            .command = "bench fib",
            .quick = {.arguments = "--n 20", .shrink = 4},
            .full = {.arguments = "--n 40"},
            .real = {},
            .quick_beside = size{.arguments = "--n 10", .shrink = 8}};
  EXPECT_EQ(command_at(p, scale::medium), "bench fib --n 20");
  EXPECT_EQ(size_at(p, scale::medium, true).shrink, 8u);
  p.medium = size{.arguments = "--n 30"};
  EXPECT_EQ(command_at(p, scale::medium), "bench fib --n 30");
  EXPECT_FALSE(has_beside(p, scale::medium)) << "the quick one's is of another size";
  EXPECT_TRUE(has_beside(p, scale::quick));
  EXPECT_EQ(command_at(p, scale::full), "bench fib --n 40");
}

// ---- values ----

class known : public evidence {
 public:
  std::map<execution, outcome> all;
  const outcome& at(const execution& what) const override {
    const auto found = all.find(what);
    if (found == all.end()) throw unavailable("never run");
    return found->second;
  }
  outcome& under(const std::string& policy, double seconds, unsigned workers = 4) {
    outcome& o = all[{.program = "p", .policy = policy}];
    o.seconds = seconds;
    o.workers = workers;
    return o;
  }
};

TEST(paper_value, tells_how_it_is_computed_and_what_it_needs) {
  const value v = (time("p", "a") - time("p", "b")) / time("p", "b", 48);
  EXPECT_EQ(v.text(), "(time(p, a) - time(p, b)) / time(p, b, 48 workers)");
  ASSERT_EQ(v.needs().size(), 3u);
  EXPECT_EQ(v.needs()[2].workers, 48u);
  EXPECT_EQ(misses("p", "a", "l3").text(), "misses(p, a, l3)");
  EXPECT_EQ(least({time("p", "a"), time("p", "b")}).text(), "least(time(p, a), time(p, b))");
  EXPECT_TRUE(moved("p", "a").needs()[0].traced);
}

TEST(paper_value, computes) {
  known k;
  k.under("serial", 8, 1);
  k.under("a", 1).counts = {.virtual_seconds = 2,
                            .busy = 0.5,
                            .idle = 0.25,
                            .local_bytes = 30,
                            .remote_bytes = 10,
                            .levels = {{"l1", {100, 40}}, {"l2", {40, 10}}}};
  k.under("b", 4);
  k.all[{.program = "p", .policy = "a"}].has_counts = true;
  EXPECT_DOUBLE_EQ(speedup("p", "a")(k), 8);
  EXPECT_DOUBLE_EQ(efficiency("p", "a")(k), 2);
  EXPECT_DOUBLE_EQ((time("p", "b") / time("p", "a"))(k), 4);
  EXPECT_DOUBLE_EQ((0.5 * time("p", "b"))(k), 2);
  EXPECT_DOUBLE_EQ(mean({time("p", "a"), time("p", "b")})(k), 2.5);
  EXPECT_DOUBLE_EQ(greatest({time("p", "a"), time("p", "b")})(k), 4);
  EXPECT_DOUBLE_EQ(busy_time("p", "a")(k), 1);
  EXPECT_DOUBLE_EQ(idle_time("p", "a")(k), 0.5);
  EXPECT_DOUBLE_EQ(misses("p", "a", "l2")(k), 10);
  EXPECT_DOUBLE_EQ(accesses("p", "a")(k), 100);
  EXPECT_DOUBLE_EQ(remote_share("p", "a")(k), 0.25);
}

TEST(paper_value, says_why_there_is_none) {
  known k;
  k.under("b", 0);
  EXPECT_THROW((void)misses("p", "b", "l3")(k), unavailable);             // nothing counted
  EXPECT_THROW((void)time("p", "a")(k), unavailable);                     // never run
  EXPECT_THROW((void)(time("p", "b") / time("p", "b"))(k), unavailable);  // by 0
  k.all[{.program = "p", .policy = "b", .traced = true}];
  EXPECT_THROW((void)steady("p", "b")(k), unavailable);  // no task map
}

// ---- task maps ----

// A grid of 2 x 2 pieces of 8 x 8; sweep by sweep, the worker of each in the order (0,0) (8,0) (0,8) (8,8).
trace::recording swept(const std::vector<std::array<std::uint16_t, 4>>& sweeps) {
  trace::recording r;
  for (std::uint16_t w = 0; w < 4; ++w)
    r.workers.push_back({.worker = w, .place = {}, .written = 0, .lost = 0, .records = {}});
  std::uint64_t ns = 0;
  for (const auto& sweep : sweeps) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t x = i % 2 * 8, y = i / 2 * 8;
      r.workers[sweep[i]].records.push_back({.ns = ++ns,
                                             .event = trace::event::piece,
                                             .worker = sweep[i],
                                             .arg = 0,
                                             .a = x << 32 | y,
                                             .b = (x + 8) << 32 | (y + 8)});
    }
  }
  return r;
}

TEST(paper_map, counts_neighbours_and_moves) {
  const task_map m(swept({{0, 1, 2, 3}, {0, 0, 2, 3}, {0, 0, 2, 2}}), {0, 0, 1, 1});
  EXPECT_EQ(m.sweeps(), 3u);
  EXPECT_DOUBLE_EQ(m.neighbours_on_one_worker(0), 0);
  EXPECT_DOUBLE_EQ(m.neighbours_on_one_worker(1), 0.25);
  EXPECT_DOUBLE_EQ(m.neighbours_on_one_worker(-1), 0.5);
  EXPECT_DOUBLE_EQ(m.neighbours_on_one_node(0), 0.5);
  EXPECT_DOUBLE_EQ(m.moved(1), 0.25);
  EXPECT_DOUBLE_EQ(m.moved(-1), 0.25);
  EXPECT_DOUBLE_EQ(m.steady(), 0.5);
  EXPECT_THROW((void)m.moved(0), std::out_of_range);
  EXPECT_THROW((void)m.moved(3), std::out_of_range);
  EXPECT_THROW((void)m.neighbours_on_one_worker(7), std::out_of_range);
}

TEST(paper_map, is_kept_whole) {
  const task_map m(swept({{0, 1, 2, 3}, {0, 0, 2, 3}, {0, 0, 2, 2}}), {0, 0, 1, 1});
  const task_map again = task_map::from_json(json::parse(m.as_json().dump()));
  EXPECT_EQ(again.sweeps(), 3u);
  EXPECT_TRUE(again.has_nodes());
  EXPECT_DOUBLE_EQ(again.neighbours_on_one_worker(-1), 0.5);
  EXPECT_DOUBLE_EQ(again.neighbours_on_one_node(0), 0.5);
  EXPECT_DOUBLE_EQ(again.moved(1), 0.25);
  EXPECT_DOUBLE_EQ(again.steady(), 0.5);
}

TEST(paper_map, nothing_of_a_trace_without_pieces_or_with_losses) {
  EXPECT_TRUE(task_map(swept({}), {}).empty());
  EXPECT_THROW((void)task_map(swept({}), {}).steady(), std::out_of_range);
  trace::recording lossy = swept({{0, 1, 2, 3}});
  lossy.workers[2].lost = 1;
  EXPECT_THROW(task_map(lossy, {}), std::runtime_error);
}

// ---- machines ----

std::uint64_t capacity(const machine::model& m, machine::group_kind kind) {
  for (const machine::memory_group& g : m.tree.view().groups()) {
    if (g.kind == kind) return g.capacity;
  }
  return 0;
}

TEST(paper_machine, variants) {
  const scratch_folder folder("heddle-paper-test");
  EXPECT_EQ(machine_variant("cascadelake-2x28", 1, false, folder), "cascadelake-2x28");
  const machine::model whole = machine::model::from_name("cascadelake-2x28");
  const machine::model small = machine::model::from_name(machine_variant("cascadelake-2x28", 4, false, folder));
  EXPECT_EQ(small.tree.units().size(), 56u);
  EXPECT_EQ(capacity(whole, machine::group_kind::l3), 4 * capacity(small, machine::group_kind::l3));
  EXPECT_EQ(capacity(whole, machine::group_kind::l2), 4 * capacity(small, machine::group_kind::l2));
  EXPECT_DOUBLE_EQ(small.nodes[0].latency, whole.nodes[0].latency);
  EXPECT_DOUBLE_EQ(4 * small.costs.steal, whole.costs.steal);
  EXPECT_DOUBLE_EQ(4 * small.costs.wake_latency, whole.costs.wake_latency);
  const machine::model without = machine::model::from_name(machine_variant("cascadelake-2x28", 4, true, folder));
  EXPECT_EQ(capacity(without, machine::group_kind::l3), capacity(small, machine::group_kind::l3));
  for (const machine::cache_level& level : without.caches) EXPECT_DOUBLE_EQ(level.latency, whole.caches[0].latency);
  EXPECT_DOUBLE_EQ(without.nodes[0].latency, whole.caches[0].latency);
  EXPECT_DOUBLE_EQ(without.links[0].latency, 0);
  EXPECT_THROW(machine_variant("synthetic:core:2 pu:1", 2, false, folder), std::invalid_argument);
  EXPECT_EQ(nodes_of_workers("cascadelake-2x28", 56)[27], 0);
  EXPECT_EQ(nodes_of_workers("cascadelake-2x28", 56)[28], 1);
  EXPECT_TRUE(nodes_of_workers("cascadelake-2x28", 8).empty());
}

// ---- the page ----

json row(const std::string& id, const std::string& name, const json& simulated) {
  return {{"id", id},
          {"figure", "figure"},
          {"title", "title"},
          {"remark", "remark"},
          {"measure", name},
          {"how", "time(a|b)"},
          {"paper", 2},
          {"paper_words", "twice"},
          {"simulated", simulated},
          {"measured", nullptr},
          {"machine", "m"},
          {"workers", 4},
          {"scale", "quick: p"},
          {"verdict", simulated.is_null() ? "not run" : "same size"},
          {"reason", "because"},
          {"measured_machine", nullptr},
          {"measured_scale", ""},
          {"measured_reason", ""},
          {"date", "2026-01-01"},
          {"heddle", "0"}};
}

TEST(paper_page, later_rows_count_in_the_order_of_the_table) {
  const std::string page =
      page_of({row("adws-4.18", "one", nullptr), row("adws-4.17", "two", 1.5), row("adws-4.18", "one", 2.5)});
  EXPECT_THAT(page, HasSubstr("| same size | 2 | "));
  EXPECT_THAT(page, HasSubstr("| not run | 0 | "));
  EXPECT_THAT(page, HasSubstr("| one | `time(a|b)` | 2.00 (twice) | 2.50 | same size | because | - |"));
  EXPECT_LT(page.find("## adws-4.17"), page.find("## adws-4.18"));
  json measured = row("adws-4.17", "two", 1.5);
  measured["measured"] = 1.25;
  measured["measured_machine"] = "here";
  EXPECT_THAT(page_of({measured}), HasSubstr("| 1.50 | 1.25 | same size |"));
  EXPECT_THROW(page_of({json::object()}), std::runtime_error);
}

TEST(paper_page, begins_with_what_was_run) {
  json one = row("adws-4.17", "one", 1.5), two = row("adws-4.17", "two", 1.5), none = row("adws-4.18", "one", nullptr);
  one["scale"] = "medium: p = heddle bench p";
  one["commit"] = "0123456789ab";
  one["date"] = "2026-01-03";
  const std::string page = page_of({one, two, none});
  EXPECT_THAT(page,
              HasSubstr("**What was run**: scale `medium` (1 measures), `quick` (1 measures); commit 0123456789ab "
                        "(1), unknown (1); 2026-01-01 to 2026-01-03."));
  EXPECT_THAT(page_of({none}), HasSubstr("**What was run**: nothing."));
}

TEST(paper_page, tells_intervals_shrinks_commits_and_commands) {
  json one = row("adws-4.17", "two", 1.5);
  one["simulated_runs"] = {1.4, 1.45, 1.5, 1.55, 1.6};
  one["beside_runs"] = {0.7, 0.7, 0.7, 0.7, 0.8};
  one["beside"] = 0.7;
  one["beside_scale"] = "p = heddle bench q (caches beyond the first / 4 instead of 8)";
  one["commit"] = "0123456789ab";
  one["command"] = "heddle paper run adws-4.17 --only 'two'";
  one["checked"] = true;
  one["measured_points"] = "other";
  const std::string page = page_of({one});
  EXPECT_THAT(page, HasSubstr("| 1.50 (1.40 to 1.60) | 0.700 (0.700 to 0.800) | same size | because | "
                              "0123456789ab: `heddle paper run adws-4.17 --only 'two'` |"));
  EXPECT_THAT(page, HasSubstr("- another shrink: p = heddle bench q"));
  EXPECT_THAT(page, HasSubstr("5 pairs of runs, results of the first checked"));
  EXPECT_THAT(page, HasSubstr("Of 1 measures with a direction that were measured here, too, 1 point the other way"));
}

// ---- the notebook ----

TEST(paper_notebook, knows_what_was_written_before_its_writer_was_killed) {
  const scratch_folder folder("heddle-paper-test");
  const std::string file = folder.file("runs.jsonl");
  attempt a;
  a.got.seconds = 0.1 + 0.2;  // all digits count: a row must not change when it is read again
  a.got.workers = 3;
  a.got.has_counts = true;
  a.got.counts.levels["l2"] = {5, 4};
  a.got.map = task_map(swept({{0, 1, 2, 3}, {0, 0, 2, 3}}), {});
  a.rounds = {1, 2};
  a.checked = true;
  a.commit = "c";
  {
    notebook n(file);
    EXPECT_EQ(n.find("k"), nullptr);
    n.add("k", as_json(a));
    n.add("late", as_json({.got = {}, .failure = "not over after 5 s", .rounds = {}, .commit = {}}));
  }
  std::ofstream(file, std::ios::app) << R"({"key": "cut", "sec)";
  notebook again(file);
  EXPECT_EQ(again.find("cut"), nullptr);
  ASSERT_NE(again.find("k"), nullptr);
  const attempt b = attempt_from(*again.find("k"));
  EXPECT_EQ(b.got.seconds, a.got.seconds);
  EXPECT_EQ(b.got.workers, 3u);
  EXPECT_EQ(b.got.counts.levels.at("l2").misses, 4);
  EXPECT_DOUBLE_EQ(b.got.map.steady(), 0.75);
  EXPECT_EQ(b.rounds, a.rounds);
  EXPECT_TRUE(b.checked);
  EXPECT_EQ(attempt_from(*again.find("late")).failure, "not over after 5 s");
  again.add("more", as_json(a));
  EXPECT_NE(notebook(file).find("more"), nullptr) << "the line that was cut does not spoil the next one";
  std::ofstream(folder.file("other")) << "text\n";
  EXPECT_THROW(notebook(folder.file("other")), std::runtime_error);
}

TEST(paper_rows, what_a_run_was_not_asked_for_is_kept) {
  json both = row("adws-4.17", "two", 1.5);
  both["measured"] = 1.25;
  both["measured_machine"] = "here";
  both["date"] = "2025-12-31";
  json simulated = row("adws-4.17", "two", 3.5);
  simulated["measured_reason"] = not_measured;
  json measured = row("adws-4.17", "two", nullptr);
  measured["simulated_reason"] = not_simulated;
  measured["measured"] = 4.5;
  json failed = row("adws-4.17", "two", nullptr);
  failed["simulated_reason"] = "not over after 5 s";
  failed["measured_reason"] = not_measured;
  const std::vector<json> all = last_of_each({both, simulated, measured});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("simulated"), 3.5);
  EXPECT_EQ(all[0].at("verdict"), "same size");
  EXPECT_EQ(all[0].at("measured"), 4.5);
  const std::vector<json> first_two = last_of_each({both, simulated});
  EXPECT_EQ(first_two.at(0).at("measured"), 1.25);
  EXPECT_EQ(first_two[0].at("measured_date"), "2025-12-31") << "when that was measured, not when the rest was run";
  const std::vector<json> after = last_of_each({both, failed});
  EXPECT_TRUE(after.at(0).at("simulated").is_null());  // it was asked for: the failure counts
  EXPECT_EQ(after[0].at("measured"), 1.25);
  EXPECT_EQ(after[0].at("measured_machine"), "here");
}

// docs/reproduction.md is what its data say.
TEST(paper_page, the_committed_one_is_generated) {
  const std::filesystem::path source = HEDDLE_SOURCE_DIR,
                              data = source / "docs" / "investigations" / "data" / "reproduction";
  std::vector<json> rows;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    for (json& r : read_rows(entry.path().string())) rows.push_back(std::move(r));
  }
  ASSERT_FALSE(rows.empty());
  std::ifstream page(source / "docs" / "reproduction.md");
  const std::string committed((std::istreambuf_iterator<char>(page)), {});
  EXPECT_EQ(committed, page_of(rows))
      << "heddle paper report docs/investigations/data/reproduction/*.json --output docs/reproduction.md";
}

}  // namespace
}  // namespace paper_test
}  // namespace heddle::cli::paper
