//===- emit_reduction.cc - reductions --------------------------------------------===//
//
// A work item is (part, output, lane): `lanes` threads share an output, the reduction
// loops of which are cut into `parts`. The lanes of an output are neighbours, or, where
// parts are joined, the threads of `columns` outputs: those read neighbouring elements.
//
// 1. Each thread reduces the iterations lane, lane + lanes, … of its part into
//    accumulators that start from the neutral element.
// 2. The lanes of an output combine theirs by shuffles, and over warps through shared
//    memory.
// 3. The first lane combines the result with what the output starts from and stores it,
//    or stores it in scratch memory, where a second launch finds the parts.
//
//===----------------------------------------------------------------------------===//

#include "passes/export/gpu/combine_lanes.h"
#include "passes/export/gpu/emit_nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::coll {
namespace {

constexpr int64_t kBlockSize = 256, kMaxLanes = 1024;
// About the number of threads that a large GPU runs at once.
constexpr int64_t kManyThreads = 128 * 1024;
// A part or a lane has at least this many iterations.
constexpr int64_t kMinIterations = 4, kMinPart = 16;
// A thread has this many reads in flight for each operand.
constexpr int64_t kMaxUnroll = 4;
// Outputs whose partial sums are one access to memory, of 32 bytes in f32.
constexpr int64_t kColumns = 8;
constexpr int64_t kMaxColumnLanes = 64;

struct Shape {
  unsigned fast = 0, width = 1;
  bool isFastReduced = false;
  int64_t outputs = 1; // work items, `width` outputs each where the fast loop is not reduced
  int64_t lanes = 1, parts = 1;
  int64_t columns = 1;                        // outputs whose threads take turns
  int64_t iterations = 1, partIterations = 1; // in units of `width` where the fast loop is reduced
  int64_t blockSize = kBlockSize;
  int64_t unroll = 1; // iterations of a thread whose inputs are read at once

  int64_t threads() const { return parts * outputs * lanes; }
};

/// Which loop is fast, and how many of its elements a thread takes at once.
void chooseFastLoop(const Nest &nest, bool joinsParts, Shape &shape) {
  SmallVector<unsigned> candidates(nest.parallel);
  if (nest.isOrdered ? candidates.empty() : !joinsParts)
    candidates.append(nest.reduction);
  else if (joinsParts)
    candidates = nest.reduction;
  shape.fast = findFastLoop(nest, candidates);
  shape.isFastReduced = llvm::is_contained(nest.reduction, shape.fast);
  if (!nest.isOrdered && !joinsParts && shape.outputs * shape.iterations >= kManyThreads)
    shape.width = findVectorWidth(nest, shape.fast);
  (shape.isFastReduced ? shape.iterations : shape.outputs) /= shape.width;
}

int64_t chooseLanes(const Shape &shape) {
  int64_t wanted = llvm::divideCeil(shape.iterations, kMinIterations);
  int64_t lanes = std::min<int64_t>(kMaxLanes, llvm::PowerOf2Ceil(wanted));
  while (lanes > kWarp && shape.outputs * lanes > kManyThreads)
    lanes /= 2;
  // Few outputs: parts run side by side in smaller blocks.
  while (lanes > kBlockSize && shape.iterations / lanes > kMinPart)
    lanes /= 2;
  return lanes;
}

/// About `wanted` iterations a part, so that all parts are equal and a thread reads the inputs of
/// several iterations at once, where there is such a number not far from it.
int64_t chooseEqualParts(const Shape &shape, int64_t wanted) {
  int64_t best = wanted, unit = shape.lanes * kMaxUnroll;
  double bestRatio = 1.6;
  for (int64_t size = unit; size <= 2 * wanted; size += unit) {
    double ratio = size < wanted ? double(wanted) / size : double(size) / wanted;
    if (shape.iterations % size == 0 && ratio < bestRatio) {
      best = size;
      bestRatio = ratio;
    }
  }
  return best;
}

/// How many iterations follow each other without a check; all threads have the same number.
int64_t chooseUnroll(const Shape &shape) {
  int64_t rest = shape.parts * shape.partIterations - shape.iterations;
  if (rest != 0 || shape.partIterations % shape.lanes != 0)
    return 1;
  for (int64_t unroll = kMaxUnroll; unroll > 1; --unroll)
    if (shape.partIterations / shape.lanes % unroll == 0)
      return unroll;
  return 1;
}

/// Every part of an output is far from the next one, but near to those of the next outputs.
void shareColumns(Shape &shape) {
  shape.columns = kColumns;
  int64_t wanted =
      std::clamp(shape.iterations / (2 * kMaxUnroll), kWarp / kColumns, kMaxColumnLanes);
  shape.lanes = llvm::PowerOf2Ceil(wanted + 1) / 2;
}

Shape chooseShape(const Nest &nest, bool joinsParts) {
  Shape shape;
  shape.outputs = nest.count(nest.parallel);
  shape.iterations = nest.count(nest.reduction);
  chooseFastLoop(nest, joinsParts, shape);
  if (!nest.isOrdered && shape.isFastReduced)
    shape.lanes = chooseLanes(shape);
  if (!nest.isOrdered && joinsParts && shape.isFastReduced && shape.outputs % kColumns == 0)
    shareColumns(shape);
  int64_t mostParts = std::max<int64_t>(1, shape.iterations / shape.lanes / kMinPart);
  if (!nest.isOrdered && !joinsParts)
    shape.parts = std::clamp<int64_t>(kManyThreads / (shape.outputs * shape.lanes), 1, mostParts);
  shape.partIterations = llvm::divideCeil(shape.iterations, shape.parts);
  if (shape.parts > 1)
    shape.partIterations = chooseEqualParts(shape, shape.partIterations);
  shape.parts = llvm::divideCeil(shape.iterations, shape.partIterations);
  if (!nest.isOrdered)
    shape.unroll = chooseUnroll(shape);
  // Lanes of several warps are a block: they meet in its shared memory.
  shape.blockSize = shape.columns > 1     ? shape.lanes * shape.columns
                    : shape.lanes > kWarp ? shape.lanes
                                          : kBlockSize;
  if (shape.threads() < shape.blockSize)
    shape.blockSize = std::max<int64_t>(kWarp, llvm::PowerOf2Ceil(shape.threads()));
  return shape;
}

class ReductionEmitter {
public:
  ReductionEmitter(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest, Shape shape,
                   ArrayRef<Value> partials)
      : launch(kernel, code, nest.op,
               partials.empty() ? nest.initialValues() : SmallVector<Value>(partials)),
        b(launch.b), nest(nest), shape(shape), partials(partials),
        emitter(launch, nest, shape.fast, shape.width) {}

