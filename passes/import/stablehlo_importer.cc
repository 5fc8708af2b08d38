//===- stablehlo_importer.cc - rebuilding a function operation by operation ------===//

#include "passes/import/stablehlo_importer.h"

#include "dialect/pin.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/import/stablehlo_attrs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mlir::coll::stablehlo {

ElementKind kindOf(Type source) {
  Type element = getElementTypeOrSelf(source);
  if (isa<FloatType>(element))
    return ElementKind::Float;
  if (element.isInteger(1))
    return ElementKind::Bool;
  return element.isUnsignedInteger() ? ElementKind::Unsigned : ElementKind::Signed;
}

RankedTensorType convertType(Type source, std::string &why) {
  auto tensor = dyn_cast<RankedTensorType>(source);
  if (!tensor) {
    auto opaque = dyn_cast<OpaqueType>(source);
    bool isToken = opaque && opaque.getTypeData() == "token";
    why = isToken ? "puts calls of Python in order; leave out ordered=True"
                  : "is not a ranked tensor";
    return {};
  }
  if (tensor.getEncoding()) {
    why = "has an encoding";
    return {};
  }
  if (!tensor.hasStaticShape()) {
    why = "has dynamic dimensions";
    return {};
  }
  int64_t count = 1;
  for (int64_t size : tensor.getShape())
    if (size > kMaxExtent || (count *= std::max<int64_t>(size, 1)) > kMaxExtent) {
      why = "has more than 2^31 elements";
      return {};
    }
  Type element = tensor.getElementType();
  if (element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
      isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return tensor;
  if (auto integer = dyn_cast<IntegerType>(element))
    if (llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth()))
      return tensor.clone(IntegerType::get(source.getContext(), integer.getWidth()));
  why = isa<ComplexType>(element) ? "has complex elements" : "has elements of unsupported type";
  return {};
}

namespace {

/// Types were checked before the import began, so the reason is not needed here.
RankedTensorType convertChecked(Type source) {
  std::string why;
  return convertType(source, why);
}

} // namespace

RankedTensorType boundaryType(Type source) {
  RankedTensorType type = convertChecked(source);
  return type.getElementType().isInteger(4) ? type.clone(IntegerType::get(source.getContext(), 8))
                                            : type;
}

Value Source::operand(unsigned index) const { return importer.lookup(op->getOperand(index)); }

SmallVector<Value> Source::operands() const {
  return llvm::map_to_vector(op->getOperands(),
                             [&](Value operand) { return importer.lookup(operand); });
}

RankedTensorType Source::operandTensor(unsigned index) const {
  return convertChecked(op->getOperand(index).getType());
}

RankedTensorType Source::tensor(unsigned result) const {
  return convertChecked(op->getResult(result).getType());
}

Type Source::type(unsigned result) const {
  RankedTensorType type = tensor(result);
  return importer.inScalarBody() ? type.getElementType() : Type(type);
}

LogicalResult Source::error(const Twine &message) const { return op->emitOpError(message); }

LogicalResult Source::finish(ValueRange results) const {
  if (results.size() != op->getNumResults())
    return error("has " + Twine(op->getNumResults()) + " results where " + Twine(results.size()) +
                 " are computed");
  for (auto [index, value] : llvm::enumerate(results)) {
    if (value.getType() != type(index))
      return op->emitOpError() << "has a result of type " << type(index) << " where "
                               << value.getType() << " is computed";
    // A tensor without elements has nothing but its type, so no operation needs to compute it.
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (tensor && tensor.getNumElements() == 0)
      value = tensor::EmptyOp::create(b, tensor.getShape(), tensor.getElementType());
    importer.map(op->getResult(index), value);
  }
  return success();
}

Importer::Importer(ModuleOp module, Shardings &shardings)
    : b(module.getLoc(), module.getContext()), symbols_(module), shardings_(shardings) {}

Location Importer::locationOf(Operation *op) const {
  if (!callLoc_)
    return op->getLoc();
  if (isa<UnknownLoc>(op->getLoc()))
    return *callLoc_;
  return CallSiteLoc::get(op->getLoc(), *callLoc_);
}

