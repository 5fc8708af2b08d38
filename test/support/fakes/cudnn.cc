#include "test/support/fakes/cudnn.h"

#include "runtime/kernels/convolution/convolution.h"
#include "test/support/fakes/cuda.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt::dl {

struct DnnHandleTag {
  CudaStream stream = nullptr;
};

namespace {

using kernels::Convolution;

// A descriptor's attributes: plain values as bytes, other descriptors as copies made when they were
// set.
struct Object {
  int type = 0;
  bool isFinal = false;
  std::map<int, std::vector<char>> values;
  std::map<int, std::shared_ptr<Object>> objects;

  template <typename T>
  std::vector<T> list(int attribute) const {
    std::vector<T> out;
    auto it = values.find(attribute);
    if (it != values.end())
      out.resize(it->second.size() / sizeof(T));
    if (!out.empty())
      std::memcpy(out.data(), it->second.data(), out.size() * sizeof(T));
    return out;
  }
  template <typename T>
  T value(int attribute) const {
    const std::vector<T> all = list<T>(attribute);
    return all.empty() ? T() : all.front();
  }
};

struct Shared {
  std::mutex mutex;
  std::map<std::string, DnnResult> failures;
  std::map<std::string, int64_t> calls;
  int64_t live = 0, lastEngine = 0, firstEngine = 11;
  bool hasEngines = true;
  Cudnn table;
};
Shared *fake = nullptr;

// Engines by their place: the first has no order of sums, the second cannot be made.
constexpr int64_t kUnordered = 0, kUnmade = 1, kEngines = 5;

DnnResult begin(const char *name) {
  std::lock_guard<std::mutex> lock(fake->mutex);
  ++fake->calls[name];
  auto it = fake->failures.find(name);
  if (it == fake->failures.end())
    return kDnnSuccess;
  const DnnResult result = it->second;
  fake->failures.erase(it);
  return result;
}

Object *objectOf(DnnDescriptor descriptor) { return static_cast<Object *>(descriptor); }

size_t widthOf(int type) {
  switch (type) {
  case kDnnTypeInt64:
  case kDnnTypeDouble:
  case kDnnTypePointer:
  case kDnnTypeHandle:
    return 8;
  default:
    return 4;
  }
}

struct Names {
  int convolution, x, w, y;
  Convolution::Kind kind;
};
Names namesOf(int type) {
  if (type == kDnnConvolutionForward)
    return {kDnnForwardConvolution, kDnnForwardX, kDnnForwardW, kDnnForwardY,
            Convolution::Kind::Forward};
  if (type == kDnnConvolutionBackwardData)
    return {kDnnDataConvolution, kDnnDataDx, kDnnDataW, kDnnDataDy, Convolution::Kind::Data};
  return {kDnnFilterConvolution, kDnnFilterX, kDnnFilterDw, kDnnFilterDy,
          Convolution::Kind::Filter};
}

CollDtype dtypeOf(int type) {
  return type == kDnnDouble     ? kCollF64
         : type == kDnnHalf     ? kCollF16
         : type == kDnnBfloat16 ? kCollBf16
                                : kCollF32;
}

// The convolution that an operation computes, from the sizes of its tensors.
Convolution convolutionOf(const Object &operation) {
  const Names names = namesOf(operation.type);
  const Object &window = *operation.objects.at(names.convolution);
  auto dims = [&](int name) {
    return operation.objects.at(name)->list<int64_t>(kDnnTensorDimensions);
  };
  const std::vector<int64_t> x = dims(names.x), w = dims(names.w), y = dims(names.y);
  Convolution c;
  c.dtype = dtypeOf(operation.objects.at(names.x)->value<int>(kDnnTensorDataType));
  c.kind = names.kind;
  c.batch = x[0], c.channels = w[1], c.groups = x[1] / w[1], c.features = w[0] / c.groups;
  auto fill = [](Convolution::Sizes &sizes, const std::vector<int64_t> &list, size_t from) {
    std::copy(list.begin() + static_cast<std::ptrdiff_t>(from), list.end(),
              sizes.end() - static_cast<std::ptrdiff_t>(list.size() - from));
  };
  fill(c.in, x, 2);
  fill(c.window, w, 2);
  fill(c.out, y, 2);
  fill(c.stride, window.list<int64_t>(kDnnConvolutionStrides), 0);
  fill(c.dilation, window.list<int64_t>(kDnnConvolutionDilations), 0);
  fill(c.pad, window.list<int64_t>(kDnnConvolutionPrePaddings), 0);
  return c;
}

} // namespace

