//===- split_ranks.cc - one program per class of ranks (L4 to L6) ----------------===//
//
// A control operation (scf.if, scf.index_switch, scf.for) that communicates, and whose condition is
// a rank expression (rank_expr.h), is decided for every rank. Ranks that decide in the same way
// everywhere share a class; its program holds the branches that the class takes. Everything else
// stays: masks and offsets that depend on the rank are data, and peers stay expressions.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"
#include "passes/transform/split_ranks_classify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::coll {
#define GEN_PASS_DEF_SPLITRANKSPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

/// Erases the definitions of `values`, and operations that only these used, if nothing needs them.
static void eraseDeadDefinitions(SmallVector<Value> values) {
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::erase_if(values, [&](Value value) { return value.getDefiningOp() == op; });
    values.append(op->operand_begin(), op->operand_end());
    op->erase();
  }
}

/// Values from outside that `op`, or an operation in its regions, reads.
static SmallVector<Value> getReadValues(Operation *op) {
  SmallVector<Value> values;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != op)
        values.push_back(operand);
  });
  return values;
}

/// Replaces `op` by the content of its region `number`, or by nothing if -1.
static void takeRegion(Operation *op, int64_t number) {
  SmallVector<Value> read = getReadValues(op);
  if (number < 0) {
    op->replaceAllUsesWith(cast<scf::ForOp>(op).getInitArgs());
  } else if (!op->getRegion(number).empty()) {
    Block &block = op->getRegion(number).front();
    Operation *yield = block.getTerminator();
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  }
  op->erase();
  eraseDeadDefinitions(std::move(read));
}

namespace {

/// Builds the program of one class.
class ProgramBuilder {
public:
  /// The last program takes the functions themselves, which are needed no more; the others take
  /// clones.
  ProgramBuilder(RankClassifier &classifier, const SymbolTable &symbols, ProgramOp program,
                 bool isLast)
      : classifier_(classifier), symbols_(symbols), program_(program), isLast_(isLast),
        rank_(program.getRanks().front()) {}

  /// Adds the class's version of `function` and of the functions that it calls.
  void add(func::FuncOp function) {
    if (!added_.insert(function).second)
      return;
    Block &body = program_.getBody().front();
    func::FuncOp own = function;
    IRMapping mapping;
    if (isLast_)
      function->moveBefore(&body, body.end());
    else
      own = cast<func::FuncOp>(OpBuilder::atBlockEnd(&body).clone(*function, mapping));
    specialize(function.getBody(), mapping);
    SmallVector<func::FuncOp> callees;
    // Its calls name symbols of the program, some of which are not there yet.
    own.walk([&](func::CallOp call) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
        callees.push_back(callee);
    });
    for (func::FuncOp callee : callees)
      add(callee);
  }

private:
  /// Takes the class's branches in the clone of `region`, or in `region` itself. The walk follows
  /// the original, of which inner regions are left before the operation around them is replaced.
  void specialize(Region &region, const IRMapping &mapping) {
    for (Operation &op : llvm::make_early_inc_range(region.getOps())) {
      const RankDecision *decision = classifier_.getDecision(&op);
      if (!decision) {
        for (Region &nested : op.getRegions())
          specialize(nested, mapping);
        continue;
      }
      int64_t taken = *decision->evaluate(rank_);
      if (taken >= 0)
        specialize(op.getRegion(taken), mapping);
      bool isLoop = isa<scf::ForOp>(op);
      if (!isLoop || taken < 0)
        takeRegion(isLast_ ? &op : mapping.getOperationMap().lookup(&op), taken);
    }
  }

  RankClassifier &classifier_;
  const SymbolTable &symbols_;
  ProgramOp program_;
  bool isLast_;
  int64_t rank_;
  DenseSet<Operation *> added_;
};

struct SplitRanksPass : coll::impl::SplitRanksPassBase<SplitRanksPass> {
  using SplitRanksPassBase::SplitRanksPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
  }

  void runOnOperation() override {
    if (failed(checkInput()))
      return signalPassFailure();
    FailureOr<int64_t> numRanks = getNumRanks(getOperation(), ranks);
    if (failed(numRanks))
      return signalPassFailure();
    RankClassifier classifier(*numRanks);
    for (func::FuncOp entry : entries_)
      if (failed(classifier.visit(entry)))
        return signalPassFailure();
    buildPrograms(classifier);
    for (func::FuncOp function : functions_)
      if (function->getParentOp() == getOperation())
        function.erase();
  }

private:
  /// Collects the functions; each must be an entry, private, or called.
  LogicalResult checkInput() {
    ModuleOp module = getOperation();
    entries_.clear();
    for (ProgramOp program : module.getOps<ProgramOp>())
      return program.emitError("the module already has rank programs");
    functions_ = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions_)
      if (isEntry(function))
        entries_.push_back(function);
    if (entries_.empty())
      return module.emitError("has no function @step");
    for (func::FuncOp function : functions_)
      if (function.isPublic() && !isEntry(function) &&
          SymbolTable::symbolKnownUseEmpty(function, module))
        return function.emitError("@") << function.getSymName()
                                       << " is not called; programs hold @init, @step and what "
                                          "they call";
    return success();
  }

  static bool isEntry(func::FuncOp function) {
    return function.getSymName() == kStepFunction || function.getSymName() == kInitFunction;
  }

  void buildPrograms(RankClassifier &classifier) {
    OpBuilder builder(functions_.front());
    SymbolTable symbols(getOperation());
    auto classes = classifier.getClasses();
    for (auto [number, classRanks] : llvm::enumerate(classes)) {
      SmallVector<Location> locs =
          llvm::map_to_vector(entries_, [](func::FuncOp entry) { return entry.getLoc(); });
      auto program = ProgramOp::create(builder, builder.getFusedLoc(locs),
                                       ("class" + Twine(number)).str(), classRanks);
      program.getBody().emplaceBlock();
      ProgramBuilder programBuilder(classifier, symbols, program, number + 1 == classes.size());
      for (func::FuncOp entry : entries_)
        programBuilder.add(entry);
    }
  }

  SmallVector<func::FuncOp> functions_;
  SmallVector<func::FuncOp> entries_;
};

} // namespace
