#include "test/support/fakes/cublaslt.h"

#include "runtime/base/narrow.h"
#include "test/support/fakes/cuda.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

namespace coll::rt::dl {

struct LtHandleTag {};
struct LtDescTag {
  int compute = 0;
  int32_t transposesA = 0, transposesB = 0;
  uint32_t epilogue = kLtEpilogueDefault;
  void *bias = nullptr; // the bias, or the bias gradient
  void *aux = nullptr;
  int64_t auxLd = 0;
};
struct LtLayoutTag {
  int type = 0;
  int64_t rows = 0, columns = 0, ld = 0, stride = 0;
  int32_t batch = 1;
};
struct LtPreferenceTag {
  uint32_t alignments[4] = {1, 1, 1, 1}; // of A, B, C and D
};

namespace {

struct Shared {
  std::mutex mutex;
  std::map<std::string, LtResult> failures;
  std::map<std::string, int64_t> calls;
  int64_t live = 0;
  CublasLt table;
};
Shared *fake = nullptr;

LtResult begin(const char *name) {
  std::lock_guard<std::mutex> lock(fake->mutex);
  ++fake->calls[name];
  auto it = fake->failures.find(name);
  if (it == fake->failures.end())
    return kLtSuccess;
  const LtResult result = it->second;
  fake->failures.erase(it);
  return result;
}

template <typename T>
LtResult make(const char *name, T **object, T value) {
  const LtResult result = begin(name);
  if (result != kLtSuccess)
    return result;
  std::lock_guard<std::mutex> lock(fake->mutex);
  ++fake->live;
  *object = new T(value);
  return result;
}

template <typename T>
LtResult end(const char *name, T *object) {
  delete object;
  std::lock_guard<std::mutex> lock(fake->mutex);
  ++fake->calls[name];
  --fake->live;
  return kLtSuccess;
}

double load(const void *data, int type, int64_t i) {
  if (type == kLtF64)
    return static_cast<const double *>(data)[i];
  if (type == kLtF16)
    return static_cast<double>(f16ToF32(static_cast<const uint16_t *>(data)[i]));
  if (type == kLtBf16)
    return static_cast<double>(bf16ToF32(static_cast<const uint16_t *>(data)[i]));
  return static_cast<double>(static_cast<const float *>(data)[i]);
}

void store(void *data, int type, int64_t i, double value) {
  if (type == kLtF64)
    static_cast<double *>(data)[i] = value;
  else if (type == kLtF16)
    static_cast<uint16_t *>(data)[i] = f32ToF16(static_cast<float>(value));
  else if (type == kLtBf16)
    static_cast<uint16_t *>(data)[i] = f32ToBf16(static_cast<float>(value));
  else
    static_cast<float *>(data)[i] = static_cast<float>(value);
}

constexpr double kScale = 0.7978845608028654, kCubic = 0.044715; // of gelu

double tanhOf(double x) { return std::tanh(kScale * (x + kCubic * x * x * x)); }

// A product with copied arguments, column-major like in the library.
struct Product {
  LtDescTag desc;
  LtLayoutTag a, b, d;
  const void *aData, *bData;
  void *dData;
  double beta;

