// matmul.h - contractions of one rank by cuBLASLt.
//
// cuBLASLt's matrices are column-major, so it sees a row-major matrix as its transpose: it computes
// out^T = op(b)^T * op(a)^T, with m and n, operands and transposes swapped.
//
// The algorithm of each form of a contraction is found at its first call: a few that the library
// proposes are timed, and the fastest is kept (choices.h). All of them sum in a fixed order.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_MATMUL_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_MATMUL_H

#include "runtime/dl/cublaslt.h"
#include "runtime/gpu/gpu.h"
#include "runtime/step/abi/abi.h"
#include "runtime/step/device/gpu/kept_memory.h"
#include "runtime/step/device/gpu/platform.h"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace coll::rt {

class AlgorithmChoices;

// Belongs to the rank's thread, on which its GPU is current. The library's handle belongs to it.
class Matmuls {
public:
  // `finish` computes what follows a product where the library has no algorithm for both.
  static Result<std::unique_ptr<Matmuls>> create(const dl::CublasLt &lt, gpu::Gpu &gpu,
                                                 EpilogueLauncher finish);
  ~Matmuls();
  Matmuls(const Matmuls &) = delete;
  Matmuls &operator=(const Matmuls &) = delete;

  // Identifies contractions that use the same algorithm: everything but the addresses, of which
  // only the alignments matter.
  using Form = std::array<int64_t, 22>;

  // Puts the contraction, which is valid, not empty and has k > 0, on the stream. `isCaptured`: the
  // stream is being captured, so nothing can be timed.
  Status run(const CollContraction &contraction, const void *a, const void *b, void *out,
             dl::CudaStream stream, bool isCaptured);

private:
  struct Plan;
  struct Operands {
    const void *a, *b;
    void *out;
  };
  Matmuls(const dl::CublasLt &lt, gpu::Gpu &gpu, EpilogueLauncher finish);

  static Form formOf(const CollContraction &c, const Operands &operands);
  Status describe(Plan &plan, const CollContraction &c) const;
  Result<std::unique_ptr<Plan>> makePlan(const CollContraction &c, const Operands &operands,
                                         bool isCaptured);
  Status choose(Plan &plan, const std::string &key, const CollContraction &c,
                const Operands &operands, bool isCaptured);
  Result<std::vector<dl::LtHeuristic>> propose(const Plan &plan, const Operands &operands) const;
  Result<dl::LtAlgorithm> findFastest(const Plan &plan, const CollContraction &c,
                                      const std::vector<dl::LtHeuristic> &candidates,
                                      const Operands &operands);
  Status setAddresses(const Plan &plan, const CollContraction &c) const;
  Status put(const Plan &plan, const CollContraction &c, const dl::LtAlgorithm &algorithm,
             const Operands &operands, dl::CudaStream stream, char *workspace) const;

  const dl::CublasLt &lt_;
  gpu::Gpu &gpu_;
  EpilogueLauncher finish_;
  dl::LtHandle handle_ = nullptr;
  dl::GpuMemory workspace_;
  KeptMemory trialWorkspace_, trialResult_;
  std::shared_ptr<AlgorithmChoices> choices_;
  std::map<Form, std::unique_ptr<Plan>> plans_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_MATMUL_H
