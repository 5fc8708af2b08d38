//===- stablehlo.cc - the front end for StableHLO in generic form ----------------===//
//
// The table of operations is the contents of this folder. Around it: which
// function is the step, and what role each of its arguments has.
//
// Roles, in this order of precedence: `coll.role` on the argument; `state-args`;
// `state-prefix`; otherwise the leading arguments that share the root of the first
// one's name (`s` in `s[0]['w']`), provided that as many leading results have
// their types. JAX keeps argument names only in the locations of block arguments.
//
//===----------------------------------------------------------------------------===//

#include "dialect/dialect.h"
#include "dialect/signature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/import/stablehlo_elementwise.h"
#include "passes/import/stablehlo_handlers.h"
#include "passes/passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::coll {

#define GEN_PASS_DEF_IMPORTSTABLEHLOPASS
#include "passes/passes.h.inc"

namespace stablehlo {

namespace {

// clang-format off
// Name, handler, operands, results, regions (-1: any number), allowed in scalar
// bodies. Elementwise operations of one type are in stablehlo_elementwise.cc.
constexpr Rule kRules[] = {
    {"chlo.is_inf", importFloatClass, 1, 1, 0, true},
    {"chlo.is_neg_inf", importFloatClass, 1, 1, 0, true},
    {"chlo.is_pos_inf", importFloatClass, 1, 1, 0, true},
    {"chlo.top_k", importTopK, 1, 2, 0, false},
    {"func.call", importCall, -1, -1, 0, true},
    {"sdy.propagation_barrier", importIdentity, 1, 1, 0, false},
    {"sdy.reshard", importShardingConstraint, 1, 1, 0, false},
    {"sdy.sharding_constraint", importShardingConstraint, 1, 1, 0, false},
    {"sdy.sharding_group", importShardingGroup, 1, 0, 0, false},
    {"stablehlo.bitcast_convert", importBitcastConvert, 1, 1, 0, true},
    {"stablehlo.broadcast_in_dim", importBroadcastInDim, 1, 1, 0, true},
    {"stablehlo.case", importCase, 1, -1, -1, false},
    {"stablehlo.clamp", importClamp, 3, 1, 0, true},
    {"stablehlo.compare", importCompare, 2, 1, 0, true},
    {"stablehlo.composite", importComposite, -1, -1, 0, true},
    {"stablehlo.concatenate", importConcatenate, -1, 1, 0, false},
    {"stablehlo.constant", importConstant, 0, 1, 0, true},
    {"stablehlo.convert", importConvert, 1, 1, 0, true},
    {"stablehlo.convolution", importConvolution, 2, 1, 0, false},
    {"stablehlo.custom_call", importCustomCall, -1, -1, 0, false},
    {"stablehlo.dot_general", importDotGeneral, 2, 1, 0, false},
    {"stablehlo.dynamic_slice", importDynamicSlice, -1, 1, 0, false},
    {"stablehlo.dynamic_update_slice", importDynamicUpdateSlice, -1, 1, 0, false},
    {"stablehlo.gather", importGather, 2, 1, 0, false},
    {"stablehlo.if", importIf, 1, -1, 2, false},
    {"stablehlo.iota", importIota, 0, 1, 0, false},
    {"stablehlo.is_finite", importFloatClass, 1, 1, 0, true},
    {"stablehlo.optimization_barrier", importIdentity, -1, -1, 0, false},
    {"stablehlo.pad", importPad, 2, 1, 0, false},
    {"stablehlo.reduce", importReduce, -1, -1, 1, false},
    {"stablehlo.reduce_precision", importReducePrecision, 1, 1, 0, true},
    {"stablehlo.reduce_window", importReduceWindow, -1, -1, 1, false},
    {"stablehlo.reshape", importReshape, 1, 1, 0, true},
    {"stablehlo.reverse", importReverse, 1, 1, 0, false},
    {"stablehlo.rng_bit_generator", importRngBitGenerator, 1, 2, 0, false},
    {"stablehlo.scatter", importScatter, -1, -1, 1, false},
    {"stablehlo.select", importSelect, 3, 1, 0, true},
    {"stablehlo.select_and_scatter", importSelectAndScatter, 3, 1, 2, false},
    {"stablehlo.slice", importSlice, 1, 1, 0, false},
    {"stablehlo.sort", importSort, -1, -1, 1, false},
    {"stablehlo.transpose", importTranspose, 1, 1, 0, false},
    {"stablehlo.while", importWhile, -1, -1, 2, false},
};
// clang-format on

} // namespace

const Rule *findRule(StringRef name) {
  static const llvm::StringMap<const Rule *> byName = [] {
    llvm::StringMap<const Rule *> map;
    for (const Rule &rule : kRules)
      map[rule.name] = &rule;
    return map;
  }();
  if (const Rule *rule = byName.lookup(name))
    return rule;
  static constexpr Rule kUnary{"", importElementwise, 1, 1, 0, true};
  static constexpr Rule kBinary{"", importElementwise, 2, 1, 0, true};
  const ElementwiseRule *elementwise = findElementwise(name);
  if (!elementwise)
    return nullptr;
  return elementwise->operands == 1 ? &kUnary : &kBinary;
}

} // namespace stablehlo

