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

/// Machine code of every rank class, not linked yet: object files that refer to each other,
/// and to the C library, by name.
struct ObjectCode {
  struct Class {
    std::unique_ptr<llvm::MemoryBuffer> driver;
    std::string descriptor;
    bool hasInit = false;
  };

  std::vector<std::unique_ptr<llvm::MemoryBuffer>> kernels; // which the classes share
  std::vector<Class> classes;

  /// Writes the code for read() to take back.
  void write(llvm::raw_ostream &os) const;

  /// Nothing where `bytes` are not, to the last one, what write() made. Objects are copied;
  /// whether they are objects at all is not checked.
  static std::optional<ObjectCode> read(llvm::StringRef bytes);
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_OBJECT_CODE_H