LogicalResult Importer::importBody(func::FuncOp source, func::FuncOp target) {
  callStack_.insert(source.getOperation());
  Block *entry = target.addEntryBlock();
  for (auto [from, to] : llvm::zip_equal(source.getArguments(), entry->getArguments()))
    to.setLoc(from.getLoc());
  b.setInsertionPointToStart(entry);
  SmallVector<Value> arguments(entry->getArguments());
  for (auto [argument, from] : llvm::zip_equal(arguments, source.getArgumentTypes()))
    if (Type inside = convertChecked(from); inside != argument.getType())
      argument = arith::TruncIOp::create(b, inside, argument);
  FailureOr<SmallVector<Value>> results = importRegion(source, source.getBody(), arguments);
  if (failed(results))
    return failure();
  b.setLoc(source.getBody().front().getTerminator()->getLoc());
  for (auto [result, from] : llvm::zip_equal(*results, source.getResultTypes())) {
    Type outside = boundaryType(from);
    if (outside == result.getType())
      continue;
    if (kindOf(from) == ElementKind::Unsigned)
      result = arith::ExtUIOp::create(b, outside, result);
    else
      result = arith::ExtSIOp::create(b, outside, result);
  }
  func::ReturnOp::create(b, *results);
  callStack_.pop_back();
  return success();
}

FailureOr<SmallVector<Value>> Importer::importRegion(Operation *owner, Region &region,
                                                     ValueRange args) {
  if (!llvm::hasSingleElement(region))
    return owner->emitOpError("needs regions of one block");
  Block &block = region.front();
  if (block.getNumArguments() != args.size())
    return owner->emitOpError() << "needs a region with " << args.size() << " arguments, not "
                                << block.getNumArguments();
  for (auto [from, to] : llvm::zip_equal(block.getArguments(), args)) {
    RankedTensorType type = convertChecked(from.getType());
    if (inScalarBody_ ? type.getRank() != 0 || type.getElementType() != to.getType()
                      : type != to.getType())
      return owner->emitOpError() << "needs a region argument of type " << to.getType() << ", not "
                                  << from.getType();
    map(from, to);
  }
  if (block.empty() || !llvm::is_contained({"stablehlo.return", "func.return"},
                                           block.back().getName().getStringRef()))
    return owner->emitOpError("needs a region that ends in a return");
  for (Operation &op : llvm::make_range(block.begin(), std::prev(block.end())))
    if (failed(importOp(&op)))
      return failure();
  SmallVector<Value> results;
  for (Value value : block.back().getOperands()) {
    results.push_back(lookup(value));
    if (!results.back())
      return block.back().emitOpError("returns a value from outside the scalar body");
  }
  return results;
}

FailureOr<SmallVector<Value>> Importer::importScalarRegion(Operation *owner, Region &region,
                                                           ValueRange args) {
  // Values from outside are tensors, which a scalar body cannot use: hide them.
  DenseMap<Value, Value> outside;
  std::swap(outside, values_);
  llvm::scope_exit restore([&] { std::swap(outside, values_); });
  llvm::SaveAndRestore scalar(inScalarBody_, true);
  return importRegion(owner, region, args);
}

FailureOr<SmallVector<Value>> Importer::inlineCall(Operation *call, StringRef callee) {
  auto function = symbols_.lookup<func::FuncOp>(callee);
  if (!function || function.isExternal())
    return call->emitOpError() << "calls @" << callee << ", which has no body";
  if (!callStack_.insert(function.getOperation()))
    return call->emitOpError() << "calls @" << callee << " recursively";
  llvm::SaveAndRestore<std::optional<Location>> inside(callLoc_, locationOf(call));
  SmallVector<Value> args =
      llvm::map_to_vector(call->getOperands(), [&](Value operand) { return lookup(operand); });
  FailureOr<SmallVector<Value>> results = importRegion(function, function.getBody(), args);
  callStack_.pop_back();
  return results;
}

/// Shardings that an operation's result may carry itself: those of an operation that computes one
/// tensor, in the step or in a loop or branch of it.
static bool mayCarry(Operation *op, const WrittenSharding &written) {
  return op && op->getNumResults() == 1 && !isa<ReshardOp>(op) && !op->hasAttr(kShardingsAttr) &&
         written.openDims.empty();
}

FailureOr<Value> Importer::constrain(Operation *source, Value value, unsigned index) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *parent = b.getInsertionBlock()->getParentOp();
  if (!type || type.getNumElements() == 0 || isa_and_present<arith::ConstantOp>(op) ||
      !isa<func::FuncOp, scf::IfOp, scf::ForOp, scf::WhileOp>(parent))
    return value;
  // Shardy's operations have it under a name of their own.
  DictionaryAttr attrs = source->getDiscardableAttrDictionary();
  if (Attribute own = source->getAttr("sharding"))
    attrs = b.getDictionaryAttr(b.getNamedAttr("sdy.sharding", own));
  else if (Attribute options = source->getAttr("backend_config"))
    attrs = DictionaryAttr::get(
        b.getContext(),
        llvm::to_vector(llvm::concat<const NamedAttribute>(
            attrs.getValue(), ArrayRef{b.getNamedAttr("backend_config", options)})));
  FailureOr<WrittenSharding> written =
      shardings_.get(attrs, type.getRank(), locationOf(source), index);
  if (failed(written))
    return failure();
  if (!written->sharding)
    return value;
  const bool isConstraint = source->getNumOperands() == 1 && lookup(source->getOperand(0)) == value;
  if (!mayCarry(op, *written) || (isConstraint && !source->getOperand(0).hasOneUse()))
    return pin(value, *written);
  op->setAttr(kShardingsAttr, b.getArrayAttr(written->sharding));
  return value;
}

