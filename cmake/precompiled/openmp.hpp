// For the runtime of OpenMP: what most of its sources reach.
#include "library.hpp"

#include "omp/core/settings/environment.hpp"
#include "omp/core/teams/team.hpp"
#include "omp/core/teams/thread.hpp"
