//===- asm.cc - custom assembly of attributes and operations ------------------===//
//
// Every parse function accepts exactly what its print function writes; the
// examples in attrs.td and ops.td show the form.
//
//===----------------------------------------------------------------------------===//

#include "dialect/asm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::coll;

using Delimiter = AsmParser::Delimiter;

// More ranks than any job has: bounds what the text `0 to 9000000000` allocates.
static constexpr int64_t kMaxRanks = int64_t{1} << 24;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// `["a", "b"]`
static ParseResult parseAxes(AsmParser &parser, SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(Delimiter::Square, [&]() -> ParseResult {
    std::string axis;
    if (parser.parseString(&axis))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(axis));
    return success();
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
  printer << '[';
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) { printer.printString(axis); });
  printer << ']';
}

/// `[0, 1]`
static ParseResult parseInts(AsmParser &parser, SmallVectorImpl<int64_t> &ints) {
  return parser.parseCommaSeparatedList(
      Delimiter::Square, [&]() -> ParseResult { return parser.parseInteger(ints.emplace_back()); });
}

static void printInts(AsmPrinter &printer, ArrayRef<int64_t> ints) {
  printer << '[';
  llvm::interleaveComma(ints, printer);
  printer << ']';
}

/// `["dp"] unit 4`
static ParseResult parseDim(AsmParser &parser, DimShardingAttr &dim) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<StringAttr> axes;
  int64_t unit = 1;
  if (parseAxes(parser, axes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("unit")) && parser.parseInteger(unit))
    return failure();
  auto emitError = [&] { return parser.emitError(loc); };
  dim = DimShardingAttr::getChecked(emitError, parser.getContext(), ArrayRef(axes), unit);
  return success(static_cast<bool>(dim));
}

static void printDim(AsmPrinter &printer, DimShardingAttr dim) {
  printAxes(printer, dim.getAxes());
  if (dim.getUnit() != 1)
    printer << " unit " << dim.getUnit();
}

static ParseResult parseKind(AsmParser &parser, ReductionKind &kind) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReductionKind> parsed = symbolizeReductionKind(keyword);
  if (!parsed)
    return parser.emitError(loc, "unknown reduction '")
           << keyword << "'; expected sum, prod, min, max, umin, umax, avg, and, or, or xor";
  kind = *parsed;
  return success();
}

/// `@m["dp"]` or `[[0, 1], [2, 3]]`
static ParseResult parseGroupBody(AsmParser &parser, GroupAttr &group) {
  SMLoc loc = parser.getCurrentLocation();
  MLIRContext *context = parser.getContext();
  SmallVector<StringAttr> axes;
  SmallVector<DenseI64ArrayAttr> lists;
  FlatSymbolRefAttr mesh;
  StringAttr name;
  if (succeeded(parser.parseOptionalSymbolName(name))) {
    mesh = FlatSymbolRefAttr::get(name);
    if (parseAxes(parser, axes))
      return failure();
  } else if (parser.parseCommaSeparatedList(Delimiter::Square, [&]() -> ParseResult {
               SmallVector<int64_t> ranks;
               if (parseInts(parser, ranks))
                 return failure();
               lists.push_back(DenseI64ArrayAttr::get(context, ranks));
               return success();
             })) {
    return failure();
  }
  auto emitError = [&] { return parser.emitError(loc); };
  group = GroupAttr::getChecked(emitError, context, mesh, ArrayRef(axes), ArrayRef(lists));
  return success(static_cast<bool>(group));
}

