//===- dialect.h - the coll dialect -----------------------------------*- C++ -*-===//
//
// Everything that ops.td and attrs.td declare. Include this to use the dialect.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_DIALECT_H
#define COLL_DIALECT_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "dialect/dialect.h.inc"
#include "dialect/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/types.h.inc"

#include "dialect/interfaces.h.inc"

namespace mlir::coll {

/// The resource that communication operations read and write, so that no pass erases, duplicates or
/// reorders them.
struct CommunicationResource : SideEffects::Resource::Base<CommunicationResource> {
  StringRef getName() final { return "Communication"; }
};

/// Position p of a group sends to position p + by; modulo the size of the group where it wraps.
struct PermuteShift {
  int64_t by;
  bool wraps;
};

namespace detail {

/// Adds the effects of a communication operation.
void addCommunicationEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

/// Whether several such operations can be one call: an all_reduce, a reduce or a broadcast, which
/// treat elements alike wherever they are. The runtime then also accepts one buffer as source and
/// destination. False for one that its verifier is yet to reject.
bool canShareCall(Operation *communication);

/// Whether `other` differs from one that canShareCall() in nothing but its tensors and shapes.
bool isSameCall(Operation *communication, Operation *other);

/// Size of `group`, or nullopt after an error at `op` if its mesh or one of its axes does not
/// exist.
std::optional<int64_t> verifyGroup(Operation *op, GroupAttr group);

/// The mesh of `sharding`, looked up from `op`, exists and has its axes.
LogicalResult verifyShardingSymbols(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    Operation *op, ShardingAttr sharding);

} // namespace detail
} // namespace mlir::coll

#define GET_OP_CLASSES
#include "dialect/ops.h.inc"

namespace mlir::coll {

// Names of the dialect's discardable attributes; see base.td.
inline constexpr llvm::StringLiteral kRoleAttr = "coll.role";
inline constexpr llvm::StringLiteral kNameAttr = "coll.name";
inline constexpr llvm::StringLiteral kPartsAttr = "coll.parts";
inline constexpr llvm::StringLiteral kShardingAttr = "coll.sharding";
inline constexpr llvm::StringLiteral kShardingsAttr = "coll.shardings";
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "coll.global_type";
inline constexpr llvm::StringLiteral kWhyAttr = "coll.why";

inline constexpr llvm::StringLiteral kAccessAttr = "coll.access";
// On the outermost scf.for of a nest that is one kernel. Without it a loop belongs
// to the driver.
inline constexpr llvm::StringLiteral kKernelAttr = "coll.kernel";

/// On a contraction: "highest" forbids to round its f32 factors, "high" to less than 11 significant
/// bits. Absent, the compiler's options decide.
inline constexpr llvm::StringLiteral kPrecisionAttr = "coll.precision";
inline constexpr llvm::StringLiteral kPrecisionHighest = "highest";
inline constexpr llvm::StringLiteral kPrecisionHigh = "high";
inline constexpr llvm::StringLiteral kMayAliasAttr = "coll.may_alias";

inline constexpr llvm::StringLiteral kRoleState = "state";
inline constexpr llvm::StringLiteral kRoleBatch = "batch";

// Names of the functions of a step: `@step` runs once per step, `@init` once
// before the first.
inline constexpr llvm::StringLiteral kStepFunction = "step";
inline constexpr llvm::StringLiteral kInitFunction = "init";

} // namespace mlir::coll

#endif // COLL_DIALECT_DIALECT_H
