//===- emit_rows.cc - several operations along rows as one launch ----------------===//
//
// 1. Operation by operation: one value a row is computed by every thread of the row; a
//    reduction runs over the thread's columns, the threads of the row combine what they
//    have, and each goes on with the result.
// 2. The threads run over their columns once more, compute the elements that are results
//    and store them. The first one stores the rows' values.
//
// Elements that one operation makes and another reads are computed where they are read.
// What is read again comes from the caches: a row is small. Nothing is stored before all
// reductions are done, so that an input may be overwritten by a result.
//
//===----------------------------------------------------------------------------===//

#include "passes/export/gpu/emit_rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/export/gpu/combine_lanes.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace mlir::coll {
namespace {

constexpr int64_t kBlockSize = 256, kMaxLanes = 1024;
// A row of up to this length is done by one thread.
constexpr int64_t kShortRow = 16;
// Up to this many pieces of a row are unrolled; a longer row is a loop.
constexpr int64_t kMaxPieces = 4;

/// How the threads of a block share rows.
struct RowShape {
  unsigned width = 1; // columns that a thread takes at once
  int64_t units = 1;  // of `width` columns in a row
  int64_t lanes = 1;  // threads of a row
  int64_t blockSize = kBlockSize;

  bool isUnrolled() const { return units % lanes == 0 && units / lanes <= kMaxPieces; }
};

RowShape chooseShape(int64_t columns, unsigned width) {
  RowShape shape;
  while (columns % width != 0)
    width /= 2;
  shape.width = width;
  shape.units = columns / width;
  if (columns <= kShortRow)
    return shape;
  int64_t lanes = llvm::PowerOf2Ceil(llvm::divideCeil(shape.units, kMaxPieces));
  shape.lanes = std::clamp(lanes, kWarp, kMaxLanes);
  shape.blockSize = std::max(shape.lanes, shape.lanes == kWarp ? kBlockSize : kWarp);
  return shape;
}

struct Writer {
  unsigned nest, output;
};

/// The group with the analyses that the emission needs.
struct Analysis {
  explicit Analysis(const RowNests &group) : group(group) {}

  const RowNests &group;
  SmallVector<RowForm> forms;                 // by nest
  SmallVector<SmallVector<RowAccess>> kinds;  // by nest and operand
  llvm::SmallDenseMap<Value, Writer> writers; // by buffer
  unsigned width = 16;

  bool run() {
    for (unsigned n = 0; n < group.nests.size(); ++n)
      if (!addNest(n))
        return false;
    return true;
  }

  /// The operation that writes the buffer that the operand reads.
  std::optional<Writer> findWriter(const NestOperand &operand) const {
    if (!operand.type)
      return std::nullopt;
    auto it = writers.find(getRootBuffer(operand.use->get()));
    return it == writers.end() ? std::nullopt : std::optional(it->second);
  }

private:
  bool addNest(unsigned n) {
    const Nest &nest = group.nests[n];
    std::optional<RowForm> form = RowForm::find(nest.extents, group.rows, group.columns);
    if (!form || nest.isOrdered)
      return false;
    forms.push_back(*form);
    kinds.emplace_back();
    for (const NestOperand &operand : nest.operands)
      kinds.back().push_back(operand.position && operand.isOffsetKnown
                                 ? getAccess(*form, nest.extents, *operand.position)
                                 : RowAccess::Other);
    if (!form->isPerRow)
      width = std::min(width, findVectorWidth(nest, nest.extents.size() - 1));
    return haveMatchingInputs(n) && addOutputs(n);
  }

  bool haveMatchingInputs(unsigned n) {
    const Nest &nest = group.nests[n];
    linalg::GenericOp op = nest.op;
    for (int64_t i = 0; i < op.getNumDpsInputs(); ++i)
      if (std::optional<Writer> writer = findWriter(nest.operands[i]))
        if (kinds[n][i] != kindOf(*writer))
          return false;
    return true;
  }

  bool addOutputs(unsigned n) {
    const Nest &nest = group.nests[n];
    linalg::GenericOp op = nest.op;
    for (auto [k, out] : llvm::enumerate(nest.outputs)) {
      RowAccess kind = kinds[n][op.getNumDpsInputs() + out.result];
      bool isWrittenOnce = kind == (forms[n].isPerRow ? RowAccess::Row : RowAccess::Element) &&
                           !op.payloadUsesValueFromOperand(nest.operandOf(out).use);
      bool isReduced = kind == RowAccess::Row && out.accumulates && out.initial && out.combiner;
      Value buffer = getRootBuffer(nest.operandOf(out).use->get());
      if (!(out.accumulates ? isReduced : isWrittenOnce) ||
          !writers.try_emplace(buffer, Writer{n, unsigned(k)}).second)
        return false;
    }
    return true;
  }

