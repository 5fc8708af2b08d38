//===- split_stages.cc - pipeline stages (L4 to L6) ------------------------------===//
//
// The step comes partitioned, its batch split over the time axis as well
// (coll-insert-micro-batches). The forward pass is cut into chunks, everything else follows
// (stages/stage_placement.h), and each stage's program does the entries of its schedule.
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/sharding.h"
#include "dialect/signature.h"
#include "passes/analysis/pipeline_attr.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/stages/read_schedule.h"
#include "passes/transform/stages/stage_emitter.h"
#include "passes/transform/stages/stage_report.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::coll {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;
namespace plan = ::coll::plan;

namespace {

struct SplitStagesPass : mlir::coll::impl::SplitStagesPassBase<SplitStagesPass> {
  using SplitStagesPassBase::SplitStagesPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult checkInput();
  GroupAttr makeStageMesh();
  func::FuncOp createFunction(OpBuilder &builder);
  LogicalResult checkMicroBatches();
  void widenBatch(func::FuncOp function, unsigned index);
  void buildProgram(const StagedStep &staged, int rank);
  void finishSignature(func::FuncOp function, const StageEmitter &emitter,
                       ArrayRef<StageEmitter::Result> results);

  func::FuncOp step_;
  MeshOp mesh_, stageMesh_;
  bool keepsTimeAxis_ = false; // of size 1, for batches whose last micro-batch is short
};

} // namespace

LogicalResult SplitStagesPass::checkInput() {
  ModuleOp module = getOperation();
  step_ = findStepOfOneBlock(module);
  if (!step_)
    return failure();
  for (auto mesh : module.getOps<MeshOp>())
    if (mesh.getAxisSize(kTimeAxis))
      mesh_ = mesh;
  if (!mesh_)
    return step_.emitError("has no batch split over micro-batches (coll-insert-micro-batches)");
  if (mesh_.getAxisSize(axis))
    return mesh_.emitError("has an axis \"") << axis << "\", which the stages need";
  return checkMicroBatches();
}

/// The blocks of all micro-batches have to hold the whole batch. A batch that is not split has an
/// axis of size 2, whose first block is all of it.
LogicalResult SplitStagesPass::checkMicroBatches() {
  int64_t inTime = *mesh_.getAxisSize(kTimeAxis);
  bool fits = inTime == std::max<int64_t>(microBatches, 2);
  for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
    std::optional<TimeSplit> split = getTimeSplit(step_, i);
    if (!split)
      continue;
    auto type = step_.getArgAttrOfType<TypeAttr>(i, kGlobalTypeAttr);
    auto global = type ? dyn_cast<RankedTensorType>(type.getValue()) : nullptr;
    if (!global || global.getRank() <= split->dim)
      return step_.emitError() << "splits argument " << i
                               << " into micro-batches, but does not tell its shape before the "
                                  "split; give the argument "
                               << kGlobalTypeAttr << ", as coll-partition does";
    int64_t rows = split->rows * microBatches;
    auto sharding = step_.getArgAttrOfType<ShardingAttr>(i, kShardingAttr);
    for (StringAttr name : sharding.getDims()[split->dim].getAxes())
      if (name != kTimeAxis)
        rows *= mesh_.getAxisSize(name).value_or(1);
    fits &= rows >= global.getDimSize(split->dim);
  }
  if (!fits)
    return step_.emitError("has its batch split into ")
           << inTime << " micro-batches, but the stages are to run " << microBatches.getValue()
           << "; give coll-split-stages micro-batches=" << inTime;
  return success();
}

/// The mesh of the ranks: the axis of stages first, that of time left out.
GroupAttr SplitStagesPass::makeStageMesh() {
  SmallVector<StringRef> names = {axis};
  SmallVector<int64_t> sizes = {stages};
  for (auto [name, size] :
       llvm::zip_equal(mesh_.getAxisNames().getAsValueRange<StringAttr>(), mesh_.getAxisSizes())) {
    if (name == kTimeAxis && !keepsTimeAxis_)
      continue;
    names.push_back(name);
    sizes.push_back(name == kTimeAxis ? 1 : size);
  }
  OpBuilder builder(mesh_);
  stageMesh_ = MeshOp::create(builder, mesh_.getLoc(), mesh_.getSymName(),
                              builder.getStrArrayAttr(names), builder.getDenseI64ArrayAttr(sizes));
  return GroupAttr::get(&getContext(), FlatSymbolRefAttr::get(mesh_.getSymNameAttr()),
                        {builder.getStringAttr(axis)}, {});
}

