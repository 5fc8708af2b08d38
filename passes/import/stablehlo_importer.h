//===- stablehlo_importer.h - shared parts of the StableHLO front end --*- C++ -*-===//
//
// The importer rebuilds a function operation by operation: a table maps each source
// operation's name to a handler, which reads the source and builds its replacement.
// Source operations are unregistered, so nothing about them has been verified: the
// dispatcher checks counts and types against the table, the handler checks the rest,
// and every error is reported on the source operation.
//
// Inside the region of a reduction or scatter (a "scalar body"), tensor<T> is rebuilt
// as the scalar T; the same handlers serve both.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_IMPORTER_H
#define COLL_PASSES_IMPORT_STABLEHLO_IMPORTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/import/stablehlo_shardings.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace mlir::coll::stablehlo {

/// How an operation treats the elements of a source type. i1 is Bool; unsigned
/// types become signless ones, so the kind is always asked of the source type.
enum class ElementKind { Float, Signed, Unsigned, Bool };
ElementKind kindOf(Type source);

/// The imported form of a source type: a static ranked tensor of signless
/// elements. Null, with the reason in `why`, if there is none.
RankedTensorType convertType(Type source, std::string &why);

/// The type of an argument or result of the step: integers of four bits are bytes there.
RankedTensorType boundaryType(Type source);

class Importer;

/// One source operation, as its handler sees it.
class Source {
public:
  Source(Importer &importer, Operation *op, ImplicitLocOpBuilder &b)
      : importer(importer), op(op), b(b) {}

  Importer &importer;
  Operation *op;
  /// Builds at the current position, with the operation's location.
  ImplicitLocOpBuilder &b;

  StringRef name() const { return op->getName().getStringRef(); }
  /// The imported operands.
  Value operand(unsigned index) const;
  SmallVector<Value> operands() const;
  /// Imported types; scalars in a scalar body.
  Type type(unsigned result = 0) const;
  /// Imported tensor types, also in a scalar body.
  RankedTensorType operandTensor(unsigned index) const;
  RankedTensorType tensor(unsigned result = 0) const;
  ElementKind operandKind(unsigned index) const { return kindOf(op->getOperand(index).getType()); }
  ElementKind kind(unsigned result = 0) const { return kindOf(op->getResult(result).getType()); }

  LogicalResult error(const Twine &message) const;
  /// Sets the results; their types must be the imported result types.
  LogicalResult finish(ValueRange results) const;
};

using Handler = LogicalResult (*)(Source &);

/// What the dispatcher checks before it calls a handler; -1 means any number.
struct Rule {
  StringLiteral name;
  Handler handler;
  int operands;
  int results;
  int regions;
  bool inScalarBody;
};

/// The rule of an operation, or null.
const Rule *findRule(StringRef name);

/// Why an operation that is known by name is not imported; empty if unknown.
StringRef refusalReason(StringRef name);

class Importer {
public:
  Importer(ModuleOp module, Shardings &shardings);

  /// Rebuilds the body of `source` in `target`, which has the imported type and
  /// no body yet. Calls are inlined.
  LogicalResult importBody(func::FuncOp source, func::FuncOp target);

  Value lookup(Value source) const { return values_.lookup(source); }
  void map(Value source, Value imported) { values_[source] = imported; }
  bool inScalarBody() const { return inScalarBody_; }

  /// Rebuilds a one-block region at the current position with `args` as its block
  /// arguments, and returns what its terminator returns. `owner` gets the errors.
  FailureOr<SmallVector<Value>> importRegion(Operation *owner, Region &region, ValueRange args);
  /// The same, as a scalar body.
  FailureOr<SmallVector<Value>> importScalarRegion(Operation *owner, Region &region,
                                                   ValueRange args);
  /// Rebuilds the body of function `callee` in place of `call`.
  FailureOr<SmallVector<Value>> inlineCall(Operation *call, StringRef callee);
  /// `value` with the sharding that `source` asks for it or for its result `index`: recorded at the
  /// operation that computes it, or in a reshard behind it.
  FailureOr<Value> constrain(Operation *source, Value value, unsigned index = 0);
  /// A reshard (a pin) that keeps `value` in the sharding `written`, whatever operation computes
  /// it.
  Value pin(Value value, const WrittenSharding &written);
  /// The same for a result of the function `step`, whose body has been imported.
  void pinResult(func::FuncOp step, unsigned index, const WrittenSharding &written);

  ImplicitLocOpBuilder b;

private:
  LogicalResult importOp(Operation *op);
  bool importEmpty(Source &src);
  /// Copies an operation of coll unchanged.
  LogicalResult cloneOp(Operation *op);
  LogicalResult constrainResults(Operation *op);
  LogicalResult checkOp(Operation *op, const Rule &rule);
  Location locationOf(Operation *op) const;

  SymbolTable symbols_;
  Shardings &shardings_;
  DenseMap<Value, Value> values_;
  llvm::SetVector<Operation *> callStack_;
  std::optional<Location> callLoc_;
  int64_t numOps_ = 0;
  bool inScalarBody_ = false;
};

/// Checks every operation and type that `entry` reaches, and reports in one error everything that
/// cannot be imported: each kind, its count and its first place.
LogicalResult checkSupported(ModuleOp module, func::FuncOp entry);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_IMPORTER_H
