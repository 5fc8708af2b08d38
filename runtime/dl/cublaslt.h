// cublaslt.h - cuBLASLt (libcublasLt), found when the program runs.
//
// Nothing of CUDA is needed to build: the declarations are this project's own, with the names,
// values and signatures of cublasLt.h. The library is never unloaded.

#ifndef COLL_RUNTIME_DL_CUBLASLT_H
#define COLL_RUNTIME_DL_CUBLASLT_H

#include "runtime/dl/cuda.h"

namespace coll::rt::dl {

// cublasStatus_t. Only the values that the code distinguishes.
using LtResult = int;
inline constexpr LtResult kLtSuccess = 0;
inline constexpr LtResult kLtAllocFailed = 3;
inline constexpr LtResult kLtInvalidValue = 7;
inline constexpr LtResult kLtArchMismatch = 8;
inline constexpr LtResult kLtNotSupported = 15;

using LtHandle = struct LtHandleTag *;         // cublasLtHandle_t
using LtDesc = struct LtDescTag *;             // cublasLtMatmulDesc_t
using LtLayout = struct LtLayoutTag *;         // cublasLtMatrixLayout_t
using LtPreference = struct LtPreferenceTag *; // cublasLtMatmulPreference_t

// cublasLtMatmulAlgo_t: plain bytes that are valid for the same version of the library.
struct LtAlgorithm {
  uint64_t data[8] = {};
};

// cublasLtMatmulHeuristicResult_t
struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspaceBytes = 0;
  LtResult state = kLtSuccess;
  float waves = 0;
  int reserved[4] = {};
};

// cudaDataType, cublasComputeType_t
inline constexpr int kLtF32 = 0, kLtF64 = 1, kLtF16 = 2, kLtBf16 = 14;
inline constexpr int kLtCompute32F = 68, kLtCompute32FFast16BF = 75, kLtCompute32FFastTF32 = 77,
                     kLtCompute64F = 70;
// cublasLtMatmulDescAttributes_t
inline constexpr int kLtDescTransA = 3, kLtDescTransB = 4, kLtDescEpilogue = 7, kLtDescBias = 8,
                     kLtDescAux = 11, kLtDescAuxLd = 12;
// cublasOperation_t
inline constexpr int32_t kLtPlain = 0, kLtTransposed = 1;
// cublasLtMatrixLayoutAttribute_t
inline constexpr int kLtLayoutBatch = 5, kLtLayoutStride = 6;
// cublasLtMatmulPreferenceAttributes_t; the alignments of A, B, C and D follow each other
inline constexpr int kLtMaxWorkspace = 1, kLtReductionSchemes = 3, kLtAlignmentA = 5;
// cublasLtReductionScheme_t: parts of a sum are added in the computing type, in a fixed order.
inline constexpr uint32_t kLtReduceInComputeType = 2;
// cublasLtEpilogue_t; kinds add up. Aux: gelu writes its argument, and its gradient reads it, in
// the memory of kLtDescAux. BiasGradient: sums of the result's rows, to the memory of kLtDescBias.
inline constexpr uint32_t kLtEpilogueDefault = 1, kLtEpilogueRelu = 2, kLtEpilogueBias = 4,
                          kLtEpilogueBiasGradient = 16, kLtEpilogueGelu = 32,
                          kLtEpilogueGeluGradient = 64, kLtEpilogueAux = 128;

// Every function: member of the table, symbol of the library, parameters.
// clang-format off
#define COLL_CUBLASLT_FUNCTIONS(X)                                                                 \
  X(create, "cublasLtCreate", (LtHandle *handle))                                                  \
  X(destroy, "cublasLtDestroy", (LtHandle handle))                                                 \
  X(descCreate, "cublasLtMatmulDescCreate", (LtDesc *desc, int computeType, int scaleType))        \
  X(descDestroy, "cublasLtMatmulDescDestroy", (LtDesc desc))                                       \
  X(descSet, "cublasLtMatmulDescSetAttribute", (LtDesc desc, int attribute, const void *value, size_t bytes)) \
  X(layoutCreate, "cublasLtMatrixLayoutCreate", (LtLayout *layout, int type, uint64_t rows, uint64_t columns, int64_t ld)) \
  X(layoutDestroy, "cublasLtMatrixLayoutDestroy", (LtLayout layout))                               \
  X(layoutSet, "cublasLtMatrixLayoutSetAttribute", (LtLayout layout, int attribute, const void *value, size_t bytes)) \
  X(preferenceCreate, "cublasLtMatmulPreferenceCreate", (LtPreference *preference))                \
  X(preferenceDestroy, "cublasLtMatmulPreferenceDestroy", (LtPreference preference))               \
  X(preferenceSet, "cublasLtMatmulPreferenceSetAttribute", (LtPreference preference, int attribute, const void *value, size_t bytes)) \
  X(heuristics, "cublasLtMatmulAlgoGetHeuristic", (LtHandle handle, LtDesc desc, LtLayout a, LtLayout b, LtLayout c, LtLayout d, LtPreference preference, int wanted, LtHeuristic *found, int *numFound)) \
  X(check, "cublasLtMatmulAlgoCheck", (LtHandle handle, LtDesc desc, LtLayout a, LtLayout b, LtLayout c, LtLayout d, const LtAlgorithm *algorithm, LtHeuristic *result)) \
  X(matmul, "cublasLtMatmul", (LtHandle handle, LtDesc desc, const void *alpha, const void *a, LtLayout aLayout, const void *b, LtLayout bLayout, const void *beta, const void *c, LtLayout cLayout, void *d, LtLayout dLayout, const LtAlgorithm *algorithm, void *workspace, size_t workspaceBytes, CudaStream stream))
// clang-format on

struct CublasLt {
#define COLL_CUBLASLT_MEMBER(member, symbol, parameters) LtResult(*member) parameters = nullptr;
  COLL_CUBLASLT_FUNCTIONS(COLL_CUBLASLT_MEMBER)
#undef COLL_CUBLASLT_MEMBER
  size_t (*getVersion)() = nullptr;                // cublasLtGetVersion
  const char *(*statusString)(LtResult) = nullptr; // cublasLtGetStatusString
};

// The library that COLL_CUBLASLT names, or the newest known one, loaded at the first call.
// kCollUnsupported, with the reason, if there is none. Any thread may call it.
Result<const CublasLt *> cublasLt();

// Ok, or kCollDevice with the call and the library's name of the error; kCollUnsupported if the
// library cannot do it.
Status ltStatus(const CublasLt &lt, LtResult result, std::string_view call);

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_CUBLASLT_H
