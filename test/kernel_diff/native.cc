#include "test/kernel_diff/native.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/export/jit/codegen.h"
#include "passes/export/jit/helpers.h"
#include "test/kernel_diff/emulate.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

// void NAME_packed(ptr): loads the arguments from the addresses in a table, and calls NAME.
static void addPacked(Function &function) {
  LLVMContext &context = function.getContext();
  IRBuilder<> b(context);
  auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *packed = Function::Create(type, GlobalValue::ExternalLinkage,
                                  function.getName() + "_packed", function.getParent());
  b.SetInsertPoint(BasicBlock::Create(context, "entry", packed));
  std::vector<Value *> values;
  for (Argument &argument : function.args()) {
    Value *slot = b.CreateConstGEP1_64(b.getPtrTy(), packed->getArg(0), argument.getArgNo());
    Value *address = b.CreateLoad(b.getPtrTy(), slot);
    values.push_back(argument.getType()->isPointerTy() ? address
                                                       : b.CreateLoad(argument.getType(), address));
  }
  b.CreateCall(&function, values);
  b.CreateRetVoid();
}

static Error defineEmulation(orc::LLJIT &jit) {
  orc::JITDylib &library = jit.getMainJITDylib();
  orc::SymbolMap symbols;
  for (auto [name, address] : emulationFunctions())
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = mlir::coll::defineHelpers(jit, library))
    return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  return Error::success();
}

Expected<NativeModule> NativeModule::create(mlir::ModuleOp module) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  LLVMContext context;
  std::unique_ptr<Module> code = mlir::translateModuleToLLVMIR(module, context);
  if (!code)
    return createStringError("translation to LLVM IR failed");
  std::vector<Function *> functions;
  for (Function &function : *code)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (Function *function : functions)
    addPacked(*function);
  mlir::coll::initializeCodegen();
  auto target = orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  auto object = mlir::coll::compileToObject(*code, *target, /*optLevel=*/1);
  if (!object)
    return object.takeError();
  auto jit = orc::LLJITBuilder().setPlatformSetUp(orc::setUpInactivePlatform).create();
  if (!jit)
    return jit.takeError();
  if (Error error = defineEmulation(**jit))
    return error;
  if (Error error = (*jit)->addObjectFile(std::move(*object)))
    return error;
  NativeModule result;
  result.jit_ = std::move(*jit);
  return result;
}

Expected<PackedFunction> NativeModule::find(StringRef function) const {
  auto address = jit_->lookup((function + "_packed").str());
  if (!address)
    return address.takeError();
  return address->toPtr<PackedFunction>();
}
