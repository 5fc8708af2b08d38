// dlpack.cc - tensors of other frameworks, in and out without a copy.

#include "embed/c/dlpack_abi.h"
#include "embed/c/tensor.h"
#include "runtime/base/dtype.h"

namespace coll::embed {

namespace {

Outcome readType(const DLDataType &type, int32_t &dtype) {
  static constexpr struct {
    uint8_t code, bits;
    CollDtype dtype;
  } kTypes[] = {
      {kDlpackFloat, 32, kCollF32},    {kDlpackFloat, 64, kCollF64},
      {kDlpackFloat, 16, kCollF16},    {kDlpackBfloat, 16, kCollBf16},
      {kDlpackInt, 8, kCollI8},        {kDlpackInt, 16, kCollI16},
      {kDlpackInt, 32, kCollI32},      {kDlpackInt, 64, kCollI64},
      {kDlpackUint, 8, kCollI8},       {kDlpackUint, 16, kCollI16},
      {kDlpackUint, 32, kCollI32},     {kDlpackUint, 64, kCollI64},
      {kDlpackBool, 8, kCollBool},     {kDlpackF8E4M3FN, 8, kCollF8E4M3FN},
      {kDlpackF8E5M2, 8, kCollF8E5M2},
  };
  for (const auto &known : kTypes)
    if (type.lanes == 1 && type.code == known.code && type.bits == known.bits) {
      dtype = known.dtype;
      return nullptr;
    }
  return fail(COLL_UNSUPPORTED, "no step takes elements of DLPack's type code " +
                                    std::to_string(type.code) + " with " +
                                    std::to_string(type.bits) + " bits and " +
                                    std::to_string(type.lanes) + " lanes");
}

DLDataType writeType(CollDtype dtype) {
  const auto bits = static_cast<uint8_t>(8 * rt::dtypeSize(dtype));
  switch (dtype) {
  case kCollF32:
  case kCollF64:
  case kCollF16:
    return {kDlpackFloat, bits, 1};
  case kCollBf16:
    return {kDlpackBfloat, bits, 1};
  case kCollBool:
    return {kDlpackBool, bits, 1};
  case kCollF8E4M3FN:
    return {kDlpackF8E4M3FN, bits, 1};
  case kCollF8E5M2:
    return {kDlpackF8E5M2, bits, 1};
  default:
    return {kDlpackInt, bits, 1};
  }
}

bool isOfHost(const DLDevice &device) {
  return device.device_type == kDlpackCpu || device.device_type == kDlpackCudaHost ||
         device.device_type == kDlpackRocmHost;
}

Outcome importTensor(const DLTensor &from, std::shared_ptr<Tensor> &tensor) {
  if (!isOfHost(from.device))
    return fail(COLL_UNSUPPORTED, "the tensor is on DLPack's device type " +
                                      std::to_string(from.device.device_type) +
                                      ": copy it to the host first");
  int32_t dtype = 0;
  COLL_EMBED_TRY(readType(from.dtype, dtype));
  const char *data = from.data ? static_cast<const char *>(from.data) + from.byte_offset : nullptr;
  return Tensor::create(dtype, from.ndim, from.shape, from.strides, data, tensor);
}

template <typename Managed>
Outcome takeTensor(Managed *managed, coll_tensor *tensor) {
  std::shared_ptr<Tensor> made;
  COLL_EMBED_TRY(importTensor(managed->dl_tensor, made));
  makeHandle(made, tensor);
  made->setDeleter([managed] {
    if (managed->deleter)
      managed->deleter(managed);
  });
  return nullptr;
}

// Keeps a tensor alive that was exported.
template <typename Managed>
struct Exported {
  Managed managed = {};
  std::shared_ptr<Tensor> tensor;
};

template <typename Managed>
void deleteExported(Managed *managed) {
  delete static_cast<Exported<Managed> *>(managed->manager_ctx);
}

template <typename Managed>
Managed *exportTensor(std::shared_ptr<Tensor> tensor) {
  auto *exported = new Exported<Managed>();
  DLTensor &to = exported->managed.dl_tensor;
  to.data = const_cast<void *>(tensor->data());
  to.device = {kDlpackCpu, 0};
  to.ndim = static_cast<int32_t>(tensor->shape().size());
  to.dtype = writeType(tensor->dtype());
  to.shape = const_cast<int64_t *>(tensor->shape().data());
  to.strides = const_cast<int64_t *>(tensor->strides().data());
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = deleteExported<Managed>;
  exported->tensor = std::move(tensor);
  return &exported->managed;
}

template <typename Managed>
coll_error exportInto(coll_tensor tensor, Managed **managed) {
  return guarded([&]() -> Outcome {
    if (!managed)
      return invalid("managed is null");
    std::shared_ptr<Tensor> object;
    COLL_EMBED_TRY(findObject(tensor, "tensor", object));
    *managed = exportTensor<Managed>(std::move(object));
    return nullptr;
  });
}

} // namespace

} // namespace coll::embed

using namespace coll::embed;

coll_error coll_tensor_from_dlpack(DLManagedTensorVersioned *managed, coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    if (!managed || !tensor)
      return invalid(managed ? "tensor is null" : "managed is null");
    if (managed->version.major != kDlpackMajor)
      return fail(COLL_UNSUPPORTED, "the tensor is of DLPack's version " +
                                        std::to_string(managed->version.major) +
                                        "; version 1 is supported");
    return takeTensor(managed, tensor);
  });
}

coll_error coll_tensor_from_dlpack_unversioned(DLManagedTensor *managed, coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    if (!managed || !tensor)
      return invalid(managed ? "tensor is null" : "managed is null");
    return takeTensor(managed, tensor);
  });
}

coll_error coll_tensor_to_dlpack(coll_tensor tensor, DLManagedTensorVersioned **managed) {
  coll_error error = exportInto(tensor, managed);
  if (error.id == 0)
    (*managed)->version = {kDlpackMajor, 0};
  return error;
}

coll_error coll_tensor_to_dlpack_unversioned(coll_tensor tensor, DLManagedTensor **managed) {
  return exportInto(tensor, managed);
}
