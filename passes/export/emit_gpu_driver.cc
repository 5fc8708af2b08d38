// Driver functions on GPU memory.

#include "passes/export/emit_gpu_driver.h"

#include "dialect/exec/memory_form.h"
#include "runtime/step/abi/abi.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;

// Alignment of constants, as of all buffers.
static constexpr int64_t kAlignment = 64;

/// Reserves the memory that calls of the function need.
void GpuDriverEmitter::enter(exec::FunctionOp source) {
  int64_t parameters = 1, scalars = 2, addresses = 0;
  bool hasConstants = false;
  source.walk([&](Operation *op) {
    hasConstants |= isa<exec::ConstantOp>(op);
    if (auto store = dyn_cast<exec::StoreOp>(op))
      scalars = std::max<int64_t>(scalars, store.getValues().size());
    auto call = dyn_cast<exec::CallOp>(op);
    auto kernel = call ? kernels_.find(call.getCallee()) : kernels_.end();
    if (kernel == kernels_.end())
      return;
    for (const GpuLaunch &launch : kernel->second.launches)
      parameters = std::max<int64_t>(parameters, launch.params.size());
    if (const auto &members = kernel->second.members)
      addresses = std::max(addresses, members->numAddresses());
  });
  auto words = [&](int64_t count) { return LLVM::LLVMArrayType::get(b_.getI64Type(), count); };
  parameters_ = stackSlot(words(parameters));
  pointers_ = stackSlot(words(parameters));
  scalars_ = stackSlot(words(scalars));
  addresses_ = addresses ? stackSlot(words(addresses)) : Value();
  for (int64_t i = 0; i < parameters; ++i)
    LLVM::StoreOp::create(b_, loc_, gep(parameters_, 8 * i), gep(pointers_, 8 * i));
  if (!hasConstants)
    return;
  Value base = stackSlot(ptr_);
  callAbi(AbiFunction::constants, {ctx_, base});
  constantBase_ = LLVM::LoadOp::create(b_, loc_, ptr_, base);
}

