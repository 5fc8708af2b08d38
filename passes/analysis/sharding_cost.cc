//===- sharding_cost.cc ----------------------------------------------------------===//

#include "passes/analysis/sharding_cost.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/analysis/micro_batches.h"
#include "passes/analysis/window.h"

namespace mlir::coll {

namespace plan = ::coll::plan;

namespace {

/// Iterations of a loop that a rank does while it sends one byte: a value between that of a CPU
/// core that sends through memory and that of a GPU that sends over its links.
constexpr double kIterationsPerByte = 32;

bool contains(ArrayRef<StringAttr> axes, StringAttr axis) { return llvm::is_contained(axes, axis); }

double sizeOf(MeshOp mesh, ArrayRef<StringAttr> axes) {
  double size = 1;
  for (StringAttr axis : axes)
    size *= mesh.getAxisSize(axis.getValue()).value_or(1);
  return size;
}

double bytesOf(RankedTensorType type) {
  Type element = type.getElementType();
  double bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  double elements = 1;
  for (int64_t extent : type.getShape())
    elements *= extent;
  return elements * std::max(bits, 8.0) / 8;
}

/// Bytes of a rank's part.
double localBytes(MeshOp mesh, RankedTensorType type, ShardingAttr sharding) {
  double bytes = bytesOf(type);
  for (DimShardingAttr dim : sharding.getDims())
    bytes /= sizeOf(mesh, dim.getAxes());
  return bytes;
}

/// How the axes of one change of sharding are used.
struct Change {
  SmallVector<StringAttr> scattered, reduced, moved, gathered, sliced;
};

Change compare(ShardingAttr from, ShardingAttr to) {
  Change change;
  SmallVector<StringAttr> added;
  for (auto [have, want] : llvm::zip(from.getDims(), to.getDims())) {
    ArrayRef<StringAttr> a = have.getAxes(), b = want.getAxes();
    size_t common = 0;
    while (common < a.size() && common < b.size() && a[common] == b[common])
      ++common;
    llvm::append_range(change.gathered, a.drop_front(common));
    llvm::append_range(added, b.drop_front(common));
  }
  for (StringAttr axis : from.getPartialAxes())
    if (!contains(to.getPartialAxes(), axis))
      (contains(added, axis) ? change.scattered : change.reduced).push_back(axis);
  for (StringAttr axis : added) {
    auto *ended = llvm::find(change.gathered, axis);
    if (ended != change.gathered.end()) {
      change.gathered.erase(ended);
      change.moved.push_back(axis);
    } else if (!contains(change.scattered, axis)) {
      change.sliced.push_back(axis);
    }
  }
  return change;
}

} // namespace

double getReshardBytes(MeshOp mesh, RankedTensorType type, ShardingAttr from, ShardingAttr to) {
  if (from == to)
    return 0;
  Change change = compare(from, to);
  double local = localBytes(mesh, type, from) / sizeOf(mesh, change.sliced);
  double bytes = 0;
  auto share = [](double size) { return (size - 1) / size; };
  double size = sizeOf(mesh, change.scattered);
  bytes += share(size) * local;
  local /= size;
  size = sizeOf(mesh, change.reduced);
  bytes += 2 * share(size) * local;
  size = sizeOf(mesh, change.moved);
  bytes += share(size) * local;
  size = sizeOf(mesh, change.gathered);
  bytes += (size - 1) * local;
  auto isTime = [](StringAttr axis) { return axis == kTimeAxis; };
  if (llvm::any_of(change.gathered, isTime) || llvm::any_of(change.moved, isTime))
    bytes += kBytesOfWaitingForRows;
  return bytes;
}

std::string describeReshardBytes(int64_t bytes) {
  if (static_cast<double>(bytes) >= kBytesOfWaitingForRows)
    return "a wait for the rows of all micro-batches";
  return std::to_string(bytes) + " bytes";
}

double getCombineBytes(MeshOp mesh, RankedTensorType type, ShardingAttr sharding) {
  double size = sizeOf(mesh, sharding.getPartialAxes());
  return (size - 1) / size * localBytes(mesh, type, sharding);
}

double getHaloBytes(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                    MeshOp mesh, int64_t index) {
  double bytes = 0;
  auto type = cast<RankedTensorType>(op->getOperand(index).getType());
  for (auto [dim, walked] : llvm::enumerate(rule.operands[index])) {
    DimShardingAttr split = walked.factor < 0 ? nullptr : assignment.factors[walked.factor];
    if (!split || !walked.reach || type.getNumElements() == 0)
      continue;
    ShardingAttr have = getOperandSharding(rule, assignment, mesh, index);
    int64_t extent = type.getDimSize(dim),
            block = getBlockExtent(mesh, have.getDims()[dim], extent);
    int64_t size = rule.factors[walked.factor].size;
    plan::HaloLoop loop{getNumShards(mesh, split), size, getBlockExtent(mesh, split, size)};
    bytes += localBytes(mesh, type, have) / block *
             plan::haloReceived(loop, {*walked.reach, extent, block});
  }
  return bytes;
}

double getWorkCost(Operation *op, const ShardingRule &rule, const Assignment &assignment,
                   MeshOp mesh) {
  double iterations = 1;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(getCore(op))) {
    for (int64_t range : linalgOp.getStaticLoopRanges())
      iterations *= range;
  } else {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        iterations = std::max<double>(iterations, tensor.getNumElements());
  }
  for (auto [factor, split] : llvm::zip(rule.factors, assignment.factors))
    if (split && !factor.isIndexed)
      iterations /= sizeOf(mesh, split.getAxes());
  return iterations / kIterationsPerByte;
}

} // namespace mlir::coll
