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

#define COLL_NCCL_CONFORMANCE(label, backend)                                                      \
  COLL_CONFORMANCE_IN(label, backend, ncclReductions(), movedDtypes());                            \
  COLL_CONFORMANCE_OF_CALLS(label, backend)

COLL_NCCL_CONFORMANCE(nccl_fake, "nccl///fake-nccl");
COLL_NCCL_CONFORMANCE(nccl_gpu, "nccl///gpu");

} // namespace
} // namespace coll::rt::test