namespace {

/// The step: the public function `main`, or the only public function.
FailureOr<func::FuncOp> findEntry(ModuleOp module) {
  SmallVector<func::FuncOp> candidates;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    if (func.getName() == "main")
      return func;
    candidates.push_back(func);
  }
  if (candidates.size() == 1)
    return candidates.front();
  return module.emitError() << "needs a public function @main, or exactly one public function, "
                               "but has "
                            << candidates.size() << " without that name";
}

/// The name that the front end gave an argument, or "argN".
std::string nameOf(func::FuncOp func, unsigned index) {
  if (auto name = func.getArgAttrOfType<StringAttr>(index, kNameAttr))
    return name.getValue().str();
  if (auto loc = dyn_cast<NameLoc>(func.getArgument(index).getLoc()))
    return loc.getName().str();
  return ("arg" + Twine(index)).str();
}

/// `s` of `s[0]['w']`.
StringRef rootOf(StringRef name) {
  return name.take_while([](char c) { return c != '[' && c != '.'; });
}

struct Roles {
  int64_t stateArgs = 0;
  SmallVector<std::string> names;
};

/// Number of leading arguments for which `isState` holds; an error if it holds for
/// a later one too.
FailureOr<int64_t> leadingState(func::FuncOp func, const Roles &roles,
                                llvm::function_ref<bool(unsigned)> isState) {
  int64_t count = 0, numArgs = func.getNumArguments();
  while (count < numArgs && isState(count))
    ++count;
  for (int64_t i = count; i < numArgs; ++i)
    if (isState(i))
      return func.emitError() << "state argument '" << roles.names[i]
                              << "' comes after batch argument '" << roles.names[count] << "'";
  return count;
}

/// Leading arguments of one root, if as many leading results have their types.
int64_t guessState(func::FuncOp func, const Roles &roles) {
  int64_t count = 0;
  // Without names it is not known which arguments belong together.
  if (func.getNumArguments() == 0 || !isa<NameLoc>(func.getArgument(0).getLoc()))
    return 0;
  for (; count < func.getNumArguments(); ++count)
    if (rootOf(roles.names[count]) != rootOf(roles.names.front()))
      break;
  ArrayRef<Type> args = func.getArgumentTypes(), results = func.getResultTypes();
  bool pairs = count <= static_cast<int64_t>(results.size()) &&
               args.take_front(count) == results.take_front(count);
  return pairs ? count : 0;
}

FailureOr<Roles> decideRoles(func::FuncOp func, int64_t stateArgs, StringRef statePrefix) {
  if (stateArgs < -1)
    return func.emitError() << "cannot have " << stateArgs << " state arguments";
  Roles roles;
  unsigned numArgs = func.getNumArguments();
  bool hasRoles = false;
  for (unsigned i = 0; i < numArgs; ++i) {
    roles.names.push_back(nameOf(func, i));
    hasRoles |= static_cast<bool>(func.getArgAttr(i, kRoleAttr));
  }
  FailureOr<int64_t> count = stateArgs;
  if (hasRoles) {
    count = leadingState(func, roles, [&](unsigned i) {
      auto role = func.getArgAttrOfType<StringAttr>(i, kRoleAttr);
      return role && role.getValue() == kRoleState;
    });
  } else if (stateArgs < 0 && !statePrefix.empty()) {
    count = leadingState(func, roles, [&](unsigned i) {
      return StringRef(roles.names[i]).starts_with(statePrefix);
    });
  } else if (stateArgs < 0) {
    count = guessState(func, roles);
  }
  if (failed(count))
    return failure();
  roles.stateArgs = *count;
  if (roles.stateArgs > numArgs)
    return func.emitError() << "has " << numArgs << " arguments, fewer than the " << roles.stateArgs
                            << " that are to be state";
  return roles;
}

