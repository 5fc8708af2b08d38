#include "passes/export/jit/split.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;

namespace {

/// A kernel, counted once however many classes use it.
struct Kernel {
  LLVM::LLVMFuncOp function;
  std::string name; // unique over the classes
  int64_t size = 0; // operations
};

class Splitter {
public:
  explicit Splitter(const SplitOptions &options) : options_(options) {}

  void addClass(ModuleOp module, bool isOnlyClass);
  JitUnits finish();

private:
  Kernel &addKernel(LLVM::LLVMFuncOp function, bool isOnlyClass);
  void addDriver(ModuleOp module, const llvm::StringMap<std::string> &renamed);
  std::string nameOf(DenseElementsAttr value);
  std::string placeGlobal(OpBuilder &builder, LLVM::GlobalOp global, const std::string &prefix,
                          llvm::StringSet<> &declared);

  SplitOptions options_;
  std::vector<Kernel> kernels_;
  llvm::DenseMap<Attribute, std::string> constantNames_; // by value
  llvm::StringMap<size_t> byText_;
  JitUnits units_;
};

} // namespace

// Smaller constants stay in the code, because the optimiser makes use of their values.
static constexpr size_t kLargeBytes = 64 << 10;

/// The value of a constant that is large, and lies in memory as code reads it; null otherwise.
static DenseElementsAttr getLargeConstant(LLVM::GlobalOp global) {
  auto value = dyn_cast_or_null<DenseElementsAttr>(global.getValueAttr());
  if (!value || !global.getConstant() || value.isSplat() || !value.getElementType().isIntOrFloat())
    return nullptr;
  const size_t bits = value.getElementType().getIntOrFloatBitWidth();
  const size_t bytes = value.getRawData().size();
  const bool isPlain = bits % 8 == 0 && bytes == size_t(value.getNumElements()) * (bits / 8);
  return isPlain && bytes >= kLargeBytes ? value : nullptr;
}

std::string Splitter::nameOf(DenseElementsAttr value) {
  auto [it, isNew] =
      constantNames_.try_emplace(value, ("constant." + llvm::Twine(constantNames_.size())).str());
  if (isNew)
    units_.constants.push_back({it->second, value});
  return it->second;
}

/// Makes `global` known to another module, and returns its name there.
std::string Splitter::placeGlobal(OpBuilder &builder, LLVM::GlobalOp global,
                                  const std::string &prefix, llvm::StringSet<> &declared) {
  DenseElementsAttr large = options_.takesConstants ? getLargeConstant(global) : nullptr;
  std::string name = large ? nameOf(large) : prefix + global.getSymName().str();
  if (!declared.insert(name).second)
    return name;
  if (large)
    LLVM::GlobalOp::create(builder, global.getLoc(), global.getGlobalType(), /*isConstant=*/true,
                           LLVM::Linkage::External, name, Attribute(), kConstantAlignment);
  else
    cast<LLVM::GlobalOp>(builder.clone(*global)).setSymName(name);
  return name;
}

static bool isDriver(LLVM::LLVMFuncOp function) {
  return function.getName() == "coll_step" || function.getName() == "coll_init";
}

/// The functions and globals that `function` refers to.
static llvm::StringSet<> getReferences(LLVM::LLVMFuncOp function) {
  llvm::StringSet<> names;
  function.walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      if (auto callee = call.getCallee())
        names.insert(*callee);
    } else if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
      names.insert(address.getGlobalName());
    }
  });
  return names;
}

static void renameReferences(LLVM::LLVMFuncOp function,
                             const llvm::StringMap<std::string> &renamed) {
  function.walk([&](LLVM::CallOp call) {
    if (auto callee = call.getCallee())
      if (auto it = renamed.find(*callee); it != renamed.end())
        call.setCallee(it->second);
  });
}

static void renameGlobal(Operation *within, StringRef from, StringRef to) {
  within->walk([&](LLVM::AddressOfOp address) {
    if (address.getGlobalName() == from)
      address.setGlobalName(to);
  });
}

/// The text of a kernel without its name; kernels that use globals are told apart
/// by it only within their class.
static std::string getKey(LLVM::LLVMFuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  bool usesGlobals = false;
  function.walk([&](LLVM::AddressOfOp) { usesGlobals = true; });
  if (usesGlobals)
    stream << function.getOperation() << ' ' << function.getName();
  else
    function->print(stream, OpPrintingFlags().useLocalScope());
  size_t name = text.find(("@" + function.getName()).str());
  if (!usesGlobals && name != std::string::npos)
    text.erase(name, function.getName().size() + 1);
  return text;
}

