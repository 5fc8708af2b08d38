//===- npy.h - arrays in NumPy's file format -------------------------*- C++ -*-===//
//
// The layout is NumPy's format versions 1.0 to 3.0: magic, version, header length, a
// Python dictionary with descr, fortran_order and shape, then the elements.
//
//===--------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_NPY_H
#define COLL_DRIVER_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::run {

enum class NpyType { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, F1, V1 };

/// NumPy's name of the type: "float32", "bool", …
llvm::StringRef nameOf(NpyType type);
int64_t bytesOf(NpyType type);

/// A dense row-major array, little-endian.
struct NpyArray {
  NpyType type = NpyType::F32;
  std::vector<int64_t> shape;
  std::vector<char> data;
};

/// "float32[64, 10]", for messages.
std::string describe(NpyType type, llvm::ArrayRef<int64_t> shape);

/// The header of a file: what follows it is `dataBytes` of elements.
struct NpyHeader {
  NpyType type = NpyType::F32;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  uint64_t headerBytes = 0;
  uint64_t dataBytes = 0;
};

/// Longest header that is accepted.
inline constexpr uint64_t kMaxNpyHeaderBytes = 64 * 1024;

/// Reads the header at the start of `bytes`, which may end after it. Trusts
/// nothing: malformed text, other byte orders, structured types, too many
/// dimensions and sizes past 2^62 bytes are errors.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef bytes);

/// The file's bytes up to the elements; they start at a multiple of 64.
std::string makeNpyHeader(NpyType type, llvm::ArrayRef<int64_t> shape);

/// Reorders elements stored column-major. `array.shape` is the shape as NumPy
/// shows it.
void convertFromFortranOrder(NpyArray &array);

} // namespace coll::run

#endif // COLL_DRIVER_NPY_H
