#include "embed/c/tensor.h"

#include "embed/c/structs.h"
#include "runtime/base/dtype.h"

#include <cstring>

namespace coll::embed {

namespace {

constexpr int64_t kMaxDims = 64;

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
  }
  return strides;
}

} // namespace

Tensor::Tensor(rt::HostTensor result) : result_(std::move(result)) {
  dtype_ = result_.dtype;
  shape_ = result_.shape;
  strides_ = denseStrides(shape_);
  data_ = result_.data.data();
  bytes_ = static_cast<int64_t>(result_.data.size());
}

Outcome Tensor::create(int32_t dtype, int64_t numDims, const int64_t *shape, const int64_t *strides,
                       const void *data, std::shared_ptr<Tensor> &tensor) {
  if (!rt::isValidDtype(dtype))
    return invalid("dtype " + std::to_string(dtype) + " is not a coll_dtype");
  if (numDims < 0 || numDims > kMaxDims)
    return invalid("a tensor has from 0 to " + std::to_string(kMaxDims) + " dimensions, not " +
                   std::to_string(numDims));
  if (numDims > 0 && !shape)
    return invalid("shape is null");
  std::shared_ptr<Tensor> made(new Tensor());
  // To a compiled step all integers of one width are the same type.
  made->dtype_ = dtype == COLL_U8 ? kCollI8 : static_cast<CollDtype>(dtype);
  if (numDims > 0)
    made->shape_.assign(shape, shape + numDims);
  const std::optional<int64_t> count = rt::numElements(made->shape_);
  if (!count)
    return invalid("the shape has a negative extent, or more elements than can be counted");
  if (*count > 0 && !data)
    return invalid("data is null, but the tensor has " + std::to_string(*count) + " elements");
  made->strides_ = denseStrides(made->shape_);
  if (strides && numDims > 0)
    made->strides_.assign(strides, strides + numDims);
  made->data_ = static_cast<const char *>(data);
  made->bytes_ = *count * rt::dtypeSize(made->dtype_);
  tensor = std::move(made);
  return nullptr;
}

Tensor::~Tensor() {
  if (deleter_)
    deleter_();
}

bool Tensor::isDense() const {
  int64_t stride = 1;
  for (size_t d = shape_.size(); d-- > 0;) {
    if (shape_[d] != 1 && strides_[d] != stride)
      return bytes_ == 0;
    stride *= shape_[d];
  }
  return true;
}

bool Tensor::hasOddBooleans() const {
  if (dtype_ != kCollBool)
    return false;
  // Strides do not matter here: a tensor that is not dense is copied anyway.
  return std::any_of(data_, data_ + bytes_, [](char byte) { return byte != 0 && byte != 1; });
}

// Rows of the last dimension one after another, in row-major order.
void Tensor::copyDense(char *to) const {
  const int64_t size = rt::dtypeSize(dtype_);
  const size_t dims = shape_.size();
  std::vector<int64_t> index(dims, 0);
  for (int64_t left = bytes_ / size; left > 0; --left, to += size) {
    int64_t offset = 0;
    for (size_t d = 0; d < dims; ++d)
      offset += index[d] * strides_[d];
    std::memcpy(to, data_ + offset * size, static_cast<size_t>(size));
    for (size_t d = dims; d-- > 0 && ++index[d] == shape_[d];)
      index[d] = 0;
  }
}

rt::TensorView Tensor::view(std::vector<char> &scratch) const {
  rt::TensorView view{dtype_, shape_.data(), shape_.size(), data_, bytes_};
  const bool dense = isDense();
  if (dense && !hasOddBooleans())
    return view;
  scratch.resize(static_cast<size_t>(bytes_));
  if (dense)
    std::memcpy(scratch.data(), data_, scratch.size());
  else
    copyDense(scratch.data());
  if (dtype_ == kCollBool)
    for (char &byte : scratch)
      byte = byte != 0;
  view.data = scratch.data();
  return view;
}

} // namespace coll::embed

using namespace coll::embed;

coll_error coll_tensor_wrap(const coll_tensor_view *given, coll_deleter deleter, void *user,
                            coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    if (!tensor)
      return invalid("tensor is null");
    coll_tensor_view view = {};
    COLL_EMBED_TRY(readStruct(given, "coll_tensor_view", view));
    std::shared_ptr<Tensor> made;
    COLL_EMBED_TRY(
        Tensor::create(view.dtype, view.num_dims, view.shape, view.strides, view.data, made));
    makeHandle(made, tensor);
    if (deleter)
      made->setDeleter([deleter, user] { deleter(user); });
    return nullptr;
  });
}

coll_error coll_tensor_describe(coll_tensor tensor, coll_tensor_view *view) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Tensor> object;
    COLL_EMBED_TRY(findObject(tensor, "tensor", object));
    coll_tensor_view filled = {};
    filled.dtype = object->dtype();
    filled.num_dims = static_cast<int32_t>(object->shape().size());
    filled.shape = object->shape().data();
    filled.strides = object->strides().data();
    filled.data = object->data();
    return writeStruct(filled, "coll_tensor_view", view);
  });
}

coll_error coll_tensor_free(coll_tensor tensor) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Tensor> object;
    return freeHandle(tensor, "tensor", object);
  });
}
