//===- stablehlo_attrs.cc - attributes of unregistered operations ----------------===//

#include "passes/import/stablehlo_attrs.h"

#include "dialect/dialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::coll::stablehlo {

namespace {

InFlightDiagnostic missing(Operation *op, StringRef name) {
  return op->emitOpError() << "needs attribute '" << name << "'";
}

InFlightDiagnostic malformed(Operation *op, StringRef name, const Twine &wanted) {
  return op->emitOpError() << "attribute '" << name << "' is not " << wanted;
}

/// Integers of any of the forms that StableHLO printers have used.
std::optional<SmallVector<int64_t>> readInts(Attribute attr) {
  SmallVector<int64_t> values;
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr)) {
    values.assign(array.asArrayRef().begin(), array.asArrayRef().end());
    return values;
  }
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attr)) {
    values.assign(array.asArrayRef().begin(), array.asArrayRef().end());
    return values;
  }
  if (auto elements = dyn_cast<DenseIntElementsAttr>(attr)) {
    bool isBool = elements.getElementType().isInteger(1);
    for (const APInt &value : elements) {
      if (value.getSignificantBits() > 64)
        return std::nullopt;
      values.push_back(isBool ? value.getZExtValue() : value.getSExtValue());
    }
    return values;
  }
  auto array = dyn_cast<ArrayAttr>(attr);
  if (!array)
    return std::nullopt;
  for (Attribute element : array) {
    auto value = dyn_cast<IntegerAttr>(element);
    if (!value || value.getValue().getSignificantBits() > 64)
      return std::nullopt;
    values.push_back(value.getValue().getSExtValue());
  }
  return values;
}

/// Text of a StableHLO attribute after its dialect's name.
std::optional<StringRef> opaqueText(Attribute attr) {
  auto opaque = dyn_cast<OpaqueAttr>(attr);
  if (!opaque || opaque.getDialectNamespace().getValue() != "stablehlo")
    return std::nullopt;
  return StringRef(opaque.getAttrData()).trim();
}

/// Body of `mnemonic<body>`.
std::optional<StringRef> opaqueBody(Attribute attr, StringRef mnemonic) {
  std::optional<StringRef> text = opaqueText(attr);
  if (!text || !text->consume_front(mnemonic))
    return std::nullopt;
  *text = text->trim();
  if (!text->consume_front("<") || !text->consume_back(">"))
    return std::nullopt;
  return text->trim();
}

/// Takes `[a, b, …]` off the front of `text`.
std::optional<SmallVector<StringRef>> takeList(StringRef &text) {
  text = text.ltrim();
  if (!text.consume_front("["))
    return std::nullopt;
  size_t end = text.find(']');
  if (end == StringRef::npos)
    return std::nullopt;
  StringRef inside = text.take_front(end).trim();
  text = text.drop_front(end + 1).ltrim();
  SmallVector<StringRef> entries;
  if (!inside.empty())
    inside.split(entries, ',');
  for (StringRef &entry : entries)
    entry = entry.trim();
  return entries;
}

std::optional<int64_t> toInt(StringRef text) {
  int64_t value;
  if (text.trim().getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<ConvLayout> readLayout(StringRef &text, StringRef first, StringRef second) {
  std::optional<SmallVector<StringRef>> entries = takeList(text);
  if (!entries || entries->size() < 2)
    return std::nullopt;
  ConvLayout layout;
  int64_t numSpatial = entries->size() - 2;
  layout.spatial.assign(numSpatial, -1);
  for (auto [position, entry] : llvm::enumerate(*entries)) {
    int64_t *slot = nullptr;
    if (entry == first) {
      slot = &layout.first;
    } else if (entry == second) {
      slot = &layout.second;
    } else {
      std::optional<int64_t> number = toInt(entry);
      if (!number || *number < 0 || *number >= numSpatial)
        return std::nullopt;
      slot = &layout.spatial[*number];
    }
    if (*slot != -1)
      return std::nullopt;
    *slot = position;
  }
  // n + 2 entries filled distinct slots of n + 2, so all are filled.
  return layout;
}

} // namespace

FailureOr<int64_t> getInt(Operation *op, StringRef name, std::optional<int64_t> fallback) {
  Attribute attr = op->getAttr(name);
  if (!attr) {
    if (fallback)
      return *fallback;
    return missing(op, name);
  }
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return malformed(op, name, "an integer");
  return integer.getValue().getSExtValue();
}

FailureOr<SmallVector<int64_t>> getIntList(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return missing(op, name);
  std::optional<SmallVector<int64_t>> values = readInts(attr);
  // Limits every size that is computed from an attribute.
  auto isHuge = [](int64_t value) { return value > kMaxExtent || value < -kMaxExtent; };
  if (!values || llvm::any_of(*values, isHuge))
    return malformed(op, name, "a list of integers in range");
  return *values;
}

FailureOr<SmallVector<int64_t>> getInts(Operation *op, StringRef name, int64_t count,
                                        std::optional<int64_t> fallback) {
  if (!op->getAttr(name) && fallback)
    return SmallVector<int64_t>(count, *fallback);
  FailureOr<SmallVector<int64_t>> values = getIntList(op, name);
  if (failed(values))
    return failure();
  if (static_cast<int64_t>(values->size()) != count)
    return malformed(op, name, "a list of " + Twine(count) + " integers");
  return values;
}

FailureOr<bool> getFlag(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return false;
  if (isa<UnitAttr>(attr))
    return true;
  auto flag = dyn_cast<BoolAttr>(attr);
  if (!flag)
    return malformed(op, name, "a boolean");
  return flag.getValue();
}

FailureOr<StringRef> getKeyword(Operation *op, StringRef name, StringRef kind) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return StringRef();
  std::optional<StringRef> text = opaqueText(attr);
  if (!text || !text->consume_front(kind) || text->trim().empty())
    return malformed(op, name, "#stablehlo<" + kind + " …>");
  return text->trim();
}

