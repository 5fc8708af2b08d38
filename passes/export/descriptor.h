//===- descriptor.h - what the runtime knows about a compiled step ----*- C++ -*-===//
//
// Collects the operation and group tables while code is emitted, and writes the
// JSON text that runtime/program/program.h reads.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_DESCRIPTOR_H
#define COLL_PASSES_EXPORT_DESCRIPTOR_H

#include "dialect/exec/exec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mlir::coll {

/// The CollDtype of an element type; nullopt if the ABI has none.
std::optional<int> getDtype(Type element);

/// Its name in the descriptor.
StringRef getDtypeName(Type element);

/// "file:line:column" of the first file position within `loc`, else empty.
std::string getSourceText(Location loc);

/// The outermost name within `loc`, else empty.
std::string getSourceName(Location loc);

class DescriptorBuilder {
public:
  /// `mesh` may be null; then the job's `worldSize` ranks form one axis.
  DescriptorBuilder(MeshOp mesh, ArrayRef<int64_t> ranks, int64_t worldSize)
      : mesh_(mesh), ranks_(ranks.begin(), ranks.end()), worldSize_(worldSize) {}

  /// Adds a communication, in program order; returns its id. `body`: the region that holds its
  /// operations.
  int32_t addOp(Block &body, Location loc);

  /// Id of what is computed, for profiles and messages: "kernel", "fused product", …, at `loc`.
  int32_t addComputation(StringRef kind, Location loc);

  /// Index of the group in the group table.
  int32_t addGroup(GroupAttr group);

  /// The same, of a group whose members' memory kernels are to reach. The runtime allocates it for
  /// the first one.
  int32_t addReached(GroupAttr group);

  /// The whole descriptor.
  std::string write(exec::FunctionOp step, int64_t arenaBytes, bool isOnGpu) const;

private:
  struct Op {
    std::string kind, function, loc, name, dtype, reduction, why;
    int64_t bytes = 0, count = 0, group = 0;
  };
  struct Computation {
    std::string kind, loc, name;
  };
  using Group = llvm::SmallVector<llvm::SmallVector<int64_t>>;

  MeshOp mesh_;
  std::vector<int64_t> ranks_;
  int64_t worldSize_;
  std::vector<Op> ops_;
  std::vector<Computation> computations_;
  std::map<std::tuple<std::string, std::string, std::string>, int32_t> computationIndex_;
  std::vector<Group> groups_;
  std::map<std::vector<std::vector<int64_t>>, int32_t> groupIndex_;
  int32_t reached_ = -1; // none
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_DESCRIPTOR_H
