//===- tensors.h - tensors between files, the runtime and the user ----*- C++ -*-===//

#ifndef COLL_DRIVER_TENSORS_H
#define COLL_DRIVER_TENSORS_H

#include "driver/npz.h"
#include "driver/status.h"
#include "runtime/program/host_tensor.h"
#include "runtime/program/program.h"

#include "llvm/Support/raw_ostream.h"

namespace coll::run {

using Tensors = std::vector<rt::HostTensor>;

/// The same elements under the runtime's type. Unsigned integers keep their bits.
/// `dtype` says what the bytes are where the file does not (isSameType).
rt::HostTensor toTensor(NpyArray array, std::optional<CollDtype> dtype = std::nullopt);
NpyArray toArray(const rt::HostTensor &tensor);

/// Names of arrays, for a note to the user.
using ArrayNames = std::vector<std::string>;

/// Reads the array that is to become the argument `info`: type and shape must be its. An int64
/// array whose values fit becomes an i32 argument, and its name is added to `narrowed`, if given:
/// NumPy makes Python's numbers int64, JAX makes them int32.
llvm::Expected<rt::HostTensor> readTensor(const NpzFile &file, llvm::StringRef name,
                                          const rt::TensorInfo &info,
                                          ArrayNames *narrowed = nullptr);

/// Whether an array of this type may become an argument of that one.
bool isSameType(NpyType type, CollDtype dtype);

/// `argument "w1" (f32[64, 10])`, for messages.
std::string describe(const rt::TensorInfo &info);

/// One element, as a double (64-bit integers are rounded).
double element(const rt::HostTensor &tensor, int64_t index);
int64_t numElements(const rt::HostTensor &tensor);

/// Prints `name: f32[2, 2] = [[1, 2], [3, 4]]`, every element, floats with as many
/// digits as tell them apart.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name, const rt::HostTensor &tensor);

} // namespace coll::run

#endif // COLL_DRIVER_TENSORS_H