FailureOr<StringRef> getPrecision(Operation *op) {
  StringRef name = "precision_config";
  Attribute attr = op->getAttr(name);
  if (!attr)
    return StringRef();
  auto malformedList = [&] { return malformed(op, name, "[#stablehlo<precision DEFAULT>, …]"); };
  auto list = dyn_cast<ArrayAttr>(attr);
  if (!list)
    return malformedList();
  StringRef asked;
  for (Attribute entry : list) {
    std::optional<StringRef> text = opaqueText(entry);
    if (!text || !text->consume_front("precision"))
      return malformedList();
    StringRef word = text->trim();
    if (word != "DEFAULT" && word != "HIGH" && word != "HIGHEST")
      return malformedList();
    if (word == "HIGHEST" || (word == "HIGH" && asked.empty()))
      asked = word == "HIGHEST" ? kPrecisionHighest : kPrecisionHigh;
  }
  return asked;
}

FailureOr<StringRef> getSymbol(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return missing(op, name);
  auto symbol = dyn_cast<FlatSymbolRefAttr>(attr);
  if (!symbol)
    return malformed(op, name, "a function's name");
  return symbol.getValue();
}

ArrayRef<int64_t> Fields::list(StringRef key) const {
  auto found = fields_.find(key);
  return found == fields_.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(found->second);
}

int64_t Fields::number(StringRef key, int64_t fallback) const {
  ArrayRef<int64_t> values = list(key);
  return values.size() == 1 ? values.front() : fallback;
}

std::optional<Fields> Fields::parse(StringRef body) {
  Fields fields;
  body = body.trim();
  while (!body.empty()) {
    size_t equals = body.find('=');
    if (equals == StringRef::npos)
      return std::nullopt;
    StringRef key = body.take_front(equals).trim();
    body = body.drop_front(equals + 1).ltrim();
    SmallVector<StringRef> texts;
    if (body.starts_with("[")) {
      std::optional<SmallVector<StringRef>> entries = takeList(body);
      if (!entries)
        return std::nullopt;
      texts = *entries;
    } else {
      texts.push_back(body.take_until([](char c) { return c == ','; }));
      body = body.drop_front(texts.front().size());
    }
    SmallVector<int64_t> values;
    for (StringRef text : texts) {
      std::optional<int64_t> value = toInt(text);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
    if (key.empty() || !fields.fields_.try_emplace(key, values).second)
      return std::nullopt;
    if (!body.empty() && !body.consume_front(","))
      return std::nullopt;
    body = body.ltrim();
  }
  return fields;
}

FailureOr<Fields> getFields(Operation *op, StringRef name, StringRef mnemonic) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return missing(op, name);
  std::optional<StringRef> body = opaqueBody(attr, mnemonic);
  std::optional<Fields> fields;
  if (body)
    fields = Fields::parse(*body);
  if (!fields)
    return malformed(op, name, "#stablehlo." + mnemonic + "<key = […], …>");
  return *fields;
}

FailureOr<ConvLayouts> getConvLayouts(Operation *op, StringRef name) {
  Attribute attr = op->getAttr(name);
  if (!attr)
    return missing(op, name);
  auto read = [&]() -> std::optional<ConvLayouts> {
    std::optional<StringRef> body = opaqueBody(attr, "conv");
    if (!body)
      return std::nullopt;
    std::optional<ConvLayout> input = readLayout(*body, "b", "f");
    if (!input || !body->consume_front("x"))
      return std::nullopt;
    std::optional<ConvLayout> kernel = readLayout(*body, "i", "o");
    if (!kernel || !body->consume_front("->"))
      return std::nullopt;
    std::optional<ConvLayout> output = readLayout(*body, "b", "f");
    if (!output || !body->empty() || input->spatial.size() != kernel->spatial.size() ||
        input->spatial.size() != output->spatial.size())
      return std::nullopt;
    return ConvLayouts{*input, *kernel, *output};
  };
  std::optional<ConvLayouts> layouts = read();
  if (!layouts)
    return malformed(op, name, "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>");
  return *layouts;
}

bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return false;
    seen.set(dim);
  }
  return true;
}

} // namespace mlir::coll::stablehlo