/// A stage gets the rows of all micro-batches: blocks of whole micro-batches over the other axes.
void SplitStagesPass::widenBatch(func::FuncOp function, unsigned index) {
  std::optional<TimeSplit> split = getTimeSplit(step_, index);
  if (!split)
    return;
  auto local = cast<RankedTensorType>(step_.getArgumentTypes()[index]);
  auto global =
      cast<RankedTensorType>(step_.getArgAttrOfType<TypeAttr>(index, kGlobalTypeAttr).getValue());
  auto sharding = step_.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  SmallVector<StringAttr> axes = llvm::to_vector(llvm::make_filter_range(
      dims[split->dim].getAxes(), [](StringAttr name) { return name != kTimeAxis; }));
  int64_t rows = split->rows * microBatches;
  if (axes.empty() && rows != global.getDimSize(split->dim)) {
    axes.push_back(StringAttr::get(&getContext(), kTimeAxis));
    keepsTimeAxis_ = true;
  }
  dims[split->dim] = DimShardingAttr::get(&getContext(), axes, axes.empty() ? 1 : rows);
  SmallVector<int64_t> shape(local.getShape());
  shape[split->dim] = rows;
  function.getArgument(index).setType(local.clone(shape));
  function.setArgAttr(
      index, kShardingAttr,
      ShardingAttr::get(&getContext(), sharding.getMesh(), dims, {}, ReductionKind::Sum));
}

/// A function with the step's arguments and an empty body.
func::FuncOp SplitStagesPass::createFunction(OpBuilder &builder) {
  auto function =
      func::FuncOp::create(builder, step_.getLoc(), kStepFunction, step_.getFunctionType());
  Block *body = function.addEntryBlock();
  if (ArrayAttr attrs = step_.getArgAttrsAttr())
    function.setArgAttrsAttr(attrs);
  SmallVector<Attribute> numbers;
  for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
    body->getArgument(i).setLoc(step_.getArgument(i).getLoc());
    numbers.push_back(builder.getI64IntegerAttr(i));
  }
  setArgumentAttrs(function, kIndexAttr, numbers);
  for (unsigned i = 0; i < step_.getNumArguments(); ++i)
    widenBatch(function, i);
  return function;
}

/// Drops the arguments that the stage has no use for, and names the results.
void SplitStagesPass::finishSignature(func::FuncOp function, const StageEmitter &emitter,
                                      ArrayRef<StageEmitter::Result> results) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  SmallVector<Value> values;
  SmallVector<Attribute> resultAttrs;
  for (const StageEmitter::Result &result : results) {
    values.push_back(result.value);
    NamedAttrList attrs(step_.getResultAttrDict(result.number));
    attrs.set(kIndexAttr, builder.getI64IntegerAttr(result.number));
    resultAttrs.push_back(attrs.getDictionary(&getContext()));
  }
  func::ReturnOp::create(builder, step_.getLoc(), values);
  function.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), ValueRange(values).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
  llvm::BitVector dropped(function.getNumArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    dropped[i] = !emitter.keepsArgument(i);
  (void)function.eraseArguments(dropped);
}

void SplitStagesPass::buildProgram(const StagedStep &staged, int rank) {
  int64_t perStage = mesh_.getNumRanks() / *mesh_.getAxisSize(kTimeAxis);
  auto ranks = llvm::to_vector(llvm::seq<int64_t>(rank * perStage, (rank + 1) * perStage));
  OpBuilder builder(step_);
  auto program = ProgramOp::create(builder, step_.getLoc(), ("stage" + Twine(rank)).str(), ranks);
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  func::FuncOp function = createFunction(builder);
  StageEmitter emitter(staged, rank, function);
  SmallVector<StageEmitter::Result> results = emitter.emit();
  finishSignature(function, emitter, results);
}

LogicalResult SplitStagesPass::run() {
  if (failed(checkInput()))
    return failure();
  FailureOr<plan::Schedule> order = readSchedule(step_, schedule, stages, microBatches);
  StepParts parts(step_);
  if (failed(order) || failed(parts.analyze()))
    return failure();
  const plan::CostModel model = makeStageModel();
  SmallVector<std::string> patterns(stagePatterns.begin(), stagePatterns.end());
  FailureOr<ChunkOf> cut = cutForward(parts, patterns, *order, model);
  if (failed(cut))
    return failure();
  StagePlacement placement(parts, *cut, order->numChunks);
  std::vector<StageTransfer> transfers = findTransfers(parts, placement, *order);
  int maxInFlight = order->maxInFlight ? order->maxInFlight : plan::neededInFlight(*order);
  auto group = GroupAttr::get(&getContext(), FlatSymbolRefAttr::get(mesh_.getSymNameAttr()),
                              {StringAttr::get(&getContext(), axis)}, {});
  plan::Pipeline pipeline = describePipeline(parts, placement, *order, transfers, model);
  if (explain)
    step_.emitRemark(describeStages(pipeline));
  writePipeline(getOperation(), pipeline);
  UniformMoves moves = findUniformMoves(parts, placement, *order);
  StagedStep staged{parts, placement, *order, transfers, moves, maxInFlight, mesh_, group};
  for (int rank = 0; rank < order->numRanks(); ++rank)
    buildProgram(staged, rank);
  makeStageMesh();
  mesh_.erase();
  step_.erase();
  if (auto init = getOperation().lookupSymbol<func::FuncOp>(kInitFunction))
    init.erase(); // each rank is given its own part of the state
  return success();
}
