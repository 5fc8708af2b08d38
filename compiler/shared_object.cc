//===- shared_object.cc - compiled code as a file that runs without MLIR ---------===//

#include "compiler/shared_object.h"

#include "compiler/error.h"
#include "passes/export/jit/codegen.h"
#include "runtime/step/abi/table.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"

namespace coll::run {
namespace {

/// The processor's features, as the table lists them.
std::string listFeatures() {
  std::vector<std::string> names;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      names.push_back(feature.first().str());
  llvm::sort(names);
  return llvm::join(names, " ");
}

/// Makes the constant `coll_step_table`, which has the layout of CollStepTable.
class TableBuilder {
public:
  explicit TableBuilder(llvm::Module &module) : module_(module), builder_(module.getContext()) {}

  void build(const mlir::coll::ObjectCode &code) {
    llvm::Type *pointer = builder_.getPtrTy();
    auto *entryType = llvm::StructType::get(pointer, pointer, pointer, pointer, pointer, pointer,
                                            builder_.getInt64Ty());
    std::vector<llvm::Constant *> entries;
    for (auto [i, cls] : llvm::enumerate(code.classes))
      entries.push_back(llvm::ConstantStruct::get(
          entryType, {addText(cls.descriptor), declare("coll_step_" + llvm::Twine(i)),
                      cls.hasInit ? declare("coll_init_" + llvm::Twine(i)) : null(),
                      addTextOrNull(cls.gpuImage), addTextOrNull(cls.gpuKernels),
                      addTextOrNull(cls.constants), builder_.getInt64(cls.constants.size())}));
    auto *arrayType = llvm::ArrayType::get(entryType, entries.size());
    llvm::Constant *classes =
        addConstant(llvm::ConstantArray::get(arrayType, entries), "classes", false);
    addConstant(llvm::ConstantStruct::getAnon(
                    {builder_.getInt32(kCollStepMagic), builder_.getInt32(kCollStepVersion),
                     builder_.getInt64(entries.size()), addText(listFeatures()), classes}),
                COLL_STEP_TABLE_SYMBOL, true);
  }

private:
  llvm::Constant *addConstant(llvm::Constant *value, const char *name, bool isExported) {
    auto *global = new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                            isExported ? llvm::GlobalValue::ExternalLinkage
                                                       : llvm::GlobalValue::InternalLinkage,
                                            value, name);
    global->setAlignment(llvm::Align(64)); // of buffers, which coll_constants are
    return global;
  }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(builder_.getPtrTy()); }
  llvm::Constant *addText(llvm::StringRef text) {
    return addConstant(llvm::ConstantDataArray::getString(module_.getContext(), text), "text",
                       false);
  }
  llvm::Constant *addTextOrNull(llvm::StringRef text) {
    return text.empty() ? null() : addText(text);
  }
  llvm::Constant *declare(const llvm::Twine &name) {
    auto *function = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), false),
                                            llvm::GlobalValue::ExternalLinkage, name, module_);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return function;
  }

  llvm::Module &module_;
  llvm::IRBuilder<> builder_;
};

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileTable(const mlir::coll::ObjectCode &code) {
  mlir::coll::initializeCodegen();
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  llvm::LLVMContext context;
  llvm::Module module("table", context);
  TableBuilder(module).build(code);
  return mlir::coll::compileToObject(module, std::move(*target), /*optLevel=*/0);
}

/// A folder that goes away with all that is in it.
class TemporaryFolder {
public:
  llvm::Error create() {
    if (std::error_code code = llvm::sys::fs::createUniqueDirectory("coll-link", path_))
      return makeError("cannot create a folder for temporary files: " + code.message());
    return llvm::Error::success();
  }
  ~TemporaryFolder() {
    if (!path_.empty())
      llvm::sys::fs::remove_directories(path_);
  }
  std::string file(const llvm::Twine &name) const { return (path_ + "/" + name).str(); }

private:
  llvm::SmallString<128> path_;
};

llvm::Error writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << bytes;
    file.close();
    code = file.error();
    file.clear_error();
  }
  return code ? makeError("cannot write '" + path + "': " + code.message())
              : llvm::Error::success();
}

llvm::Error link(llvm::ArrayRef<std::string> objects, const std::string &output,
                 const std::string &log) {
  auto cc = llvm::sys::findProgramByName("cc");
  if (!cc)
    return makeError("a shared object needs the C compiler `cc` to link it: " +
                     cc.getError().message());
  std::vector<llvm::StringRef> arguments = {*cc, "-shared", "-o", output};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  arguments.push_back("-lm");
  std::optional<llvm::StringRef> streams[] = {"", log, log};
  std::string reason;
  if (llvm::sys::ExecuteAndWait(*cc, arguments, std::nullopt, streams, 0, 0, &reason) == 0)
    return llvm::Error::success();
  auto said = llvm::MemoryBuffer::getFile(log);
  return makeError("linking failed: " + reason + (said ? (*said)->getBuffer() : ""));
}

} // namespace

llvm::Error writeSharedObject(const mlir::coll::ObjectCode &code, llvm::StringRef path) {
  auto table = compileTable(code);
  if (!table)
    return table.takeError();
  TemporaryFolder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::vector<std::string> objects;
  auto add = [&](llvm::StringRef bytes) {
    objects.push_back(folder.file(llvm::Twine(objects.size()) + ".o"));
    return writeFile(objects.back(), bytes);
  };
  for (const auto &kernels : code.kernels)
    if (llvm::Error error = add(kernels->getBuffer()))
      return error;
  for (const mlir::coll::ObjectCode::Class &cls : code.classes)
    if (llvm::Error error = add(cls.driver->getBuffer()))
      return error;
  if (llvm::Error error = add((*table)->getBuffer()))
    return error;
  // The temporary file is beside its final place, so that renaming works.
  const std::string unfinished = (path + ".unfinished").str();
  llvm::Error error = link(objects, unfinished, folder.file("log"));
  if (!error)
    if (std::error_code code = llvm::sys::fs::rename(unfinished, path))
      error = makeError("cannot write '" + path + "': " + code.message());
  if (error)
    llvm::sys::fs::remove(unfinished);
  return error;
}

} // namespace coll::run
