#include "passes/export/gpu/launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {

Value getRootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether the value is a parameter of a launch rather than computed in it.
static bool isLeaf(Value value) {
  return isa<BlockArgument>(value) || value.getDefiningOp<memref::AllocOp>();
}

/// Operations outside that `values` are computed from, in their order, and the leaves.
static void collect(func::FuncOp kernel, ValueRange values, SetVector<Operation *> &ops,
                    SetVector<Value> &leaves) {
  for (Value value : values) {
    if (isLeaf(value)) {
      leaves.insert(value);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (ops.contains(def))
      continue;
    collect(kernel, def->getOperands(), ops, leaves);
    ops.insert(def);
  }
}

static SetVector<Value> findUsed(Operation *op, ValueRange more) {
  SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  used.insert(more.begin(), more.end());
  return used;
}

LaunchBuilder::LaunchBuilder(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op,
                             ValueRange more)
    : LaunchBuilder(kernel, code, op, findUsed(op, more)) {}

LaunchBuilder::LaunchBuilder(func::FuncOp kernel, gpu::GPUModuleOp code, Operation *op,
                             const SetVector<Value> &used)
    : b(op->getLoc(), kernel.getContext()), kernel(kernel), code(code), op(op) {
  SetVector<Operation *> ops;
  SetVector<Value> found;
  collect(kernel, used.getArrayRef(), ops, found);
  leaves.append(found.begin(), found.end());
  createFunction();
  for (Operation *computed : ops)
    b.clone(*computed, mapping);
}

void LaunchBuilder::createFunction() {
  unsigned number = 0;
  std::string name;
  do
    name = (kernel.getName() + "_" + Twine(number++)).str();
  while (code.lookupSymbol(name));
  b.setInsertionPointToEnd(code.getBody());
  auto type = FunctionType::get(b.getContext(), TypeRange(ValueRange(leaves)), {});
  function = gpu::GPUFuncOp::create(b, name, type);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  for (auto [leaf, arg] : llvm::zip(leaves, entry.getArguments()))
    mapping.map(leaf, arg);
  gpu::ReturnOp::create(b);
  b.setInsertionPoint(entry.getTerminator());
}

void LaunchBuilder::finish(int64_t threads, int64_t blockSize) {
  function.setKnownBlockSize(ArrayRef<int32_t>{int32_t(blockSize), 1, 1});
  OpBuilder host(op);
  Location loc = op->getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, loc, value);
  };
  Value one = number(1);
  gpu::LaunchFuncOp::create(
      host, loc, function, gpu::KernelDim3{number(llvm::divideCeil(threads, blockSize)), one, one},
      gpu::KernelDim3{number(blockSize), one, one}, /*dynamicSharedMemorySize=*/Value(), leaves);
}

Value LaunchBuilder::threadInBlock(int64_t blockSize) {
  return gpu::ThreadIdOp::create(b, b.getIndexType(), gpu::Dimension::x, b.getIndexAttr(blockSize));
}

Value LaunchBuilder::threadNumber(int64_t threads, int64_t blockSize) {
  Value thread = threadInBlock(blockSize);
  int64_t blocks = llvm::divideCeil(threads, blockSize);
  if (blocks == 1)
    return thread;
  Value block =
      gpu::BlockIdOp::create(b, b.getIndexType(), gpu::Dimension::x, b.getIndexAttr(blocks));
  return add(mul(block, blockSize), thread);
}

void LaunchBuilder::guard(Value number, int64_t limit, int64_t blockSize) {
  if (limit % blockSize == 0)
    return;
  auto branch = scf::IfOp::create(b, isBelow(number, index(limit)), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

Value LaunchBuilder::addShared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return function.addWorkgroupAttribution(
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space), b.getLoc());
}

Value LaunchBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Value LaunchBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y,
                               arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
}

Value LaunchBuilder::mul(Value x, int64_t y) {
  if (y == 1)
    return x;
  return arith::MulIOp::create(b, x, index(y),
                               arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
}

template <typename Op>
static Value divide(LaunchBuilder &launch, Value x, int64_t y, int64_t limit) {
  ImplicitLocOpBuilder &b = launch.b;
  if (!llvm::isUInt<31>(limit))
    return Op::create(b, x, launch.index(y));
  Value narrow = arith::IndexCastUIOp::create(b, b.getI32Type(), x);
  Value result = Op::create(b, narrow, arith::ConstantIntOp::create(b, y, 32));
  return arith::IndexCastUIOp::create(b, b.getIndexType(), result);
}

Value LaunchBuilder::div(Value x, int64_t y, int64_t limit) {
  if (y == 1)
    return x;
  return y > limit ? index(0) : divide<arith::DivUIOp>(*this, x, y, limit);
}

Value LaunchBuilder::rem(Value x, int64_t y, int64_t limit) {
  if (y == 1)
    return index(0);
  return y > limit ? x : divide<arith::RemUIOp>(*this, x, y, limit);
}

Value LaunchBuilder::isBelow(Value x, Value limit) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, limit);
}

static Value shuffleWord(ImplicitLocOpBuilder &b, Value value, int64_t distance) {
  return gpu::ShuffleOp::create(b, value, distance, /*width=*/32, gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Value LaunchBuilder::shuffle(Value value, int64_t distance) {
  Type type = value.getType(), word = b.getI32Type();
  if (type.isF32() || type == word)
    return shuffleWord(b, value, distance);
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, type, shuffle(wide, distance));
  }
  if (isa<FloatType>(type)) {
    Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
    Value other = shuffle(arith::BitcastOp::create(b, bits, value), distance);
    return arith::BitcastOp::create(b, type, other);
  }
  if (type.getIntOrFloatBitWidth() < 32) {
    Value wide = arith::ExtUIOp::create(b, word, value);
    return arith::TruncIOp::create(b, type, shuffleWord(b, wide, distance));
  }
  Value half = arith::ConstantIntOp::create(b, 32, 64);
  Value low = shuffleWord(b, arith::TruncIOp::create(b, word, value), distance);
  Value high = shuffleWord(
      b, arith::TruncIOp::create(b, word, arith::ShRUIOp::create(b, value, half)), distance);
  Value wideHigh = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, type, high), half);
  return arith::OrIOp::create(b, wideHigh, arith::ExtUIOp::create(b, type, low));
}

SmallVector<Value> LaunchBuilder::delinearize(Value position, ArrayRef<int64_t> sizes) {
  SmallVector<Value> coordinates(sizes.size());
  int64_t limit = 1;
  for (int64_t size : sizes)
    limit *= size;
  limit -= 1;
  for (unsigned dim = sizes.size(); dim-- > 0;) {
    coordinates[dim] = rem(position, sizes[dim], limit);
    position = div(position, sizes[dim], limit);
    limit /= sizes[dim];
  }
  return coordinates;
}

} // namespace mlir::coll