static void printGroupBody(AsmPrinter &printer, GroupAttr group) {
  if (group.isMesh()) {
    printer << group.getMesh();
    printAxes(printer, group.getAxes());
    return;
  }
  printer << '[';
  llvm::interleaveComma(group.getLists(), printer,
                        [&](DenseI64ArrayAttr ranks) { printInts(printer, ranks.asArrayRef()); });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  DimShardingAttr dim;
  if (parser.parseLess() || parseDim(parser, dim) || parser.parseGreater())
    return {};
  return dim;
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDim(printer, *this);
  printer << '>';
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringAttr mesh;
  SmallVector<DimShardingAttr> dims;
  SmallVector<StringAttr> partialAxes;
  ReductionKind kind = ReductionKind::Sum;
  if (parser.parseLess() || parser.parseSymbolName(mesh) || parser.parseComma() ||
      parser.parseCommaSeparatedList(Delimiter::Square,
                                     [&] { return parseDim(parser, dims.emplace_back()); }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("partial") || parseKind(parser, kind) || parseAxes(parser, partialAxes)))
    return {};
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  return ShardingAttr::getChecked(emitError, parser.getContext(), FlatSymbolRefAttr::get(mesh),
                                  ArrayRef(dims), ArrayRef(partialAxes), kind);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer, [&](DimShardingAttr dim) { printDim(printer, dim); });
  printer << ']';
  if (isPartial()) {
    printer << ", partial " << stringifyReductionKind(getPartialKind()) << ' ';
    printAxes(printer, getPartialAxes());
  }
  printer << '>';
}

Attribute GroupAttr::parse(AsmParser &parser, Type) {
  GroupAttr group;
  if (parser.parseLess() || parseGroupBody(parser, group) || parser.parseGreater())
    return {};
  return group;
}

void GroupAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printGroupBody(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type RouteType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t tokens, topk, capacity;
  GroupAttr group;
  if (parser.parseLess() || parser.parseInteger(tokens) || parser.parseKeyword("topk") ||
      parser.parseInteger(topk) || parser.parseKeyword("to") || parser.parseInteger(capacity) ||
      parser.parseKeyword("over") || parseGroupBody(parser, group) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  return RouteType::getChecked(emitError, parser.getContext(), tokens, topk, capacity, group);
}

void RouteType::print(AsmPrinter &printer) const {
  printer << '<' << getTokens() << " topk " << getTopk() << " to " << getCapacity() << " over ";
  printGroupBody(printer, getGroup());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Directives of operations
//===----------------------------------------------------------------------===//

ParseResult coll::parseMeshAxes(OpAsmParser &parser, ArrayAttr &names, DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> nameList;
  SmallVector<int64_t> sizeList;
  if (parser.parseCommaSeparatedList(Delimiter::Square, [&]() -> ParseResult {
        std::string name;
        if (parser.parseString(&name) || parser.parseEqual() ||
            parser.parseInteger(sizeList.emplace_back()))
          return failure();
        nameList.push_back(parser.getBuilder().getStringAttr(name));
        return success();
      }))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  sizes = DenseI64ArrayAttr::get(parser.getContext(), sizeList);
  return success();
}

void coll::printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                         DenseI64ArrayAttr sizes) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(names, sizes.asArrayRef()), printer, [&](auto axis) {
    printer.printString(cast<StringAttr>(std::get<0>(axis)));
    printer << " = " << std::get<1>(axis);
  });
  printer << ']';
}

ParseResult coll::parseGroup(OpAsmParser &parser, GroupAttr &group) {
  return parseGroupBody(parser, group);
}

void coll::printGroup(OpAsmPrinter &printer, Operation *, GroupAttr group) {
  printGroupBody(printer, group);
}

ParseResult coll::parseReduction(OpAsmParser &parser, ReductionKindAttr &reduction) {
  ReductionKind kind;
  if (parseKind(parser, kind))
    return failure();
  reduction = ReductionKindAttr::get(parser.getContext(), kind);
  return success();
}

void coll::printReduction(OpAsmPrinter &printer, Operation *, ReductionKindAttr reduction) {
  printer << stringifyReductionKind(reduction.getValue());
}

ParseResult coll::parseOptionalOrder(OpAsmParser &parser, OrderAttr &order) {
  Order value = Order::Any;
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<Order> parsed = symbolizeOrder(keyword);
    if (!parsed)
      return parser.emitError(loc, "unknown order '") << keyword << "'; expected any or rank";
    value = *parsed;
  }
  order = OrderAttr::get(parser.getContext(), value);
  return success();
}

void coll::printOptionalOrder(OpAsmPrinter &printer, Operation *, OrderAttr order) {
  if (order && order.getValue() != Order::Any)
    printer << " order " << stringifyOrder(order.getValue());
}

ParseResult coll::parseInt(OpAsmParser &parser, IntegerAttr &value) {
  int64_t parsed;
  if (parser.parseInteger(parsed))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(parsed);
  return success();
}