Value Importer::pin(Value value, const WrittenSharding &written) {
  auto pin = ReshardOp::create(b, value, written.sharding, written.sharding);
  SmallVector<Attribute> replicated(written.replicated.begin(), written.replicated.end());
  pin->setAttr(
      kPinAttr,
      b.getDictionaryAttr({b.getNamedAttr(kPinOpenDims, b.getDenseI64ArrayAttr(written.openDims)),
                           b.getNamedAttr(kPinReplicated, b.getArrayAttr(replicated))}));
  return pin.getResult();
}

void Importer::pinResult(func::FuncOp step, unsigned index, const WrittenSharding &written) {
  Operation *terminator = step.getBody().front().getTerminator();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(terminator);
  b.setLoc(terminator->getLoc());
  terminator->setOperand(index, pin(terminator->getOperand(index), written));
}

/// Shardings that may stand on any operation.
LogicalResult Importer::constrainResults(Operation *op) {
  if (inScalarBody_ || !(op->hasAttr("sdy.sharding") || op->hasAttr("mhlo.sharding")))
    return success();
  for (OpResult result : op->getResults()) {
    FailureOr<Value> value = constrain(op, lookup(result), result.getResultNumber());
    if (failed(value))
      return failure();
    map(result, *value);
  }
  return success();
}

LogicalResult Importer::checkOp(Operation *op, const Rule &rule) {
  auto check = [&](int wanted, unsigned found, StringRef what) -> LogicalResult {
    if (wanted < 0 || static_cast<unsigned>(wanted) == found)
      return success();
    return op->emitOpError() << "needs " << wanted << " " << what << ", not " << found;
  };
  if (failed(check(rule.operands, op->getNumOperands(), "operands")) ||
      failed(check(rule.results, op->getNumResults(), "results")) ||
      failed(check(rule.regions, op->getNumRegions(), "regions")))
    return failure();
  if (op->getNumSuccessors() != 0)
    return op->emitOpError("cannot have successors");
  if (inScalarBody_ && !rule.inScalarBody)
    return op->emitOpError("cannot be imported inside the region of a reduction or scatter");
  for (Value operand : op->getOperands())
    if (!lookup(operand))
      return op->emitOpError(inScalarBody_ ? "uses a value from outside the scalar body"
                                           : "uses a value before its definition");
  if (inScalarBody_)
    for (Value result : op->getResults())
      if (convertChecked(result.getType()).getRank() != 0)
        return op->emitOpError("must have rank 0 inside the region of a reduction or scatter");
  return success();
}

LogicalResult Importer::cloneOp(Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value imported = lookup(operand);
    if (!imported || inScalarBody_)
      return op->emitOpError("cannot be imported inside the region of a reduction or scatter");
    mapping.map(operand, imported);
  }
  Operation *clone = b.clone(*op, mapping);
  clone->setLoc(b.getLoc());
  for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults()))
    map(from, to);
  return success();
}

/// No operation is built for tensors without elements.
bool Importer::importEmpty(Source &src) {
  bool isEmpty = !inScalarBody_ && src.op->getNumResults() > 0 &&
                 llvm::all_of(src.op->getResultTypes(),
                              [](Type type) { return convertChecked(type).getNumElements() == 0; });
  for (unsigned i = 0; isEmpty && i < src.op->getNumResults(); ++i)
    map(src.op->getResult(i),
        tensor::EmptyOp::create(b, src.tensor(i).getShape(), src.tensor(i).getElementType()));
  return isEmpty;
}

LogicalResult Importer::importOp(Operation *op) {
  // Calls are inlined, so a small text can describe an enormous program.
  constexpr int64_t kMaxOps = int64_t{1} << 22;
  if (++numOps_ > kMaxOps)
    return op->emitOpError("makes the program larger than 2^22 operations after inlining");
  // A handler may import regions and then build more with its own location.
  Location outer = b.getLoc();
  b.setLoc(locationOf(op));
  llvm::scope_exit restore([&] { b.setLoc(outer); });
  const Rule *rule = findRule(op->getName().getStringRef());
  if (!rule)
    return cloneOp(op);
  if (failed(checkOp(op, *rule)))
    return failure();
  Source src(*this, op, b);
  if (!importEmpty(src) && failed(rule->handler(src)))
    return failure();
  return constrainResults(op);
}

} // namespace mlir::coll::stablehlo
