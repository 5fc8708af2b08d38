#include "runtime/program/host_tensor.h"

#include "runtime/base/dtype.h"
#include "runtime/base/machine.h"

#include <exception>

namespace coll::rt {

Result<HostTensor> HostTensor::zeros(CollDtype dtype, std::vector<int64_t> shape) {
  std::optional<int64_t> elems = numElements(shape);
  if (!isValidDtype(dtype) || !elems)
    return Status::invalid("no tensor can be " + coll::rt::typeString(dtype, shape));
  if (const MemoryLimit limit = memoryLimit(); *elems * dtypeSize(dtype) > limit.bytes)
    return Status(kCollDevice, "no memory for " + coll::rt::typeString(dtype, shape) + ": " +
                                   limit.name + " is " + std::to_string(limit.bytes) + " bytes");
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  try {
    tensor.data.resize(static_cast<size_t>(*elems * dtypeSize(dtype)));
  } catch (const std::exception &) {
    return Status(kCollDevice, "out of memory for " + tensor.typeString());
  }
  return tensor;
}

std::string typeString(CollDtype dtype, const std::vector<int64_t> &shape) {
  std::string text = dtypeName(dtype);
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ']';
}

std::string HostTensor::typeString() const { return coll::rt::typeString(dtype, shape); }

} // namespace coll::rt
