//===- inference.h - shardings that the compiler would choose ---------*- C++ -*-===//
//
// Runs the passes up to inserted reshards on a copy, and says which sharding each
// value would have and where data would move.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_INFERENCE_H
#define COLL_TOOLS_COLL_LSP_SERVER_INFERENCE_H

#include "dialect/dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/coll-lsp-server/marks.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace coll::lsp {

struct InferredValue {
  mlir::coll::ShardingAttr sharding;
  mlir::RankedTensorType global;
  /// Reshards right behind the value.
  llvm::SmallVector<mlir::coll::ReshardOp, 2> reshards;
};

class Inference {
public:
  /// Infers for `module`, whose locations are marks of `marks`. A file without a mesh is
  /// taken for a step under data parallelism on `ranks` ranks; a step in StableHLO is
  /// imported first. Passes report through the context's diagnostic handler. Where
  /// nothing can be inferred (programs that are partitioned already, files without a
  /// step), there is nothing found.
  Inference(mlir::ModuleOp module, const Marks &marks, int64_t ranks);

  /// The inferred sharding of a result of the operation with a mark, or of the argument.
  const InferredValue *find(size_t mark, unsigned result, mlir::Type type) const;

  /// The mesh that shardings name.
  mlir::coll::MeshOp mesh() const { return mesh_; }
  /// "for 4 ranks by data parallelism"; empty if the file's own shardings count.
  const std::string &assumption() const { return assumption_; }

private:
  bool runPasses(int64_t ranks);
  void collect(const Marks &marks);
  void add(const Marks &marks, mlir::Value value, mlir::Location location, unsigned result);

  mlir::OwningOpRef<mlir::ModuleOp> copy_;
  mlir::coll::MeshOp mesh_;
  std::string assumption_;
  /// By mark, result and type: an operation may become several, of which the one of the
  /// same type holds its value.
  llvm::DenseMap<std::pair<std::pair<size_t, unsigned>, mlir::Type>, InferredValue> values_;
};

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_INFERENCE_H
