//===- words.h - shardings and collectives in words -------------------*- C++ -*-===//
//
// The text of hovers, as Markdown. Pure functions of the IR.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COLL_LSP_SERVER_WORDS_H
#define COLL_TOOLS_COLL_LSP_SERVER_WORDS_H

#include "dialect/dialect.h"

#include <string>

namespace coll::lsp {

/// "dimension 0 is split over "dp" (4 shards of 6); the rest is whole", and partial sums.
std::string describeSharding(mlir::coll::ShardingAttr sharding, mlir::coll::MeshOp mesh,
                             mlir::RankedTensorType global);

/// The part of a value that one rank holds, in shape and bytes.
std::string describeLocal(mlir::coll::ShardingAttr sharding, mlir::coll::MeshOp mesh,
                          mlir::RankedTensorType global);

/// The text about an operation of the dialect: its members, its reason, its bytes, and the source
/// line that it serves. `location` is the file's own location of its origin. Empty if there is
/// nothing to say.
std::string describeOperation(mlir::Operation *op, mlir::Location location);

/// The first source position inside `location` that is not in the file itself, whose
/// name is `self`: "train.py:50:16"; empty if there is none.
std::string describeSource(mlir::Location location, llvm::StringRef self);

/// The name under which analysis.cc parses a file.
inline constexpr llvm::StringLiteral kSelf = "<this file>";

} // namespace coll::lsp

#endif // COLL_TOOLS_COLL_LSP_SERVER_WORDS_H
