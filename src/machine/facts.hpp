// Facts about the machine for libraries that are built on heddle.
#pragma once

#include <heddle/detail/machine_facts.hpp>

namespace heddle::machine {

// As detail::facts_of_machine, but the caller sees to it that no other thread forks meanwhile.
detail::machine_facts facts_here();

}  // namespace heddle::machine