/// Result k must update state argument k.
LogicalResult checkState(func::FuncOp func, const Roles &roles) {
  for (int64_t i = 0; i < roles.stateArgs; ++i) {
    if (i >= func.getNumResults())
      return func.emitError() << "has " << func.getNumResults() << " results, too few to update "
                              << roles.stateArgs << " state arguments: nothing updates '"
                              << roles.names[i] << "'";
    Type argument = func.getArgumentTypes()[i], result = func.getResultTypes()[i];
    if (argument != result)
      return func.emitError() << "result " << i << " of type " << result
                              << " cannot update state argument '" << roles.names[i] << "' of type "
                              << argument;
  }
  return success();
}

/// Keeps attributes of coll and drops those of other front ends.
NamedAttrList ownAttrs(DictionaryAttr attrs) {
  NamedAttrList own;
  if (attrs)
    for (NamedAttribute attr : attrs)
      if (attr.getName().getValue().starts_with("coll."))
        own.push_back(attr);
  return own;
}

/// The path of a result inside the value that the step returns besides its state: `['loss']` of
/// JAX's `result[1]['loss']`; empty if the result is that value.
StringRef pathOf(func::FuncOp func, unsigned result) {
  auto info = func.getResultAttrOfType<StringAttr>(result, "jax.result_info");
  if (!info)
    return {};
  StringRef path = info.getValue();
  path.consume_front("result");
  size_t end = path.starts_with("[") ? path.find(']') : StringRef::npos;
  return end == StringRef::npos ? path : path.drop_front(end + 1);
}

/// `loss` of `['loss']`, `.loss` and `[0].loss`; a number is no name.
StringRef lastPartOf(StringRef path) {
  size_t start = path.find_last_of("[.");
  StringRef last = start == StringRef::npos ? path : path.drop_front(start).trim("[].'\"");
  return llvm::all_of(last, llvm::isDigit) ? StringRef() : last;
}

/// Names for the results that update no state: the last part of their path if these parts differ,
/// else the name that JAX gives. The loss is the float scalar with the name `loss`, or the only
/// one.
SmallVector<std::string> nameResults(func::FuncOp func, int64_t stateArgs) {
  unsigned numResults = func.getNumResults();
  SmallVector<std::string> names(numResults);
  SmallVector<unsigned> scalars, losses;
  llvm::StringMap<int> uses;
  for (unsigned i = stateArgs; i < numResults; ++i) {
    StringRef last = lastPartOf(pathOf(func, i));
    ++uses[last];
    auto type = dyn_cast<RankedTensorType>(func.getResultTypes()[i]);
    if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      continue;
    scalars.push_back(i);
    if (last == "loss")
      losses.push_back(i);
  }
  for (unsigned i = stateArgs; i < numResults; ++i) {
    StringRef last = lastPartOf(pathOf(func, i));
    auto info = func.getResultAttrOfType<StringAttr>(i, "jax.result_info");
    if (!last.empty() && uses[last] == 1)
      names[i] = last.str();
    else if (info)
      names[i] = info.getValue().str();
  }
  if (losses.empty() && scalars.size() == 1 && pathOf(func, scalars[0]).empty())
    losses = scalars;
  if (losses.size() == 1 && stateArgs > 0)
    names[losses[0]] = "loss";
  return names;
}

/// @step, with the imported type and no body.
func::FuncOp createStep(func::FuncOp source, const Roles &roles) {
  MLIRContext *context = source.getContext();
  Builder b(context);
  auto convert = [](TypeRange types) {
    return llvm::map_to_vector(types,
                               [](Type type) -> Type { return stablehlo::boundaryType(type); });
  };
  auto type =
      b.getFunctionType(convert(source.getArgumentTypes()), convert(source.getResultTypes()));
  auto step = func::FuncOp::create(source.getLoc(), kStepFunction, type);
  SmallVector<DictionaryAttr> arguments, results;
  for (unsigned i = 0; i < source.getNumArguments(); ++i) {
    NamedAttrList attrs = ownAttrs(source.getArgAttrDict(i));
    StringRef role = i < roles.stateArgs ? StringRef(kRoleState) : StringRef(kRoleBatch);
    attrs.set(kRoleAttr, b.getStringAttr(role));
    attrs.set(kNameAttr, b.getStringAttr(roles.names[i]));
    arguments.push_back(attrs.getDictionary(context));
  }
  SmallVector<std::string> names = nameResults(source, roles.stateArgs);
  for (unsigned i = 0; i < source.getNumResults(); ++i) {
    NamedAttrList attrs = ownAttrs(source.getResultAttrDict(i));
    if (!names[i].empty() && !attrs.get(kNameAttr))
      attrs.set(kNameAttr, b.getStringAttr(names[i]));
    results.push_back(attrs.getDictionary(context));
  }
  step.setAllArgAttrs(arguments);
  step.setAllResultAttrs(results);
  return step;
}

