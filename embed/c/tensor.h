// tensor.h - memory of the host with a type, the caller's or the library's.

#ifndef COLL_EMBED_C_TENSOR_H
#define COLL_EMBED_C_TENSOR_H

#include "embed/c/handles.h"
#include "runtime/program/tensor_view.h"

#include <functional>
#include <vector>

namespace coll::embed {

// The type never changes; the elements are the owner's.
class Tensor {
public:
  static constexpr Kind kKind = Kind::Tensor;

  // A result: the library owns the elements.
  explicit Tensor(rt::HostTensor result);
  // The caller's memory. `strides` may be null. Fails if the type makes no sense.
  static Outcome create(int32_t dtype, int64_t numDims, const int64_t *shape,
                        const int64_t *strides, const void *data, std::shared_ptr<Tensor> &tensor);

  // Called when the last user of the memory has gone.
  void setDeleter(std::function<void()> deleter) { deleter_ = std::move(deleter); }

  CollDtype dtype() const { return dtype_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  const std::vector<int64_t> &strides() const { return strides_; }
  const void *data() const { return data_; }

  // The elements in dense order, where they are if they lie so; else `scratch` gets them.
  // Booleans become 0 or 1, on which programs rely.
  rt::TensorView view(std::vector<char> &scratch) const;

  ~Tensor();
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

private:
  Tensor() = default;
  bool isDense() const;
  bool hasOddBooleans() const;
  void copyDense(char *to) const;

  CollDtype dtype_ = kCollF32;
  std::vector<int64_t> shape_, strides_; // strides in elements, always filled in
  const char *data_ = nullptr;
  int64_t bytes_ = 0; // of all elements
  rt::HostTensor result_;
  std::function<void()> deleter_;
};

} // namespace coll::embed

#endif // COLL_EMBED_C_TENSOR_H
