//===- exec.cc - registration, assembly and effects -----------------------------===//

#include "dialect/exec/convolution.h"
#include "dialect/exec/epilogue.h"

#include "dialect/asm.h"
#include "dialect/exec/memory_form.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::coll;
using namespace mlir::coll::exec;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

namespace mlir::coll::exec {

/// `(tensor<4xf32> {coll.name = "w"}) -> tensor<f32>`
static ParseResult parseSignature(OpAsmParser &parser, TypeAttr &signature, ArrayAttr &argAttrs,
                                  ArrayAttr &resultAttrs) {
  SmallVector<Type> arguments, results;
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  if (call_interface_impl::parseFunctionSignature(parser, arguments, ofArguments, results,
                                                  ofResults))
    return failure();
  Builder &builder = parser.getBuilder();
  signature = TypeAttr::get(builder.getFunctionType(arguments, results));
  auto collect = [&](ArrayRef<DictionaryAttr> attrs) -> ArrayAttr {
    if (llvm::all_of(attrs, [](DictionaryAttr attr) { return !attr || attr.empty(); }))
      return nullptr;
    return builder.getArrayAttr(SmallVector<Attribute>(llvm::map_range(
        attrs, [&](DictionaryAttr attr) { return attr ? attr : builder.getDictionaryAttr({}); })));
  };
  argAttrs = collect(ofArguments);
  resultAttrs = collect(ofResults);
  return success();
}

static void printSignature(OpAsmPrinter &printer, Operation *, TypeAttr signature,
                           ArrayAttr argAttrs, ArrayAttr resultAttrs) {
  auto type = cast<FunctionType>(signature.getValue());
  call_interface_impl::printFunctionSignature(printer, type.getInputs(), argAttrs,
                                              /*isVariadic=*/false, type.getResults(), resultAttrs);
}

/// `read %a, %i : index, write %b`
static ParseResult parseCallOperands(OpAsmParser &parser,
                                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                     SmallVectorImpl<Type> &types, DenseI32ArrayAttr &accesses) {
  SmallVector<int32_t> list;
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    Access access = Access::Scalar;
    if (succeeded(
            parser.parseOptionalKeyword(&word, {"read", "reuse", "write", "update", "scratch"})))
      access = *symbolizeAccess(word);
    list.push_back(static_cast<int32_t>(access));
    if (parser.parseOperand(operands.emplace_back()))
      return failure();
    if (access == Access::Scalar)
      return parser.parseColonType(types.emplace_back());
    types.push_back(BufferType::get(parser.getContext()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  accesses = DenseI32ArrayAttr::get(parser.getContext(), list);
  return success();
}

static void printCallOperands(OpAsmPrinter &printer, Operation *, OperandRange operands,
                              TypeRange types, DenseI32ArrayAttr accesses) {
  printer << '(';
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (i)
      printer << ", ";
    std::optional<Access> access;
    if (static_cast<int64_t>(i) < accesses.size())
      access = symbolizeAccess(accesses[i]);
    if (access && *access != Access::Scalar)
      printer << stringifyAccess(*access) << ' ' << operand;
    else
      printer << operand << " : " << types[i];
  }
  printer << ')';
}

} // namespace mlir::coll::exec

#include "dialect/exec/dialect.cc.inc"
#include "dialect/exec/enums.cc.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/exec/types.cc.inc"

#define GET_OP_CLASSES
#include "dialect/exec/ops.cc.inc"

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void ExecDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/exec/types.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/exec/ops.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/exec/convolution_ops.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/exec/epilogue_ops.cc.inc"
      >();
}

LogicalResult ExecDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kGpuAttr && isa<StringAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == kGpuAttr)
    return op->emitOpError() << kGpuAttr << " must be a string, but is " << attribute.getValue();
  if (attribute.getName() == kMembersAttr) {
    constexpr int64_t kMost = 64;
    std::optional<Members> members = getMembers(op);
    if (members && members->size >= 1 && members->size <= kMost)
      return success();
    return op->emitOpError() << kMembersAttr << " must be {group, size, sums, copies}, with a size "
                             << "from 1 to " << kMost << ", but is " << attribute.getValue();
  }
  if (attribute.getName() != kRanksAttr)
    return op->emitOpError("attribute ") << attribute.getName() << " is unknown here";
  auto ranks = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  bool isRising = ranks && !ranks.empty() && ranks[0] >= 0;
  for (int64_t i = 1; isRising && i < ranks.size(); ++i)
    isRising = ranks[i - 1] < ranks[i];
  if (isRising)
    return success();
  return op->emitOpError() << kRanksAttr << " must be an array of rising i64, but is "
                           << attribute.getValue();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::optional<Extent> exec::getExtent(Value buffer) {
  if (auto view = buffer.getDefiningOp<ViewOp>()) {
    std::optional<Extent> base;
    if (!view.getBase().getDefiningOp<ViewOp>())
      base = getExtent(view.getBase());
    if (!base)
      return std::nullopt;
    return Extent{view.getBase(), static_cast<int64_t>(view.getOffset()),
                  static_cast<int64_t>(view.getBytes()), base->isReadOnly};
  }
  if (auto constant = buffer.getDefiningOp<ConstantOp>()) {
    auto type = cast<RankedTensorType>(constant.getValue().getShapedType());
    return Extent{buffer, 0, getTensorBytes(type).value_or(0), true};
  }
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function = argument ? dyn_cast<FunctionOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return std::nullopt;
  return Extent{buffer, 0, function.getBufferBytes(argument), function.isReadOnly(argument)};
}

