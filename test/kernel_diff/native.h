// native.h - functions of an MLIR module, compiled for this machine.

#ifndef COLL_TEST_KERNEL_DIFF_NATIVE_H
#define COLL_TEST_KERNEL_DIFF_NATIVE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <string>

// Takes the address of each argument, in order.
using PackedFunction = void (*)(void *const *arguments);

class NativeModule {
public:
  // `module` holds llvm.func with bare pointers. Functions of the emulation are known.
  static llvm::Expected<NativeModule> create(mlir::ModuleOp module);
  llvm::Expected<PackedFunction> find(llvm::StringRef function) const;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

#endif // COLL_TEST_KERNEL_DIFF_NATIVE_H
