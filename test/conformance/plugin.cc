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

INSTANTIATE_TEST_SUITE_P(plugin, Reductions,
                         testing::Combine(testing::Values("plugin"),
                                          testing::ValuesIn(pluginReductions())),
                         reductionsName);
INSTANTIATE_TEST_SUITE_P(plugin, Movements,
                         testing::Combine(testing::Values("plugin"),
                                          testing::ValuesIn(movedDtypes())),
                         movementsName);
INSTANTIATE_TEST_SUITE_P(plugin, Arithmetic, testing::Values("plugin"));
INSTANTIATE_TEST_SUITE_P(plugin, Transfers, testing::Values("plugin"));
INSTANTIATE_TEST_SUITE_P(plugin, Asynchrony, testing::Values("plugin"));
INSTANTIATE_TEST_SUITE_P(plugin, Failures, testing::Values("plugin"));

} // namespace coll::rt::test
