//===- stablehlo_support.cc - what can be imported -------------------------------===//

#include "passes/import/stablehlo_importer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

struct Refusal {
  StringLiteral name;
  StringLiteral reason;
};

constexpr StringLiteral kOneDevice = "the step must be written for one device";
constexpr StringLiteral kComplex = "complex numbers are not supported";
constexpr StringLiteral kDynamic = "shapes must be static";
constexpr StringLiteral kSolver = "linear solvers are not supported";
constexpr StringLiteral kQuantized = "quantized types are not supported";
constexpr StringLiteral kHost = "communication with the host is not supported inside a step";
constexpr StringLiteral kRandom = "its random bits are not defined by the program; use jax.random";

constexpr Refusal kRefusals[] = {
    {"stablehlo.all_gather", kOneDevice},
    {"stablehlo.all_reduce", kOneDevice},
    {"stablehlo.all_to_all", kOneDevice},
    {"stablehlo.cholesky", kSolver},
    {"stablehlo.collective_broadcast", kOneDevice},
    {"stablehlo.collective_permute", kOneDevice},
    {"stablehlo.complex", kComplex},
    {"stablehlo.dynamic_broadcast_in_dim", kDynamic},
    {"stablehlo.dynamic_conv", kDynamic},
    {"stablehlo.dynamic_gather", kDynamic},
    {"stablehlo.dynamic_iota", kDynamic},
    {"stablehlo.dynamic_pad", kDynamic},
    {"stablehlo.dynamic_reshape", kDynamic},
    {"stablehlo.fft", kComplex},
    {"stablehlo.get_dimension_size", kDynamic},
    {"stablehlo.imag", kComplex},
    {"stablehlo.infeed", kHost},
    {"stablehlo.outfeed", kHost},
    {"stablehlo.partition_id", kOneDevice},
    {"stablehlo.real", kComplex},
    {"stablehlo.recv", kHost},
    {"stablehlo.reduce_scatter", kOneDevice},
    {"stablehlo.replica_id", kOneDevice},
    {"stablehlo.rng", kRandom},
    {"stablehlo.send", kHost},
    {"stablehlo.triangular_solve", kSolver},
    {"stablehlo.uniform_dequantize", kQuantized},
    {"stablehlo.uniform_quantize", kQuantized},
};

/// Custom calls that pass their operand on.
constexpr StringLiteral kIdentityCalls[] = {"Sharding", "xla.sdy.FuncResultSharding"};

struct Problem {
  int64_t count = 0;
  Location first;
  std::string reason;
};
using Problems = llvm::MapVector<StringAttr, Problem>;

std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void add(Problems &problems, const Twine &kind, Location loc, StringRef reason) {
  Problem fresh{0, loc, reason.str()};
  ++problems.insert({StringAttr::get(loc.getContext(), kind), fresh}).first->second.count;
}

void checkType(Problems &problems, Type type, Location loc) {
  std::string why;
  if (!convertType(type, why))
    add(problems, "type " + toString(type), loc, "it " + why);
}

void checkOperation(Problems &problems, Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (Type type : op->getResultTypes())
    checkType(problems, type, op->getLoc());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments())
        checkType(problems, arg.getType(), arg.getLoc());
  if (name == "stablehlo.return" || name == "func.return" || name == "func.func" ||
      (op->isRegistered() && op->getName().getDialectNamespace() == "coll" &&
       op->getNumRegions() == 0))
    return;
  if (name == "stablehlo.custom_call") {
    auto target = op->getAttrOfType<StringAttr>("call_target_name");
    StringRef targetName = target ? target.getValue() : "";
    if (!llvm::is_contained(kIdentityCalls, targetName))
      add(problems, name + " @" + targetName, op->getLoc(), "the called function is not known");
    return;
  }
  if (!findRule(name))
    add(problems, name, op->getLoc(), refusalReason(name));
}

/// The function that an operation calls, or null.
func::FuncOp calleeOf(Operation *op, const SymbolTable &symbols) {
  StringRef name = op->getName().getStringRef();
  StringRef attribute = name == "func.call"             ? "callee"
                        : name == "stablehlo.composite" ? "decomposition"
                                                        : "";
  if (attribute.empty())
    return {};
  auto callee = op->getAttrOfType<FlatSymbolRefAttr>(attribute);
  return callee ? symbols.lookup<func::FuncOp>(callee.getValue()) : func::FuncOp();
}

} // namespace

StringRef refusalReason(StringRef name) {
  for (const Refusal &refusal : kRefusals)
    if (refusal.name == name)
      return refusal.reason;
  return {};
}

LogicalResult checkSupported(ModuleOp module, func::FuncOp entry) {
  SymbolTable symbols(module);
  Problems problems;
  llvm::SetVector<Operation *> reached;
  reached.insert(entry);
  for (size_t next = 0; next < reached.size(); ++next)
    reached[next]->walk([&](Operation *op) {
      checkOperation(problems, op);
      if (func::FuncOp callee = calleeOf(op, symbols))
        reached.insert(callee);
    });
  if (problems.empty())
    return success();
  InFlightDiagnostic diag = emitError(problems.front().second.first)
                            << "cannot import " << problems.size()
                            << (problems.size() == 1 ? " kind" : " kinds")
                            << " of operation or type";
  for (auto &[kind, problem] : problems) {
    Diagnostic &note = diag.attachNote(problem.first);
    note << kind.getValue() << ", " << problem.count << (problem.count == 1 ? " time" : " times");
    if (!problem.reason.empty())
      note << ": " << problem.reason;
  }
  return diag;
}

} // namespace mlir::coll::stablehlo