  void emit() {
    locate();
    SmallVector<Value> accumulators = emitLoop();
    if (shape.isFastReduced)
      combineWidth(launch, nest, accumulators, shape.width);
    if (shape.columns > 1)
      combineColumns(launch, nest, accumulators, shape.lanes, shape.columns);
    else
      combineLanes(launch, nest, accumulators, shape.lanes);
    storeResults(accumulators);
    launch.finish(shape.threads(), shape.blockSize);
  }

private:
  /// Which part, output and lane this thread has. Threads beyond the last have no iterations.
  void locate() {
    Value number = launch.threadNumber(shape.threads(), shape.blockSize);
    if (shape.threads() % shape.blockSize != 0)
      isActive = launch.isBelow(number, launch.index(shape.threads()));
    int64_t limit = llvm::alignTo(shape.threads(), shape.blockSize);
    Value column = launch.rem(number, shape.columns, limit);
    Value turn = launch.div(number, shape.columns, limit);
    lane = launch.rem(turn, shape.lanes, limit);
    Value group = launch.div(turn, shape.lanes, limit);
    if (shape.columns > 1)
      group = launch.add(launch.mul(group, shape.columns), column);
    int64_t groups = llvm::divideCeil(limit, shape.lanes);
    output = launch.rem(group, shape.outputs, groups);
    part = launch.div(group, shape.outputs, groups);
    at.resize(nest.extents.size());
    place(nest.parallel, output);
  }

  /// Sets the coordinates of the loops from a position in them, the fast loop last.
  void place(ArrayRef<unsigned> loops, Value position) {
    SmallVector<unsigned> order;
    for (unsigned loop : loops)
      if (loop != shape.fast)
        order.push_back(loop);
    if (order.size() < loops.size())
      order.push_back(shape.fast);
    SmallVector<int64_t> sizes = nest.sizes(order, shape.fast, shape.width);
    for (auto [loop, coordinate] : llvm::zip_equal(order, launch.delinearize(position, sizes)))
      at[loop] = loop == shape.fast ? launch.mul(coordinate, shape.width) : coordinate;
  }

  /// Whether an accumulation starts from the output's own start rather than the neutral element.
  bool startsFromOutput() const { return shape.lanes == 1 && shape.parts == 1; }

  Value getStart(const NestOutput &out, unsigned k, unsigned w) {
    if (out.initial)
      return launch.get(out.initial);
    return oldContent[k][w];
  }

