#include "runtime/step/device/gpu/convolution_graph.h"

#include <algorithm>

namespace coll::rt {

namespace {

using Kind = kernels::Convolution::Kind;

int typeOf(CollDtype dtype) {
  switch (dtype) {
  case kCollF64:
    return dl::kDnnDouble;
  case kCollF16:
    return dl::kDnnHalf;
  case kCollBf16:
    return dl::kDnnBfloat16;
  default:
    return dl::kDnnFloat;
  }
}

// The spatial dimensions for cuDNN, which needs two or three.
std::vector<int64_t> spatial(const kernels::Convolution &c, const kernels::Convolution::Sizes &of) {
  const bool isFlat = c.in[0] == 1 && c.window[0] == 1 && c.out[0] == 1;
  return {of.begin() + (isFlat ? 1 : 0), of.end()};
}

// The strides of a dense tensor whose second dimension is innermost.
std::vector<int64_t> stridesOf(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  int64_t stride = dims[1];
  for (size_t d = dims.size() - 1; d >= 2; --d) {
    strides[d] = stride;
    stride *= dims[d];
  }
  strides[0] = stride;
  return strides;
}

struct Tensor {
  int64_t name, outer, inner;
  const kernels::Convolution::Sizes &sizes;
};

Result<DnnObject> describe(const dl::Cudnn &dnn, const kernels::Convolution &c,
                           const Tensor &tensor, int64_t alignment) {
  Result<DnnObject> made = DnnObject::create(dnn, dl::kDnnTensor);
  if (!made)
    return made;
  std::vector<int64_t> dims = spatial(c, tensor.sizes);
  dims.insert(dims.begin(), {tensor.outer, tensor.inner});
  const int type = typeOf(c.dtype);
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnTensorDataType, dl::kDnnTypeDataType, &type));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnTensorDimensions, dims));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnTensorStrides, stridesOf(dims)));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnTensorUniqueId, {tensor.name}));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnTensorAlignment, {alignment}));
  COLL_RETURN_IF_ERROR(made->finalize("a tensor"));
  return made;
}

Result<DnnObject> describeWindow(const dl::Cudnn &dnn, const kernels::Convolution &c) {
  Result<DnnObject> made = DnnObject::create(dnn, dl::kDnnConvolution);
  if (!made)
    return made;
  // The padding that is read after the end.
  kernels::Convolution::Sizes post{};
  for (size_t d = 0; d < post.size(); ++d) {
    const int64_t reach = (c.window[d] - 1) * c.dilation[d] + 1;
    const bool isSymmetric = c.in[d] + 2 * c.pad[d] >= reach &&
                             (c.in[d] + 2 * c.pad[d] - reach) / c.stride[d] + 1 == c.out[d];
    post[d] = isSymmetric ? c.pad[d] : (c.out[d] - 1) * c.stride[d] + reach - c.in[d] - c.pad[d];
  }
  const int type = c.dtype == kCollF64 ? dl::kDnnDouble : dl::kDnnFloat;
  const int mode = dl::kDnnCrossCorrelation;
  const std::vector<int64_t> strides = spatial(c, c.stride);
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionCompType, dl::kDnnTypeDataType, &type));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionMode, dl::kDnnTypeConvolutionMode, &mode));
  COLL_RETURN_IF_ERROR(
      made->set(dl::kDnnConvolutionSpatialDims, {static_cast<int64_t>(strides.size())}));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionStrides, strides));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionDilations, spatial(c, c.dilation)));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionPrePaddings, spatial(c, c.pad)));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnConvolutionPostPaddings, spatial(c, post)));
  COLL_RETURN_IF_ERROR(made->finalize("a convolution"));
  return made;
}

struct OperationNames {
  dl::DnnDescriptorType type;
  dl::DnnAttribute convolution, x, w, y, alpha, beta;
};

OperationNames namesOf(Kind kind) {
  switch (kind) {
  case Kind::Data:
    return {dl::kDnnConvolutionBackwardData,
            dl::kDnnDataConvolution,
            dl::kDnnDataDx,
            dl::kDnnDataW,
            dl::kDnnDataDy,
            dl::kDnnDataAlpha,
            dl::kDnnDataBeta};
  case Kind::Filter:
    return {dl::kDnnConvolutionBackwardFilter,
            dl::kDnnFilterConvolution,
            dl::kDnnFilterX,
            dl::kDnnFilterDw,
            dl::kDnnFilterDy,
            dl::kDnnFilterAlpha,
            dl::kDnnFilterBeta};
  case Kind::Forward:
    break;
  }
  return {dl::kDnnConvolutionForward, dl::kDnnForwardConvolution, dl::kDnnForwardX,
          dl::kDnnForwardW,           dl::kDnnForwardY,           dl::kDnnForwardAlpha,
          dl::kDnnForwardBeta};
}

