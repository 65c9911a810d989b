// Teams of heddle.h. A member's handle is the address of its heddle::team_member.
#include <heddle/team.hpp>

#include <stdexcept>

#include "capi/status.hpp"

namespace capi = heddle::capi;

namespace {

heddle::team_member& of(heddle_team_member* self) noexcept { return *reinterpret_cast<heddle::team_member*>(self); }
const heddle::team_member& of(const heddle_team_member* self) noexcept {
  return *reinterpret_cast<const heddle::team_member*>(self);
}

heddle::team_mode from(heddle_team_mode how) {
  switch (how) {
    case HEDDLE_TEAM_DEFAULT: return heddle::team_mode::as_set;
    case HEDDLE_TEAM_GANG: return heddle::team_mode::gang;
    case HEDDLE_TEAM_STEALING: return heddle::team_mode::stealing;
  }
  throw std::invalid_argument("heddle: no such mode of teams");
}

heddle::team_options from(const heddle_team_options* options) {
  heddle::team_options o;
  if (options == nullptr) return o;
  o.threads = options->threads;
  o.mode = from(options->mode);
  o.stack_size = options->stack_size;
  o.name = options->name;
  o.preemption = capi::from(options->preemption);
  o.tls = capi::from(options->tls);
  o.priority = heddle::priority{options->priority};
  if (options->runtime != nullptr) o.where = &options->runtime->object;
  return o;
}

}  // namespace

extern "C" {

heddle_status heddle_team_run(const heddle_team_options* options, void (*f)(heddle_team_member*, void*),
                              void* argument) {
  if (f == nullptr) return HEDDLE_INVALID;
  return capi::guarded([&] {
    heddle::team all(from(options));
    all.run([f, argument](heddle::team_member& self) {
      capi::call(f, reinterpret_cast<heddle_team_member*>(&self), argument);
    });
    return HEDDLE_OK;
  });
}

unsigned heddle_team_number(const heddle_team_member* self) { return of(self).number(); }
unsigned heddle_team_size(const heddle_team_member* self) { return of(self).size(); }

heddle_status heddle_team_barrier(heddle_team_member* self) {
  if (self == nullptr) return HEDDLE_INVALID;
  of(self).barrier();
  return HEDDLE_OK;
}

void heddle_set_gang_sched(void) { heddle::set_gang_sched(); }
void heddle_reset_gang_sched(void) { heddle::reset_gang_sched(); }

}  // extern "C"
