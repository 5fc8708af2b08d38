//===- convert.h - handles, arrays and errors between Python and C -----*- C++ -*-===//

#ifndef COLL_EMBED_PYTHON_CONVERT_H
#define COLL_EMBED_PYTHON_CONVERT_H

#include "embed/c/coll.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coll::python {

/// Raises coll.Error for an error of the C API, which it frees. Takes Python's lock.
void check(coll_error error);
/// Adds Owner, Remote and Reshard to the module.
void bindExchange(nanobind::module_ &module);
/// Adds the exception type Error to the module.
void registerError(nanobind::module_ &module);

/// Owns a handle of the C API.
template <typename Id, coll_error (*Free)(Id)>
class Handle {
public:
  Handle() = default;
  explicit Handle(Id id) : id_(id) {}
  Handle(Handle &&other) noexcept : id_(std::exchange(other.id_, Id{})) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() { coll_error_free(Free(id_)); }

  Id get() const { return id_; }
  Id *slot() { return &id_; }

private:
  Id id_{};
};

using Tensor = Handle<coll_tensor, coll_tensor_free>;
using Request = Handle<coll_request, coll_request_free>;

/// An array in host memory, and its coll_dtype if the array's own type does not give it, else -1.
using Array = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;
using Input = std::pair<Array, int32_t>;
/// A NumPy array and its coll_dtype. For types that NumPy lacks the array has unsigned integers.
using Output = std::pair<nanobind::object, int32_t>;

/// Tensors that keep the arrays alive, which are not copied.
std::vector<Tensor> wrap(const std::vector<Input> &arrays);
std::vector<coll_tensor> handlesOf(const std::vector<Tensor> &tensors);
/// The array owns the tensor.
Output toOutput(Tensor tensor);

inline const char *textOrNull(const std::optional<std::string> &text) {
  return text ? text->c_str() : nullptr;
}

} // namespace coll::python

#endif // COLL_EMBED_PYTHON_CONVERT_H
