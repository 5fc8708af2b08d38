#include "test/kernel_diff/emulate.h"

#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/export/emit_executable_kernels.h"
#include "test/support/emulation/simt_host.h"

using namespace mlir;
namespace simt = ::coll::kernels::simt;

static thread_local int64_t currentThread = 0, currentBlock = 0;
static thread_local bool hasFibers = false;

static int64_t emulatedThread() { return hasFibers ? simt::threadIndex() : currentThread; }
static int64_t emulatedBlock() { return currentBlock; }
static void emulatedBarrier() { simt::syncBlock(); }
static uint32_t emulatedShuffle(uint32_t value, uint32_t distance) {
  return simt::shuffle(value, simt::lane() ^ distance);
}

std::vector<std::pair<const char *, void (*)()>> emulationFunctions() {
  return {{"emulated_thread", reinterpret_cast<void (*)()>(emulatedThread)},
          {"emulated_block", reinterpret_cast<void (*)()>(emulatedBlock)},
          {"emulated_barrier", reinterpret_cast<void (*)()>(emulatedBarrier)},
          {"emulated_shuffle", reinterpret_cast<void (*)()>(emulatedShuffle)}};
}

static void declare(ModuleOp module, StringRef name, TypeRange inputs, TypeRange results) {
  auto type = FunctionType::get(module.getContext(), inputs, results);
  auto function = func::FuncOp::create(module.getLoc(), name, type);
  function.setPrivate();
  module.push_back(function);
}

// Replaces one operation of the gpu dialect; notes if it makes threads wait.
static void replaceOperation(Operation *op, HostFunction &host) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp>(op)) {
    StringRef name = isa<gpu::ThreadIdOp>(op) ? "emulated_thread" : "emulated_block";
    op->replaceAllUsesWith(func::CallOp::create(b, loc, name, b.getIndexType(), ValueRange()));
  } else if (isa<gpu::BarrierOp>(op)) {
    host.waits = true;
    func::CallOp::create(b, loc, "emulated_barrier", TypeRange(), ValueRange());
  } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    host.waits = true;
    Type type = shuffle.getValue().getType(), word = b.getI32Type();
    Value value = shuffle.getValue();
    if (type != word)
      value = arith::BitcastOp::create(b, loc, word, value);
    value = func::CallOp::create(b, loc, "emulated_shuffle", word,
                                 ValueRange{value, shuffle.getOffset()})
                .getResult(0);
    if (type != word)
      value = arith::BitcastOp::create(b, loc, type, value);
    shuffle.getShuffleResult().replaceAllUsesWith(value);
  } else if (isa<gpu::ReturnOp>(op)) {
    func::ReturnOp::create(b, loc);
  } else {
    return;
  }
  op->erase();
}

static void moveFunction(gpu::GPUFuncOp function, ModuleOp module, HostFunction &host) {
  Block &entry = function.getBody().front();
  for (BlockArgument shared : function.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(shared.getType());
    shared.setType(MemRefType::get(type.getShape(), type.getElementType()));
    auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
    host.sharedBytes.push_back(mlir::coll::getBytes(tensor));
  }
  auto type = FunctionType::get(module.getContext(), entry.getArgumentTypes(), {});
  auto moved = func::FuncOp::create(function.getLoc(), function.getName(), type);
  moved.getBody().takeBody(function.getBody());
  module.push_back(moved);
  SmallVector<Operation *> ops;
  moved.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    replaceOperation(op, host);
  function.erase();
}

OwningOpRef<ModuleOp> toHost(gpu::GPUModuleOp code,
                             std::map<std::string, HostFunction> &functions) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(code.getLoc());
  Builder b(code.getContext());
  declare(*module, "emulated_thread", {}, b.getIndexType());
  declare(*module, "emulated_block", {}, b.getIndexType());
  declare(*module, "emulated_barrier", {}, {});
  declare(*module, "emulated_shuffle", {b.getI32Type(), b.getI32Type()}, b.getI32Type());
  for (auto function : llvm::make_early_inc_range(code.getOps<gpu::GPUFuncOp>()))
    moveFunction(function, *module, functions[function.getName().str()]);
  RewritePatternSet patterns(code.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
  PassManager pm(code.getContext());
  pm.addPass(createConvertVectorToLLVMPass());
  mlir::coll::buildLowerToLLVMPipeline(pm);
  if (failed(applyPatternsGreedily(*module, std::move(patterns))) || failed(pm.run(*module)))
    return {};
  return module;
}

// Runs one block whose threads wait for each other.
static void runWithFibers(const mlir::coll::GpuLaunch &launch, PackedFunction function,
                          const std::vector<void *> &arguments) {
  simt::LaunchShape shape;
  shape.threads = launch.block[0];
  hasFibers = true;
  simt::run(shape, [&](char *) { function(arguments.data()); });
  hasFibers = false;
}

void emulate(const mlir::coll::GpuLaunch &launch, const HostFunction &host, PackedFunction function,
             std::vector<void *> arguments) {
  std::vector<std::vector<char>> shared;
  for (int64_t bytes : host.sharedBytes)
    shared.emplace_back(bytes + 64, char(0xa5));
  for (std::vector<char> &memory : shared)
    arguments.push_back(memory.data());
  for (currentBlock = 0; currentBlock < launch.grid[0]; ++currentBlock) {
    if (host.waits) {
      runWithFibers(launch, function, arguments);
      continue;
    }
    for (currentThread = 0; currentThread < launch.block[0]; ++currentThread)
      function(arguments.data());
  }
}
