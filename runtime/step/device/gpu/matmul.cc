#include "runtime/step/device/gpu/matmul.h"

#include "runtime/base/dtype.h"
#include "runtime/base/log.h"
#include "runtime/step/device/contraction.h"
#include "runtime/step/device/gpu/choices.h"
#include "runtime/step/device/gpu/timing.h"

#include <algorithm>
#include <limits>

namespace coll::rt {

namespace {

constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;
constexpr int kCandidates = 8;
constexpr int kTimedRuns = 3;
// With fewer multiplications than this, the first proposal is as good as any.
constexpr double kTimedFrom = 4e6;
constexpr uint32_t kMostAlignment = 256;

int ltType(int32_t dtype) {
  switch (dtype) {
  case kCollF64:
    return dl::kLtF64;
  case kCollF16:
    return dl::kLtF16;
  case kCollBf16:
    return dl::kLtBf16;
  default:
    return dl::kLtF32;
  }
}

int ltCompute(int32_t compute) {
  switch (compute) {
  case kCollComputeTf32:
    return dl::kLtCompute32FFastTF32;
  case kCollComputeBf16:
    return dl::kLtCompute32FFast16BF;
  case kCollComputeF64:
    return dl::kLtCompute64F;
  default:
    return dl::kLtCompute32F;
  }
}

bool isGradient(const CollContraction &c) { return c.epilogue == kCollEpilogueGeluGradient; }

uint32_t ltEpilogue(const CollContraction &c) {
  uint32_t epilogue = hasBias(c) ? dl::kLtEpilogueBias : 0;
  if (c.epilogue == kCollEpilogueRelu || c.epilogue == kCollEpilogueBiasRelu)
    epilogue |= dl::kLtEpilogueRelu;
  if (hasGelu(c))
    epilogue |= dl::kLtEpilogueGelu | (c.kept ? dl::kLtEpilogueAux : 0);
  if (isGradient(c))
    epilogue |= dl::kLtEpilogueGeluGradient | dl::kLtEpilogueAux |
                (c.kept ? dl::kLtEpilogueBiasGradient : 0);
  return epilogue ? epilogue : dl::kLtEpilogueDefault;
}

uint32_t alignmentOf(const void *data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  uint32_t alignment = 1;
  while (alignment < kMostAlignment && address % (2 * alignment) == 0)
    alignment *= 2;
  return alignment;
}

// The form's name in the file of choices.
std::string nameOf(const Matmuls::Form &form) {
  std::string name;
  for (int64_t part : form)
    name += (name.empty() ? "" : ",") + std::to_string(part);
  return name;
}

CollContraction withoutEpilogue(const CollContraction &c) {
  CollContraction product = c;
  product.epilogue = kCollEpilogueNone;
  product.bias = product.x = nullptr;
  product.kept = nullptr;
  return product;
}

kernels::Epilogue epilogueOf(const CollContraction &c, void *out) {
  kernels::Epilogue epilogue;
  epilogue.dtype = static_cast<CollDtype>(c.dtype_out);
  epilogue.batch = c.batch, epilogue.rows = c.m, epilogue.columns = c.n;
  epilogue.rowStride = c.ld_out, epilogue.batchStride = c.stride_out;
  epilogue.out = out;
  epilogue.bias = hasBias(c) ? c.bias : nullptr;
  epilogue.x = c.x;
  epilogue.kept = c.kept;
  if (c.epilogue == kCollEpilogueRelu || c.epilogue == kCollEpilogueBiasRelu)
    epilogue.function = kernels::Epilogue::Function::Relu;
  if (hasGelu(c))
    epilogue.function = kernels::Epilogue::Function::Gelu;
  if (isGradient(c))
    epilogue.function = kernels::Epilogue::Function::GeluGradient;
  return epilogue;
}

int64_t roundUp(int64_t bytes) {
  return (bytes + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
}

int64_t outBytes(const CollContraction &c) {
  const int64_t elems = (c.batch - 1) * c.stride_out + (c.m - 1) * c.ld_out + c.n;
  return elems * dtypeSize(static_cast<CollDtype>(c.dtype_out));
}

} // namespace

Matmuls::Form Matmuls::formOf(const CollContraction &c, const Operands &operands) {
  return {c.dtype_a,
          c.dtype_out,
          c.compute,
          c.trans_a != 0,
          c.trans_b != 0,
          c.accumulate != 0,
          c.epilogue,
          c.batch,
          c.m,
          c.n,
          c.k,
          c.ld_a,
          c.ld_b,
          c.ld_out,
          c.stride_a,
          c.stride_b,
          c.stride_out,
          alignmentOf(operands.a),
          alignmentOf(operands.b),
          alignmentOf(operands.out),
          c.kept != nullptr,
          std::min(alignmentOf(c.x), alignmentOf(c.kept))};
}

// A form of contraction, as the library describes it, and its algorithm.
struct Matmuls::Plan {
  explicit Plan(const dl::CublasLt &lt) : lt(lt) {}
  ~Plan() {
    for (dl::LtLayout layout : {a, b, out})
      if (layout)
        (void)lt.layoutDestroy(layout);
    if (desc)
      (void)lt.descDestroy(desc);
  }
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  const dl::CublasLt &lt;
  dl::LtDesc desc = nullptr;
  dl::LtLayout a = nullptr, b = nullptr, out = nullptr;
  dl::LtAlgorithm algorithm;
  bool isFinishedApart = false; // the algorithm is that of the product without its epilogue
};

Matmuls::Matmuls(const dl::CublasLt &lt, gpu::Gpu &gpu, EpilogueLauncher finish)
    : lt_(lt), gpu_(gpu), finish_(finish) {}

Result<std::unique_ptr<Matmuls>> Matmuls::create(const dl::CublasLt &lt, gpu::Gpu &gpu,
                                                 EpilogueLauncher finish) {
  std::unique_ptr<Matmuls> made(new Matmuls(lt, gpu, finish));
  COLL_RETURN_IF_ERROR(dl::ltStatus(lt, lt.create(&made->handle_), "cublasLtCreate"));
  Result<dl::GpuMemory> workspace =
      dl::GpuMemory::create(gpu.context(), dl::GpuMemory::Kind::Device, kWorkspaceBytes);
  if (!workspace)
    return workspace.status().annotate("the workspace of matrix products, " +
                                       std::to_string(kWorkspaceBytes) + " bytes");
  made->workspace_ = workspace.take();
  char name[256] = "GPU";
  (void)gpu.cuda().deviceGetName(name, sizeof(name), gpu.ordinal());
  made->choices_ = AlgorithmChoices::of("matmul", name, lt.getVersion());
  return made;
}

Matmuls::~Matmuls() {
  gpu::Gpu::Scope scope(gpu_);
  plans_.clear();
  if (handle_)
    (void)lt_.destroy(handle_);
}

Status Matmuls::describe(Plan &plan, const CollContraction &c) const {
  const int scale = c.compute == kCollComputeF64 ? dl::kLtF64 : dl::kLtF32;
  COLL_RETURN_IF_ERROR(dl::ltStatus(lt_, lt_.descCreate(&plan.desc, ltCompute(c.compute), scale),
                                    "cublasLtMatmulDescCreate"));
  auto set = [&](int attribute, auto value) {
    return dl::ltStatus(lt_, lt_.descSet(plan.desc, attribute, &value, sizeof(value)),
                        "cublasLtMatmulDescSetAttribute");
  };
  // The operands are swapped.
  COLL_RETURN_IF_ERROR(set(dl::kLtDescTransA, c.trans_b ? dl::kLtTransposed : dl::kLtPlain));
  COLL_RETURN_IF_ERROR(set(dl::kLtDescTransB, c.trans_a ? dl::kLtTransposed : dl::kLtPlain));
  COLL_RETURN_IF_ERROR(set(dl::kLtDescEpilogue, ltEpilogue(c)));
  if (c.x || (c.kept && !isGradient(c)))
    COLL_RETURN_IF_ERROR(set(dl::kLtDescAuxLd, c.ld_out));
  // A row of the row-major matrix is a column here.
  auto layout = [&](dl::LtLayout &made, int32_t dtype, int64_t rows, int64_t columns, int64_t ld,
                    int64_t stride) -> Status {
    COLL_RETURN_IF_ERROR(
        dl::ltStatus(lt_,
                     lt_.layoutCreate(&made, ltType(dtype), static_cast<uint64_t>(columns),
                                      static_cast<uint64_t>(rows), ld),
                     "cublasLtMatrixLayoutCreate"));
    const auto batch = static_cast<int32_t>(c.batch);
    COLL_RETURN_IF_ERROR(dl::ltStatus(
        lt_, lt_.layoutSet(made, dl::kLtLayoutBatch, &batch, sizeof(batch)), "batch count"));
    return dl::ltStatus(lt_, lt_.layoutSet(made, dl::kLtLayoutStride, &stride, sizeof(stride)),
                        "batch stride");
  };
  COLL_RETURN_IF_ERROR(
      layout(plan.a, c.dtype_a, c.trans_a ? c.k : c.m, c.trans_a ? c.m : c.k, c.ld_a, c.stride_a));
  COLL_RETURN_IF_ERROR(
      layout(plan.b, c.dtype_b, c.trans_b ? c.n : c.k, c.trans_b ? c.k : c.n, c.ld_b, c.stride_b));
  return layout(plan.out, c.dtype_out, c.m, c.n, c.ld_out, c.stride_out);
}

Result<std::vector<dl::LtHeuristic>> Matmuls::propose(const Plan &plan,
                                                      const Operands &operands) const {
  dl::LtPreference preference = nullptr;
  COLL_RETURN_IF_ERROR(
      dl::ltStatus(lt_, lt_.preferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"));
  const auto most = static_cast<uint64_t>(kWorkspaceBytes);
  dl::LtResult result = lt_.preferenceSet(preference, dl::kLtMaxWorkspace, &most, sizeof(most));
  // If parts of a sum were added as they finish, the result would depend on timing.
  const uint32_t schemes = dl::kLtReduceInComputeType;
  if (result == dl::kLtSuccess)
    result = lt_.preferenceSet(preference, dl::kLtReductionSchemes, &schemes, sizeof(schemes));
  const uint32_t out = alignmentOf(operands.out);
  const uint32_t alignments[] = {alignmentOf(operands.b), alignmentOf(operands.a), out, out};
  for (int i = 0; i < 4 && result == dl::kLtSuccess; ++i)
    result = lt_.preferenceSet(preference, dl::kLtAlignmentA + i, &alignments[i], sizeof(uint32_t));
  std::vector<dl::LtHeuristic> found(kCandidates);
  int count = 0;
  if (result == dl::kLtSuccess)
    result = lt_.heuristics(handle_, plan.desc, plan.b, plan.a, plan.out, plan.out, preference,
                            kCandidates, found.data(), &count);
  (void)lt_.preferenceDestroy(preference);
  COLL_RETURN_IF_ERROR(dl::ltStatus(lt_, result, "cublasLtMatmulAlgoGetHeuristic"));
  found.resize(static_cast<size_t>(count));
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const dl::LtHeuristic &h) { return h.state != dl::kLtSuccess; }),
              found.end());
  if (found.empty())
    return Status(kCollUnsupported, "cuBLASLt has no algorithm for it");
  return found;
}

// The addresses that the epilogue reads and writes.
Status Matmuls::setAddresses(const Plan &plan, const CollContraction &c) const {
  auto set = [&](int attribute, const void *address) {
    return dl::ltStatus(lt_, lt_.descSet(plan.desc, attribute, &address, sizeof(address)),
                        "the memory of an epilogue");
  };
  if (hasBias(c))
    COLL_RETURN_IF_ERROR(set(dl::kLtDescBias, c.bias));
  if (isGradient(c)) {
    COLL_RETURN_IF_ERROR(set(dl::kLtDescAux, c.x));
    return c.kept ? set(dl::kLtDescBias, c.kept) : Status();
  }
  return c.kept ? set(dl::kLtDescAux, c.kept) : Status();
}

Status Matmuls::put(const Plan &plan, const CollContraction &c, const dl::LtAlgorithm &algorithm,
                    const Operands &operands, dl::CudaStream stream, char *workspace) const {
  COLL_RETURN_IF_ERROR(setAddresses(plan, c));
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  const bool isWide = c.compute == kCollComputeF64;
  const void *alpha = isWide ? static_cast<const void *>(&wideOne) : &one;
  const void *beta = c.accumulate ? alpha : isWide ? static_cast<const void *>(&wideZero) : &zero;
  return dl::ltStatus(lt_,
                      lt_.matmul(handle_, plan.desc, alpha, operands.b, plan.b, operands.a, plan.a,
                                 beta, operands.out, plan.out, operands.out, plan.out, &algorithm,
                                 workspace, static_cast<size_t>(kWorkspaceBytes), stream),
                      "cublasLtMatmul");
}

// The candidates run into separate memory, on a separate stream: work before them on the step's
// stream may wait for another rank whose thread is also here.
Result<dl::LtAlgorithm> Matmuls::findFastest(const Plan &plan, const CollContraction &c,
                                             const std::vector<dl::LtHeuristic> &candidates,
                                             const Operands &operands) {
  Result<char *> workspace = trialWorkspace_.reserve(gpu_, kWorkspaceBytes);
  if (!workspace)
    return workspace.status();
  // Another result is at most as large as the first.
  const int64_t bytes = roundUp(outBytes(c));
  Result<char *> out = trialResult_.reserve(gpu_, c.kept ? 2 * bytes : bytes);
  if (!out)
    return out.status();
  CollContraction trial = c;
  if (c.kept)
    trial.kept = *out + bytes;
  Result<dl::CudaStream> stream = gpu_.makeStream();
  if (!stream)
    return stream.status();
  const Operands apart{operands.a, operands.b, *out};
  dl::LtAlgorithm best = candidates.front().algorithm;
  float least = std::numeric_limits<float>::infinity();
  Status status;
  for (const dl::LtHeuristic &candidate : candidates) {
    Result<float> taken = timeOnStream(gpu_, *stream, kTimedRuns, [&] {
      return put(plan, trial, candidate.algorithm, apart, *stream, *workspace);
    });
    if (!taken && taken.status().code() != kCollUnsupported)
      status = taken.status();
    if (taken && *taken < least) {
      least = *taken;
      best = candidate.algorithm;
    }
  }
  gpu_.endStream(*stream);
  if (!status.ok())
    return status;
  return best;
}

Status Matmuls::choose(Plan &plan, const std::string &key, const CollContraction &c,
                       const Operands &operands, bool isCaptured) {
  if (std::optional<dl::LtAlgorithm> known = choices_->find(key)) {
    dl::LtHeuristic checked;
    if (lt_.check(handle_, plan.desc, plan.b, plan.a, plan.out, plan.out, &*known, &checked) ==
            dl::kLtSuccess &&
        checked.workspaceBytes <= static_cast<size_t>(kWorkspaceBytes)) {
      plan.algorithm = *known;
      return {};
    }
    log(LogLevel::Warn, "the cached algorithm of " + rt::describe(c) + " is not valid here");
  }
  Result<std::vector<dl::LtHeuristic>> proposed = propose(plan, operands);
  if (!proposed)
    return proposed.status();
  plan.algorithm = proposed->front().algorithm;
  const double products = static_cast<double>(c.m) * static_cast<double>(c.n) *
                          static_cast<double>(c.k) * static_cast<double>(c.batch);
  const bool isSmall = products < kTimedFrom;
  if (isCaptured || isSmall || proposed->size() == 1)
    return {};
  Result<dl::LtAlgorithm> fastest = findFastest(plan, c, *proposed, operands);
  if (fastest)
    plan.algorithm = choices_->add(key, *fastest);
  else // perhaps there is no memory to try them
    log(LogLevel::Info,
        rt::describe(c) + " takes cuBLASLt's first proposal: " + fastest.status().message());
  return {};
}

Result<std::unique_ptr<Matmuls::Plan>>
Matmuls::makePlan(const CollContraction &c, const Operands &operands, bool isCaptured) {
  auto made = std::make_unique<Plan>(lt_);
  COLL_RETURN_IF_ERROR(describe(*made, c));
  // The library requires them while it searches for algorithms.
  COLL_RETURN_IF_ERROR(setAddresses(*made, c));
  COLL_RETURN_IF_ERROR(choose(*made, nameOf(formOf(c, operands)), c, operands, isCaptured));
  return made;
}

Status Matmuls::run(const CollContraction &c, const void *a, const void *b, void *out,
                    dl::CudaStream stream, bool isCaptured) {
  if (c.batch > std::numeric_limits<int32_t>::max())
    return {kCollUnsupported, "a batch of more than 2^31 - 1 matrices"};
  const Operands operands{a, b, out};
  const Form form = formOf(c, operands);
  std::unique_ptr<Plan> &plan = plans_[form];
  const CollContraction product = withoutEpilogue(c);
  if (!plan) {
    // The library computes some epilogues of f64 with ten digits.
    bool isApart = c.epilogue != kCollEpilogueNone && c.compute == kCollComputeF64;
    Result<std::unique_ptr<Plan>> made = makePlan(isApart ? product : c, operands, isCaptured);
    const bool isMissing = !made && made.status().code() == kCollUnsupported;
    if (isMissing && !isApart && c.epilogue != kCollEpilogueNone) {
      isApart = true;
      made = makePlan(product, operands, isCaptured);
    }
    if (made)
      (*made)->isFinishedApart = isApart;
    if (!made)
      return made.status();
    plan = made.take();
  }
  const CollContraction &called = plan->isFinishedApart ? product : c;
  COLL_RETURN_IF_ERROR(put(*plan, called, plan->algorithm, operands, stream, workspace_.device()));
  if (!plan->isFinishedApart)
    return {};
  return finish_(epilogueOf(c, out), stream)
      .annotate("what follows the product, for which cuBLASLt has no algorithm here "
                "(--fuse-epilogues=off leaves it to the step's kernels)");
}

} // namespace coll::rt