/// The bytes of the elements as they lie in memory.
static std::string serialize(DenseElementsAttr elements) {
  DenseElementsAttr stored = getStoredElements(elements);
  ArrayRef<char> raw = stored.getRawData();
  if (!stored.isSplat())
    return std::string(raw.begin(), raw.end());
  std::string bytes;
  for (int64_t i = 0; i < stored.getNumElements(); ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

Value GpuDriverEmitter::constantAddress(exec::ConstantOp constant) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  auto [it, isNew] = constantOffsets_.try_emplace(elements, constants_.size());
  if (isNew) {
    constants_ += serialize(elements);
    constants_.resize(llvm::alignTo(constants_.size(), kAlignment));
  }
  return gep(constantBase_, it->second);
}

LogicalResult GpuDriverEmitter::emitCall(exec::CallOp op) {
  auto it = kernels_.find(op.getCallee());
  if (it == kernels_.end())
    return op.emitOpError("calls a kernel that has no form for a GPU");
  if (const auto &members = it->second.members)
    findAddresses(op, *members);
  for (const GpuLaunch &launch : it->second.launches)
    if (!llvm::is_contained(launch.grid, 0u))
      emitLaunch(op, launch);
  return success();
}

/// The addresses, on all members of the group, of the buffers that the kernel sums up and copies
/// to.
void GpuDriverEmitter::findAddresses(exec::CallOp op, const exec::Members &members) {
  int64_t first = 0;
  for (int64_t argument : {members.sums, members.copies}) {
    Value view = op.getOperands()[argument];
    callAbi(AbiFunction::members,
            {ctx_, i32(computation("kernel")), i32(groupIndex(members.group)), address(view),
             i64(exec::getExtent(view)->bytes), gep(addresses_, 8 * first)});
    first += members.size;
  }
}

void GpuDriverEmitter::emitLaunch(exec::CallOp op, const GpuLaunch &launch) {
  auto [it, isNew] = tableIndex_.try_emplace(launch.symbol, table_.size());
  if (isNew)
    table_.push_back({&launch, getSourceText(op.getLoc())});
  for (auto [i, param] : llvm::enumerate(launch.params)) {
    Value at = gep(parameters_, 8 * i);
    if (param.kind == GpuParam::Kind::Scratch) {
      // Scratch memory is the last operand.
      Value scratch = address(op.getOperands().back());
      LLVM::StoreOp::create(b_, loc_, gep(scratch, param.index), at);
    } else if (int64_t member = param.index - op.getOperands().size(); member >= 0) {
      Value found = LLVM::LoadOp::create(b_, loc_, ptr_, gep(addresses_, 8 * member));
      LLVM::StoreOp::create(b_, loc_, found, at);
    } else if (Value operand = op.getOperands()[param.index];
               isa<exec::BufferType>(operand.getType())) {
      LLVM::StoreOp::create(b_, loc_, address(operand), at);
    } else {
      storeElement(values_.lookup(operand), at);
    }
  }
  callAbi(AbiFunction::launch, {ctx_, i32(computation("kernel")), i32(it->second), pointers_,
                                i32(launch.params.size())});
}

void GpuDriverEmitter::emitCopy(exec::CopyOp op) {
  callAbi(AbiFunction::copy,
          {ctx_, i32(computation("copy")), address(op.getTarget()), address(op.getSource()),
           i64(exec::getExtent(op.getTarget())->bytes)});
}

void GpuDriverEmitter::emitFill(exec::FillOp op) {
  int64_t bytes = exec::getExtent(op.getTarget())->bytes;
  int64_t width = getElementBytes(op.getValue().getType());
  if (bytes == 0)
    return;
  Type word = b_.getIntegerType(8 * width);
  LLVM::StoreOp::create(b_, loc_,
                        LLVM::ConstantOp::create(
                            b_, loc_, word, b_.getIntegerAttr(word, getStoredBits(op.getValue()))),
                        scalars_);
  callAbi(AbiFunction::fill, {ctx_, i32(computation("fill")), address(op.getTarget()), scalars_,
                              i32(width), i64(bytes / width)});
}

void GpuDriverEmitter::emitLoad(exec::LoadOp op) {
  int64_t width = getElementBytes(op.getType());
  Value at = gep(address(op.getSource()), toLlvm(values_.lookup(op.getIndex())), width);
  callAbi(AbiFunction::fetch, {ctx_, i32(computation("fetch")), scalars_, at, i64(width)});
  values_.map(op.getResult(), loadElement(scalars_, op.getType()));
}

void GpuDriverEmitter::emitStore(exec::StoreOp op) {
  int64_t width = getElementBytes(op.getValues().front().getType());
  for (auto [i, element] : llvm::enumerate(op.getValues()))
    storeElement(values_.lookup(element), gep(scalars_, i * width));
  callAbi(AbiFunction::store, {ctx_, i32(computation("store")), address(op.getTarget()), scalars_,
                               i64(width * op.getValues().size())});
}

void GpuDriverEmitter::emitProducts(exec::GemmOp op, Value a, Value b, Value c) {
  emitContraction(op, a, b, c);
}

std::string GpuDriverEmitter::writeKernelTable() const {
  llvm::json::Array table;
  auto sizes = [](const std::array<uint32_t, 3> &numbers) {
    return llvm::json::Array{int64_t{numbers[0]}, int64_t{numbers[1]}, int64_t{numbers[2]}};
  };
  for (const TableEntry &entry : table_)
    table.push_back(llvm::json::Object{{"name", entry.launch->symbol},
                                       {"grid", sizes(entry.launch->grid)},
                                       {"block", sizes(entry.launch->block)},
                                       {"shared", int64_t{entry.launch->sharedBytes}},
                                       {"loc", entry.loc}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(table));
  return text;
}