  /// The initial value of each accumulator, by output and width.
  void loadStarts() {
    oldContent.resize(nest.outputs.size());
    for (auto [k, out] : llvm::enumerate(nest.outputs)) {
      if (!out.accumulates || out.initial)
        continue;
      SmallVector<Value> first = at;
      for (unsigned loop : nest.reduction)
        first[loop] = launch.index(0);
      oldContent[k] = emitter.load(nest.operandOf(out), first);
    }
  }

  SmallVector<Value> flatten(const NestEmitter::Values &values) {
    SmallVector<Value> flat;
    for (ArrayRef<Value> ofLane : values)
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (out.accumulates)
          flat.push_back(ofLane[k]);
    return flat;
  }

  NestEmitter::Values unflatten(ValueRange flat) {
    NestEmitter::Values values(shape.width, SmallVector<Value>(nest.outputs.size()));
    unsigned next = 0;
    for (SmallVector<Value> &ofLane : values)
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (out.accumulates)
          ofLane[k] = flat[next++];
    return values;
  }

  SmallVector<Value> emitStarts() {
    if (startsFromOutput())
      loadStarts();
    NestEmitter::Values starts(shape.width, SmallVector<Value>(nest.outputs.size()));
    for (unsigned w = 0; w < shape.width; ++w)
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (out.accumulates)
          starts[w][k] = startsFromOutput() && (w == 0 || !shape.isFastReduced)
                             ? getStart(out, k, w)
                             : arith::ConstantOp::create(b, *arith::getNeutralElement(out.combiner))
                                   .getResult();
    return flatten(starts);
  }
  /// Runs this thread's iterations; returns the accumulators, by width and output.
  SmallVector<Value> emitLoop() {
    Value low = shape.parts == 1 ? launch.index(0) : launch.mul(part, shape.partIterations);
    Value high = launch.index(shape.iterations);
    if (shape.parts > 1) {
      Value end = launch.add(low, shape.partIterations);
      high = shape.parts * shape.partIterations == shape.iterations
                 ? end
                 : arith::MinUIOp::create(b, end, high).getResult();
    }
    if (isActive)
      high = arith::SelectOp::create(b, isActive, high, low);
    SmallVector<Value> starts = emitStarts();
    auto loop = scf::ForOp::create(b, launch.add(low, lane), high,
                                   launch.index(shape.lanes * shape.unroll), starts);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, emitIterations(loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  }

  /// The iterations position, position + lanes, …: first all that they read.
  SmallVector<Value> emitIterations(Value position, ValueRange carried) {
    SmallVector<SmallVector<Value>> places;
    std::vector<NestEmitter::Values> inputs;
    for (int64_t i = 0; i < shape.unroll; ++i) {
      place(nest.reduction, launch.add(position, i * shape.lanes));
      places.push_back(at);
      inputs.push_back(emitter.loadInputs(at));
    }
    SmallVector<Value> accumulators(carried);
    for (int64_t i = 0; i < shape.unroll; ++i) {
      NestEmitter::Values results = emitter.emit(places[i], inputs[i], unflatten(accumulators));
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (!out.accumulates)
          emitter.store(k, places[i], results);
      accumulators = flatten(results);
    }
    return accumulators;
  }

  void storeResults(ArrayRef<Value> accumulators) {
    Value stores = isActive;
    if (shape.lanes > 1) {
      Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, launch.index(0));
      stores = stores ? arith::AndIOp::create(b, stores, isFirst).getResult() : isFirst;
    }
    if (stores) {
      auto branch = scf::IfOp::create(b, stores, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (unsigned loop : nest.reduction)
      at[loop] = launch.index(0);
    if (!partials.empty())
      return storePartials(accumulators);
    storeOutputs(accumulators);
  }

  /// Element [part, parallel loops…] of each accumulator's scratch memory.
  void storePartials(ArrayRef<Value> accumulators) {
    unsigned widths = shape.isFastReduced ? 1 : shape.width;
    unsigned count = accumulators.size() / widths;
    for (unsigned w = 0; w < widths; ++w) {
      SmallVector<Value> position{part};
      for (unsigned loop : nest.parallel)
        position.push_back(loop == shape.fast ? launch.add(at[loop], w) : at[loop]);
      for (unsigned j = 0; j < count; ++j)
        memref::StoreOp::create(b, accumulators[w * count + j], launch.get(partials[j]), position);
    }
  }

  void storeOutputs(ArrayRef<Value> accumulators) {
    bool isWide = !shape.isFastReduced && shape.width > 1;
    NestEmitter outputEmitter(launch, nest, shape.fast, isWide ? shape.width : 1);
    NestEmitter::Values values(isWide ? shape.width : 1, SmallVector<Value>(nest.outputs.size()));
    if (!startsFromOutput())
      loadStarts();
    unsigned next = 0;
    for (auto [w, ofLane] : llvm::enumerate(values))
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (out.accumulates) {
          Value value = accumulators[next++];
          ofLane[k] = startsFromOutput()
                          ? value
                          : emitCombine(launch, nest, out, getStart(out, k, w), value);
        }
    for (auto [k, out] : llvm::enumerate(nest.outputs))
      if (out.accumulates)
        outputEmitter.store(k, at, values);
  }

  LaunchBuilder launch;
  ImplicitLocOpBuilder &b;
  const Nest &nest;
  Shape shape;
  ArrayRef<Value> partials; // outside buffers, one for each accumulator
  NestEmitter emitter;
  Value isActive, lane, output, part;
  SmallVector<Value> at;                      // by loop
  SmallVector<SmallVector<Value>> oldContent; // by output and width
};

/// The operation that reduces `partials`, [part, parallel loops…], into the outputs of the nest.
linalg::GenericOp createJoin(const Nest &nest, ArrayRef<Value> partials) {
  linalg::GenericOp op = nest.op;
  OpBuilder b(op);
  unsigned numLoops = nest.parallel.size() + 1;
  SmallVector<AffineExpr> loops(nest.extents.size(), b.getAffineConstantExpr(0));
  for (auto [i, loop] : llvm::enumerate(nest.parallel))
    loops[loop] = b.getAffineDimExpr(i + 1);
  SmallVector<Value> outputs;
  SmallVector<AffineMap> maps(partials.size(), b.getMultiDimIdentityMap(numLoops));
  SmallVector<const NestOutput *> accumulated;
  for (const NestOutput &out : nest.outputs) {
    if (!out.accumulates)
      continue;
    accumulated.push_back(&out);
    outputs.push_back(op.getDpsInits()[out.result]);
    maps.push_back(nest.operandOf(out).map.replaceDimsAndSymbols(loops, {}, numLoops, 0));
  }
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::parallel);
  iterators[0] = utils::IteratorType::reduction;
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Value> results;
    for (auto [k, out] : llvm::enumerate(accumulated)) {
      BlockArgument old = op.getRegionOutputArgs()[out->result];
      IRMapping mapping;
      for (Value operand : out->combiner->getOperands())
        mapping.map(operand, operand == old ? args[partials.size() + k] : args[k]);
      results.push_back(b.clone(*out->combiner, mapping)->getResult(0));
    }
    linalg::YieldOp::create(b, loc, results);
  };
  return linalg::GenericOp::create(b, op.getLoc(), partials, outputs, maps, iterators, body);
}

SmallVector<Value> allocatePartials(const Nest &nest, int64_t parts) {
  OpBuilder b(nest.op);
  SmallVector<Value> partials;
  for (const NestOutput &out : nest.outputs) {
    if (!out.accumulates)
      continue;
    SmallVector<int64_t> sizes{parts};
    for (unsigned loop : nest.parallel)
      sizes.push_back(nest.extents[loop]);
    Type element = nest.operandOf(out).type.getElementType();
    partials.push_back(
        memref::AllocOp::create(b, nest.op.getLoc(), MemRefType::get(sizes, element)));
  }
  return partials;
}

void joinPartials(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest,
                  ArrayRef<Value> partials) {
  linalg::GenericOp join = createJoin(nest, partials);
  SmallVector<Value> initial;
  for (const NestOutput &out : nest.outputs)
    if (out.accumulates)
      initial.push_back(out.initial);
  FailureOr<std::vector<Nest>> nests = analyzeNests(join, initial);
  for (const Nest &joined : *nests) {
    Shape shape = chooseShape(joined, /*joinsParts=*/true);
    ReductionEmitter(kernel, code, joined, shape, {}).emit();
  }
  join.erase();
}

} // namespace

void emitReduction(func::FuncOp kernel, gpu::GPUModuleOp code, const Nest &nest) {
  Shape shape = chooseShape(nest, /*joinsParts=*/false);
  if (shape.parts == 1) {
    ReductionEmitter(kernel, code, nest, shape, {}).emit();
    return;
  }
  SmallVector<Value> partials = allocatePartials(nest, shape.parts);
  ReductionEmitter(kernel, code, nest, shape, partials).emit();
  joinPartials(kernel, code, nest, partials);
}

} // namespace mlir::coll
