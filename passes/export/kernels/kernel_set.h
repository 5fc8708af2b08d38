//===- kernel_set.h - the kernel functions of one symbol table ---------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_KERNELS_KERNEL_SET_H
#define COLL_PASSES_EXPORT_KERNELS_KERNEL_SET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <memory>

namespace mlir::coll {

/// Kernels that a pass makes; equal ones are kept once.
class KernelSet {
public:
  /// They are called PREFIX0, PREFIX1, …, and stand at the end of `scope`.
  KernelSet(Operation *scope, StringRef prefix) : scope(scope), symbols(scope), prefix(prefix) {}

  /// Takes ownership of the function; returns it or an equal one.
  func::FuncOp add(func::FuncOp function) {
    auto [entry, inserted] = byText.try_emplace(print(function));
    if (!inserted) {
      function->destroy();
      return entry->second;
    }
    function.setName((prefix + Twine(byText.size() - 1)).str());
    symbols.insert(function, Block::iterator(scope->getRegion(0).front().end()));
    entry->second = function;
    return function;
  }

private:
  /// Kernels are identified by their text without locations and with one name for all.
  static std::string print(func::FuncOp function) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    function->print(stream, OpPrintingFlags().useLocalScope());
    return text;
  }

  Operation *scope;
  SymbolTable symbols;
  std::string prefix;
  llvm::StringMap<func::FuncOp> byText;
};

/// Calls `visit` with each function below `root` that has a body, and the set of kernels of the
/// symbol table in which the function stands. The new kernels are not visited.
inline void visitFunctions(Operation *root, StringRef prefix,
                           function_ref<void(func::FuncOp, KernelSet &)> visit) {
  SmallVector<func::FuncOp> functions;
  root->walk([&](func::FuncOp function) {
    if (!function.isExternal())
      functions.push_back(function);
  });
  DenseMap<Operation *, std::unique_ptr<KernelSet>> sets;
  for (func::FuncOp function : functions) {
    std::unique_ptr<KernelSet> &kernels = sets[function->getParentOp()];
    if (!kernels)
      kernels = std::make_unique<KernelSet>(function->getParentOp(), prefix);
    visit(function, *kernels);
  }
}

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_KERNEL_SET_H