/// A result of which some dimensions may be split in the cheapest way.
struct OpenResult {
  unsigned index;
  stablehlo::WrittenSharding written;
};

/// Reads the shardings that the text gives arguments and results.
FailureOr<SmallVector<OpenResult, 0>> annotate(func::FuncOp source, func::FuncOp step,
                                               stablehlo::Shardings &shardings) {
  auto rankOf = [](Type type) { return cast<RankedTensorType>(type).getRank(); };
  SmallVector<Attribute> arguments(step.getNumArguments()), results(step.getNumResults());
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto written = shardings.get(source.getArgAttrDict(i), rankOf(step.getArgumentTypes()[i]),
                                 source.getArgument(i).getLoc());
    if (failed(written))
      return failure();
    arguments[i] = written->sharding;
  }
  SmallVector<OpenResult, 0> open;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto written = shardings.get(source.getResultAttrDict(i), rankOf(step.getResultTypes()[i]),
                                 source.getLoc());
    if (failed(written))
      return failure();
    if (written->sharding && written->openDims.empty())
      results[i] = written->sharding;
    else if (written->sharding)
      open.push_back({i, *written});
  }
  setArgumentAttrs(step, kShardingAttr, arguments);
  setResultAttrs(step, kShardingAttr, results);
  return open;
}

/// If anything is sharded, the other arguments are replicated, and new state is sharded like the
/// old.
void completeShardings(func::FuncOp step, const Roles &roles,
                       const stablehlo::Shardings &shardings) {
  if (!shardings.isUsed())
    return;
  SmallVector<Attribute> arguments(step.getNumArguments()), results(step.getNumResults());
  for (auto [i, sharding] : llvm::enumerate(arguments)) {
    sharding = step.getArgAttr(i, kShardingAttr);
    if (!sharding)
      sharding = shardings.replicated(cast<RankedTensorType>(step.getArgumentTypes()[i]).getRank());
    if (static_cast<int64_t>(i) < roles.stateArgs)
      results[i] = sharding;
  }
  setArgumentAttrs(step, kShardingAttr, arguments);
  setResultAttrs(step, kShardingAttr, results);
}

/// Removes everything but @step and operations of coll from the module.
void replaceContents(ModuleOp module, func::FuncOp step) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (op.getName().getDialectNamespace() != "coll")
      op.erase();
  module.getBody()->push_back(step);
  for (NamedAttribute attr : llvm::to_vector(module->getDiscardableAttrs()))
    if (!attr.getName().getValue().starts_with("coll."))
      module->removeDiscardableAttr(attr.getName());
}

struct ImportStablehloPass : impl::ImportStablehloPassBase<ImportStablehloPass> {
  using ImportStablehloPassBase::ImportStablehloPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<CollDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                    math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    if (failed(import(getOperation())))
      signalPassFailure();
  }

  LogicalResult import(ModuleOp module) {
    FailureOr<func::FuncOp> entry = findEntry(module);
    if (failed(entry) || failed(stablehlo::checkSupported(module, *entry)))
      return failure();
    FailureOr<Roles> roles = decideRoles(*entry, stateArgs, statePrefix);
    if (failed(roles) || failed(checkState(*entry, *roles)))
      return failure();
    OwningOpRef<func::FuncOp> step = createStep(*entry, *roles);
    stablehlo::Shardings shardings(module);
    auto open = annotate(*entry, *step, shardings);
    stablehlo::Importer importer(module, shardings);
    if (failed(open) || failed(importer.importBody(*entry, *step)))
      return failure();
    for (const OpenResult &result : *open)
      importer.pinResult(*step, result.index, result.written);
    completeShardings(*step, *roles, shardings);
    replaceContents(module, step.release());
    shardings.createMesh(module);
    return success();
  }
};

} // namespace

} // namespace mlir::coll
