// omp_control_tool (OpenMP 5.1, section 3.14), by which the program speaks to its tool.
#include "omp/api/api.hpp"
#include "omp/ompt/callbacks.hpp"
#include "omp/ompt/records.hpp"

namespace {

constexpr int no_tool = -2;
constexpr int tool_does_not_listen = -1;

}  // namespace

extern "C" int omp_control_tool(int command, int modifier, void* argument) {
  using namespace heddle::omp;
  if (!ompt::on() || !ompt::was_there()) return no_tool;
  const auto call = ompt::callback<ompt_callback_control_tool>();
  if (call == nullptr) return tool_does_not_listen;
  const ompt::inside here(thread::current());
  return call(static_cast<std::uint64_t>(command), static_cast<std::uint64_t>(modifier), argument,
              __builtin_return_address(0));
}
