#include "runtime/step/device/contraction.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/epilogue/epilogue.h"
#include "runtime/step/abi/gemm.h"

#include <vector>

namespace coll::rt {

namespace {

bool isContractible(int32_t dtype) {
  return dtype == kCollF32 || dtype == kCollF64 || dtype == kCollF16 || dtype == kCollBf16;
}

Status checkTypes(const CollContraction &c) {
  for (int32_t dtype : {c.dtype_a, c.dtype_b, c.dtype_out})
    if (!isContractible(dtype))
      return {kCollUnsupported,
              std::string("element type ") + dtypeName(dtype) + " is not f32, f64, f16 or bf16"};
  if (c.dtype_a != c.dtype_b)
    return Status::invalid(std::string("operands of ") + dtypeName(c.dtype_a) + " and " +
                           dtypeName(c.dtype_b) + "; they need one type");
  const bool isF64 = c.dtype_a == kCollF64;
  if (isF64 != (c.dtype_out == kCollF64) || isF64 != (c.compute == kCollComputeF64))
    return Status::invalid("f64 operands need an f64 result and computing in f64, and vice versa");
  const bool isNarrow = isNarrowFloat(static_cast<CollDtype>(c.dtype_a));
  if (isNarrow && c.dtype_out != c.dtype_a && c.dtype_out != kCollF32)
    return Status::invalid(std::string("a product of ") + dtypeName(c.dtype_a) + " gives " +
                           dtypeName(c.dtype_a) + " or f32, not " + dtypeName(c.dtype_out));
  if (c.dtype_a == kCollF32 && c.dtype_out != kCollF32)
    return Status::invalid(std::string("a product of f32 gives f32, not ") +
                           dtypeName(c.dtype_out));
  if (c.compute < kCollComputeF32 || c.compute > kCollComputeF64)
    return Status::invalid("there is no form of computing " + std::to_string(c.compute));
  if (c.epilogue < kCollEpilogueNone || c.epilogue > kCollEpilogueGeluGradient)
    return Status::invalid("there is no epilogue " + std::to_string(c.epilogue));
  return {};
}

Status checkSizes(const CollContraction &c) {
  constexpr int64_t kMax = int64_t(1) << 40;
  for (int64_t size : {c.batch, c.m, c.n, c.k})
    if (size < 0 || size > kMax)
      return Status::invalid("a size is " + std::to_string(size));
  if (isEmpty(c))
    return {};
  if (c.ld_a < (c.trans_a ? c.m : c.k) || c.ld_b < (c.trans_b ? c.k : c.n) || c.ld_out < c.n)
    return Status::invalid("a row stride (" + std::to_string(c.ld_a) + ", " +
                           std::to_string(c.ld_b) + ", " + std::to_string(c.ld_out) +
                           ") is shorter than its row");
  if (c.stride_a < 0 || c.stride_b < 0 || c.stride_out < 0)
    return Status::invalid("a batch stride is negative");
  // Matrices of a batch are one after another, or side by side within the rows of one.
  const bool isApart = c.stride_out >= (c.m - 1) * c.ld_out + c.n;
  const bool isSideBySide = c.stride_out >= c.n && (c.batch - 1) * c.stride_out + c.n <= c.ld_out;
  if (c.batch > 1 && !isApart && !isSideBySide)
    return Status::invalid("the batch stride of the result, " + std::to_string(c.stride_out) +
                           ", makes its matrices overlap");
  return {};
}

double load(const void *data, int32_t dtype, int64_t i) {
  switch (dtype) {
  case kCollF64:
    return static_cast<const double *>(data)[i];
  case kCollF16:
    return static_cast<double>(f16ToF32(static_cast<const uint16_t *>(data)[i]));
  case kCollBf16:
    return static_cast<double>(bf16ToF32(static_cast<const uint16_t *>(data)[i]));
  default:
    return static_cast<double>(static_cast<const float *>(data)[i]);
  }
}

void store(void *data, int32_t dtype, int64_t i, double value) {
  switch (dtype) {
  case kCollF64:
    static_cast<double *>(data)[i] = value;
    return;
  case kCollF16:
    static_cast<uint16_t *>(data)[i] = f32ToF16(static_cast<float>(value));
    return;
  case kCollBf16:
    static_cast<uint16_t *>(data)[i] = f32ToBf16(static_cast<float>(value));
    return;
  default:
    static_cast<float *>(data)[i] = static_cast<float>(value);
  }
}

// Applies the epilogue of a contraction to its sums, and stores them.
class Finisher {
public:
  Finisher(const CollContraction &c, void *out) : c_(c), out_(out) {
    if (c.epilogue == kCollEpilogueGeluGradient && c.kept)
      columns_.resize(static_cast<size_t>(c.n));
  }

