//===- asm.h - custom assembly directives of ops.td -------------------*- C++ -*-===//
//
// parseX / printX implement `custom<X>` of an assemblyFormat. Printers may be
// called on operations that were not verified.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_ASM_H
#define COLL_DIALECT_ASM_H

#include "dialect/dialect.h"

namespace mlir::coll {

/// `["dp" = 4, "tp" = 2]`
ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &names, DenseI64ArrayAttr &sizes);
void printMeshAxes(OpAsmPrinter &printer, Operation *op, ArrayAttr names, DenseI64ArrayAttr sizes);

/// `@m["dp"]` or `[[0, 1], [2, 3]]`
ParseResult parseGroup(OpAsmParser &parser, GroupAttr &group);
void printGroup(OpAsmPrinter &printer, Operation *op, GroupAttr group);

/// `sum`
ParseResult parseReduction(OpAsmParser &parser, ReductionKindAttr &reduction);
void printReduction(OpAsmPrinter &printer, Operation *op, ReductionKindAttr reduction);

/// nothing, or ` order rank`
ParseResult parseOptionalOrder(OpAsmParser &parser, OrderAttr &order);
void printOptionalOrder(OpAsmPrinter &printer, Operation *op, OrderAttr order);

/// `3`, an i64 without its type
ParseResult parseInt(OpAsmParser &parser, IntegerAttr &value);
void printInt(OpAsmPrinter &printer, Operation *op, IntegerAttr value);

/// `[[0, 1], [1, 0]]`, stored flat
ParseResult parsePermutation(OpAsmParser &parser, DenseI64ArrayAttr &pairs, IntegerAttr &shift,
                             UnitAttr &wraps);
void printPermutation(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr pairs,
                      IntegerAttr shift, UnitAttr wraps);

/// nothing for an empty list, or ` keyword [0, 1]`
ParseResult parseDimList(OpAsmParser &parser, StringRef keyword, DenseI64ArrayAttr &dims);
void printDimList(OpAsmPrinter &printer, Operation *op, StringRef keyword, DenseI64ArrayAttr dims);

/// `[0, 2 to 7]`, stored rank by rank
ParseResult parseRankRanges(OpAsmParser &parser, DenseI64ArrayAttr &ranks);
void printRankRanges(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr ranks);

} // namespace mlir::coll

#endif // COLL_DIALECT_ASM_H