  void run() const {
    const int64_t k = desc.transposesA ? a.rows : a.columns;
    if (has(kLtEpilogueBiasGradient))
      for (int64_t row = 0; row < d.rows; ++row)
        store(desc.bias, d.type, row, 0);
    for (int64_t p = 0; p < d.batch; ++p)
      for (int64_t column = 0; column < d.columns; ++column)
        for (int64_t row = 0; row < d.rows; ++row)
          finish(p, row, column, sum(p, row, column, k));
  }
  bool has(uint32_t kinds) const { return (desc.epilogue & kinds) == kinds; }
  double sum(int64_t p, int64_t row, int64_t column, int64_t k) const {
    double total = 0;
    for (int64_t l = 0; l < k; ++l)
      total +=
          load(aData, a.type, p * a.stride + (desc.transposesA ? l + row * a.ld : row + l * a.ld)) *
          load(bData, b.type,
               p * b.stride + (desc.transposesB ? column + l * b.ld : l + column * b.ld));
    return total;
  }
  void finish(int64_t p, int64_t row, int64_t column, double value) const {
    const int64_t at = p * d.stride + row + column * d.ld;
    if (beta != 0)
      value += beta * load(dData, d.type, at);
    const int64_t auxAt = row + column * desc.auxLd;
    if (has(kLtEpilogueBias))
      value += load(desc.bias, d.type, row);
    if (has(kLtEpilogueRelu))
      value = std::max(value, 0.0);
    if (has(kLtEpilogueGelu | kLtEpilogueAux))
      store(desc.aux, d.type, auxAt, value);
    if (has(kLtEpilogueGelu))
      value = value / 2 * (1 + tanhOf(value));
    if (has(kLtEpilogueGeluGradient | kLtEpilogueAux)) {
      const double x = load(desc.aux, d.type, auxAt), t = tanhOf(x);
      value *= (1 + t) / 2 + x / 2 * (1 - t * t) * kScale * (1 + 3 * kCubic * x * x);
    }
    if (has(kLtEpilogueBiasGradient))
      store(desc.bias, d.type, row, load(desc.bias, d.type, row) + value);
    store(dData, d.type, at, value);
  }
};

} // namespace

struct FakeLtFunctions {
  static LtResult create(LtHandle *handle) { return make("create", handle, LtHandleTag{}); }
  static LtResult destroy(LtHandle handle) { return end("destroy", handle); }
  static LtResult descCreate(LtDesc *desc, int compute, int) {
    return make("descCreate", desc,
                LtDescTag{compute, 0, 0, kLtEpilogueDefault, nullptr, nullptr, 0});
  }
  static LtResult descDestroy(LtDesc desc) { return end("descDestroy", desc); }
  static LtResult descSet(LtDesc desc, int attribute, const void *value, size_t bytes) {
    switch (attribute) {
    case kLtDescTransA:
      std::memcpy(&desc->transposesA, value, bytes);
      break;
    case kLtDescTransB:
      std::memcpy(&desc->transposesB, value, bytes);
      break;
    case kLtDescEpilogue:
      std::memcpy(&desc->epilogue, value, bytes);
      break;
    case kLtDescBias:
      std::memcpy(&desc->bias, value, bytes);
      break;
    case kLtDescAux:
      std::memcpy(&desc->aux, value, bytes);
      break;
    case kLtDescAuxLd:
      std::memcpy(&desc->auxLd, value, bytes);
      break;
    default:
      return kLtInvalidValue;
    }
    return begin("descSet");
  }
  static LtResult layoutCreate(LtLayout *layout, int type, uint64_t rows, uint64_t columns,
                               int64_t ld) {
    LtLayoutTag made;
    made.type = type;
    made.rows = static_cast<int64_t>(rows);
    made.columns = static_cast<int64_t>(columns);
    made.ld = ld;
    return ld < made.rows ? kLtInvalidValue : make("layoutCreate", layout, made);
  }
  static LtResult layoutDestroy(LtLayout layout) { return end("layoutDestroy", layout); }
  static LtResult layoutSet(LtLayout layout, int attribute, const void *value, size_t bytes) {
    if (attribute == kLtLayoutBatch)
      std::memcpy(&layout->batch, value, bytes);
    else
      std::memcpy(&layout->stride, value, bytes);
    return begin("layoutSet");
  }
  static LtResult preferenceCreate(LtPreference *preference) {
    return make("preferenceCreate", preference, LtPreferenceTag{});
  }
  static LtResult preferenceDestroy(LtPreference preference) {
    return end("preferenceDestroy", preference);
  }
  static LtResult preferenceSet(LtPreference preference, int attribute, const void *value, size_t) {
    const int operand = attribute - kLtAlignmentA;
    if (operand >= 0 && operand < 4)
      std::memcpy(&preference->alignments[operand], value, sizeof(uint32_t));
    return begin("preferenceSet");
  }
  // An algorithm records how its operands are aligned.
  static LtResult heuristics(LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout,
                             LtPreference preference, int wanted, LtHeuristic *found,
                             int *numFound) {
    *numFound = std::min(wanted, 2);
    for (int i = 0; i < *numFound; ++i) {
      found[i].algorithm.data[0] = static_cast<uint64_t>(i + 1);
      for (int operand = 0; operand < 4; ++operand)
        found[i].algorithm.data[1 + operand] = preference->alignments[operand];
    }
    return begin("heuristics");
  }
  static bool fits(const LtAlgorithm *algorithm, int operand, const void *data) {
    return reinterpret_cast<uintptr_t>(data) %
               std::max<uint64_t>(algorithm->data[1 + operand], 1) ==
           0;
  }
  static LtResult check(LtHandle, LtDesc, LtLayout, LtLayout, LtLayout, LtLayout,
                        const LtAlgorithm *algorithm, LtHeuristic *result) {
    result->algorithm = *algorithm;
    const bool isKnown = algorithm->data[0] == 1 || algorithm->data[0] == 2;
    const LtResult outcome = begin("check");
    return isKnown ? outcome : kLtNotSupported;
  }
  static LtResult matmul(LtHandle, LtDesc desc, const void *, const void *a, LtLayout aLayout,
                         const void *b, LtLayout bLayout, const void *beta, const void *, LtLayout,
                         void *d, LtLayout dLayout, const LtAlgorithm *algorithm, void *, size_t,
                         CudaStream stream) {
    if (const LtResult result = begin("matmul"); result != kLtSuccess)
      return result;
    if (!fits(algorithm, 0, a) || !fits(algorithm, 1, b) || !fits(algorithm, 3, d))
      return kLtNotSupported;
    const double scale = desc->compute == kLtCompute64F
                             ? *static_cast<const double *>(beta)
                             : static_cast<double>(*static_cast<const float *>(beta));
    const Product product{*desc, *aLayout, *bLayout, *dLayout, a, b, d, scale};
    const CudaResult put = FakeCuda::enqueue(stream, [product]() -> FakeCuda::Question {
      product.run();
      return [] { return true; };
    });
    return put == kCudaSuccess ? kLtSuccess : kLtAllocFailed;
  }
};

FakeCublasLt::FakeCublasLt() {
  fake = new Shared;
#define COLL_LT_FAKE(member, symbol, parameters) fake->table.member = FakeLtFunctions::member;
  COLL_CUBLASLT_FUNCTIONS(COLL_LT_FAKE)
#undef COLL_LT_FAKE
  fake->table.getVersion = [] { return size_t{130000}; };
  fake->table.statusString = [](LtResult result) {
    return result == kLtNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
  };
}

FakeCublasLt::~FakeCublasLt() {
  delete fake;
  fake = nullptr;
}

const CublasLt &FakeCublasLt::table() const { return fake->table; }

void FakeCublasLt::failNext(const std::string &function, LtResult result) {
  std::lock_guard<std::mutex> lock(fake->mutex);
  fake->failures[function] = result;
}

int64_t FakeCublasLt::calls(const std::string &function) const {
  std::lock_guard<std::mutex> lock(fake->mutex);
  auto it = fake->calls.find(function);
  return it == fake->calls.end() ? 0 : it->second;
}

int64_t FakeCublasLt::liveObjects() const {
  std::lock_guard<std::mutex> lock(fake->mutex);
  return fake->live;
}

} // namespace coll::rt::dl
