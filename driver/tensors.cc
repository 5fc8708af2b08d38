//===- tensors.cc - tensors between files, the runtime and the user -------------===//

#include "driver/tensors.h"

#include "compiler/error.h"
#include "runtime/base/dtype.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace coll::run {
namespace {

CollDtype toDtype(NpyType type) {
  switch (type) {
  case NpyType::Bool:
    return kCollBool;
  case NpyType::I8:
  case NpyType::U8:
    return kCollI8;
  case NpyType::I16:
  case NpyType::U16:
    return kCollI16;
  case NpyType::I32:
  case NpyType::U32:
    return kCollI32;
  case NpyType::I64:
  case NpyType::U64:
    return kCollI64;
  case NpyType::F16:
    return kCollF16;
  case NpyType::BF16:
    return kCollBf16;
  case NpyType::F32:
    return kCollF32;
  case NpyType::F64:
    return kCollF64;
  case NpyType::V1:
    return kCollF8E4M3FN;
  case NpyType::F1:
    return kCollF8E5M2;
  }
  llvm_unreachable("every type has a case");
}

NpyType toNpyType(CollDtype dtype) {
  switch (dtype) {
  case kCollF32:
    return NpyType::F32;
  case kCollF64:
    return NpyType::F64;
  case kCollF16:
    return NpyType::F16;
  case kCollBf16:
    return NpyType::BF16;
  case kCollI8:
    return NpyType::I8;
  case kCollI16:
    return NpyType::I16;
  case kCollI32:
    return NpyType::I32;
  case kCollI64:
    return NpyType::I64;
  case kCollBool:
    return NpyType::Bool;
  case kCollF8E4M3FN:
    return NpyType::V1;
  case kCollF8E5M2:
    return NpyType::F1;
  case kCollU8:
    return NpyType::U8;
  }
  llvm_unreachable("every type has a case");
}

/// The shortest of 6, 9 or 17 digits that reads back as the same value.
void printReal(llvm::raw_ostream &os, double value, bool isDouble) {
  char text[40];
  for (int digits : {6, 9, 17}) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    double back = std::strtod(text, nullptr);
    if (isDouble ? back == value : static_cast<float>(back) == static_cast<float>(value))
      break;
  }
  os << (std::isnan(value) ? "nan" : text);
}

void printElement(llvm::raw_ostream &os, const rt::HostTensor &tensor, int64_t index) {
  if (tensor.dtype == kCollI64)
    os << tensor.as<int64_t>()[index];
  else if (tensor.dtype == kCollBool)
    os << (tensor.data[index] ? "true" : "false");
  else if (rt::isFloat(tensor.dtype))
    printReal(os, element(tensor, index), tensor.dtype == kCollF64);
  else
    os << int64_t(element(tensor, index));
}

void printElements(llvm::raw_ostream &os, const rt::HostTensor &tensor, size_t dim,
                   int64_t &index) {
  if (dim == tensor.shape.size())
    return printElement(os, tensor, index++);
  os << '[';
  for (int64_t i = 0; i < tensor.shape[dim]; ++i) {
    os << (i ? ", " : "");
    printElements(os, tensor, dim + 1, index);
  }
  os << ']';
}

} // namespace

rt::HostTensor toTensor(NpyArray array, std::optional<CollDtype> dtype) {
  rt::HostTensor tensor;
  tensor.dtype = dtype && isSameType(array.type, *dtype) ? *dtype : toDtype(array.type);
  tensor.shape = std::move(array.shape);
  tensor.data = std::move(array.data);
  // A program may rely on booleans being 0 or 1; a file may hold any byte.
  if (tensor.dtype == kCollBool)
    for (char &byte : tensor.data)
      byte = byte != 0;
  return tensor;
}

NpyArray toArray(const rt::HostTensor &tensor) {
  return {toNpyType(tensor.dtype), tensor.shape, tensor.data};
}

bool isSameType(NpyType type, CollDtype dtype) {
  if (type == NpyType::V1)
    return dtype == kCollF8E4M3FN || dtype == kCollF8E5M2 || dtype == kCollI8;
  return toDtype(type) == dtype || (type == NpyType::U8 && dtype == kCollU8);
}

/// Makes int64 elements int32. Returns the index of the first that does not fit, if any.
static std::optional<int64_t> narrow(NpyArray &array) {
  const size_t count = array.data.size() / sizeof(int64_t);
  std::vector<char> narrowed(count * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    int64_t wide;
    std::memcpy(&wide, array.data.data() + i * sizeof(wide), sizeof(wide));
    const int32_t value = static_cast<int32_t>(wide);
    if (value != wide)
      return i;
    std::memcpy(narrowed.data() + i * sizeof(value), &value, sizeof(value));
  }
  array.type = NpyType::I32;
  array.data = std::move(narrowed);
  return std::nullopt;
}

llvm::Expected<rt::HostTensor> readTensor(const NpzFile &file, llvm::StringRef name,
                                          const rt::TensorInfo &info, ArrayNames *narrowed) {
  llvm::Expected<NpyArray> array = file.read(name);
  if (!array)
    return array.takeError();
  if (array->type == NpyType::I64 && info.dtype == kCollI32 && array->shape == info.shape) {
    if (std::optional<int64_t> index = narrow(*array))
      return makeError("'" + file.path() + "', array '" + name + "' is int64, and its element " +
                       llvm::Twine(*index) + " does not fit into the i32 of the step's " +
                       describe(info));
    if (narrowed)
      narrowed->push_back(name.str());
  }
  if (!isSameType(array->type, info.dtype) || array->shape != info.shape)
    return makeError("'" + file.path() + "', array '" + name + "' is " +
                     describe(array->type, array->shape) + "; the step's " + describe(info) +
                     " needs another type or shape");
  return toTensor(std::move(*array), info.dtype);
}

std::string describe(const rt::TensorInfo &info) {
  std::string text = "argument ";
  if (!info.name.empty())
    text += "\"" + info.name + "\" ";
  return text + "(" + rt::typeString(info.dtype, info.shape) + ")";
}

double element(const rt::HostTensor &tensor, int64_t index) {
  switch (tensor.dtype) {
  case kCollF32:
    return tensor.as<float>()[index];
  case kCollF64:
    return tensor.as<double>()[index];
  case kCollF16:
    return rt::f16ToF32(tensor.as<uint16_t>()[index]);
  case kCollBf16:
    return rt::bf16ToF32(tensor.as<uint16_t>()[index]);
  case kCollI8:
    return tensor.as<int8_t>()[index];
  case kCollI16:
    return tensor.as<int16_t>()[index];
  case kCollI32:
    return tensor.as<int32_t>()[index];
  case kCollI64:
    return static_cast<double>(tensor.as<int64_t>()[index]);
  case kCollBool:
    return tensor.data[index] != 0;
  case kCollF8E4M3FN:
    return rt::f8E4M3FNToF32(tensor.as<uint8_t>()[index]);
  case kCollF8E5M2:
    return rt::f8E5M2ToF32(tensor.as<uint8_t>()[index]);
  case kCollU8:
    return tensor.as<uint8_t>()[index];
  }
  llvm_unreachable("every type has a case");
}

int64_t numElements(const rt::HostTensor &tensor) {
  return static_cast<int64_t>(tensor.data.size()) / rt::dtypeSize(tensor.dtype);
}

void printTensor(llvm::raw_ostream &os, llvm::StringRef name, const rt::HostTensor &tensor) {
  os << name << ": " << tensor.typeString() << " = ";
  int64_t index = 0;
  printElements(os, tensor, 0, index);
  os << '\n';
}

} // namespace coll::run
