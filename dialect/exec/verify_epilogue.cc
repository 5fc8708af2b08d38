//===- verify_epilogue.cc - verifier of products with epilogues on buffers ----------===//
//
// (Cn) names the constraint in epilogue.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/exec/epilogue.h"
#include "dialect/exec/memory_form.h"

using namespace mlir;
using namespace mlir::coll;
using namespace mlir::coll::exec;

#define GET_OP_CLASSES
#include "dialect/exec/epilogue_ops.cc.inc"

SmallVector<Value> exec::FusedGemmOp::getReads() {
  SmallVector<Value> reads{getA(), getB()};
  if (getWith())
    reads.push_back(getWith());
  return reads;
}

SmallVector<Value> exec::FusedGemmOp::getWrites() {
  SmallVector<Value> writes{getResult()};
  if (getKept())
    writes.push_back(getKept());
  return writes;
}

/// Whether the two are, as far as is known, parts of the same memory.
static bool overlap(Value a, Value b) {
  std::optional<Extent> one = getExtent(a), other = getExtent(b);
  return one && other && one->overlaps(*other);
}

LogicalResult exec::FusedGemmOp::verify() {
  const EpilogueShape shape{getEpilogue(), getElement(), getResultElement(), getMnk(),
                            getLds(),      getTransA(),  getTransB()};
  if (std::string problem = explainEpilogue(shape, getWith() != nullptr, getKept() != nullptr);
      !problem.empty()) // (C1), (C2), (C5), (C6)
    return emitOpError(problem);
  if (!exec::symbolizePrecision(getPrecision().value_or("highest"))) // (C4)
    return emitOpError("precision must be highest, tf32 or bf16, but is ") << getPrecisionAttr();
  const Epilogue epilogue = *symbolizeEpilogue(getEpilogue());
  const std::tuple<Value, Type, int64_t> all[] = {
      {getA(), shape.factor, shape.countA()},
      {getB(), shape.factor, shape.countB()},
      {getResult(), shape.sum, shape.countC()},
      {getWith(), shape.sum, shape.count(coll::getRead(epilogue))},
      {getKept(), shape.sum, shape.count(coll::getKept(epilogue))}};
  for (auto [view, element, elements] : all)
    if (std::optional<Extent> extent = view ? getExtent(view) : std::nullopt;
        extent && extent->bytes / getElementBytes(element) < elements) // (C3), (C5), (C6)
      return emitOpError("needs ") << elements << " elements of " << element
                                   << " in a view that has " << extent->bytes << " bytes";
  for (Value written : getWrites()) {
    std::optional<Extent> extent = getExtent(written);
    if (extent && extent->isReadOnly) // (C7)
      return emitOpError("writes read-only memory");
    if (llvm::any_of(getReads(), [&](Value read) { return overlap(read, written); })) // (C7)
      return emitOpError("a result overlaps an operand");
  }
  if (getKept() && overlap(getResult(), getKept())) // (C7)
    return emitOpError("the results overlap");
  return success();
}
