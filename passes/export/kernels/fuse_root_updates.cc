//===- fuse_root_updates.cc - gradients in, parameters out, in one kernel --------===//
//
// An update of parameters with roots is three operations: each rank gets the sum of its part of the
// gradients, a kernel computes the new part of the parameters, and all ranks get all parts. If a
// GPU reaches the memory of the others, the kernel alone can do it: it adds up the gradients of all
// members as it loads them, and stores each new parameter to all of them.
//
//   %s = reduce_scatter %g              %all, %m = scf.if exec.reaches {
//   %p, %m = call @update(%s, %m0)  ->    barrier; call @root_update(%g, %m0, …); barrier
//   %all = all_gather %p                } else { the three }
//
//===----------------------------------------------------------------------------===//

#include "dialect/exec/exec.h"
#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/analysis/rank_classes.h"
#include "passes/export/kernels/fuse_rows.h"
#include "passes/export/kernels/kernel_set.h"
#include "passes/passes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEROOTUPDATESPASS
#include "passes/passes.h.inc"

namespace {

// Backend direct has groups of up to eight.
constexpr int64_t kMostMembers = 8;

/// The three operations, and the kernel between the two that communicate.
struct RootUpdate {
  ReduceScatterOp scatter;
  func::CallOp call;
  AllGatherOp gather;
  func::FuncOp kernel;
  unsigned shard = 0;  // the operand of the call that is the sum
  unsigned result = 0; // the result of the call that is gathered
  int64_t members = 0;

  unsigned firstDest() { return call.getNumOperands() - call.getNumResults(); }
  RankedTensorType whole() { return cast<RankedTensorType>(scatter.getInput().getType()); }
  int64_t rows() { return cast<RankedTensorType>(scatter.getType()).getDimSize(0); }
};

bool isParallel(linalg::GenericOp op) { return op.getNumParallelLoops() == op.getNumLoops(); }

/// Whether each element of the operand is read or written once, in the order of `value`.
bool isElementwise(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  return op && isParallel(op) && op.getMatchingIndexingMap(&use).isPermutation();
}

/// Whether every element of the result depends only on the same element of the sum, through
/// operations that can work on the members' memory (export/gpu/members.h).
bool isElementwise(RootUpdate &update) {
  if (update.kernel->hasAttr(kRowsAttr) || !update.kernel.getBody().hasOneBlock())
    return false;
  Block &body = update.kernel.getBody().front();
  for (Operation &op : body.without_terminator()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool isScalar = op.getNumRegions() == 0 && isMemoryEffectFree(&op);
    if (generic ? !isParallel(generic) : !isScalar)
      return false;
  }
  Value sum = body.getArgument(update.shard),
        into = body.getArgument(update.firstDest() + update.result);
  auto isInput = [](OpOperand &use) {
    return isElementwise(use) && cast<linalg::GenericOp>(use.getOwner()).isDpsInput(&use);
  };
  Value stored = body.getTerminator()->getOperand(update.result);
  auto writer = stored.getDefiningOp<linalg::GenericOp>();
  if (!writer || !into.hasOneUse() || !llvm::all_of(sum.getUses(), isInput))
    return false;
  OpOperand *init = writer.getTiedOpOperand(cast<OpResult>(stored));
  return init->get() == into && isElementwise(*init) && !writer.payloadUsesValueFromOperand(init);
}

/// Whether the operations from the sum to the gather can move to the position of the kernel: any
/// communication between them has to be over the same group.
bool mayMove(RootUpdate &update) {
  CommunicationFinder finder;
  for (Operation *op = update.scatter->getNextNode(); op != update.gather; op = op->getNextNode()) {
    if (!op)
      return false;
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective ? collective.getCommGroup() != update.scatter.getGroup()
                   : finder.communicates(op))
      return false;
  }
  return true;
}

