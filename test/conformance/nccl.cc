// Backend nccl: over a fake driver and a fake NCCL with eight GPUs, and over the machine's own,
// with as many ranks as there are GPUs. NCCL's arithmetic promises neither an order nor a single
// rounding; nccl_backend_test.cc tests what is promised.

#include "runtime/backend/nccl/types.h"
#include "test/conformance/harness.h"

namespace coll::rt::test {
namespace {

// The reductions that NCCL supports.
std::vector<TypedReduction> ncclReductions() {
  std::vector<TypedReduction> all;
  for (const TypedReduction &one : allReductions())
    if (nccl::arithmeticOf(one.first, one.second).ok())
      all.push_back(one);
  return all;
}

// Each job makes communicators, which takes long with a real library, so only a few types are
// tested there. coll-perf checks the others.
std::vector<TypedReduction> fewReductions() {
  return {{kCollF32, kCollSum}, {kCollBf16, kCollSum}, {kCollI32, kCollMax},
          {kCollI32, kCollAvg}, {kCollU8, kCollAvg},   {kCollBool, kCollAnd}};
}

#define COLL_NCCL_CONFORMANCE(label, backend, reductions, dtypes)                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      label, Reductions,                                                                           \
      testing::Combine(testing::Values(backend), testing::ValuesIn(reductions)), reductionsName);  \
  INSTANTIATE_TEST_SUITE_P(label, Movements,                                                       \
                           testing::Combine(testing::Values(backend), testing::ValuesIn(dtypes)),  \
                           movementsName);                                                         \
  INSTANTIATE_TEST_SUITE_P(label, Transfers, testing::Values(backend));                            \
  INSTANTIATE_TEST_SUITE_P(label, Asynchrony, testing::Values(backend));                           \
  INSTANTIATE_TEST_SUITE_P(label, Failures, testing::Values(backend))

COLL_NCCL_CONFORMANCE(nccl_fake, "nccl///fake-nccl", ncclReductions(), movedDtypes());
COLL_NCCL_CONFORMANCE(nccl_gpu, "nccl///gpu", fewReductions(), std::vector<CollDtype>{kCollI16});

} // namespace
} // namespace coll::rt::test