Kernel &Splitter::addKernel(LLVM::LLVMFuncOp function, bool isOnlyClass) {
  std::string key = isOnlyClass ? function.getName().str() : getKey(function);
  auto [it, isNew] = byText_.try_emplace(key, kernels_.size());
  if (!isNew)
    return kernels_[it->second];
  Kernel &kernel = kernels_.emplace_back();
  kernel.function = function;
  kernel.name = ("k" + llvm::Twine(it->second) + "_" + function.getName()).str();
  function.walk([&](Operation *) { ++kernel.size; });
  return kernel;
}

/// The text of a class that stands in a global of this name; null if it is code's own.
static std::string *findText(JitClass &cls, StringRef name) {
  return llvm::StringSwitch<std::string *>(name)
      .Case("coll_descriptor", &cls.descriptor)
      .Case("coll_gpu_image", &cls.gpuImage)
      .Case("coll_gpu_kernels", &cls.gpuKernels)
      .Case("coll_constants", &cls.constants)
      .Default(nullptr);
}

void Splitter::addDriver(ModuleOp module, const llvm::StringMap<std::string> &renamed) {
  JitClass &cls = units_.classes.emplace_back();
  cls.driver = ModuleOp::create(module.getLoc(), module.getName());
  Block *body = cls.driver->getBody();
  OpBuilder builder = OpBuilder::atBlockEnd(body);
  llvm::StringSet<> needed, declared;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!isDriver(function))
      continue;
    cls.hasInit |= function.getName() == "coll_init";
    for (auto &name : getReferences(function))
      needed.insert(name.first());
    auto clone = cast<LLVM::LLVMFuncOp>(builder.clone(*function));
    renameReferences(clone, renamed);
  }
  for (Operation &op : *module.getBody()) {
    if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      if (std::string *text = findText(cls, global.getSymName())) {
        auto value = dyn_cast_or_null<StringAttr>(global.getValueAttr());
        assert(value && "the emitter writes these globals as texts");
        *text = value.getValue().str();
        if (text == &cls.descriptor || text == &cls.gpuKernels)
          *text = StringRef(*text).rtrim('\0').str();
      }
      if (needed.contains(global.getSymName()))
        renameGlobal(*cls.driver, global.getSymName(),
                     placeGlobal(builder, global, /*prefix=*/"", declared));
    } else if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
               function && !isDriver(function) && needed.contains(function.getName())) {
      auto it = renamed.find(function.getName());
      StringRef name = it == renamed.end() ? function.getName() : StringRef(it->second);
      LLVM::LLVMFuncOp::create(builder, op.getLoc(), name, function.getFunctionType());
    }
  }
}

void Splitter::addClass(ModuleOp module, bool isOnlyClass) {
  llvm::StringMap<std::string> renamed;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && !isDriver(function))
      renamed[function.getName()] = addKernel(function, isOnlyClass).name;
  addDriver(module, renamed);
}

JitUnits Splitter::finish() {
  std::vector<const Kernel *> order;
  for (const Kernel &kernel : kernels_)
    order.push_back(&kernel);
  std::stable_sort(order.begin(), order.end(),
                   [](const Kernel *a, const Kernel *b) { return a->size > b->size; });
  size_t count = std::min<size_t>(options_.shards, order.size());
  std::vector<int64_t> load(count);
  std::vector<llvm::StringSet<>> declared(count);
  for (const Kernel *kernel : order) {
    size_t shard = std::min_element(load.begin(), load.end()) - load.begin();
    load[shard] += kernel->size;
    LLVM::LLVMFuncOp function = kernel->function;
    if (units_.kernels.size() <= shard)
      units_.kernels.push_back(ModuleOp::create(function.getLoc(), "kernels"));
    OpBuilder builder = OpBuilder::atBlockEnd(units_.kernels[shard]->getBody());
    auto clone = cast<LLVM::LLVMFuncOp>(builder.clone(*function));
    clone.setName(kernel->name);
    // Globals and library functions are copied along, under names of their own class.
    auto source = function->getParentOfType<ModuleOp>();
    std::string prefix = source.getName().value_or("").str() + "_";
    for (auto &entry : getReferences(function)) {
      Operation *symbol = source.lookupSymbol(entry.first());
      if (auto global = dyn_cast_or_null<LLVM::GlobalOp>(symbol)) {
        renameGlobal(clone, entry.first(), placeGlobal(builder, global, prefix, declared[shard]));
      } else if (symbol && declared[shard].insert(entry.first()).second) {
        builder.clone(*symbol);
      }
    }
  }
  return std::move(units_);
}

FailureOr<JitUnits> mlir::coll::splitForJit(ModuleOp executable, const SplitOptions &options) {
  auto classes = llvm::to_vector(executable.getOps<ModuleOp>());
  if (classes.empty())
    return failure();
  Splitter splitter(options);
  for (ModuleOp module : classes)
    splitter.addClass(module, classes.size() == 1);
  return splitter.finish();
}
