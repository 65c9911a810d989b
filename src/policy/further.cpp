#include "policy/further.hpp"

#include "policy/asymmetric/aats.hpp"
#include "policy/asymmetric/rts.hpp"
#include "policy/clusters/chs.hpp"
#include "policy/clusters/cls.hpp"
#include "policy/clusters/crs.hpp"
#include "policy/clusters/tatl.hpp"
#include "policy/grouped/grouped.hpp"
#include "policy/groups/hws.hpp"
#include "policy/groups/mts.hpp"
#include "policy/iterations/constrained_ws.hpp"
#include "policy/iterations/locality_ws.hpp"
#include "policy/levels/levels.hpp"
#include "policy/numa/numalb.hpp"
#include "policy/shared_cache/controlled_pdf.hpp"
#include "policy/shared_cache/pdf.hpp"
#include "policy/sockets/cab_fto.hpp"
#include "policy/sockets/cab_gto.hpp"
#include "policy/sockets/laws.hpp"
#include "policy/stealing/hierarchical_ws.hpp"
#include "policy/stealing/pws.hpp"
#include "policy/stealing/random_pushing.hpp"
#include "policy/stealing/slaw.hpp"

namespace heddle::policy {

std::span<const registration> lines_of_further() {
  static const registration lines[] = {
#define HEDDLE_POLICY(name, summary, make) {name, summary, make},
#include "policy/further.def"
  };
  return lines;
}

}  // namespace heddle::policy