void coll::printInt(OpAsmPrinter &printer, Operation *, IntegerAttr value) {
  printer << value.getInt();
}

/// `pairs [[0, 1], [1, 0]]`, `shift -1` or `shift 1 wraps`
ParseResult coll::parsePermutation(OpAsmParser &parser, DenseI64ArrayAttr &pairs,
                                   IntegerAttr &shift, UnitAttr &wraps) {
  SmallVector<int64_t> flat;
  if (succeeded(parser.parseOptionalKeyword("shift"))) {
    int64_t by = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(by))
      return failure();
    if (by == 0)
      return parser.emitError(loc, "a shift by 0 sends nothing");
    shift = parser.getBuilder().getI64IntegerAttr(by);
    pairs = DenseI64ArrayAttr::get(parser.getContext(), {});
    if (succeeded(parser.parseOptionalKeyword("wraps")))
      wraps = parser.getBuilder().getUnitAttr();
    return success();
  }
  if (parser.parseKeyword("pairs", " or 'shift'") ||
      parser.parseCommaSeparatedList(Delimiter::Square, [&]() -> ParseResult {
        return failure(parser.parseLSquare() || parser.parseInteger(flat.emplace_back()) ||
                       parser.parseComma() || parser.parseInteger(flat.emplace_back()) ||
                       parser.parseRSquare());
      }))
    return failure();
  pairs = DenseI64ArrayAttr::get(parser.getContext(), flat);
  return success();
}

void coll::printPermutation(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr pairs,
                            IntegerAttr shift, UnitAttr wraps) {
  if (shift && shift.getInt() != 0) {
    printer << "shift " << shift.getInt() << (wraps ? " wraps" : "");
    return;
  }
  ArrayRef<int64_t> flat = pairs.asArrayRef();
  printer << "pairs [";
  for (size_t i = 0; i + 1 < flat.size(); i += 2)
    printer << (i == 0 ? "[" : ", [") << flat[i] << ", " << flat[i + 1] << ']';
  printer << ']';
}

ParseResult coll::parseDimList(OpAsmParser &parser, StringRef keyword, DenseI64ArrayAttr &dims) {
  SmallVector<int64_t> list;
  if (succeeded(parser.parseOptionalKeyword(keyword)) && parseInts(parser, list))
    return failure();
  dims = DenseI64ArrayAttr::get(parser.getContext(), list);
  return success();
}

void coll::printDimList(OpAsmPrinter &printer, Operation *, StringRef keyword,
                        DenseI64ArrayAttr dims) {
  if (dims.empty())
    return;
  printer << ' ' << keyword << ' ';
  printInts(printer, dims.asArrayRef());
}

ParseResult coll::parseRankRanges(OpAsmParser &parser, DenseI64ArrayAttr &ranks) {
  SmallVector<int64_t> list;
  if (parser.parseCommaSeparatedList(Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        int64_t first, last;
        if (parser.parseInteger(first))
          return failure();
        last = first;
        if (succeeded(parser.parseOptionalKeyword("to")) && parser.parseInteger(last))
          return failure();
        if (first < 0 || last < first || last >= kMaxRanks)
          return parser.emitError(loc, "ranks ")
                 << first << " to " << last << " are not within 0 to " << kMaxRanks - 1;
        for (int64_t rank = first; rank <= last; ++rank)
          list.push_back(rank);
        if (static_cast<int64_t>(list.size()) > kMaxRanks)
          return parser.emitError(loc, "more than ") << kMaxRanks << " ranks";
        return success();
      }))
    return failure();
  ranks = DenseI64ArrayAttr::get(parser.getContext(), list);
  return success();
}

void coll::printRankRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr ranks) {
  ArrayRef<int64_t> list = ranks.asArrayRef();
  printer << '[';
  for (size_t i = 0; i < list.size();) {
    size_t end = i + 1;
    while (end < list.size() && list[end] - 1 == list[end - 1])
      ++end;
    printer << (i == 0 ? "" : ", ") << list[i];
    if (end - i == 2)
      printer << ", " << list[i + 1];
    else if (end - i > 2)
      printer << " to " << list[end - 1];
    i = end;
  }
  printer << ']';
}
