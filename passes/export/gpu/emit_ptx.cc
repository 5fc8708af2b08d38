#include "passes/export/gpu/emit_ptx.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/export/gpu/lower_kernels.h"
#include "passes/export/gpu/lower_math.h"
#include "passes/thread_pool.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::coll {
namespace {

// Fewer kernels are not worth a module of their own.
constexpr size_t kMinKernels = 8;

/// Kernels that are compiled together.
struct Shard {
  gpu::GPUModuleOp code;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::string ptx, error;
};

/// Distributes the functions of `code`; notes which module holds which.
std::vector<Shard> split(gpu::GPUModuleOp code, unsigned threads,
                         llvm::StringMap<GpuKernel> &kernels) {
  SmallVector<gpu::GPUFuncOp> functions(code.getOps<gpu::GPUFuncOp>());
  size_t count = std::clamp<size_t>(functions.size() / kMinKernels, 1, 4 * threads);
  std::vector<Shard> shards(count);
  OpBuilder b(code);
  for (auto [i, shard] : llvm::enumerate(shards))
    shard.code =
        gpu::GPUModuleOp::create(b, code.getLoc(), (code.getName() + "_" + Twine(i)).str());
  llvm::StringMap<unsigned> moduleOf;
  for (auto [i, function] : llvm::enumerate(functions)) {
    function->moveBefore(shards[i % count].code.getBody(), shards[i % count].code.getBody()->end());
    moduleOf[function.getName()] = i % count;
  }
  for (auto &entry : kernels)
    for (GpuLaunch &launch : entry.second.launches)
      launch.module = moduleOf.lookup(launch.symbol);
  return shards;
}

LogicalResult compile(MutableArrayRef<Shard> shards, ThreadPool &pool, const std::string &libdevice,
                      const std::string &chip) {
  for (Shard &shard : shards) {
    // Serial: the context's uniquing is not assumed to be thread-safe.
    shard.context = std::make_unique<llvm::LLVMContext>();
    shard.module = translateModuleToLLVMIR(shard.code, *shard.context, shard.code.getName(),
                                           /*disableVerification=*/true);
    if (!shard.module)
      return shard.code.emitError("cannot be translated to LLVM IR");
    pool.async([&shard, &libdevice, &chip] {
      llvm::Expected<std::string> ptx = compileToPtx(*shard.module, libdevice, chip);
      shard.module.reset();
      shard.context.reset();
      if (ptx)
        shard.ptx = std::move(*ptx);
      else
        shard.error = llvm::toString(ptx.takeError());
    });
  }
  return success();
}

} // namespace

FailureOr<std::vector<std::string>>
emitPtx(gpu::GPUModuleOp code, llvm::StringMap<GpuKernel> &kernels, const GpuOptions &options) {
  if (getPtxVersion(options.chip) == 0)
    return code.emitError("cannot be compiled for '")
           << options.chip << "': chips are sm_80, sm_90, sm_100 and the like";
  MLIRContext *ctx = code.getContext();
  registerBuiltinDialectTranslation(*ctx);
  registerGPUDialectTranslation(*ctx);
  registerLLVMDialectTranslation(*ctx);
  registerNVVMDialectTranslation(*ctx);
  std::string libdevice = llvm::sys::fs::exists(options.libdevice) ? options.libdevice : "";
  ThreadPool pool(options.threads);
  std::vector<Shard> shards = split(code, pool.getMaxConcurrency(), kernels);
  LogicalResult result = failableParallelForEach(ctx, shards, [&](Shard &shard) {
    return success(succeeded(lowerMath(shard.code, !libdevice.empty())) &&
                   succeeded(lowerToNvvm(shard.code)));
  });
  if (succeeded(result))
    result = compile(shards, pool, libdevice, options.chip);
  pool.wait();
  std::vector<std::string> ptx;
  for (Shard &shard : shards) {
    if (!shard.error.empty())
      result = code.emitError("cannot be compiled to PTX: ") << shard.error;
    ptx.push_back(std::move(shard.ptx));
    shard.code.erase();
  }
  if (failed(result))
    return failure();
  return ptx;
}

// Directives that stand once in a text, before all else.
static bool isHeader(StringRef line) {
  return line.starts_with(".version") || line.starts_with(".target") ||
         line.starts_with(".address_size");
}

std::string joinPtx(ArrayRef<std::string> texts) {
  std::string joined;
  for (auto [i, text] : llvm::enumerate(texts))
    for (StringRef line : llvm::split(text, '\n'))
      if (i == 0 || !isHeader(line))
        joined += (line + "\n").str();
  return joined;
}

} // namespace mlir::coll
