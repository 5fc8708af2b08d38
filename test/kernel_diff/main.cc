// kernel-diff: runs the kernel functions of a file as GPU launches, emulated, and as CPU kernels,
// on the same random data.

#include "dialect/dialect.h"
#include "mlir/Parser/Parser.h"
#include "passes/export/emit_executable_kernels.h"
#include "passes/export/gpu/lower_kernels.h"
#include "passes/pipelines.h"
#include "test/kernel_diff/buffers.h"
#include "test/kernel_diff/emulate.h"
#include "test/kernel_diff/native.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;

namespace {

struct Kernel {
  std::string name;
  std::vector<Type> types; // of the arguments
  KernelInfo info;
};

std::vector<func::FuncOp> collectKernels(ModuleOp module) {
  std::vector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getNumArguments() &&
        function.getArgAttr(function.getNumArguments() - 1, kAccessAttr))
      kernels.push_back(function);
  return kernels;
}

void keepOnly(ModuleOp module, ArrayRef<func::FuncOp> kernels) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (!llvm::is_contained(kernels, dyn_cast<func::FuncOp>(&op)))
      op.erase();
}

// Both forms of the kernels of a file.
class KernelDiff {
public:
  bool load(MLIRContext &context, const char *path) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
    return module && compileNative(module->clone()) && compileEmulated(*module);
  }

  // Returns the number of kernels that differ.
  int run() {
    int failures = 0;
    int64_t launches = 0;
    for (const Kernel &kernel : kernels_) {
      launches += gpu_.find(kernel.name)->second.launches.size();
      std::string difference = runKernel(kernel);
      if (!difference.empty()) {
        llvm::outs() << kernel.name << ": " << difference << "\n";
        ++failures;
      }
    }
    llvm::outs() << kernels_.size() << " kernels, " << launches << " launches, " << failures
                 << " differ\n";
    return failures;
  }

