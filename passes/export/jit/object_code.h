//===- object_code.h - compiled rank classes, as plain bytes ----------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_JIT_OBJECT_CODE_H
#define COLL_PASSES_EXPORT_JIT_OBJECT_CODE_H

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::coll {

/// At which constants lie in memory, in bytes.
inline constexpr unsigned kConstantAlignment = 64;

/// Machine code of every rank class, not linked yet: object files that refer to each other,
/// and to the C library, by name.
struct ObjectCode {
  struct Class {
    std::unique_ptr<llvm::MemoryBuffer> driver;
    std::string descriptor;
    bool hasInit = false;
    std::string gpuImage;   // coll_gpu_image of runtime/step/abi/abi.h; empty: none
    std::string gpuKernels; // coll_gpu_kernels
    std::string constants;  // coll_constants
  };

  /// Bytes that objects read under this name, aligned to kConstantAlignment.
  struct Constant {
    std::string name;
    std::unique_ptr<llvm::MemoryBuffer> bytes;
  };
  static std::unique_ptr<llvm::MemoryBuffer> copyConstant(llvm::StringRef bytes);

  std::vector<std::unique_ptr<llvm::MemoryBuffer>> kernels; // shared by the classes
  std::vector<Constant> constants;                          // large ones, shared as well
  std::vector<Class> classes;

  /// Writes the code in the form that read() accepts.
  void write(llvm::raw_ostream &os) const;

  /// Nullopt if `bytes` are not exactly the output of write(). Objects are copied; their content is
  /// not checked.
  static std::optional<ObjectCode> read(llvm::StringRef bytes);
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_OBJECT_CODE_H
