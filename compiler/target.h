//===- target.h - for whom a step is compiled ---------------------------*- C++ -*-===//

#ifndef COLL_COMPILER_TARGET_H
#define COLL_COMPILER_TARGET_H

#include "passes/export/roundings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coll::run {

struct MeshAxisOption {
  std::string name;
  int64_t size = 1;
};

/// As many fit in one process.
inline constexpr int64_t kMaxRanks = 1024;

/// Reads "dp=4" or "dp=2,tp=2". An error says what is wrong with it, without the text itself.
llvm::Expected<std::vector<MeshAxisOption>> parseMesh(llvm::StringRef text);

int64_t countRanks(llvm::ArrayRef<MeshAxisOption> mesh);

/// For whom a step is compiled: what the user asked for, or one device.
struct Target {
  bool isSingleDevice = false;
  std::optional<int64_t> ranks;
  std::vector<MeshAxisOption> mesh;
  std::string strategy;            // "none", "data-parallel", or what coll-insert-strategy takes
  std::vector<std::string> shards; // patterns over argument names, each with a sharding
  std::string topology;            // a file (plan/topology.h) whose links decide; empty: bytes do
  bool narrowSums = false; // contributions to sums travel in the type that they are stored in
  bool verify = true;
  bool isShared = false; // the code is for a shared object (shared_object.h)
  // Rounding errors of the single-device step, disturbed to measure how much they matter.
  mlir::coll::Roundings roundings = mlir::coll::Roundings::Exact;
  uint32_t roundingSeed = 0;
};

} // namespace coll::run

#endif // COLL_COMPILER_TARGET_H
