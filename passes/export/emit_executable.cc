//===- emit_executable.cc - kernel form to LLVM ----------------------------------===//
//
// Per rank class: kernels become loops, then LLVM functions on bare pointers; the
// buffers of each driver function are planned; the driver is emitted; and the
// descriptor is written for the runtime.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "passes/export/check_drivers.h"
#include "passes/export/emit_executable_driver.h"
#include "passes/export/emit_executable_kernels.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::coll {
#define GEN_PASS_DEF_EMITEXECUTABLEPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

// Splat constants up to this size may be read-only data.
static constexpr int64_t kMaxSplatBytes = 1 << 20;

namespace {

/// A rank class that is being lowered.
struct RankClass {
  std::string name;
  SmallVector<int64_t> ranks;
  Operation *source; // coll.program or module
  func::FuncOp step, init;
  SmallVector<func::FuncOp> kernels;
};

class EmitExecutablePass : public coll::impl::EmitExecutablePassBase<EmitExecutablePass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerCollDialects(registry);
    linalg::registerSubsetOpInterfaceExternalModels(registry);
    tensor::registerSubsetOpInterfaceExternalModels(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult emitClass(RankClass &cls, int64_t worldSize);
};

} // namespace

static LogicalResult collectFunctions(RankClass &cls, Block &body) {
  for (auto func : body.getOps<func::FuncOp>()) {
    if (func.getName() == kStepFunction)
      cls.step = func;
    else if (func.getName() == kInitFunction)
      cls.init = func;
    else
      cls.kernels.push_back(func);
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return func.emitError("must have a body of one block");
  }
  if (!cls.step)
    return cls.source->emitError("has no function @") << kStepFunction;
  return checkDrivers(cls.step, cls.init);
}

/// The rank classes of the module, or the module itself as the only one.
static FailureOr<SmallVector<RankClass>> collectClasses(ModuleOp module) {
  SmallVector<RankClass> classes;
  for (auto program : module.getOps<ProgramOp>()) {
    RankClass &cls = classes.emplace_back();
    cls.name = program.getSymName().str();
    cls.ranks.assign(program.getRanks().begin(), program.getRanks().end());
    cls.source = program;
    if (failed(collectFunctions(cls, program.getBody().front())))
      return failure();
  }
  if (!classes.empty())
    return classes;
  RankClass &cls = classes.emplace_back();
  cls.name = "class0";
  cls.source = module;
  int64_t ranks = 1;
  for (auto mesh : module.getOps<MeshOp>())
    ranks = mesh.getNumRanks();
  llvm::append_range(cls.ranks, llvm::seq<int64_t>(0, ranks));
  if (failed(collectFunctions(cls, *module.getBody())))
    return failure();
  return classes;
}

/// Whether the operand needs a buffer of its own that holds the value.
static bool wantsBuffer(OpOperand &operand, const KernelTable &kernels) {
  Operation *op = operand.getOwner();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto it = kernels.find(call.getCallee());
    return it != kernels.end() &&
           it->second.args[operand.getOperandNumber()].access == KernelArg::Access::ReadWrite;
  }
  if (auto gemm = dyn_cast<GemmOp>(op))
    return operand.getOperandNumber() == 2 && gemm.getAccumulate();
  return isa<scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp, func::ReturnOp>(op);
}

/// Large splat constants, and those that are to be overwritten, are filled in where they are
/// needed: no memory is read, and the program stays small.
static void sinkSplats(func::FuncOp func, const KernelTable &kernels) {
  SmallVector<arith::ConstantOp> splats;
  func.walk([&](arith::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (dense && dense.isSplat())
      splats.push_back(op);
  });
  for (arith::ConstantOp op : splats) {
    bool large = getBytes(op.getType()) > kMaxSplatBytes;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (!large && !wantsBuffer(use, kernels))
        continue;
      OpBuilder builder(use.getOwner());
      Operation *filled = builder.clone(*op);
      filled->setAttr(kFillAttr, builder.getUnitAttr());
      use.set(filled->getResult(0));
    }
    if (op->use_empty())
      op.erase();
  }
}

