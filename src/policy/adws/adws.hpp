// The policies that consist of a layout and a set of its rules: adws (adws.cpp), ml-adws (ml_adws.cpp) and ml-ws
// (ml_ws.cpp).
#pragma once

#include <memory>
#include <utility>

#include <heddle/policy.hpp>
#include "policy/adws/layout.hpp"
#include "policy/adws/layout_search.hpp"

namespace heddle::policy {

class adws final : public policy {
 public:
  explicit adws(layout_rules rules) : layout_(std::move(rules)) { wants_.work_conserving = false; }
  static std::unique_ptr<policy> make(parameters& given);
  static std::unique_ptr<policy> make_ml_adws(parameters& given);
  static std::unique_ptr<policy> make_ml_ws(parameters& given);

  void start(scheduler& host) override {
    policy::start(host);
    layout_.start(host);
    search_.start(host);
  }
  entry acquire(unsigned self, effort how) noexcept override { return search_.acquire(self, how); }
  bool may_find(unsigned self) noexcept override { return search_.may_find(self); }
  bool may_rob(unsigned self, unsigned victim) noexcept override { return search_.may_rob(self, victim); }
  entry pick(unsigned self, bool own_is_empty) noexcept override { return layout_.workers().pick(self, own_is_empty); }
  placement started(unsigned, const task_info& info) noexcept override { return layout_.started(info); }
  placement spawn(unsigned self, const task_info& info) noexcept override { return layout_.spawn(self, info); }
  void enqueue(unsigned, task& t) noexcept override { layout_.enqueue(t); }
  placement ready(unsigned, task& t) noexcept override { return layout_.ready(t); }
  void task_end(unsigned, task& t) noexcept override { layout_.task_end(t); }
  void group_begin(unsigned self, group_info& info) noexcept override { layout_.group_begin(self, info); }
  void group_wait(unsigned, group_info& info) noexcept override { layout_.group_wait(info); }
  placement group_end(unsigned self, group_info& info) noexcept override { return layout_.group_end(self, info); }
  bool fork_begin(unsigned self, const fork_info& info) noexcept override { return layout_.fork_begin(self, info); }
  placement fork(unsigned self, const fork_info& info, const task_info& half) noexcept override {
    return layout_.fork(self, info, half);
  }
  void fork_wait(unsigned, task& owner) noexcept override { layout_.fork_wait(owner); }
  placement fork_end(unsigned self, task& owner, std::uint64_t) noexcept override {
    return layout_.fork_end(self, owner);
  }

 private:
  layout layout_;
  layout_search search_{layout_};
};

}  // namespace heddle::policy
