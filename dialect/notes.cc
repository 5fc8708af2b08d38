//===- notes.cc - attributes that say why, in words -------------------------------===//

#include "dialect/notes.h"

#include "dialect/dialect.h"

namespace mlir::coll {

std::string describeWhy(Operation *op) {
  auto why = op->getAttrOfType<StringAttr>(kWhyAttr);
  std::string text = why ? why.str() : "";
  auto cause = op->getAttrOfType<DictionaryAttr>(kCauseAttr);
  if (!cause)
    return text;
  auto add = [&](StringRef before, StringRef name) {
    if (auto value = cause.getAs<StringAttr>(name); value && !value.empty())
      text += (text.empty() ? "" : before.str()) + value.str();
  };
  add("; instead: ", "runner_up");
  add(", which ", "why_not");
  add("; to avoid it: ", "avoid");
  return text;
}

} // namespace mlir::coll
