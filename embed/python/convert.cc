//===- convert.cc - handles, arrays and errors between Python and C -------------===//

#include "embed/python/convert.h"

#include <nanobind/stl/string.h>

#include <memory>

namespace nb = nanobind;

namespace coll::python {
namespace {

PyObject *errorType = nullptr; // Error of the module, which keeps it

/// coll_dtype of DLPack's type, or none.
std::optional<int32_t> dtypeOf(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1)
    return std::nullopt;
  switch (Code(type.code)) {
  case Code::Float:
    return type.bits == 64 ? COLL_F64 : type.bits == 32 ? COLL_F32 : COLL_F16;
  case Code::Bfloat:
    return COLL_BF16;
  case Code::Bool:
    return COLL_BOOL;
  case Code::Float8_E4M3FN:
    return COLL_F8E4M3FN;
  case Code::Float8_E5M2:
    return COLL_F8E5M2;
  case Code::Int:
  case Code::UInt:
    switch (type.bits) {
    case 8:
      return Code(type.code) == Code::UInt ? COLL_U8 : COLL_I8;
    case 16:
      return COLL_I16;
    case 32:
      return COLL_I32;
    case 64:
      return COLL_I64;
    }
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// NumPy's type for the bits of a coll_dtype.
nb::dlpack::dtype carrierOf(int32_t dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = uint8_t(8 * coll_dtype_size(dtype));
  switch (dtype) {
  case COLL_F32:
  case COLL_F64:
  case COLL_F16:
    return {uint8_t(Code::Float), bits, 1};
  case COLL_I8:
  case COLL_I16:
  case COLL_I32:
  case COLL_I64:
    return {uint8_t(Code::Int), bits, 1};
  case COLL_BOOL:
    return {uint8_t(Code::Bool), bits, 1};
  default:
    return {uint8_t(Code::UInt), bits, 1};
  }
}

Tensor wrapOne(const Input &input) {
  const auto &[array, code] = input;
  const std::optional<int32_t> dtype = code >= 0 ? code : dtypeOf(array.dtype());
  if (!dtype)
    throw nb::type_error("coll has no such element type");
  coll_tensor_view view = COLL_INIT(coll_tensor_view);
  view.dtype = *dtype;
  view.num_dims = int32_t(array.ndim());
  view.shape = array.shape_ptr();
  view.strides = array.stride_ptr();
  view.data = array.data();
  auto keep = std::make_unique<Array>(array);
  Tensor tensor;
  // Array's destructor takes Python's lock where it has to.
  check(coll_tensor_wrap(
      &view, [](void *user) { delete static_cast<Array *>(user); }, keep.get(), tensor.slot()));
  keep.release();
  return tensor;
}

nb::object toException(coll_error error) {
  nb::list notes;
  for (size_t i = 0; i < coll_error_num_notes(error); ++i)
    notes.append(coll_error_note(error, i));
  const std::string message = coll_error_message(error), location = coll_error_location(error);
  std::string text = location.empty() ? message : location + ": " + message;
  for (size_t i = 0; i < coll_error_num_notes(error); ++i)
    text += std::string("\n  ") + coll_error_note(error, i);
  nb::object exception = nb::borrow(errorType)(text);
  exception.attr("code") = coll_code_name(coll_error_code(error));
  exception.attr("message") = message;
  exception.attr("location") = location;
  exception.attr("notes") = notes;
  return exception;
}

} // namespace

void check(coll_error error) {
  if (error.id == 0)
    return;
  nb::gil_scoped_acquire acquire;
  nb::object exception = toException(error);
  coll_error_free(error);
  PyErr_SetObject(errorType, exception.ptr());
  throw nb::python_error();
}

void registerError(nb::module_ &module) {
  errorType = PyErr_NewExceptionWithDoc(
      "coll.Error",
      "What coll refused or could not do. Attributes: code (a word), message, location (of the "
      "Python line or the place in the text; may be empty), notes (a list of texts).",
      PyExc_RuntimeError, nullptr);
  module.attr("Error") = nb::borrow(errorType);
}

std::vector<Tensor> wrap(const std::vector<Input> &arrays) {
  std::vector<Tensor> tensors;
  tensors.reserve(arrays.size());
  for (const Input &array : arrays)
    tensors.push_back(wrapOne(array));
  return tensors;
}

std::vector<coll_tensor> handlesOf(const std::vector<Tensor> &tensors) {
  std::vector<coll_tensor> handles;
  handles.reserve(tensors.size());
  for (const Tensor &tensor : tensors)
    handles.push_back(tensor.get());
  return handles;
}

Output toOutput(Tensor tensor) {
  coll_tensor_view view = COLL_INIT(coll_tensor_view);
  check(coll_tensor_describe(tensor.get(), &view));
  const std::vector<size_t> shape(view.shape, view.shape + view.num_dims);
  auto owned = std::make_unique<Tensor>(std::move(tensor));
  nb::capsule owner(owned.get(), [](void *p) noexcept { delete static_cast<Tensor *>(p); });
  owned.release();
  nb::ndarray<nb::numpy> array(const_cast<void *>(view.data), shape.size(), shape.data(), owner,
                               view.strides, carrierOf(view.dtype), nb::device::cpu::value);
  return {nb::cast(array), view.dtype};
}

} // namespace coll::python
