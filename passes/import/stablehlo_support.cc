//===- stablehlo_support.cc - what can be imported -------------------------------===//

#include "passes/import/stablehlo_callbacks.h"
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
constexpr StringLiteral kComplex = "complex numbers are not supported; carry real and "
                                   "imaginary parts as two arrays";
constexpr StringLiteral kDynamic = "shapes must be static";
constexpr StringLiteral kShardMap =
    "shard_map is not supported: the step must be written for one device; coll inserts the "
    "collectives, and jax.lax.with_sharding_constraint says how values are split";
constexpr StringLiteral kSolver =
    "linear solvers and decompositions are not supported; solve by iterations "
    "(jax.scipy.sparse.linalg.cg), or outside of the step";
constexpr StringLiteral kFourier = "Fourier transforms are not supported; multiply by the matrices "
                                   "of cosines and sines";
constexpr StringLiteral kPython = "a step cannot use what Python computes; write it in jax.numpy, "
                                  "or compute it before the step";
constexpr StringLiteral kQuantized = "quantized types are not supported";
constexpr StringLiteral kHost = "communication with the host is not supported inside a step";
constexpr StringLiteral kRandom = "its random bits are not defined by the program; use jax.random";

constexpr Refusal kRefusals[] = {
    {"sdy.manual_computation", kShardMap},
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
    {"stablehlo.fft", kFourier},
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

/// Why a custom call is refused, by its target.
StringRef refuseTarget(Operation *op, StringRef target) {
  if (isPythonCallback(op))
    return kPython;
  if (target.contains("lapack_") || target.contains("cusolver") || target.contains("cublas_trsm"))
    return kSolver;
  if (target.contains("fft"))
    return kFourier;
  if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
      target == "xla.sdy.GlobalToLocalShape" || target == "xla.sdy.LocalToGlobalShape")
    return kShardMap;
  return "the called function is not known";
}

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

/// Whether a location leads to a line of a file.
bool hasLine(Location loc) {
  return loc
      ->walk([](Location inner) {
        return isa<FileLineColLoc>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// `call` is where the function around `op` is called. JAX gives the functions of its own library
/// (jnp.linalg, jnp.fft) no lines.
void checkOperation(Problems &problems, Operation *op, std::optional<Location> call) {
  StringRef name = op->getName().getStringRef();
  auto locate = [&](Location loc) { return call && !hasLine(loc) ? *call : loc; };
  Location loc = locate(op->getLoc());
  for (Type type : op->getResultTypes())
    checkType(problems, type, loc);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments())
        checkType(problems, arg.getType(), locate(arg.getLoc()));
  if (name == "stablehlo.return" || name == "func.return" || name == "func.func" ||
      name == "sdy.return" || isDroppableCallback(op) ||
      (op->isRegistered() && op->getName().getDialectNamespace() == "coll" &&
       op->getNumRegions() == 0))
    return;
  if (name == "stablehlo.custom_call") {
    auto target = op->getAttrOfType<StringAttr>("call_target_name");
    StringRef targetName = target ? target.getValue() : "";
    if (!llvm::is_contained(kIdentityCalls, targetName))
      add(problems, name + " @" + targetName, loc, refuseTarget(op, targetName));
    return;
  }
  if (!findRule(name))
    add(problems, name, loc, refusalReason(name));
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
  // The functions that are reached, each with the place of its first call.
  llvm::MapVector<Operation *, std::optional<Location>> reached;
  reached.insert({entry, std::nullopt});
  for (size_t next = 0; next < reached.size(); ++next) {
    auto [function, call] = *(reached.begin() + next);
    function->walk<WalkOrder::PreOrder>([&, call = call](Operation *op) {
      if (findBranchWithoutError(op))
        return WalkResult::skip(); // the other branch is left out
      checkOperation(problems, op, call);
      if (func::FuncOp callee = calleeOf(op, symbols))
        reached.insert({callee, call && !hasLine(op->getLoc()) ? *call : op->getLoc()});
      return WalkResult::advance();
    });
  }
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