  // The sum of row i and column j, which lies at `at` in `out`.
  void put(int64_t at, int64_t j, double sum) {
    if (hasBias(c_))
      sum += load(c_.bias, c_.dtype_out, j);
    if (c_.epilogue == kCollEpilogueRelu || c_.epilogue == kCollEpilogueBiasRelu)
      sum = kernels::epilogue::relu(sum);
    if (hasGelu(c_) && c_.kept)
      store(c_.kept, c_.dtype_out, at, sum);
    if (hasGelu(c_))
      sum = kernels::epilogue::gelu(sum);
    if (c_.epilogue == kCollEpilogueGeluGradient)
      sum *= kernels::epilogue::geluSlope(load(c_.x, c_.dtype_out, at));
    if (!columns_.empty())
      columns_[static_cast<size_t>(j)] += sum;
    store(out_, c_.dtype_out, at, sum);
  }

  // Call it after the last element.
  void finish() const {
    for (size_t j = 0; j < columns_.size(); ++j)
      store(c_.kept, c_.dtype_out, static_cast<int64_t>(j), columns_[j]);
  }

private:
  const CollContraction &c_;
  void *out_;
  std::vector<double> columns_; // sums of the columns, if they are asked for
};

// Calls element(p, i, j, at) for each element of the result, which lies at `at` in `out`.
template <typename Element>
void forEachElement(const CollContraction &c, Element element) {
  for (int64_t p = 0; p < c.batch; ++p)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j)
        element(p, i, j, p * c.stride_out + i * c.ld_out + j);
}

// Computes every form; sums in f64, rounded once.
void contractPlainly(const CollContraction &c, const void *a, const void *b, void *out) {
  const int64_t aRow = c.trans_a ? 1 : c.ld_a, aColumn = c.trans_a ? c.ld_a : 1;
  const int64_t bRow = c.trans_b ? 1 : c.ld_b, bColumn = c.trans_b ? c.ld_b : 1;
  Finisher finisher(c, out);
  forEachElement(c, [&](int64_t p, int64_t i, int64_t j, int64_t at) {
    double sum = c.accumulate ? load(out, c.dtype_out, at) : 0;
    for (int64_t l = 0; l < c.k; ++l)
      sum += load(a, c.dtype_a, p * c.stride_a + i * aRow + l * aColumn) *
             load(b, c.dtype_b, p * c.stride_b + l * bRow + j * bColumn);
    finisher.put(at, j, sum);
  });
  finisher.finish();
}

// What describe() says of an epilogue.
const char *epilogueName(int32_t epilogue) {
  static constexpr const char *kNames[] = {
      "", ", bias", ", relu", ", bias and relu", ", gelu", ", bias and gelu", ", gelu's gradient"};
  return epilogue >= 0 && epilogue <= kCollEpilogueGeluGradient ? kNames[epilogue] : "";
}

const char *computeName(int32_t compute) {
  static constexpr const char *kNames[] = {"f32", "tf32", "bf16", "f64"};
  return compute >= 0 && compute <= kCollComputeF64 ? kNames[compute] : "?";
}

} // namespace

std::string describe(const CollContraction &c) {
  return std::string(dtypeName(c.dtype_a)) + (c.trans_a ? "^T" : "") + " x " +
         dtypeName(c.dtype_b) + (c.trans_b ? "^T" : "") + " -> " + dtypeName(c.dtype_out) + " in " +
         computeName(c.compute) + ", " + std::to_string(c.batch) + " x " + std::to_string(c.m) +
         "x" + std::to_string(c.n) + "x" + std::to_string(c.k) + epilogueName(c.epilogue);
}

Status checkContraction(const CollContraction &c, const void *a, const void *b, const void *out) {
  COLL_RETURN_IF_ERROR(checkTypes(c));
  COLL_RETURN_IF_ERROR(checkSizes(c));
  if (isEmpty(c))
    return {};
  if (!out || (c.k > 0 && (!a || !b)))
    return Status::invalid("a matrix is null");
  if (hasBias(c) && !c.bias)
    return Status::invalid("the bias is null");
  const bool isGradient = c.epilogue == kCollEpilogueGeluGradient;
  if (isGradient != (c.x != nullptr))
    return Status::invalid("x belongs to the gradient of gelu, which needs it");
  if (c.kept && !isGradient && !hasGelu(c))
    return Status::invalid("only gelu and its gradient have another result");
  if (c.batch > 1 && (c.x || c.kept))
    return Status::invalid("x and the other result have no batch, but the product has one of " +
                           std::to_string(c.batch));
  return {};
}

Status contractOnHost(const CollContraction &c, const void *a, const void *b, void *out) {
  if (c.dtype_a != kCollF32 && c.dtype_a != kCollF64) {
    contractPlainly(c, a, b, out);
    return {};
  }
  COLL_RETURN_IF_ERROR(
      runGemm({c.dtype_a, c.trans_a != 0, c.trans_b != 0, c.m, c.n, c.k, a, c.ld_a, c.stride_a, b,
               c.ld_b, c.stride_b, out, c.ld_out, c.stride_out, c.batch, c.accumulate != 0}));
  if (c.epilogue == kCollEpilogueNone)
    return {};
  Finisher finisher(c, out);
  forEachElement(c, [&](int64_t, int64_t, int64_t j, int64_t at) {
    finisher.put(at, j, load(out, c.dtype_out, at));
  });
  finisher.finish();
  return {};
}

} // namespace coll::rt
