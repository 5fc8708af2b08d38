//===- inference.cc - shardings that the compiler would choose -------------------===//

#include "tools/coll-lsp-server/inference.h"

#include "mlir/Pass/PassManager.h"
#include "passes/analysis/sharding_map.h"
#include "passes/passes.h"
#include "passes/pipelines.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::coll;

namespace coll::lsp {
namespace {

bool isForeign(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        StringRef dialect = op->getName().getDialectNamespace();
        return dialect == "stablehlo" || dialect == "chlo" ? WalkResult::interrupt()
                                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The types are those of one rank already.
bool isPartitioned(ModuleOp module) {
  auto has = [](FunctionOpInterface function) {
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (function.getArgAttr(index, kGlobalTypeAttr))
        return true;
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (function.getResultAttr(index, kGlobalTypeAttr))
        return true;
    return false;
  };
  return !module.getOps<ProgramOp>().empty() ||
         llvm::any_of(module.getOps<FunctionOpInterface>(), has);
}

bool isAnnotated(ModuleOp module) {
  return llvm::any_of(module.getOps<FunctionOpInterface>(), [](FunctionOpInterface function) {
    return !function.isExternal() && getFunctionMesh(function);
  });
}

bool isStep(ModuleOp module) {
  auto step = module.lookupSymbol<FunctionOpInterface>(kStepFunction);
  if (!step || step.isExternal())
    return false;
  for (unsigned index = 0; index < step.getNumArguments(); ++index)
    if (step.getArgAttr(index, kRoleAttr))
      return true;
  return false;
}

} // namespace

Inference::Inference(ModuleOp module, const Marks &marks, int64_t ranks) {
  copy_ = module.clone();
  if (runPasses(ranks))
    collect(marks);
}

bool Inference::runPasses(int64_t ranks) {
  ModuleOp module = *copy_;
  PassManager passes = PassManager::on<ModuleOp>(module.getContext());
  bool foreign = isForeign(module);
  if (foreign)
    buildImportPipeline(passes, {});
  if (isPartitioned(module))
    return false;
  if (!isAnnotated(module)) {
    if (!foreign && !isStep(module))
      return false;
    InsertDataParallelPassOptions options;
    options.ranks = ranks;
    auto meshes = module.getOps<MeshOp>();
    if (!meshes.empty() && (*meshes.begin()).getAxisSizes().size() == 1) {
      options.ranks = (*meshes.begin()).getNumRanks();
      options.axis = cast<StringAttr>((*meshes.begin()).getAxisNames()[0]).str();
    }
    assumption_ = llvm::formatv("for {0} ranks by data parallelism", options.ranks);
    passes.addPass(createInsertDataParallelPass(options));
  }
  passes.addPass(createPropagatePass());
  passes.addPass(createInsertReshardsPass());
  return succeeded(passes.run(module));
}

void Inference::add(const Marks &marks, Value value, Location location, unsigned result) {
  ShardingAttr sharding = getRecordedSharding(value);
  std::optional<size_t> mark = marks.find(location);
  if (!sharding || !mark)
    return;
  InferredValue &entry = values_[{{*mark, result}, value.getType()}];
  entry.sharding = sharding;
  entry.global = cast<RankedTensorType>(value.getType());
  entry.reshards.clear();
  for (Operation *user : value.getUsers())
    if (auto reshard = dyn_cast<ReshardOp>(user))
      if (user->getLoc() == value.getLoc())
        entry.reshards.push_back(reshard);
}

void Inference::collect(const Marks &marks) {
  auto meshes = copy_->getOps<MeshOp>();
  if (meshes.empty())
    return;
  mesh_ = *meshes.begin();
  copy_->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // If the compiler assumed the distribution, it has made @init, whose values carry the marks of
    // @step's arguments.
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (function && !assumption_.empty() && function.getName() == kInitFunction)
      return WalkResult::skip();
    bool isInserted = isa<ReshardOp>(op) && op->getLoc() == op->getOperand(0).getLoc();
    if (!isInserted)
      for (OpResult result : op->getResults())
        add(marks, result, op->getLoc(), result.getResultNumber());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(marks, argument, argument.getLoc(), 0);
    return WalkResult::advance();
  });
}

const InferredValue *Inference::find(size_t mark, unsigned result, Type type) const {
  auto found = values_.find({{mark, result}, type});
  return found == values_.end() ? nullptr : &found->second;
}

} // namespace coll::lsp