static DictionaryAttr getDict(std::optional<ArrayAttr> attrs, unsigned index) {
  if (!attrs || index >= attrs->size())
    return nullptr;
  return cast<DictionaryAttr>((*attrs)[index]);
}

DictionaryAttr FunctionOp::getArgAttrDict(unsigned index) { return getDict(getArgAttrs(), index); }

DictionaryAttr FunctionOp::getResultAttrDict(unsigned index) {
  return getDict(getResAttrs(), index);
}

BlockArgument FunctionOp::getResultBuffer(unsigned index) {
  Block &block = getBody().front();
  if (int64_t argument = getUpdates()[index]; argument >= 0)
    return block.getArgument(argument);
  unsigned before = llvm::count(getUpdates().take_front(index), -1);
  return block.getArgument(getNumArguments() + before);
}

int64_t FunctionOp::getBufferBytes(BlockArgument buffer) {
  unsigned number = buffer.getArgNumber();
  auto bytesOf = [](Type type) { return getTensorBytes(cast<RankedTensorType>(type)).value_or(0); };
  if (number < getNumArguments())
    return bytesOf(getSignature().getInput(number));
  for (unsigned k = 0; k < getNumResults() && buffer != getArena(); ++k)
    if (getResultBuffer(k) == buffer)
      return bytesOf(getSignature().getResult(k));
  return getArenaBytes();
}

bool FunctionOp::isReadOnly(BlockArgument buffer) {
  unsigned number = buffer.getArgNumber();
  return number < getNumArguments() && !llvm::is_contained(getUpdates(), int64_t{number});
}

SmallVector<std::pair<unsigned, unsigned>> CallOp::getReused() {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (unsigned i = 0; i < getOperands().size(); ++i) {
    if (getAccess(i) != Access::Reuse)
      continue;
    std::optional<Extent> extent = getExtent(getOperands()[i]);
    for (unsigned j = 0; extent && j < getOperands().size(); ++j)
      if ((getAccess(j) == Access::Write || getAccess(j) == Access::Update) &&
          getExtent(getOperands()[j]) == extent) {
        pairs.push_back({i, j});
        break;
      }
  }
  return pairs;
}

DictionaryAttr Members::toAttr() const {
  Builder b(group.getContext());
  return b.getDictionaryAttr({b.getNamedAttr("copies", b.getI64IntegerAttr(copies)),
                              b.getNamedAttr("group", group),
                              b.getNamedAttr("size", b.getI64IntegerAttr(size)),
                              b.getNamedAttr("sums", b.getI64IntegerAttr(sums))});
}

std::optional<Members> exec::getMembers(Operation *kernel) {
  auto attr = kernel->getAttrOfType<DictionaryAttr>(kMembersAttr);
  if (!attr)
    return std::nullopt;
  auto group = attr.getAs<GroupAttr>("group");
  auto number = [&](StringRef name) { return attr.getAs<IntegerAttr>(name); };
  auto size = number("size"), sums = number("sums"), copies = number("copies");
  for (IntegerAttr one : {size, sums, copies})
    if (!one || !one.getType().isSignlessInteger(64))
      return std::nullopt;
  if (!group)
    return std::nullopt;
  return Members{group, size.getInt(), sums.getInt(), copies.getInt()};
}

int64_t exec::getBucketBytes(Block &body) {
  int64_t end = 0;
  for (Type type : body.back().getOperandTypes())
    end = alignInBucket(end) + getTensorBytes(cast<RankedTensorType>(type)).value_or(0);
  return end;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void FunctionOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  auto arguments = region.getArguments();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (i + 1 == arguments.size())
      setName(argument, "arena");
    else if (i < getNumArguments())
      setName(argument, "arg" + std::to_string(i));
    else
      setName(argument, "result" + std::to_string(i - getNumArguments()));
  }
}

/// A view of the arena is named by its offset, any other view by the buffer that it belongs to.
void ViewOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto base = dyn_cast<BlockArgument>(getBase());
  auto function = base ? dyn_cast<FunctionOp>(base.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return;
  if (base == function.getArena())
    setName(getResult(), "at" + std::to_string(getOffset()));
  else if (base.getArgNumber() < function.getNumArguments())
    setName(getResult(), "in_arg" + std::to_string(base.getArgNumber()));
  else
    setName(getResult(),
            "in_result" + std::to_string(base.getArgNumber() - function.getNumArguments()));
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

static void addEffects(Effects &effects, MutableOperandRange operands,
                       MemoryEffects::Effect *effect) {
  for (OpOperand &operand : operands)
    effects.emplace_back(effect, &operand, SideEffects::DefaultResource::get());
}

void CallOp::getEffects(Effects &effects) {
  for (auto [i, operand] : llvm::enumerate(getOperandsMutable())) {
    Access access = getAccess(i);
    if (access == Access::Read || access == Access::Reuse || access == Access::Update)
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
    if (access == Access::Write || access == Access::Update || access == Access::Scratch)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

void CommunicateOp::getEffects(Effects &effects) {
  coll::detail::addCommunicationEffects(effects);
  addEffects(effects, getReadsMutable(), MemoryEffects::Read::get());
  addEffects(effects, getWritesMutable(), MemoryEffects::Write::get());
}

void exec::StartOp::getEffects(Effects &effects) {
  coll::detail::addCommunicationEffects(effects);
  addEffects(effects, getReadsMutable(), MemoryEffects::Read::get());
  addEffects(effects, getWritesMutable(), MemoryEffects::Write::get());
}

void exec::WaitOp::getEffects(Effects &effects) {
  coll::detail::addCommunicationEffects(effects);
  effects.emplace_back(MemoryEffects::Write::get());
}
