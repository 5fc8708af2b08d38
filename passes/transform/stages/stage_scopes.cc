//===- stage_scopes.cc -----------------------------------------------------------===//

#include "passes/transform/stages/stage_scopes.h"

#include "dialect/notes.h"
#include "passes/transform/strategy/shard_pattern.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::coll;

/// "transpose(jvp(GPT))" is "GPT".
static StringRef stripTransformations(StringRef name) {
  if (!name.contains('('))
    return name;
  StringRef inner = name.rsplit('(').second;
  return inner.take_until([](char c) { return c == ')'; });
}

void mlir::coll::markStage(Operation *op, int64_t stage) {
  MLIRContext *context = op->getContext();
  auto mark = NameLoc::get(StringAttr::get(context, kStageAttr + ":" + Twine(stage) + "/" +
                                                        op->getName().getStringRef()));
  op->walk([&](Operation *inner) {
    inner->setLoc(FusedLoc::get(context, {inner->getLoc(), Location(mark)}));
  });
}

void mlir::coll::markStages(func::FuncOp step) {
  step.walk([&](Operation *op) {
    auto stage = op->getAttrOfType<IntegerAttr>(kStageAttr);
    if (!stage)
      return;
    markStage(op, stage.getInt());
    op->removeAttr(kStageAttr);
  });
}

std::set<int> mlir::coll::getMarkedStages(ArrayRef<Operation *> ops) {
  std::set<int> stages;
  for (Operation *op : ops)
    for (StringRef scope : getScopes(op->getLoc()))
      for (StringRef part : llvm::split(scope, '/')) {
        int stage = 0;
        if (part.consume_front(kStageAttr) && part.consume_front(":") &&
            !part.getAsInteger(10, stage))
          stages.insert(stage);
      }
  return stages;
}

std::vector<std::string> mlir::coll::getScopes(Location loc) {
  std::vector<std::string> scopes;
  loc->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name || !name.getName().getValue().contains('/'))
      return WalkResult::advance();
    SmallVector<StringRef> parts;
    name.getName().getValue().split(parts, '/');
    std::string scope;
    for (StringRef part : ArrayRef(parts).drop_back())
      scope += (scope.empty() ? "" : "/") + stripTransformations(part).str();
    if (!llvm::is_contained(scopes, scope))
      scopes.push_back(scope);
    return WalkResult::advance();
  });
  return scopes;
}

bool mlir::coll::matchesScope(const llvm::GlobPattern &glob, StringRef scope) {
  for (; !scope.empty(); scope = scope.contains('/') ? scope.rsplit('/').first : StringRef())
    if (matchesPath(glob, scope))
      return true;
  return false;
}