class FuseRootUpdatesPass : public impl::FuseRootUpdatesPassBase<FuseRootUpdatesPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, exec::ExecDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    int64_t numRanks = 1;
    MeshOp mesh;
    for (auto op : getOperation().getOps<MeshOp>())
      mesh = op, numRanks = op.getNumRanks();
    for (const RankClass &rankClass : getRankClasses(getOperation(), numRanks)) {
      func::FuncOp step = rankClass.lookup(kStepFunction);
      if (!step || step.isExternal())
        continue;
      KernelSet kernels(step->getParentOp(), "root_update_");
      SmallVector<ReduceScatterOp> scatters;
      step.walk([&](ReduceScatterOp op) { scatters.push_back(op); });
      for (ReduceScatterOp scatter : scatters)
        if (std::optional<RootUpdate> update = find(scatter, mesh, rankClass))
          replace(*update, kernels);
    }
  }

private:
  std::optional<RootUpdate> find(ReduceScatterOp scatter, MeshOp mesh, const RankClass &ranks);
  int64_t countMembers(GroupAttr group, MeshOp mesh, const RankClass &ranks);
  void replace(RootUpdate &update, KernelSet &kernels);
  func::FuncOp makeKernel(RootUpdate &update);
  SmallVector<Value> callTogether(OpBuilder &b, RootUpdate &update, func::FuncOp kernel);
};

} // namespace

/// The size of the group; 0 if it is too large, or if ranks of other classes, whose memory has
/// another plan, are members.
int64_t FuseRootUpdatesPass::countMembers(GroupAttr group, MeshOp mesh, const RankClass &ranks) {
  int64_t members = 0;
  for (const SmallVector<int64_t> &list : getGroupLists(group, mesh)) {
    bool isIn =
        llvm::all_of(list, [&](int64_t rank) { return llvm::is_contained(ranks.ranks, rank); });
    bool isOut =
        llvm::none_of(list, [&](int64_t rank) { return llvm::is_contained(ranks.ranks, rank); });
    if (!isIn && !isOut)
      return 0;
    members = list.size();
  }
  return members <= kMostMembers ? members : 0;
}

std::optional<RootUpdate> FuseRootUpdatesPass::find(ReduceScatterOp scatter, MeshOp mesh,
                                                    const RankClass &ranks) {
  RootUpdate update;
  update.scatter = scatter;
  Value sum = scatter.getResult();
  Type element = cast<RankedTensorType>(sum.getType()).getElementType();
  if (scatter.getReduction() != ReductionKind::Sum || scatter.getDim() != 0 ||
      !isa<FloatType>(element) || element.getIntOrFloatBitWidth() < 16 || !sum.hasOneUse())
    return std::nullopt;
  update.call = dyn_cast<func::CallOp>(*sum.getUsers().begin());
  if (!update.call || update.call->getBlock() != scatter->getBlock())
    return std::nullopt;
  update.shard = sum.getUses().begin()->getOperandNumber();
  update.kernel =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(update.call, update.call.getCalleeAttr());
  for (OpResult result : update.call.getResults()) {
    auto gather =
        result.hasOneUse() ? dyn_cast<AllGatherOp>(*result.getUsers().begin()) : AllGatherOp();
    if (!gather || gather.getDim() != 0 || gather.getGroup() != scatter.getGroup() ||
        gather->getBlock() != scatter->getBlock() || gather.getType() != update.whole())
      continue;
    if (update.gather)
      return std::nullopt;
    update.gather = gather;
    update.result = result.getResultNumber();
  }
  update.members = countMembers(scatter.getGroup(), mesh, ranks);
  bool isUpdate = update.gather && update.kernel && !update.kernel.isExternal() &&
                  update.shard < update.firstDest() && update.members > 1;
  if (!isUpdate || !isElementwise(update) || !mayMove(update))
    return std::nullopt;
  return update;
}

