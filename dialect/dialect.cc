//===- dialect.cc - registration and discardable attributes -------------------===//

#include "dialect/dialect.h"
#include "dialect/attention.h"
#include "dialect/convolution.h"
#include "dialect/epilogue.h"
#include "dialect/signature.h"

#include "dialect/asm.h"
#include "dialect/notes.h"
#include "dialect/pin.h"
#include "dialect/sharding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::coll;

#include "dialect/dialect.cc.inc"
#include "dialect/enums.cc.inc"
#include "dialect/interfaces.cc.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attrs.cc.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/types.cc.inc"

#define GET_OP_CLASSES
#include "dialect/ops.cc.inc"

namespace {

/// Every operation is legal in the function into which its own is inlined.
struct CollInliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void CollDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/attrs.cc.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/types.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/ops.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/attention_ops.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/convolution_ops.cc.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/epilogue_ops.cc.inc"
      >();
  addInterfaces<CollInliner>();
}

Operation *CollDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void coll::detail::addCommunicationEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), CommunicationResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), CommunicationResource::get());
}

bool coll::detail::canShareCall(Operation *communication) {
  return isa<AllReduceOp, ReduceOp, BroadcastOp>(communication) &&
         communication->getNumOperands() == 1 && communication->getNumResults() == 1;
}

bool coll::detail::isSameCall(Operation *communication, Operation *other) {
  auto getElement = [](Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()); };
  return communication->getName() == other->getName() && canShareCall(other) &&
         getElement(communication) == getElement(other) &&
         communication->getName().compareOpProperties(communication->getPropertiesStorage(),
                                                      other->getPropertiesStorage());
}

void StartOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  coll::detail::addCommunicationEffects(effects);
}

void AwaitOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  coll::detail::addCommunicationEffects(effects);
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// The attribute is one of `choices`.
static LogicalResult verifyChoice(EmitError emitError, NamedAttribute attribute,
                                  ArrayRef<StringRef> choices) {
  auto value = dyn_cast<StringAttr>(attribute.getValue());
  if (value && llvm::is_contained(choices, value.getValue()))
    return success();
  InFlightDiagnostic diagnostic = emitError() << attribute.getName().getValue() << " must be ";
  llvm::interleave(
      choices, [&](StringRef choice) { diagnostic << '"' << choice << '"'; },
      [&] { diagnostic << " or "; });
  return diagnostic << ", but is " << attribute.getValue();
}

static LogicalResult verifyString(EmitError emitError, NamedAttribute attribute) {
  if (isa<StringAttr>(attribute.getValue()))
    return success();
  return emitError() << attribute.getName().getValue() << " must be a string, but is "
                     << attribute.getValue();
}

/// The attribute is a sharding that a value of `type` can have, seen from `op`.
static LogicalResult verifySharding(EmitError emitError, Operation *op, Attribute attribute,
                                    Type type) {
  if (isa<UnitAttr>(attribute) && !isa<RankedTensorType>(type))
    return success();
  auto sharding = dyn_cast<ShardingAttr>(attribute);
  if (!sharding)
    return emitError() << "expected a #coll.sharding, but found " << attribute;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError() << "only a tensor of static shape has a sharding, but its value is " << type;
  if (static_cast<int64_t>(sharding.getDims().size()) != tensor.getRank())
    return emitError() << "sharding has " << sharding.getDims().size()
                       << " dimensions, but its value is " << type;
  return coll::detail::verifyShardingSymbols(emitError, op, sharding);
}

static LogicalResult refuse(EmitError emitError, NamedAttribute attribute) {
  return emitError() << "attribute " << attribute.getName() << " is unknown here";
}

/// Attributes that function arguments and results share.
static LogicalResult verifyBoundaryAttribute(EmitError emitError, Operation *op,
                                             NamedAttribute attribute, Type type) {
  StringRef name = attribute.getName();
  if (name == kNameAttr)
    return verifyString(emitError, attribute);
  if (name == kShardingAttr)
    return verifySharding(emitError, op, attribute.getValue(), type);
  if (name == kGlobalTypeAttr) {
    auto global = dyn_cast<TypeAttr>(attribute.getValue());
    auto globalTensor = global ? dyn_cast<RankedTensorType>(global.getValue()) : nullptr;
    auto local = dyn_cast<ShapedType>(type);
    if (!globalTensor || !local || !local.hasRank() || local.getRank() != globalTensor.getRank() ||
        local.getElementType() != globalTensor.getElementType())
      return emitError() << name << " must be a tensor type of the rank and element type of "
                         << type << ", but is " << attribute.getValue();
    return success();
  }
  if (name == kIndexAttr) {
    auto index = dyn_cast<IntegerAttr>(attribute.getValue());
    if (index && index.getType().isInteger(64) && index.getInt() >= 0)
      return success();
    return emitError() << name << " must be an i64 that is at least 0, but is "
                       << attribute.getValue();
  }
  return refuse(emitError, attribute);
}

