#include "passes/export/jit/jit.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/export/jit/codegen.h"
#include "passes/export/jit/helpers.h"
#include "passes/export/jit/split.h"
#include "passes/thread_pool.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;
using namespace mlir::coll;

namespace {

// Shards per thread: small enough that the threads end together.
constexpr unsigned kShardsPerThread = 4;

/// An LLVM module that is being compiled.
struct Unit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  unsigned optLevel = 0;
  std::unique_ptr<llvm::MemoryBuffer> object;
  std::string error;
};

/// The context's uniquing is not assumed to be thread-safe, so this part is serial.
llvm::Error translate(ModuleOp source, Unit &unit) {
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = translateModuleToLLVMIR(source, *unit.context, source.getName().value_or("unit"),
                                        /*disableVerification=*/true);
  if (!unit.module)
    return llvm::createStringError("translation to LLVM IR failed");
  return llvm::Error::success();
}

/// Names that only one class may have get its number; the rest is the object's own.
void prepareDriver(llvm::Module &module, size_t index) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setName(function.getName() + "_" + llvm::Twine(index));
    function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  for (llvm::GlobalVariable &global : module.globals())
    if (!global.isDeclaration())
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
}

void hideKernels(llvm::Module &module) {
  for (llvm::GlobalValue &value : module.global_values())
    if (!value.isDeclaration() && !value.hasLocalLinkage())
      value.setVisibility(llvm::GlobalValue::HiddenVisibility);
}

void compile(Unit &unit, const llvm::orc::JITTargetMachineBuilder &target) {
  auto object = compileToObject(*unit.module, target, unit.optLevel);
  unit.module.reset();
  unit.context.reset();
  if (object)
    unit.object = std::move(*object);
  else
    unit.error = llvm::toString(object.takeError());
}

llvm::Expected<CollEntry> lookup(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &library,
                                 StringRef name) {
  auto address = jit.lookup(library, name);
  if (!address)
    return address.takeError();
  return address->toPtr<CollEntry>();
}

JitProgram::Data takeData(ObjectCode::Class &cls) {
  JitProgram::Data data{std::move(cls.descriptor), std::move(cls.gpuImage),
                        std::move(cls.gpuKernels), nullptr};
  if (!cls.constants.empty())
    data.constants = ObjectCode::copyConstant(cls.constants);
  return data;
}

/// Linked code and the constants that it reads where they are.
struct Linked {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<ObjectCode::Constant> constants;
};

llvm::Error defineConstants(Linked &linked, llvm::orc::JITDylib &library) {
  llvm::orc::SymbolMap symbols;
  for (const ObjectCode::Constant &constant : linked.constants)
    symbols[linked.jit->mangleAndIntern(constant.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(constant.bytes->getBufferStart()),
        llvm::JITSymbolFlags::Exported};
  return library.define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

} // namespace

llvm::Expected<ObjectCode> mlir::coll::compileObjects(ModuleOp executable,
                                                      const JitOptions &options) {
  initializeCodegen();
  registerBuiltinDialectTranslation(*executable.getContext());
  registerLLVMDialectTranslation(*executable.getContext());
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();

  ThreadPool pool(options.threads);
  // A shared object is linked by the system's linker, which wants all of it in objects.
  auto parts = splitForJit(executable, {kShardsPerThread * pool.getMaxConcurrency(),
                                        /*takesConstants=*/!options.isShared});
  if (failed(parts))
    return llvm::createStringError("the module holds no rank program; run coll-emit-executable");
  size_t numKernels = parts->kernels.size();
  std::vector<Unit> units(numKernels + parts->classes.size());
  llvm::Error error = llvm::Error::success();
  for (size_t i = 0; i < units.size() && !error; ++i) {
    bool isKernels = i < numKernels;
    ModuleOp source =
        isKernels ? parts->kernels[i].get() : parts->classes[i - numKernels].driver.get();
    units[i].optLevel = isKernels ? options.optLevel : 0;
    error = translate(source, units[i]);
    if (!error && options.isShared) {
      if (isKernels)
        hideKernels(*units[i].module);
      else
        prepareDriver(*units[i].module, i - numKernels);
    }
    if (!error)
      pool.async([&unit = units[i], &target] { compile(unit, *target); });
  }
  pool.wait();
  if (error)
    return error;
  for (const Unit &unit : units)
    if (!unit.error.empty())
      return llvm::createStringError(unit.error);
  ObjectCode code;
  for (size_t i = 0; i < numKernels; ++i)
    code.kernels.push_back(std::move(units[i].object));
  for (const JitConstant &constant : parts->constants) {
    llvm::ArrayRef<char> bytes = constant.value.getRawData();
    code.constants.push_back(
        {constant.name, ObjectCode::copyConstant({bytes.data(), bytes.size()})});
  }
  for (auto [i, cls] : llvm::enumerate(parts->classes))
    code.classes.push_back({std::move(units[numKernels + i].object), std::move(cls.descriptor),
                            cls.hasInit, std::move(cls.gpuImage), std::move(cls.gpuKernels),
                            std::move(cls.constants)});
  return code;
}

llvm::Expected<std::vector<std::unique_ptr<JitProgram>>> mlir::coll::linkObjects(ObjectCode code) {
  initializeCodegen();
  auto created =
      llvm::orc::LLJITBuilder().setPlatformSetUp(llvm::orc::setUpInactivePlatform).create();
  if (!created)
    return created.takeError();
  auto linked = std::make_shared<Linked>(Linked{std::move(*created), std::move(code.constants)});
  std::shared_ptr<llvm::orc::LLJIT> jit(linked, linked->jit.get());
  auto kernels = jit->createJITDylib("kernels");
  if (!kernels)
    return kernels.takeError();
  if (auto error = defineHelpers(*jit, *kernels))
    return error;
  if (auto error = defineConstants(*linked, *kernels))
    return error;
  for (auto &object : code.kernels)
    if (auto error = jit->addObjectFile(*kernels, std::move(object)))
      return error;
  std::vector<std::unique_ptr<JitProgram>> programs;
  for (auto [i, cls] : llvm::enumerate(code.classes)) {
    auto library = jit->createJITDylib("class" + std::to_string(i));
    if (!library)
      return library.takeError();
    library->addToLinkOrder(*kernels);
    if (auto error = jit->addObjectFile(*library, std::move(cls.driver)))
      return error;
    auto step = lookup(*jit, *library, "coll_step");
    if (!step)
      return step.takeError();
    CollEntry init = nullptr;
    if (cls.hasInit) {
      auto found = lookup(*jit, *library, "coll_init");
      if (!found)
        return found.takeError();
      init = *found;
    }
    programs.push_back(std::make_unique<JitProgram>(jit, *step, init, takeData(cls)));
  }
  return programs;
}