/// The kernel with the whole gradients in the place of the sum, of which it reads this member's
/// part, and the whole parameters in the place of the part that it makes.
func::FuncOp FuseRootUpdatesPass::makeKernel(RootUpdate &update) {
  func::FuncOp kernel = update.kernel.clone();
  Block &body = kernel.getBody().front();
  unsigned firstDest = update.firstDest();
  Location loc = update.call.getLoc();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto aliases = kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, kMayAliasAttr);
    if (!aliases)
      continue;
    // The parameters may only overwrite the gradients: an element of a member's part is read by
    // this member alone, before it stores the parameter there.
    const bool isGradient = i == update.shard;
    SmallVector<int64_t> left(aliases.asArrayRef());
    llvm::erase_if(left, [&](int64_t result) { return isGradient != (result == update.result); });
    kernel.removeArgAttr(i, kMayAliasAttr);
    if (!left.empty())
      kernel.setArgAttr(i, kMayAliasAttr, DenseI64ArrayAttr::get(&getContext(), left));
  }
  (void)kernel.insertArgument(firstDest, IndexType::get(&getContext()), {}, loc);
  Value position = body.getArgument(firstDest);
  unsigned into = firstDest + 1 + update.result;
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  RankedTensorType whole = update.whole(), part = cast<RankedTensorType>(update.scatter.getType());
  SmallVector<OpFoldResult> offsets(part.getRank(), b.getIndexAttr(0)), sizes,
      strides(part.getRank(), b.getIndexAttr(1));
  offsets[0] = position;
  for (int64_t size : part.getShape())
    sizes.push_back(b.getIndexAttr(size));
  for (unsigned number : {update.shard, into}) {
    BlockArgument argument = body.getArgument(number);
    argument.setType(whole);
    auto slice = tensor::ExtractSliceOp::create(b, loc, part, argument, offsets, sizes, strides);
    argument.replaceAllUsesExcept(slice, slice);
  }
  auto end = cast<func::ReturnOp>(body.getTerminator());
  b.setInsertionPoint(end);
  end.setOperand(update.result,
                 tensor::InsertSliceOp::create(b, loc, end.getOperand(update.result),
                                               body.getArgument(into), offsets, sizes, strides));
  kernel.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), end.getOperandTypes()));
  exec::Members members{update.scatter.getGroup(), update.members, update.shard, into};
  kernel->setAttr(exec::kMembersAttr, members.toAttr());
  return kernel;
}

/// The call of that kernel, between barriers. After the first one all members' gradients are
/// complete; after the second one all members have all parameters.
SmallVector<Value> FuseRootUpdatesPass::callTogether(OpBuilder &b, RootUpdate &update,
                                                     func::FuncOp kernel) {
  Location loc = update.call.getLoc();
  GroupAttr group = update.scatter.getGroup();
  auto addBarrier = [&](Location where, StringRef why) {
    BarrierOp::create(b, where, group)->setAttr(kWhyAttr, b.getStringAttr(why));
  };
  auto place = GroupOp::create(b, loc, group);
  Value rows = arith::ConstantIndexOp::create(b, loc, update.rows());
  Value first = arith::MulIOp::create(b, loc, place.getPosition(), rows);
  addBarrier(update.scatter.getLoc(), "the gradients of all members are complete");
  SmallVector<Value> operands(update.call.getOperands());
  operands[update.shard] = update.scatter.getInput();
  operands[update.firstDest() + update.result] =
      tensor::EmptyOp::create(b, loc, update.whole().getShape(), update.whole().getElementType());
  operands.insert(operands.begin() + update.firstDest(), first);
  auto call = func::CallOp::create(b, loc, kernel, operands);
  addBarrier(update.gather.getLoc(), "all members have the updated parameters");
  return SmallVector<Value>(call.getResults());
}

void FuseRootUpdatesPass::replace(RootUpdate &update, KernelSet &kernels) {
  func::FuncOp kernel = kernels.add(makeKernel(update));
  OpBuilder b(update.call);
  Location loc = update.call.getLoc();
  auto reached = exec::ReachesOp::create(b, loc, b.getI1Type(), update.scatter.getGroup());
  auto branch = scf::IfOp::create(b, loc, kernel.getFunctionType().getResults(), reached,
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, callTogether(b, update, kernel));

  update.gather.getResult().replaceAllUsesWith(branch.getResult(update.result));
  for (auto [old, result] : llvm::zip_equal(update.call.getResults(), branch.getResults()))
    if (old.getResultNumber() != update.result)
      old.replaceAllUsesWith(result);
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> yielded(update.call.getResults());
  yielded[update.result] = update.gather.getResult();
  auto end = scf::YieldOp::create(b, loc, yielded);
  for (Operation *op :
       {update.scatter.getOperation(), update.call.getOperation(), update.gather.getOperation()})
    op->moveBefore(end);
  update.call.emitRemark() << "a root update of " << update.members
                           << " members is one kernel where their GPUs reach each other's memory";
}

} // namespace mlir::coll
