// cudnn.h - cuDNN's graph interface (libcudnn), found when the program runs.
//
// Nothing of cuDNN is needed to build: the declarations are this project's own, with the names,
// values and signatures of cudnn_graph_v9.h. The library is never unloaded.

#ifndef COLL_RUNTIME_DL_CUDNN_H
#define COLL_RUNTIME_DL_CUDNN_H

#include "runtime/dl/cuda.h"

namespace coll::rt::dl {

// cudnnStatus_t. The thousands are the kind of the error.
using DnnResult = int;
inline constexpr DnnResult kDnnSuccess = 0;
inline constexpr DnnResult kDnnKinds = 1000;
inline constexpr DnnResult kDnnBadParam = 2000, kDnnNotSupported = 3000;

using DnnHandle = struct DnnHandleTag *; // cudnnHandle_t
using DnnDescriptor = void *;            // cudnnBackendDescriptor_t

// cudnnDataType_t
inline constexpr int kDnnFloat = 0, kDnnDouble = 1, kDnnHalf = 2, kDnnBfloat16 = 9;
// cudnnConvolutionMode_t
inline constexpr int kDnnCrossCorrelation = 1;
// cudnnBackendHeurMode_t
inline constexpr int kDnnHeuristicFallback = 2, kDnnHeuristicA = 3;

// cudnnBackendNumericalNote_t
enum DnnNumericalNote : int {
  kDnnNoteTensorCore = 0,
  kDnnNoteDownConvertInputs = 1,
  kDnnNoteReducedPrecisionReduction = 2,
  kDnnNoteFft = 3,
  kDnnNoteNondeterministic = 4,
  kDnnNoteWinograd = 5,
};
inline constexpr int kDnnMostNotes = 32; // more than there are

// cudnnBackendBehaviorNote_t

// cudnnBackendDescriptorType_t
enum DnnDescriptorType : int {
  kDnnConvolution = 1,
  kDnnEngine = 2,
  kDnnEngineConfig = 3,
  kDnnEngineHeuristic = 4,
  kDnnExecutionPlan = 5,
  kDnnConvolutionForward = 10,
  kDnnConvolutionBackwardFilter = 11,
  kDnnConvolutionBackwardData = 12,
  kDnnOperationGraph = 15,
  kDnnVariantPack = 16,
  kDnnTensor = 17,
};

// cudnnBackendAttributeName_t
enum DnnAttribute : int {
  kDnnConvolutionCompType = 100,
  kDnnConvolutionMode = 101,
  kDnnConvolutionDilations = 102,
  kDnnConvolutionStrides = 103,
  kDnnConvolutionPostPaddings = 104,
  kDnnConvolutionPrePaddings = 105,
  kDnnConvolutionSpatialDims = 106,
  kDnnHeuristicMode = 200,
  kDnnHeuristicGraph = 201,
  kDnnHeuristicResults = 202,
  kDnnConfigEngine = 300,
  kDnnPlanHandle = 400,
  kDnnPlanConfig = 401,
  kDnnPlanWorkspace = 402,
  kDnnForwardAlpha = 700,
  kDnnForwardBeta = 701,
  kDnnForwardConvolution = 702,
  kDnnForwardW = 703,
  kDnnForwardX = 704,
  kDnnForwardY = 705,
  kDnnDataAlpha = 706,
  kDnnDataBeta = 707,
  kDnnDataConvolution = 708,
  kDnnDataW = 709,
  kDnnDataDx = 710,
  kDnnDataDy = 711,
  kDnnFilterAlpha = 712,
  kDnnFilterBeta = 713,
  kDnnFilterConvolution = 714,
  kDnnFilterDw = 715,
  kDnnFilterX = 716,
  kDnnFilterDy = 717,
  kDnnGraphHandle = 800,
  kDnnGraphOps = 801,
  kDnnTensorAlignment = 900,
  kDnnTensorDataType = 901,
  kDnnTensorDimensions = 902,
  kDnnTensorStrides = 903,
  kDnnTensorUniqueId = 906,
  kDnnPackUniqueIds = 1000,
  kDnnPackPointers = 1001,
  kDnnPackWorkspace = 1003,
  kDnnEngineGlobalIndex = 1301,
  kDnnEngineNumericalNote = 1303,
};

// cudnnBackendAttributeType_t
enum DnnAttributeType : int {
  kDnnTypeHandle = 0,
  kDnnTypeDataType = 1,
  kDnnTypeInt64 = 3,
  kDnnTypeFloat = 4,
  kDnnTypeDouble = 5,
  kDnnTypePointer = 6,
  kDnnTypeConvolutionMode = 7,
  kDnnTypeHeuristicMode = 8,
  kDnnTypeNumericalNote = 11,
  kDnnTypeDescriptor = 15,
};

// Every function: member of the table, symbol of the library, parameters.
// clang-format off
#define COLL_CUDNN_FUNCTIONS(X)                                                                    \
  X(create, "cudnnCreate", (DnnHandle *handle))                                                    \
  X(destroy, "cudnnDestroy", (DnnHandle handle))                                                   \
  X(setStream, "cudnnSetStream", (DnnHandle handle, CudaStream stream))                            \
  X(descriptorCreate, "cudnnBackendCreateDescriptor", (int type, DnnDescriptor *descriptor))       \
  X(descriptorDestroy, "cudnnBackendDestroyDescriptor", (DnnDescriptor descriptor))                \
  X(finalize, "cudnnBackendFinalize", (DnnDescriptor descriptor))                                  \
  X(set, "cudnnBackendSetAttribute", (DnnDescriptor descriptor, int attribute, int type, int64_t count, const void *values)) \
  X(get, "cudnnBackendGetAttribute", (DnnDescriptor descriptor, int attribute, int type, int64_t wanted, int64_t *count, void *values)) \
  X(execute, "cudnnBackendExecute", (DnnHandle handle, DnnDescriptor plan, DnnDescriptor pack))
// clang-format on

struct Cudnn {
#define COLL_CUDNN_MEMBER(member, symbol, parameters) DnnResult(*member) parameters = nullptr;
  COLL_CUDNN_FUNCTIONS(COLL_CUDNN_MEMBER)
#undef COLL_CUDNN_MEMBER
  size_t (*getVersion)() = nullptr;                // cudnnGetVersion
  const char *(*errorString)(DnnResult) = nullptr; // cudnnGetErrorString
};

// The library that COLL_CUDNN names, or libcudnn.so.9, loaded at the first call. kCollUnsupported,
// with the reason, if there is none. Any thread may call it.
Result<const Cudnn *> cudnn();

// Ok, or kCollDevice with the call and the library's name of the error; kCollUnsupported if the
// library cannot do it.
Status dnnStatus(const Cudnn &dnn, DnnResult result, std::string_view call);

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_CUDNN_H
