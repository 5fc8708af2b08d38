//===- fuse_kernels_control.cc - which producers are fused -----------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/kernels/fuse_kernels.h"

namespace mlir::coll {
namespace {

// A body larger than this does not gain from further fusion: it spills registers.
constexpr unsigned kMaxBodyOps = 150;
constexpr unsigned kMaxInputs = 20;
// Computing a body of up to this size again costs no more time than the memory accesses that it
// saves.
constexpr unsigned kMaxRecomputedOps = 24;

/// Cost of one iteration of a body.
struct BodyCost {
  unsigned ops = 0;       // without constants and indices
  bool expensive = false; // calls a math library, or divides
};

BodyCost getBodyCost(linalg::GenericOp op) {
  BodyCost cost;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp, affine::AffineApplyOp>(inner))
      continue;
    ++cost.ops;
    bool cheapMath = isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(inner);
    bool math = isa_and_nonnull<math::MathDialect>(inner.getDialect()) && !cheapMath;
    if (math || isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
                    arith::RemUIOp>(inner))
      cost.expensive = true;
  }
  return cost;
}

/// Inputs that are as large as the loops' domain: each is a stream of memory reads.
unsigned countStreams(linalg::GenericOp op) {
  int64_t iterations = countIterations(op);
  unsigned streams = 0;
  for (Value input : op.getDpsInputs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (type && type.getNumElements() * 2 > iterations)
      ++streams;
  }
  return streams;
}

/// Whether reading the producer's only stream costs no more than reading its result.
bool isCheaperThanMemory(linalg::GenericOp producer, const BodyCost &cost) {
  if (cost.ops > kMaxRecomputedOps || countStreams(producer) != 1 ||
      producer.getNumResults() != 1 || producer.getNumParallelLoops() != producer.getNumLoops())
    return false;
  auto result = cast<RankedTensorType>(producer.getResult(0).getType());
  return llvm::all_of(producer.getDpsInputs(), [&](Value input) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return !type || !type.getElementType().isIntOrFloat() ||
           type.getNumElements() * type.getElementTypeBitWidth() <=
               result.getNumElements() * result.getElementTypeBitWidth();
  });
}

bool hasOneUser(Operation *producer) {
  Operation *first = nullptr;
  for (Operation *user : producer->getUsers()) {
    if (first && user != first)
      return false;
    first = user;
  }
  return true;
}

bool onlyChangesUnitDims(RankedTensorType a, RankedTensorType b) {
  auto withoutUnits = [](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    llvm::erase(shape, 1);
    return shape;
  };
  return withoutUnits(a) == withoutUnits(b);
}

} // namespace

int64_t countIterations(linalg::GenericOp op) {
  int64_t count = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    count *= extent;
  return count;
}

bool shouldFuseProducer(OpOperand *fusedOperand, bool recomputes) {
  auto producer = fusedOperand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(fusedOperand->getOwner());
  // A producer outside of a loop is computed once there.
  if (!producer || !consumer || producer->getBlock() != consumer->getBlock())
    return false;
  if (producer.getNumDpsInputs() + consumer.getNumDpsInputs() > kMaxInputs)
    return false;
  BodyCost cost = getBodyCost(producer);
  if (cost.ops + consumer.getBody()->getOperations().size() > kMaxBodyOps)
    return false;

  bool repeats = countIterations(consumer) > countIterations(producer);
  bool trivial = !cost.expensive && cost.ops <= 2 && countStreams(producer) <= 1;
  if (repeats)
    return trivial;
  return hasOneUser(producer) || trivial || (recomputes && isCheaperThanMemory(producer, cost));
}

bool shouldMoveReshape(OpOperand *reshapedOperand) {
  auto isProper = [](Operation *reshape) {
    return !onlyChangesUnitDims(cast<RankedTensorType>(reshape->getOperand(0).getType()),
                                cast<RankedTensorType>(reshape->getResult(0).getType()));
  };
  // Either the reshape reads a generic, or a generic reads the reshape.
  Operation *owner = reshapedOperand->getOwner();
  Operation *producer = reshapedOperand->get().getDefiningOp();
  if (!producer || producer->getBlock() != owner->getBlock())
    return false;
  if (isa<tensor::ExpandShapeOp>(owner))
    return isProper(owner) && producer->hasOneUse();
  return isa<tensor::CollapseShapeOp>(producer) && isProper(producer);
}

} // namespace mlir::coll