// Whether an engine sums in a fixed order, and rounds no factor that it may not round.
bool allows(const kernels::Convolution &c, const std::vector<int> &notes) {
  const bool isExact = c.dtype == kCollF32 && !c.tf32;
  return std::none_of(notes.begin(), notes.end(), [&](int note) {
    switch (note) {
    case dl::kDnnNoteNondeterministic:
    case dl::kDnnNoteReducedPrecisionReduction:
    case dl::kDnnNoteFft:
    case dl::kDnnNoteWinograd:
      return true;
    case dl::kDnnNoteTensorCore:
    case dl::kDnnNoteDownConvertInputs:
      return isExact;
    default:
      return false;
    }
  });
}

Result<std::vector<int>> notesOf(const DnnObject &engine, dl::DnnAttribute attribute,
                                 dl::DnnAttributeType type) {
  std::vector<int> notes(dl::kDnnMostNotes);
  Result<int64_t> count = engine.get(attribute, type, notes.data(), dl::kDnnMostNotes);
  if (!count)
    return count.status();
  notes.resize(static_cast<size_t>(std::min<int64_t>(*count, dl::kDnnMostNotes)));
  return notes;
}

} // namespace

DnnObject::~DnnObject() {
  if (descriptor_)
    (void)dnn_->descriptorDestroy(descriptor_);
}

Result<DnnObject> DnnObject::create(const dl::Cudnn &dnn, dl::DnnDescriptorType type) {
  DnnObject made;
  made.dnn_ = &dnn;
  COLL_RETURN_IF_ERROR(dl::dnnStatus(dnn, dnn.descriptorCreate(type, &made.descriptor_),
                                     "cudnnBackendCreateDescriptor"));
  return made;
}

Status DnnObject::set(dl::DnnAttribute attribute, dl::DnnAttributeType type, const void *values,
                      int64_t count) const {
  return dl::dnnStatus(*dnn_, dnn_->set(descriptor_, attribute, type, count, values),
                       "cudnnBackendSetAttribute " + std::to_string(attribute));
}

Status DnnObject::set(dl::DnnAttribute attribute, const std::vector<int64_t> &values) const {
  return set(attribute, dl::kDnnTypeInt64, values.data(), static_cast<int64_t>(values.size()));
}

Status DnnObject::set(dl::DnnAttribute attribute, const DnnObject &object) const {
  return set(attribute, dl::kDnnTypeDescriptor, &object.descriptor_);
}

Result<int64_t> DnnObject::get(dl::DnnAttribute attribute, dl::DnnAttributeType type, void *values,
                               int64_t wanted) const {
  int64_t count = 0;
  COLL_RETURN_IF_ERROR(
      dl::dnnStatus(*dnn_, dnn_->get(descriptor_, attribute, type, wanted, &count, values),
                    "cudnnBackendGetAttribute " + std::to_string(attribute)));
  return count;
}

Status DnnObject::finalize(const char *what) const {
  return dl::dnnStatus(*dnn_, dnn_->finalize(descriptor_),
                       std::string("cudnnBackendFinalize of ") + what);
}

Result<ConvolutionGraph> ConvolutionGraph::create(const dl::Cudnn &dnn, dl::DnnHandle handle,
                                                  const kernels::Convolution &c,
                                                  int64_t alignment) {
  const bool isForward = c.kind == Kind::Forward, isData = c.kind == Kind::Data;
  const int64_t xName = isData ? kResult : kA, wName = isForward || isData ? kB : kResult;
  const int64_t yName = isForward ? kResult : isData ? kA : kB;
  ConvolutionGraph made;
  auto keep = [](DnnObject &place, Result<DnnObject> object) {
    if (!object)
      return object.status();
    place = object.take();
    return Status::okay();
  };
  COLL_RETURN_IF_ERROR(
      keep(made.x, describe(dnn, c, {xName, c.batch, c.groups * c.channels, c.in}, alignment)));
  COLL_RETURN_IF_ERROR(keep(
      made.w, describe(dnn, c, {wName, c.groups * c.features, c.channels, c.window}, alignment)));
  COLL_RETURN_IF_ERROR(
      keep(made.y, describe(dnn, c, {yName, c.batch, c.groups * c.features, c.out}, alignment)));
  COLL_RETURN_IF_ERROR(keep(made.convolution, describeWindow(dnn, c)));
  const OperationNames names = namesOf(c.kind);
  COLL_RETURN_IF_ERROR(keep(made.operation, DnnObject::create(dnn, names.type)));
  const DnnObject &operation = made.operation;
  COLL_RETURN_IF_ERROR(operation.set(names.convolution, made.convolution));
  COLL_RETURN_IF_ERROR(operation.set(names.x, made.x));
  COLL_RETURN_IF_ERROR(operation.set(names.w, made.w));
  COLL_RETURN_IF_ERROR(operation.set(names.y, made.y));
  const float one = 1, zero = 0;
  const double wideOne = 1, wideZero = 0;
  const bool isWide = c.dtype == kCollF64;
  const dl::DnnAttributeType scalar = isWide ? dl::kDnnTypeDouble : dl::kDnnTypeFloat;
  COLL_RETURN_IF_ERROR(
      operation.set(names.alpha, scalar, isWide ? static_cast<const void *>(&wideOne) : &one));
  COLL_RETURN_IF_ERROR(
      operation.set(names.beta, scalar, isWide ? static_cast<const void *>(&wideZero) : &zero));
  COLL_RETURN_IF_ERROR(operation.finalize("an operation"));
  COLL_RETURN_IF_ERROR(keep(made.graph, DnnObject::create(dnn, dl::kDnnOperationGraph)));
  COLL_RETURN_IF_ERROR(made.graph.set(dl::kDnnGraphOps, operation));
  COLL_RETURN_IF_ERROR(made.graph.set(dl::kDnnGraphHandle, dl::kDnnTypeHandle, &handle));
  COLL_RETURN_IF_ERROR(made.graph.finalize("a graph"));
  return made;
}

