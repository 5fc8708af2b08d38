// The example of a user's backend, loaded as a library like any other.

#include "test/conformance/harness.h"

namespace coll::rt::test {
namespace {

// The reductions that the example supports.
std::vector<TypedReduction> pluginReductions() {
  std::vector<TypedReduction> all;
  for (CollDtype dtype : {kCollF32, kCollF64, kCollI32, kCollI64})
    for (CollReduction reduction : {kCollSum, kCollMin, kCollMax})
      all.emplace_back(dtype, reduction);
  return all;
}

} // namespace

COLL_CONFORMANCE_IN(plugin, "plugin", pluginReductions(), movedDtypes());
INSTANTIATE_TEST_SUITE_P(plugin, Arithmetic, testing::Values("plugin"));
COLL_CONFORMANCE_OF_CALLS(plugin, "plugin");

} // namespace coll::rt::test