static LogicalResult makeInPlaceKernels(ModuleOp module, const KernelTable &kernels,
                                        const BufferPlan &plan) {
  for (auto &[call, aliases] : plan.aliases) {
    StringRef callee = cast<func::CallOp>(call).getCallee();
    auto kernel = module.lookupSymbol<func::FuncOp>(callee);
    getInPlaceKernel(kernel, kernels.find(callee)->second, aliases);
  }
  return success();
}

/// Kernels that are only used in place are not needed in their plain form.
static void eraseUnused(ModuleOp module, ArrayRef<std::pair<func::FuncOp, BufferPlan *>> drivers) {
  llvm::StringSet<> used;
  for (auto [func, plan] : drivers)
    func::FuncOp(func).walk([&, plan = plan](func::CallOp call) {
      auto it = plan->aliases.find(call);
      used.insert(it == plan->aliases.end() ? call.getCallee().str()
                                            : getInPlaceName(call.getCallee(), it->second));
    });
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!used.contains(func.getName()))
      func.erase();
}

static void addDescriptor(ModuleOp module, const std::string &text) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  std::string terminated = text + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::External, "coll_descriptor",
                         builder.getStringAttr(terminated));
}

LogicalResult EmitExecutablePass::emitClass(RankClass &cls, int64_t worldSize) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(getOperation().getBody());
  auto module = ModuleOp::create(builder, cls.source->getLoc(), cls.name);
  KernelTable kernels;
  for (func::FuncOp kernel : cls.kernels) {
    FailureOr<KernelInfo> info = getKernelInfo(kernel);
    if (failed(info))
      return failure();
    kernel->moveBefore(module.getBody(), module.getBody()->end());
    if (failed(bufferizeKernel(kernel, *info)))
      return failure();
    kernels[kernel.getName()] = std::move(*info);
  }

  SmallVector<func::FuncOp> drivers{cls.step};
  if (cls.init)
    drivers.push_back(cls.init);
  SmallVector<BufferPlan> plans;
  SmallVector<std::pair<func::FuncOp, BufferPlan *>> planned;
  plans.reserve(drivers.size());
  int64_t arenaBytes = 0;
  for (func::FuncOp driver : drivers) {
    sinkSplats(driver, kernels);
    guardDivisions(driver);
    FailureOr<BufferPlan> plan = planBuffers(driver, kernels);
    if (failed(plan) || failed(makeInPlaceKernels(module, kernels, *plan)))
      return failure();
    arenaBytes = std::max(arenaBytes, plan->arenaBytes);
    planned.push_back({driver, &plans.emplace_back(std::move(*plan))});
  }
  eraseUnused(module, planned);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    kernel.setPublic();
    guardDivisions(kernel);
    if (failed(expandKernelArithmetic(kernel)))
      return failure();
  }
  OpPassManager lower(ModuleOp::getOperationName());
  buildLowerToLLVMPipeline(lower);
  if (failed(runPipeline(lower, module)))
    return failure();
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (!kernel.isExternal())
      annotateKernel(kernel);

  MeshOp mesh;
  for (auto op : getOperation().getOps<MeshOp>())
    mesh = op;
  DescriptorBuilder descriptor(mesh, cls.ranks, worldSize);
  DriverEmitter emitter(module, kernels, descriptor);
  for (auto [driver, plan] : planned)
    if (failed(emitter.emit(driver, *plan, driver == cls.step ? "coll_step" : "coll_init")))
      return failure();
  if (failed(runPipeline(lower, module)))
    return failure();
  addDescriptor(module, descriptor.write(cls.step, getUpdatedArgs(cls.step), arenaBytes));
  return success();
}

void EmitExecutablePass::runOnOperation() {
  FailureOr<SmallVector<RankClass>> classes = collectClasses(getOperation());
  if (failed(classes))
    return signalPassFailure();
  int64_t worldSize = 0;
  for (const RankClass &cls : *classes)
    worldSize = std::max(worldSize, cls.ranks.back() + 1);
  for (RankClass &cls : *classes)
    if (failed(emitClass(cls, worldSize)))
      return signalPassFailure();
  for (RankClass &cls : *classes) {
    if (cls.source != getOperation()) {
      cls.source->erase();
      continue;
    }
    cls.step.erase();
    if (cls.init)
      cls.init.erase();
  }
}