/// Dictionaries of name, offset, state and type: what coll-place-roots has put into the argument.
static LogicalResult verifyParts(EmitError emitError, NamedAttribute attribute) {
  auto isPart = [](Attribute entry) {
    auto part = dyn_cast<DictionaryAttr>(entry);
    auto hasIndex = [&](StringRef name) {
      auto number = part.getAs<IntegerAttr>(name);
      return number && number.getValue().getSignificantBits() <= 64 && number.getInt() >= 0;
    };
    auto type = part ? part.getAs<TypeAttr>("type") : TypeAttr();
    auto tensor = type ? dyn_cast<RankedTensorType>(type.getValue()) : nullptr;
    return tensor && tensor.hasStaticShape() && part.getAs<StringAttr>("name") &&
           hasIndex("offset") && hasIndex("state");
  };
  auto parts = dyn_cast<ArrayAttr>(attribute.getValue());
  if (parts && llvm::all_of(parts, isPart))
    return success();
  return emitError() << kPartsAttr << " must be an array of {name, offset, state, type}, but is "
                     << attribute.getValue();
}

LogicalResult CollDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                                    unsigned argIndex, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || argIndex >= function.getNumArguments())
    return success();
  auto emitError = [&] { return op->emitOpError("argument ") << argIndex << ": "; };
  StringRef name = attribute.getName();
  if (name == kRoleAttr)
    return verifyChoice(emitError, attribute, {kRoleState, kRoleBatch});
  if (name == kPartsAttr)
    return verifyParts(emitError, attribute);
  if (name == kAccessAttr)
    return verifyChoice(emitError, attribute, {"read", "write", "readwrite"});
  if (name == kMayAliasAttr) {
    if (isa<DenseI64ArrayAttr>(attribute.getValue()))
      return success();
    return emitError() << name << " must be an array<i64>, but is " << attribute.getValue();
  }
  return verifyBoundaryAttribute(emitError, op, attribute, function.getArgumentTypes()[argIndex]);
}

LogicalResult CollDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                                       unsigned resultIndex,
                                                       NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || resultIndex >= function.getNumResults())
    return success();
  auto emitError = [&] { return op->emitOpError("result ") << resultIndex << ": "; };
  return verifyBoundaryAttribute(emitError, op, attribute, function.getResultTypes()[resultIndex]);
}

/// A dictionary of `open_dims`, dimensions of the value, and `replicated`, axes of its mesh.
static LogicalResult verifyPin(EmitError emitError, Operation *op, NamedAttribute attribute) {
  auto reshard = dyn_cast<ReshardOp>(op);
  if (!reshard || reshard.getSource() != reshard.getTarget())
    return emitError() << kPinAttr << " is for a coll.reshard from a sharding to the same one";
  auto pin = dyn_cast<DictionaryAttr>(attribute.getValue());
  auto dims = pin ? pin.getAs<DenseI64ArrayAttr>(kPinOpenDims) : DenseI64ArrayAttr();
  auto axes = pin ? pin.getAs<ArrayAttr>(kPinReplicated) : ArrayAttr();
  const int64_t rank = reshard.getTarget().getDims().size();
  auto isDim = [&](int64_t dim) { return dim >= 0 && dim < rank; };
  if (dims && axes && pin.size() == 2 && llvm::all_of(dims.asArrayRef(), isDim) &&
      llvm::all_of(axes, [](Attribute axis) { return isa<StringAttr>(axis); }))
    return success();
  return emitError() << kPinAttr << " must be a dictionary of " << kPinOpenDims
                     << ", an array<i64> of dimensions below " << rank << ", and " << kPinReplicated
                     << ", an array of axes, but is " << attribute.getValue();
}

LogicalResult CollDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  auto emitError = [&] { return op->emitOpError(); };
  StringRef name = attribute.getName();
  if (name == kWhyAttr)
    return verifyString(emitError, attribute);
  if (name == kKernelAttr)
    return success();
  if (name == kPrecisionAttr)
    return verifyChoice(emitError, attribute, {kPrecisionHighest, kPrecisionHigh});
  if (name == kStageAttr) {
    auto stage = dyn_cast<IntegerAttr>(attribute.getValue());
    if (stage && stage.getValue().isNonNegative() && stage.getValue().getActiveBits() < 31)
      return success();
    return emitError() << name << " must be the number of a stage, from 0, but is "
                       << attribute.getValue();
  }
  if (name == kCauseAttr || name == kDecisionAttr || name == kPipelineAttr) {
    if (isa<DictionaryAttr>(attribute.getValue()))
      return success();
    return emitError() << name << " must be a dictionary, but is " << attribute.getValue();
  }
  if (name == kTensorsAttr) {
    auto tensors = dyn_cast<ArrayAttr>(attribute.getValue());
    if (tensors && llvm::all_of(tensors, [](Attribute tensor) {
          auto notes = dyn_cast<DictionaryAttr>(tensor);
          auto type = notes ? notes.getAs<TypeAttr>("type") : TypeAttr();
          return type && isa<RankedTensorType>(type.getValue()) && notes.getAs<LocationAttr>("loc");
        }))
      return success();
    return emitError() << name << " must be an array of dictionaries with a tensor's type and loc, "
                       << "but is " << attribute.getValue();
  }
  if (name == kPinAttr)
    return verifyPin(emitError, op, attribute);
  if (name != kShardingsAttr)
    return refuse(emitError, attribute);
  auto shardings = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!shardings || shardings.size() != op->getNumResults())
    return emitError() << name << " must be an array of one sharding per result, but is "
                       << attribute.getValue();
  for (auto [index, sharding] : llvm::enumerate(shardings)) {
    auto emitResultError = [&, index = index] {
      return op->emitOpError("result ") << index << ": ";
    };
    if (failed(verifySharding(emitResultError, op, sharding, op->getResult(index).getType())))
      return failure();
  }
  return success();
}