// Whether the engine's results are wrong. Engine 1 of filter gradients (cuDNN 9 on an H100, float32
// and TF32) sums over other elements where the padding after the input is not that before it.
static bool isWrong(const kernels::Convolution &c, int64_t engine) {
  if (c.kind != Kind::Filter || engine != 1)
    return false;
  for (size_t d = 0; d < c.out.size(); ++d) {
    const int64_t reach = (c.window[d] - 1) * c.dilation[d] + 1;
    if (c.out[d] != (c.in[d] + 2 * c.pad[d] - reach) / c.stride[d] + 1)
      return true;
  }
  return false;
}

// The engines that one of the heuristics proposes, after `proposed` ones of another.
static Status propose(const dl::Cudnn &dnn, const DnnObject &graph, const kernels::Convolution &c,
                      int mode, int64_t &proposed, std::vector<DnnEngine> &engines) {
  Result<DnnObject> heuristic = DnnObject::create(dnn, dl::kDnnEngineHeuristic);
  if (!heuristic)
    return heuristic.status();
  COLL_RETURN_IF_ERROR(heuristic->set(dl::kDnnHeuristicGraph, graph));
  COLL_RETURN_IF_ERROR(heuristic->set(dl::kDnnHeuristicMode, dl::kDnnTypeHeuristicMode, &mode));
  if (!heuristic->finalize("a heuristic").ok())
    return {}; // the heuristic proposes nothing for this form
  Result<int64_t> count =
      heuristic->get(dl::kDnnHeuristicResults, dl::kDnnTypeDescriptor, nullptr, 0);
  if (!count)
    return count.status();
  std::vector<DnnObject> configs;
  std::vector<dl::DnnDescriptor> places;
  for (int64_t i = 0; i < *count; ++i) {
    Result<DnnObject> config = DnnObject::create(dnn, dl::kDnnEngineConfig);
    if (!config)
      return config.status();
    places.push_back(config->get());
    configs.push_back(config.take());
  }
  count = heuristic->get(dl::kDnnHeuristicResults, dl::kDnnTypeDescriptor, places.data(), *count);
  if (!count)
    return count.status();
  for (size_t i = 0; i < static_cast<size_t>(*count); ++i, ++proposed) {
    Result<DnnObject> engine = DnnObject::create(dnn, dl::kDnnEngine);
    if (!engine)
      return engine.status();
    dl::DnnDescriptor place = engine->get();
    Result<int64_t> found = configs[i].get(dl::kDnnConfigEngine, dl::kDnnTypeDescriptor, &place, 1);
    if (!found)
      return found.status();
    Result<std::vector<int>> notes =
        notesOf(*engine, dl::kDnnEngineNumericalNote, dl::kDnnTypeNumericalNote);
    if (!notes)
      return notes.status();
    DnnEngine allowed{std::move(configs[i]), 0, proposed};
    found = engine->get(dl::kDnnEngineGlobalIndex, dl::kDnnTypeInt64, &allowed.number, 1);
    if (!found)
      return found.status();
    if (allows(c, *notes) && !isWrong(c, allowed.number))
      engines.push_back(std::move(allowed));
  }
  return {};
}

Result<std::vector<DnnEngine>> ConvolutionGraph::propose(const dl::Cudnn &dnn,
                                                         const kernels::Convolution &c) const {
  std::vector<DnnEngine> engines;
  int64_t proposed = 0;
  for (int mode : {dl::kDnnHeuristicA, dl::kDnnHeuristicFallback})
    COLL_RETURN_IF_ERROR(rt::propose(dnn, graph, c, mode, proposed, engines));
  return engines;
}

} // namespace coll::rt