private:
  bool compileNative(ModuleOp copy) {
    OwningOpRef<ModuleOp> module(copy);
    std::vector<func::FuncOp> kernels = collectKernels(*module);
    keepOnly(*module, kernels);
    for (func::FuncOp function : kernels) {
      FailureOr<KernelInfo> info = getKernelInfo(function);
      if (failed(info))
        return false;
      Kernel kernel{function.getName().str(), function.getArgumentTypes().vec(), *info};
      if (failed(bufferizeKernel(function, kernel.info)))
        return false;
      function.setPublic();
      guardDivisions(function);
      if (failed(expandKernelArithmetic(function)))
        return false;
      kernels_.push_back(std::move(kernel));
    }
    PassManager pm(module->getContext());
    buildLowerToLLVMPipeline(pm);
    return succeeded(pm.run(*module)) && compile(*module, native_);
  }

  bool compileEmulated(ModuleOp module) {
    std::vector<func::FuncOp> kernels = collectKernels(module);
    keepOnly(module, kernels);
    gpu::GPUModuleOp code = createGpuModule(module);
    FailureOr<llvm::StringMap<GpuKernel>> table = outlineGpuLaunches(kernels, code);
    if (failed(table))
      return false;
    gpu_ = std::move(*table);
    OwningOpRef<ModuleOp> host = toHost(code, host_);
    return host && compile(*host, emulated_);
  }

  static bool compile(ModuleOp module, std::unique_ptr<NativeModule> &result) {
    llvm::Expected<NativeModule> native = NativeModule::create(module);
    if (!native) {
      llvm::errs() << llvm::toString(native.takeError()) << "\n";
      return false;
    }
    result = std::make_unique<NativeModule>(std::move(*native));
    return true;
  }

  std::vector<Buffer> makeArguments(const Kernel &kernel, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Buffer> buffers;
    for (Type type : kernel.types) {
      buffers.emplace_back(isa<RankedTensorType>(type) ? getBytes(type) : 8);
      fillRandomly(buffers.back(), type, random);
    }
    return buffers;
  }

  void runNative(const Kernel &kernel, const std::vector<Buffer> &buffers) {
    Buffer scratch(kernel.info.scratchBytes);
    std::vector<void *> arguments;
    for (const Buffer &buffer : buffers)
      arguments.push_back(buffer.data());
    arguments.push_back(scratch.data());
    (*native_->find(kernel.name))(arguments.data());
  }

  // `place[i]` is the buffer of argument i.
  void runEmulated(const Kernel &kernel, const std::vector<char *> &place) {
    const GpuKernel &gpu = gpu_.find(kernel.name)->second;
    Buffer scratch(gpu.info.scratchBytes);
    for (const GpuLaunch &launch : gpu.launches) {
      std::vector<void *> arguments;
      for (const GpuParam &param : launch.params)
        arguments.push_back(param.kind == GpuParam::Kind::Scratch ? scratch.data() + param.index
                                                                  : place[param.index]);
      emulate(launch, host_[launch.symbol], *emulated_->find(launch.symbol), arguments);
    }
  }

  std::string runKernel(const Kernel &kernel) {
    if (const auto &members = gpu_.find(kernel.name)->second.members)
      return runOnMembers(kernel, *members);
    std::vector<Buffer> expected = makeArguments(kernel, 1), actual = makeArguments(kernel, 1);
    runNative(kernel, expected);
    std::vector<char *> place;
    for (const Buffer &buffer : actual)
      place.push_back(buffer.data());
    runEmulated(kernel, place);
    std::string difference = compareAll(kernel, expected, actual);
    if (!difference.empty())
      return difference;
    return runInPlace(kernel, expected);
  }

  std::string runOnMembers(const Kernel &kernel, const exec::Members &members) {
    const KernelInfo &info = gpu_.find(kernel.name)->second.info;
    std::string difference = runOnMembers(kernel, members, /*isInPlace=*/false);
    const int64_t result = members.copies - static_cast<int64_t>(info.firstDest());
    if (difference.empty() && llvm::is_contained(info.args[members.sums].mayAlias, result))
      difference = runOnMembers(kernel, members, /*isInPlace=*/true);
    return difference;
  }

  // Runs on the memory of all members, which must give the same as the kernel alone on the sum of
  // their data; each member gets the result. In place, the result replaces the summed data.
  std::string runOnMembers(const Kernel &kernel, const exec::Members &members, bool isInPlace) {
    std::vector<Buffer> actual = makeArguments(kernel, 1), terms, copies;
    for (int64_t i = 0; i < members.size; ++i) {
      terms.push_back(std::move(makeArguments(kernel, 2 + i)[members.sums]));
      copies.emplace_back(actual[members.copies].bytes())
          .copyFrom(isInPlace ? terms.back() : actual[members.copies]);
    }
    std::vector<char *> place;
    for (const Buffer &buffer : actual)
      place.push_back(buffer.data());
    if (gpu_.find(kernel.name)->second.info.scratchBytes)
      place.push_back(nullptr); // scratch memory is no argument
    for (const std::vector<Buffer> *all : {isInPlace ? &copies : &terms, &copies})
      for (const Buffer &buffer : *all)
        place.push_back(buffer.data());
    runEmulated(kernel, place);
    for (int64_t i = 0; i < members.size; ++i) {
      std::vector<Buffer> expected = makeArguments(kernel, 1);
      sumUp(expected[members.sums], terms, kernel.types[members.sums]);
      if (isInPlace)
        expected[members.copies].copyFrom(terms[i]);
      runNative(kernel, expected);
      actual[members.copies].copyFrom(copies[i]);
      std::string difference = compareAll(kernel, expected, actual);
      if (!difference.empty())
        return std::string(isInPlace ? "in place " : "") + "on members: " + difference;
    }
    return "";
  }

  // The first argument that may share a result's buffer shares it.
  std::string runInPlace(const Kernel &kernel, const std::vector<Buffer> &expected) {
    const KernelInfo &info = gpu_.find(kernel.name)->second.info;
    for (auto [i, arg] : llvm::enumerate(info.args)) {
      if (arg.mayAlias.empty())
        continue;
      std::vector<Buffer> actual = makeArguments(kernel, 1);
      std::vector<char *> place;
      for (const Buffer &buffer : actual)
        place.push_back(buffer.data());
      unsigned result = info.firstDest() + arg.mayAlias[0];
      actual[result].copyFrom(actual[i]);
      place[i] = place[result];
      runEmulated(kernel, place);
      std::string difference = compareAll(kernel, expected, actual);
      if (!difference.empty())
        return "in place of argument " + std::to_string(i) + ": " + difference;
    }
    return "";
  }

  static std::string compareAll(const Kernel &kernel, const std::vector<Buffer> &expected,
                                const std::vector<Buffer> &actual) {
    for (unsigned k = kernel.info.firstDest(); k < kernel.types.size(); ++k) {
      std::string difference = compare(expected[k], actual[k], kernel.types[k]);
      if (!difference.empty())
        return "result " + std::to_string(k - kernel.info.firstDest()) + ": " + difference;
    }
    return "";
  }

  std::vector<Kernel> kernels_;
  llvm::StringMap<GpuKernel> gpu_;
  std::map<std::string, HostFunction> host_;
  std::unique_ptr<NativeModule> native_, emulated_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: kernel-diff FILE (as coll-outline-kernels writes it)\n";
    return 2;
  }
  DialectRegistry registry;
  registerGpuCodeDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  KernelDiff diff;
  if (!diff.load(context, argv[1]))
    return 1;
  return diff.run() == 0 ? 0 : 1;
}