struct FakeDnnFunctions {
  static DnnResult create(DnnHandle *handle) {
    if (const DnnResult result = begin("create"); result != kDnnSuccess)
      return result;
    std::lock_guard<std::mutex> lock(fake->mutex);
    ++fake->live;
    *handle = new DnnHandleTag;
    return kDnnSuccess;
  }
  static DnnResult destroy(DnnHandle handle) {
    delete handle;
    std::lock_guard<std::mutex> lock(fake->mutex);
    --fake->live;
    return kDnnSuccess;
  }
  static DnnResult setStream(DnnHandle handle, CudaStream stream) {
    handle->stream = stream;
    return begin("setStream");
  }
  static DnnResult descriptorCreate(int type, DnnDescriptor *descriptor) {
    if (const DnnResult result = begin("descriptorCreate"); result != kDnnSuccess)
      return result;
    auto made = std::make_unique<Object>();
    made->type = type;
    *descriptor = made.release();
    std::lock_guard<std::mutex> lock(fake->mutex);
    ++fake->live;
    return kDnnSuccess;
  }
  static DnnResult descriptorDestroy(DnnDescriptor descriptor) {
    delete objectOf(descriptor);
    std::lock_guard<std::mutex> lock(fake->mutex);
    --fake->live;
    return kDnnSuccess;
  }
  static DnnResult finalize(DnnDescriptor descriptor) {
    Object &object = *objectOf(descriptor);
    object.isFinal = true;
    if (object.type == kDnnExecutionPlan &&
        object.objects.at(kDnnPlanConfig)->value<int64_t>(kDnnEngineGlobalIndex) ==
            fake->firstEngine + kUnmade)
      return kDnnNotSupported;
    return begin("finalize");
  }
  static DnnResult set(DnnDescriptor descriptor, int attribute, int type, int64_t count,
                       const void *values) {
    Object &object = *objectOf(descriptor);
    if (object.isFinal)
      return kDnnBadParam;
    const char *bytes = static_cast<const char *>(values);
    if (type == kDnnTypeDescriptor) {
      DnnDescriptor other = nullptr;
      std::memcpy(&other, bytes, sizeof(other));
      if (!objectOf(other)->isFinal)
        return kDnnBadParam;
      object.objects[attribute] = std::make_shared<Object>(*objectOf(other));
    } else {
      object.values[attribute].assign(bytes, bytes + static_cast<size_t>(count) * widthOf(type));
    }
    return begin("set");
  }
  // Returns the engines of a heuristic, the engine of a config, or the properties of an engine or a
  // plan.
  static DnnResult get(DnnDescriptor descriptor, int attribute, int type, int64_t wanted,
                       int64_t *count, void *values) {
    if (const DnnResult result = begin("get"); result != kDnnSuccess)
      return result;
    const Object &object = *objectOf(descriptor);
    if (attribute == kDnnHeuristicResults)
      return propose(object, wanted, count, static_cast<DnnDescriptor *>(values));
    *count = 1;
    const int64_t number = object.value<int64_t>(kDnnEngineGlobalIndex);
    if (attribute == kDnnConfigEngine) {
      DnnDescriptor engine = *static_cast<DnnDescriptor *>(values);
      objectOf(engine)->values = object.values;
    } else if (attribute == kDnnEngineNumericalNote) {
      *count = number == fake->firstEngine + kUnordered;
      if (*count > 0)
        *static_cast<int *>(values) = kDnnNoteNondeterministic;
    } else {
      const int64_t workspace = 256;
      std::memcpy(values, attribute == kDnnPlanWorkspace ? &workspace : &number, sizeof(number));
    }
    return type == kDnnTypeDescriptor && attribute != kDnnConfigEngine ? kDnnBadParam : kDnnSuccess;
  }
  static DnnResult propose(const Object &heuristic, int64_t wanted, int64_t *count,
                           DnnDescriptor *configs) {
    const bool isFirst = heuristic.value<int>(kDnnHeuristicMode) == kDnnHeuristicA;
    *count = isFirst && fake->hasEngines ? kEngines : 0;
    for (int64_t i = 0; i < std::min(wanted, *count); ++i) {
      const int64_t number = fake->firstEngine + i;
      Object &config = *objectOf(configs[i]);
      config.isFinal = true;
      config.objects[kDnnGraphOps] =
          heuristic.objects.at(kDnnHeuristicGraph)->objects.at(kDnnGraphOps);
      config.values[kDnnEngineGlobalIndex].assign(reinterpret_cast<const char *>(&number),
                                                  reinterpret_cast<const char *>(&number + 1));
    }
    return kDnnSuccess;
  }
  static DnnResult execute(DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack) {
    if (const DnnResult result = begin("execute"); result != kDnnSuccess)
      return result;
    const Object &config = *objectOf(plan)->objects.at(kDnnPlanConfig);
    const Object &operation = *config.objects.at(kDnnGraphOps);
    const Names names = namesOf(operation.type);
    const auto ids = objectOf(pack)->list<int64_t>(kDnnPackUniqueIds);
    const auto data = objectOf(pack)->list<void *>(kDnnPackPointers);
    auto at = [&](int name) {
      const auto id = operation.objects.at(name)->value<int64_t>(kDnnTensorUniqueId);
      return data[static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
    };
    void *x = at(names.x), *w = at(names.w), *y = at(names.y);
    kernels::ConvolutionBuffers buffers;
    buffers.a = names.kind == Convolution::Kind::Data ? y : x;
    buffers.b = names.kind == Convolution::Kind::Filter ? y : w;
    buffers.result = names.kind == Convolution::Kind::Forward ? y
                     : names.kind == Convolution::Kind::Data  ? x
                                                              : w;
    const Convolution convolution = convolutionOf(operation);
    fake->lastEngine = config.value<int64_t>(kDnnEngineGlobalIndex);
    const CudaResult put =
        FakeCuda::enqueue(handle->stream, [convolution, buffers]() -> FakeCuda::Question {
          kernels::convolutionReference(convolution, buffers);
          return [] { return true; };
        });
    return put == kCudaSuccess ? kDnnSuccess : 5000;
  }
};

FakeCudnn::FakeCudnn() {
  fake = new Shared;
#define COLL_DNN_FAKE(member, symbol, parameters) fake->table.member = FakeDnnFunctions::member;
  COLL_CUDNN_FUNCTIONS(COLL_DNN_FAKE)
#undef COLL_DNN_FAKE
  fake->table.getVersion = [] { return size_t{91900}; };
  fake->table.errorString = [](DnnResult result) {
    return result / kDnnKinds * kDnnKinds == kDnnNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED"
                                                              : "CUDNN_STATUS_OTHER";
  };
}

FakeCudnn::~FakeCudnn() {
  delete fake;
  fake = nullptr;
}

const Cudnn &FakeCudnn::table() const { return fake->table; }

void FakeCudnn::numberEnginesFrom(int64_t number) { fake->firstEngine = number; }

void FakeCudnn::loseEngines() { fake->hasEngines = false; }

void FakeCudnn::failNext(const std::string &function, DnnResult result) {
  std::lock_guard<std::mutex> lock(fake->mutex);
  fake->failures[function] = result;
}

int64_t FakeCudnn::calls(const std::string &function) const {
  std::lock_guard<std::mutex> lock(fake->mutex);
  auto it = fake->calls.find(function);
  return it == fake->calls.end() ? 0 : it->second;
}

int64_t FakeCudnn::lastEngine() const { return fake->lastEngine; }

int64_t FakeCudnn::liveObjects() const {
  std::lock_guard<std::mutex> lock(fake->mutex);
  return fake->live;
}

} // namespace coll::rt::dl
