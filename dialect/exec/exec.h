//===- exec.h - the exec dialect --------------------------------------*- C++ -*-===//
//
// Everything that dialect/exec/ops.td declares. Include this to use the dialect.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EXEC_EXEC_H
#define COLL_DIALECT_EXEC_EXEC_H

#include "dialect/dialect.h"

#include "dialect/exec/dialect.h.inc"
#include "dialect/exec/enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/exec/types.h.inc"

#define GET_OP_CLASSES
#include "dialect/exec/ops.h.inc"

namespace mlir::coll::exec {

// On a module that holds one rank class: the ranks that run its functions.
inline constexpr llvm::StringLiteral kRanksAttr = "exec.ranks";
// On such a module: the GPU that its kernels are for; absent for CPUs.
inline constexpr llvm::StringLiteral kGpuAttr = "exec.gpu";

// On a kernel function: the memory of a group's members that it works on (exec.call says how).
inline constexpr llvm::StringLiteral kMembersAttr = "exec.members";

/// The content of that attribute.
struct Members {
  GroupAttr group;
  int64_t size = 0;             // of the group
  int64_t sums = 0, copies = 0; // numbers of arguments

  DictionaryAttr toAttr() const;
  /// The number of addresses that the kernel takes after its own arguments.
  int64_t numAddresses() const { return 2 * size; }
};

/// nullopt if the kernel has no such attribute, or one that is not well formed.
std::optional<Members> getMembers(Operation *kernel);

/// The part of memory that a view, a constant or a buffer of a function is.
struct Extent {
  Value base; // a constant or a buffer of a function
  int64_t offset = 0;
  int64_t bytes = 0;
  bool isReadOnly = false;

  int64_t end() const { return offset + bytes; }
  bool operator==(const Extent &other) const {
    return base == other.base && offset == other.offset && bytes == other.bytes;
  }
  bool overlaps(const Extent &other) const {
    return bytes && other.bytes && base == other.base && offset < other.end() &&
           other.offset < end();
  }
};

/// nullopt if what defines `buffer` is not known, as for an argument of a func.func.
std::optional<Extent> getExtent(Value buffer);

/// Where the next tensor of a call over several begins, behind one that ends at `end`: each has the
/// alignment that kernels rely on.
inline constexpr int64_t kBucketAlignment = 64;
inline int64_t alignInBucket(int64_t end) {
  return (end + kBucketAlignment - 1) / kBucketAlignment * kBucketAlignment;
}

/// Bytes of a call over several tensors, which a communication's region yields: from the beginning
/// of the first to the end of the last.
int64_t getBucketBytes(Block &body);

} // namespace mlir::coll::exec

#endif // COLL_DIALECT_EXEC_EXEC_H