  RowAccess kindOf(const Writer &writer) const {
    const Nest &nest = group.nests[writer.nest];
    linalg::GenericOp op = nest.op;
    return kinds[writer.nest][op.getNumDpsInputs() + nest.outputs[writer.output].result];
  }
};

class RowEmitter {
public:
  RowEmitter(func::FuncOp kernel, gpu::GPUModuleOp code, const Analysis &analysis)
      : analysis(analysis), group(analysis.group),
        shape(chooseShape(group.columns, analysis.width)),
        launch(kernel, code, group.nests.back().op, findUsed()), b(launch.b) {}

  void emit() {
    locate();
    rowValues.resize(group.nests.size());
    for (unsigned n = 0; n < group.nests.size(); ++n) {
      if (analysis.forms[n].isPerRow)
        rowValues[n] = emitPerRow(n);
      else if (llvm::any_of(group.nests[n].outputs, isAccumulated))
        reduce(n);
    }
    storeElements();
    storeRows();
    launch.finish(group.rows * shape.lanes, shape.blockSize);
  }

private:
  static bool isAccumulated(const NestOutput &out) { return out.accumulates; }

  /// The values that the launch reads, without the buffers that only the group uses.
  SetVector<Value> findUsed() {
    SetVector<Value> used;
    for (const Nest &nest : group.nests) {
      getUsedValuesDefinedAbove(nest.op->getRegions(), used);
      for (Value initial : nest.initialValues())
        used.insert(initial);
      for (const NestOperand &operand : nest.operands)
        if (!operand.type || isOutside(operand))
          used.insert(operand.use->get());
    }
    return used;
  }

  static bool isOutside(const NestOperand &operand) {
    return isa<BlockArgument>(getRootBuffer(operand.use->get()));
  }

  void locate() {
    int64_t threads = group.rows * shape.lanes;
    Value number = launch.threadNumber(threads, shape.blockSize);
    launch.guard(number, threads, shape.blockSize);
    row = launch.div(number, shape.lanes, threads);
    lane = launch.rem(number, shape.lanes, threads);
  }

  /// The position of each loop of a nest; null column: loops over columns are at 0.
  SmallVector<Value> place(unsigned n, Value column) {
    const RowForm &form = analysis.forms[n];
    ArrayRef<int64_t> extents = group.nests[n].extents;
    if (form.isJoined)
      return {launch.add(launch.mul(row, group.columns), column)};
    SmallVector<Value> at = launch.delinearize(row, extents.take_front(form.split));
    if (column)
      at.append(launch.delinearize(column, extents.drop_front(form.split)));
    else
      at.append(extents.size() - form.split, launch.index(0));
    return at;
  }

  /// The values of a nest's operands that the group makes, `width` of each.
  NestEmitter::Values forward(unsigned n, Value column, unsigned width) {
    const Nest &nest = group.nests[n];
    linalg::GenericOp op = nest.op;
    NestEmitter::Values known(nest.operands.size());
    for (int64_t i = 0; i < op.getNumDpsInputs(); ++i) {
      std::optional<Writer> writer = analysis.findWriter(nest.operands[i]);
      if (!writer || !op.payloadUsesValueFromOperand(nest.operands[i].use))
        continue;
      for (unsigned w = 0; w < width; ++w)
        known[i].push_back(analysis.kinds[n][i] == RowAccess::Row
                               ? rowValues[writer->nest][writer->output]
                               : elementsOf(writer->nest, column)[w][writer->output]);
    }
    return known;
  }

  SmallVector<Value> emitPerRow(unsigned n) {
    NestEmitter emitter(launch, group.nests[n], /*fast=*/0, /*width=*/1);
    SmallVector<Value> at = place(n, {});
    NestEmitter::Values inputs = emitter.loadInputs(at, forward(n, {}, 1));
    return emitter.emit(at, inputs, {})[0];
  }

  NestEmitter emitterOf(unsigned n) {
    const Nest &nest = group.nests[n];
    return NestEmitter(launch, nest, nest.extents.size() - 1, shape.width);
  }

  NestEmitter::Values emitAt(unsigned n, Value column, const NestEmitter::Values &accumulators) {
    NestEmitter::Values known = forward(n, column, shape.width);
    SmallVector<Value> at = place(n, column);
    NestEmitter emitter = emitterOf(n);
    return emitter.emit(at, emitter.loadInputs(at, known), accumulators);
  }

  /// The values that a nest computes at `width` columns, by position and output; those of
  /// accumulating outputs are unused.
  const NestEmitter::Values &elementsOf(unsigned n, Value column) {
    auto it = elements.find(n);
    if (it == elements.end())
      it = elements.try_emplace(n, emitAt(n, column, neutralElements(n))).first;
    return it->second;
  }

