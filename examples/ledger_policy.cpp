// A scheduling policy in a shared object that keeps a ledger. It is random work stealing, in which every child of a
// group and every second half of a fork is a task. At the end it prints a table of the resources that the tasks of each
// place in the program have used. It shows policy::used; see docs/guide/write_a_policy.md. With
// HEDDLE_POLICY=ledger:figures=none it counts nothing: it is the same scheduler without its ledger.
#include <heddle/policy.hpp>
#include <heddle/policy_victims.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include <dlfcn.h>

namespace {

using namespace heddle::policy;

// The sum of the resources that the tasks of one label have used.
struct page {
  const void* label{nullptr};
  std::uint64_t tasks{0};
  task_usage sum;

  void add(const task_usage& what) {
    for (figure task_usage::* each :
         {&task_usage::elapsed, &task_usage::processor_time, &task_usage::instructions, &task_usage::private_misses,
          &task_usage::shared_misses, &task_usage::local_accesses, &task_usage::remote_accesses}) {
      (sum.*each).value += (what.*each).value;
      (sum.*each).from = tasks == 0 || (what.*each).is_known() ? (what.*each).from : source::none;
    }
  }
};

class ledger;

// The ledgers of runtimes that exist. The global runtime is never destroyed, so its table is printed when the program
// ends. It has the tasks that have ended by then.
class open_ledgers {
 public:
  ~open_ledgers();
  void add(ledger* one) {
    const std::lock_guard lock(gate_);
    all_.push_back(one);
  }
  void remove(ledger* one) {
    const std::lock_guard lock(gate_);
    all_.erase(std::find(all_.begin(), all_.end(), one));
  }

 private:
  std::mutex gate_;
  std::vector<ledger*> all_;
} ledgers;

class ledger final : public policy {
 public:
  enum class figures : unsigned char { all, time, none };
  explicit ledger(figures kept) : kept_(kept) { ledgers.add(this); }
  ~ledger() override {
    ledgers.remove(this);
    print();
  }

  void start(scheduler& host) override {
    policy::start(host);
    wants_.usage = kept_ != figures::none;
    if (kept_ == figures::time) wants_.figures = {true, true, false, false, false};
    books_.reset(new book[host.workers()]);
    workers_ = host.workers();
  }

  entry acquire(unsigned self, effort how) noexcept override { return others(self, *host_).rob_at_random(*host_, how); }
  placement spawn(unsigned, const task_info& info) noexcept override { return begin(info); }
  bool fork_begin(unsigned, const fork_info&) noexcept override { return true; }
  placement fork(unsigned, const fork_info&, const task_info& half) noexcept override { return begin(half); }

  void used(unsigned self, task& t, const task_usage& what) noexcept override {
    page& its = books_[self].page_of(t.get<const void*>());
    its.add(what);
    ++its.tasks;
  }

  // The workers have ended, or have nothing to do.
  void print() const {
    std::vector<page> all;
    for (unsigned w = 0; w < workers_ && kept_ != figures::none; ++w) {
      for (const page& p : books_[w].all) {
        if (p.tasks == 0) continue;
        auto same = std::find_if(all.begin(), all.end(), [&](const page& q) { return q.label == p.label; });
        if (same == all.end()) {
          all.push_back(p);
          continue;
        }
        same->add(p.sum);
        same->tasks += p.tasks;
      }
    }
    if (all.empty()) return;
    std::sort(all.begin(), all.end(),
              [](const page& a, const page& b) { return a.sum.processor_time.value > b.sum.processor_time.value; });
    std::fprintf(stderr, "%12s %12s %12s %14s %12s %12s  %s\n", "tasks", "processor us", "elapsed us", "instructions",
                 "to memory", "of it remote", "place");
    for (const page& p : all) {
      std::fprintf(stderr, "%12" PRIu64 " ", p.tasks);
      tell(p.sum.processor_time, 12, 1000), tell(p.sum.elapsed, 12, 1000), tell(p.sum.instructions, 14, 1);
      tell(p.sum.shared_misses, 12, 1), tell(p.sum.remote_accesses, 12, 1);
      Dl_info known;
      const bool named = dladdr(p.label, &known) != 0 && known.dli_sname != nullptr;
      if (named) std::fprintf(stderr, " %s\n", known.dli_sname);
      else std::fprintf(stderr, " %p\n", p.label);
    }
  }

 private:
  // The figures of one worker, which alone writes them. A label whose place is taken shares that place.
  struct alignas(64) book {
    static constexpr std::size_t pages = 256;
    page all[pages];
    page& page_of(const void* label) {
      const auto number = reinterpret_cast<std::uintptr_t>(label);
      for (std::size_t i = 0; i < 8; ++i) {
        page& its = all[((number >> 4) + i) % pages];
        if (its.label == nullptr) its.label = label;
        if (its.label == label) return its;
      }
      return all[(number >> 4) % pages];
    }
  };

  placement begin(const task_info& info) noexcept {
    info.made.keep(info.label);
    info.made.tag = this;
    return placement::child_first;
  }

  static void tell(const figure& f, int width, std::uint64_t unit) {
    if (f.is_known()) std::fprintf(stderr, "%*" PRIu64 " ", width, f.value / unit);
    else std::fprintf(stderr, "%*s ", width, "-");
  }

  const figures kept_;
  std::unique_ptr<book[]> books_;  // by rank
  unsigned workers_{0};
};

open_ledgers::~open_ledgers() {
  for (const ledger* one : all_) one->print();
}

std::unique_ptr<policy> make_ledger(parameters& given) {
  return create<ledger>(static_cast<ledger::figures>(given.choice("figures", "all|time|none")));
}

}  // namespace

HEDDLE_POLICIES({"ledger", "work stealing that tells what tasks have used, figures=all|time|none", make_ledger})
