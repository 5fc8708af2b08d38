//===- op_work.cc -----------------------------------------------------------------===//

#include "passes/analysis/op_work.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/loop_count.h"
#include "passes/analysis/reshard_plans.h"
#include "plan/move.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::coll {

namespace {

namespace plan = ::coll::plan;

/// What an operation on an element takes outside of products, as operations in them: arithmetic,
/// and functions such as exp.
constexpr double kArithmetic = 4, kFunction = 40;

/// Iterations of an operation's regions: of a loop with constant bounds as many as it has, else
/// one; nullopt of a loop without.
std::optional<int64_t> tripCount(Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    std::optional<LoopCount> count = findLoopCount(loop);
    return count ? std::optional(count->trips) : std::nullopt;
  }
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return 1;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  return std::max<int64_t>(0, llvm::divideCeilSigned(*upper - *lower, *step));
}

bool isProduct(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() == 2;
}

bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

/// Values that are in no memory: a kernel that reads or fills them knows their elements.
bool isConstant(Operation *op) {
  return isa<tensor::EmptyOp, linalg::FillOp, arith::ConstantOp>(op);
}

/// Whether a loop over the elements of the result computes the operation.
bool isElementwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp ? linalgOp.getNumReductionLoops() == 0
                  : OpTrait::hasElementwiseMappableTraits(op);
}

/// The operation that computes a value, of which reshapes are views; null for arguments.
Operation *getProducer(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isReshape(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Whether the operation is computed in the loop of its only user.
bool isFused(Operation *op) {
  if (!isElementwise(op))
    return false;
  Operation *user = op;
  do {
    if (!user->hasOneUse())
      return false;
    user = *user->user_begin();
  } while (isReshape(user));
  return isElementwise(user) || isa<tensor::ConcatOp>(user);
}

/// Adds what is read or written of a tensor.
void addBytes(plan::Work &work, Type type, int64_t times = 1) {
  const int64_t bytes = getStaticBytes(type);
  (bytes <= plan::kCachedBytes ? work.cachedBytes : work.bytes) +=
      static_cast<double>(times) * static_cast<double>(bytes);
}

/// Adds the operands that are in memory.
void addOperands(plan::Work &work, Operation *op) {
  llvm::SmallPtrSet<Value, 4> seen;
  for (Value operand : op->getOperands()) {
    Operation *producer = getProducer(operand);
    if (seen.insert(operand).second && !(producer && (isConstant(producer) || isFused(producer))))
      addBytes(work, operand.getType());
  }
}

/// What the body of a loop nest takes for each of its iterations.
double perIteration(linalg::LinalgOp op) {
  const double arithmetic = isProduct(op) ? 1 : kArithmetic;
  double flops = 0;
  for (Operation &nested : op.getBlock()->without_terminator())
    flops += isa<math::MathDialect>(nested.getDialect()) ? kFunction : arithmetic;
  return std::max(flops, 1.0);
}

/// The matrices of a batch of products: iterations of the loops that all operands have.
double countMatrices(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  double count = 1;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (llvm::all_of(maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); }))
      count *= static_cast<double>(range);
  return count;
}

/// The pieces without gaps in which windows of a tensor lie in memory, `elements` in all windows.
double countRows(RankedTensorType tensor, ArrayRef<int64_t> window, int64_t elements) {
  int64_t run = 1;
  for (int64_t dim = tensor.getRank() - 1; dim >= 0; --dim) {
    run *= std::max<int64_t>(window[dim], 1);
    if (window[dim] != tensor.getDimSize(dim))
      break;
  }
  return static_cast<double>(elements) / static_cast<double>(run);
}

plan::Work workOfTake(TakeOp op) {
  plan::Work work;
  RankedTensorType result = op.getResult().getType();
  work.kernels = 1;
  addBytes(work, result, /*times=*/2);
  work.rows = countRows(op.getOperand().getType(), op.getSliceSizes(), result.getNumElements());
  return work;
}

plan::Work workOfAccumulate(AccumulateOp op) {
  plan::Work work;
  RankedTensorType updates = op.getUpdates().getType(), result = op.getResult().getType();
  work.kernels = 1;
  addBytes(work, result);
  addBytes(work, updates);
  SmallVector<int64_t> window(result.getRank(), 1);
  for (auto [dim, walked] : llvm::zip_equal(op.getOperandWindowDims(), op.getWindowDims()))
    window[dim] = updates.getDimSize(walked);
  work.rows = countRows(result, window, updates.getNumElements());
  return work;
}

plan::Work workOfLoops(linalg::LinalgOp op) {
  plan::Work work;
  work.flops = perIteration(op);
  for (int64_t range : op.getStaticLoopRanges())
    work.flops *= static_cast<double>(range);
  work.matrices = isProduct(op) ? countMatrices(op) : 0;
  return work;
}

} // namespace

int64_t getStaticBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  int64_t bytes = getElementBytes(tensor);
  for (int64_t extent : tensor.getShape())
    bytes = plan::saturatingProduct(bytes, extent);
  return bytes;
}

std::optional<int64_t> getTripCount(Operation *op) {
  int64_t count = 1;
  for (Operation *parent = op->getParentOp(); parent && !isa<func::FuncOp>(parent);
       parent = parent->getParentOp()) {
    std::optional<int64_t> trips = tripCount(parent);
    if (!trips)
      return std::nullopt;
    count = plan::saturatingProduct(count, *trips);
  }
  return count;
}

plan::Work getOwnWork(Operation *op) {
  double elements = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      elements += static_cast<double>(tensor.getNumElements());
  if (elements == 0 || isConstant(op) || isReshape(op) ||
      isa<AwaitOp, LoopLikeOpInterface, scf::IfOp>(op))
    return {};
  if (auto take = dyn_cast<TakeOp>(op))
    return workOfTake(take);
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return workOfAccumulate(accumulate);
  plan::Work work;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) { // into memory that it has already
    work.kernels = 1;
    addBytes(work, insert.getSourceType(), /*times=*/2);
    return work;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    work = workOfLoops(linalgOp);
  else if (isElementwise(op))
    work.flops = elements * (isa<math::MathDialect>(op->getDialect()) ? kFunction : kArithmetic);
  if (!isFused(op)) {
    work.kernels = 1;
    for (Type type : op->getResultTypes())
      addBytes(work, type);
  }
  if (isa<linalg::LinalgOp, tensor::ConcatOp>(op) || isElementwise(op))
    addOperands(work, op);
  else // reads what it writes
    for (Type type : op->getResultTypes())
      addBytes(work, type);
  return work;
}

plan::Work getWork(Operation *op) {
  plan::Work work = getOwnWork(op);
  if (isa<linalg::LinalgOp>(op))
    return work;
  const double calls = static_cast<double>(tripCount(op).value_or(1));
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      work.add(getWork(&nested), calls);
  return work;
}

} // namespace mlir::coll