  NestEmitter::Values neutralElements(unsigned n) {
    const Nest &nest = group.nests[n];
    SmallVector<Value> values(nest.outputs.size());
    for (auto [k, out] : llvm::enumerate(nest.outputs))
      if (out.accumulates)
        values[k] = arith::ConstantOp::create(b, *arith::getNeutralElement(out.combiner));
    return NestEmitter::Values(shape.width, values);
  }

  /// Runs `visit` for each first column of this thread, with what it carries from one to the next.
  SmallVector<Value>
  forEachColumn(ValueRange starts,
                llvm::function_ref<SmallVector<Value>(Value column, ValueRange carried)> visit) {
    auto run = [&](Value unit, ValueRange carried) {
      elements.clear();
      SmallVector<Value> next = visit(launch.mul(unit, shape.width), carried);
      elements.clear();
      return next;
    };
    if (shape.isUnrolled()) {
      SmallVector<Value> carried(starts);
      for (int64_t piece = 0; piece < shape.units / shape.lanes; ++piece)
        carried = run(launch.add(lane, piece * shape.lanes), carried);
      return carried;
    }
    auto loop =
        scf::ForOp::create(b, lane, launch.index(shape.units), launch.index(shape.lanes), starts);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next = run(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!starts.empty())
      scf::YieldOp::create(b, next);
    return loop.getResults();
  }

  void reduce(unsigned n) {
    const Nest &nest = group.nests[n];
    SmallVector<Value> starts;
    for (const SmallVector<Value> &ofLane : neutralElements(n))
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (out.accumulates)
          starts.push_back(ofLane[k]);
    SmallVector<Value> sums = forEachColumn(starts, [&](Value column, ValueRange carried) {
      NestEmitter::Values accumulators(shape.width, SmallVector<Value>(nest.outputs.size()));
      unsigned next = 0;
      for (SmallVector<Value> &ofLane : accumulators)
        for (auto [k, out] : llvm::enumerate(nest.outputs))
          if (out.accumulates)
            ofLane[k] = carried[next++];
      SmallVector<Value> results;
      for (const SmallVector<Value> &ofLane : emitAt(n, column, accumulators))
        for (auto [k, out] : llvm::enumerate(nest.outputs))
          if (out.accumulates)
            results.push_back(ofLane[k]);
      return results;
    });
    combineWidth(launch, nest, sums, shape.width);
    combineLanes(launch, nest, sums, shape.lanes);
    rowValues[n].resize(nest.outputs.size());
    unsigned next = 0;
    for (auto [k, out] : llvm::enumerate(nest.outputs))
      if (out.accumulates)
        rowValues[n][k] = emitCombine(launch, nest, out, launch.get(out.initial), sums[next++]);
  }

  /// Calls `visit` for the outputs that are results of the kernel: rows' values or elements.
  void forEachResult(bool isOfRow, llvm::function_ref<void(unsigned n, unsigned output)> visit) {
    for (auto [n, nest] : llvm::enumerate(group.nests))
      for (auto [k, out] : llvm::enumerate(nest.outputs))
        if (isOutside(nest.operandOf(out)) &&
            (out.accumulates || analysis.forms[n].isPerRow) == isOfRow)
          visit(n, k);
  }

  void storeElements() {
    bool hasElements = false;
    forEachResult(false, [&](unsigned, unsigned) { hasElements = true; });
    if (!hasElements)
      return;
    forEachColumn({}, [&](Value column, ValueRange) {
      // All that is read, before anything is stored.
      forEachResult(false, [&](unsigned n, unsigned) { (void)elementsOf(n, column); });
      forEachResult(false, [&](unsigned n, unsigned k) {
        emitterOf(n).store(k, place(n, column), elementsOf(n, column));
      });
      return SmallVector<Value>();
    });
  }

  void storeRows() {
    bool hasRows = false;
    forEachResult(true, [&](unsigned, unsigned) { hasRows = true; });
    if (!hasRows)
      return;
    if (shape.lanes > 1) {
      Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, launch.index(0));
      auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    forEachResult(true, [&](unsigned n, unsigned k) {
      NestEmitter emitter(launch, group.nests[n], /*fast=*/0, /*width=*/1);
      emitter.store(k, place(n, {}), {rowValues[n]});
    });
  }

  const Analysis &analysis;
  const RowNests &group;
  RowShape shape;
  LaunchBuilder launch;
  ImplicitLocOpBuilder &b;
  Value row, lane;
  SmallVector<SmallVector<Value>> rowValues;        // by nest and output
  std::map<unsigned, NestEmitter::Values> elements; // by nest, at the columns being visited
};

} // namespace

bool emitRows(func::FuncOp kernel, gpu::GPUModuleOp code, const RowNests &group) {
  Analysis analysis(group);
  if (group.nests.empty() || !analysis.run())
    return false;
  RowEmitter(kernel, code, analysis).emit();
  return true;
}

} // namespace mlir::coll
