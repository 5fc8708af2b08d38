//===- jit.h - from an executable module to running code --------------*- C++ -*-===//
//
// Compiles the output of coll-emit-executable for the machine that it runs on.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_JIT_JIT_H
#define COLL_PASSES_EXPORT_JIT_JIT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/export/jit/object_code.h"
#include "runtime/step/abi/abi.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace mlir::coll {

struct JitOptions {
  /// Compile threads; 0: one per processor.
  unsigned threads = 0;
  /// Optimisation level of kernels, 0 to 3. Functions that only call kernels are not optimised.
  unsigned optLevel = 2;
  /// For a shared object, which holds all classes: the driver functions of class I are called
  /// coll_step_I and coll_init_I, and nothing is exported. linkObjects() does not take it.
  bool isShared = false;
};

/// The code of one rank class. Any number of threads may run it at once, each with its
/// own buffers: the code has no writable data. Addresses are valid while the object lives.
class JitProgram {
public:
  /// The parts of a program besides its code: texts and bytes of ObjectCode::Class.
  struct Data {
    std::string descriptor, gpuImage, gpuKernels;
    std::unique_ptr<llvm::MemoryBuffer> constants; // aligned to 64 bytes; null: none
  };

  JitProgram(std::shared_ptr<llvm::orc::LLJIT> jit, CollEntry step, CollEntry init, Data data)
      : jit_(std::move(jit)), step_(step), init_(init), data_(std::move(data)) {}

  CollEntry step() const { return step_; }
  /// Null if the program has no @init.
  CollEntry init() const { return init_; }
  llvm::StringRef descriptor() const { return data_.descriptor; }
  const Data &data() const { return data_; }

private:
  std::shared_ptr<llvm::orc::LLJIT> jit_;
  CollEntry step_;
  CollEntry init_;
  Data data_;
};

/// Compiles every rank class of `executable`, in order. The module is not changed.
/// Kernels that classes have in common are compiled once.
llvm::Expected<ObjectCode> compileObjects(ModuleOp executable, const JitOptions &options = {});

/// Links code into this process: one program per class, in order. Fails if it cannot be linked
/// here.
llvm::Expected<std::vector<std::unique_ptr<JitProgram>>> linkObjects(ObjectCode code);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_JIT_JIT_H
