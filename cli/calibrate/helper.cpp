#include <system_error>

#include "cli/calibrate/measure.hpp"
#include "platform/platform.hpp"

namespace heddle::cli::calibrate {

struct helper::state {
  platform::kernel_thread thread{};
  int unit;
  void (*call)(void*);
  void* argument;
};

helper::helper(int unit, void (*call)(void*), void* argument) : state_(new state{{}, unit, call, argument}) {
  const auto body = [](void* s) {
    state& own = *static_cast<state*>(s);
    platform::bind_self(own.unit);
    own.call(own.argument);
  };
  if (const int error = platform::start(state_->thread, body, state_, "calibrate"); error != 0) {
    delete state_;
    throw std::system_error(error, std::generic_category(), "a kernel thread for the measurement");
  }
}

helper::~helper() {
  platform::join(state_->thread);
  delete state_;
}

}  // namespace heddle::cli::calibrate
