// A plugin whose policy is called as one of heddle's.
#include <heddle/policy.hpp>

namespace {

using namespace heddle::policy;

struct usurper final : policy {
  entry acquire(unsigned, effort) noexcept override { return 0; }
};

std::unique_ptr<policy> make(parameters&) { return create<usurper>(); }

}  // namespace

HEDDLE_POLICIES({"adws", "of a test", make})
