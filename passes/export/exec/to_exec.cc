//===- to_exec.cc - kernel form to the exec level --------------------------------===//
//
// Per rank class: kernels become loops on buffers, or launches on a GPU, the memory of each driver
// function is planned, and the function is written down with it.
//
//===----------------------------------------------------------------------------===//

#include "passes/passes.h"

#include "passes/analysis/rank_classes.h"
#include "passes/export/emit_executable_kernels.h"
#include "passes/export/exec/check_drivers.h"
#include "passes/export/exec/convert_driver.h"
#include "passes/export/gpu/lower_kernels.h"

namespace mlir::coll {
#define GEN_PASS_DEF_TOEXECPASS
#include "passes/passes.h.inc"
} // namespace mlir::coll

using namespace mlir;
using namespace mlir::coll;

// Splat constants up to this size may be read-only data.
static constexpr int64_t kMaxSplatBytes = 1 << 20;

namespace {

/// The functions of a rank class by their purpose.
struct ClassFunctions {
  func::FuncOp step, init;
  SmallVector<func::FuncOp> kernels;
};

class ToExecPass : public coll::impl::ToExecPassBase<ToExecPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    registerGpuCodeDialects(registry);
  }
  using ToExecPassBase::ToExecPassBase;
  void runOnOperation() override;

private:
  FailureOr<KernelTable> convertKernels(ModuleOp module, ArrayRef<func::FuncOp> kernels);
  LogicalResult convertClass(const RankClass &rankClass);
};

} // namespace

static FailureOr<ClassFunctions> sortFunctions(const RankClass &rankClass) {
  ClassFunctions sorted;
  for (func::FuncOp func : rankClass.functions) {
    if (func.getName() == kStepFunction)
      sorted.step = func;
    else if (func.getName() == kInitFunction)
      sorted.init = func;
    else
      sorted.kernels.push_back(func);
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return func.emitError("must have a body of one block");
  }
  if (!sorted.step)
    return rankClass.source->emitError("has no function @") << kStepFunction;
  if (failed(checkDrivers(sorted.step, sorted.init)))
    return failure();
  return sorted;
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

/// Kernels as launches of the functions of a gpu.module.
static FailureOr<KernelTable> convertToLaunches(ModuleOp module, ArrayRef<func::FuncOp> kernels) {
  FailureOr<llvm::StringMap<GpuKernel>> launches =
      outlineGpuLaunches(kernels, createGpuModule(module));
  if (failed(launches))
    return failure();
  KernelTable table;
  for (auto &entry : *launches)
    table[entry.first()] = std::move(entry.second.info);
  return table;
}

/// Kernels as loops on buffers.
static FailureOr<KernelTable> convertToLoops(ArrayRef<func::FuncOp> kernels) {
  KernelTable table;
  for (func::FuncOp kernel : kernels) {
    FailureOr<KernelInfo> info = getKernelInfo(kernel);
    if (failed(info) || failed(bufferizeKernel(kernel, *info)))
      return failure();
    table[kernel.getName()] = std::move(*info);
  }
  return table;
}

FailureOr<KernelTable> ToExecPass::convertKernels(ModuleOp module, ArrayRef<func::FuncOp> kernels) {
  for (func::FuncOp kernel : kernels)
    kernel->moveBefore(module.getBody(), module.getBody()->end());
  if (gpu.empty())
    return convertToLoops(kernels);
  module->setAttr(exec::kGpuAttr, StringAttr::get(module.getContext(), gpu));
  return convertToLaunches(module, kernels);
}

LogicalResult ToExecPass::convertClass(const RankClass &rankClass) {
  FailureOr<ClassFunctions> functions = sortFunctions(rankClass);
  if (failed(functions))
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
  auto module = ModuleOp::create(builder, rankClass.source->getLoc(), rankClass.name);
  module->setAttr(exec::kRanksAttr, builder.getDenseI64ArrayAttr(rankClass.ranks));
  FailureOr<KernelTable> kernels = convertKernels(module, functions->kernels);
  if (failed(kernels))
    return failure();
  SmallVector<func::FuncOp> drivers{functions->step};
  if (functions->init)
    drivers.push_back(functions->init);
  DriverConverter converter(module, *kernels, *exec::symbolizePrecision(precision));
  for (func::FuncOp driver : drivers) {
    sinkSplats(driver, *kernels);
    guardDivisions(driver);
    FailureOr<BufferPlan> plan = planBuffers(driver, *kernels);
    if (failed(plan) || failed(converter.convert(driver, *plan)))
      return failure();
    driver.erase();
  }
  return success();
}

void ToExecPass::runOnOperation() {
  if (!exec::symbolizePrecision(precision)) {
    getOperation().emitError("precision must be highest, tf32 or bf16, not '") << precision << "'";
    return signalPassFailure();
  }
  int64_t numRanks = 1;
  for (auto mesh : getOperation().getOps<MeshOp>())
    numRanks = mesh.getNumRanks();
  for (const RankClass &rankClass : getRankClasses(getOperation(), numRanks)) {
    if (failed(convertClass(rankClass)))
      return signalPassFailure();
    if (rankClass.source != getOperation())
      rankClass.source->erase();
  }
}
