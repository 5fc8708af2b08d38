//===- verify_epilogue.cc - verifier of products with epilogues -------------------===//
//
// (Cn) names the constraint in epilogue.td that a line checks.
//
//===----------------------------------------------------------------------------===//

#include "dialect/epilogue.h"

using namespace mlir;
using namespace mlir::coll;

#define GET_OP_CLASSES
#include "dialect/epilogue_ops.cc.inc"

static constexpr std::pair<llvm::StringLiteral, Epilogue> kNames[] = {
    {"bias", Epilogue::Bias},          {"relu", Epilogue::Relu},
    {"bias_relu", Epilogue::BiasRelu}, {"gelu", Epilogue::Gelu},
    {"bias_gelu", Epilogue::BiasGelu}, {"gelu_gradient", Epilogue::GeluGradient}};

StringRef mlir::coll::stringifyEpilogue(Epilogue epilogue) {
  return kNames[static_cast<int>(epilogue) - 1].first;
}

std::optional<Epilogue> mlir::coll::symbolizeEpilogue(StringRef name) {
  for (const auto &[known, epilogue] : kNames)
    if (known == name)
      return epilogue;
  return std::nullopt;
}

EpilogueTensor mlir::coll::getRead(Epilogue epilogue) {
  if (epilogue == Epilogue::GeluGradient)
    return EpilogueTensor::Matrix;
  return epilogue == Epilogue::Relu || epilogue == Epilogue::Gelu ? EpilogueTensor::None
                                                                  : EpilogueTensor::Row;
}

EpilogueTensor mlir::coll::getKept(Epilogue epilogue) {
  if (epilogue == Epilogue::GeluGradient)
    return EpilogueTensor::Row;
  return epilogue == Epilogue::Gelu || epilogue == Epilogue::BiasGelu ? EpilogueTensor::Matrix
                                                                      : EpilogueTensor::None;
}

int64_t EpilogueShape::count(EpilogueTensor tensor) const {
  if (tensor == EpilogueTensor::None)
    return 0;
  return tensor == EpilogueTensor::Row ? mnk[1] : countC();
}

/// Products of larger sizes would not fit into 64 bits.
static bool isSize(int64_t size) { return size > 0 && size <= (int64_t{1} << 31); }

std::string mlir::coll::explainEpilogue(const EpilogueShape &shape, bool reads, bool keeps) {
  const bool isNarrow = shape.factor.isBF16() || shape.factor.isF16();
  const bool isWide = shape.factor.isF32() || shape.factor.isF64();
  if (!(isWide && shape.sum == shape.factor) &&
      !(isNarrow && (shape.sum == shape.factor || shape.sum.isF32()))) // (C1)
    return "elements must all be f32, f64, bf16 or f16, or results of bf16 or f16 be f32";
  if (shape.mnk.size() != 3 || shape.lds.size() != 3 || !llvm::all_of(shape.mnk, isSize) ||
      !llvm::all_of(shape.lds, isSize)) // (C2)
    return "mnk and lds must have three entries from 1 to 2^31";
  std::optional<Epilogue> epilogue = symbolizeEpilogue(shape.name);
  if (!epilogue) // (C5)
    return ("there is no epilogue " + shape.name).str();
  if (reads != (getRead(*epilogue) != EpilogueTensor::None)) // (C5)
    return (shape.name + (reads ? " reads nothing else" : " reads something else")).str();
  if (keeps && getKept(*epilogue) == EpilogueTensor::None) // (C6)
    return (shape.name + " has one result").str();
  return {};
}

LogicalResult FusedGemmOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), c = getResult().getType();
  const EpilogueShape shape{getEpilogue(), a.getElementType(), c.getElementType(), getMnk(),
                            getLds(),      getTransA(),        getTransB()};
  if (std::string problem = explainEpilogue(shape, getWith() != nullptr, getKept() != nullptr);
      !problem.empty()) // (C1), (C2), (C5), (C6)
    return emitOpError(problem);
  if (b.getElementType() != shape.factor) // (C1)
    return emitOpError("factors are of ") << shape.factor << " and " << b.getElementType();
  if (getPrecision() && *getPrecision() != kPrecisionHighest &&
      *getPrecision() != kPrecisionHigh) // (C4)
    return emitOpError("precision must be highest or high, but is ") << getPrecisionAttr();
  const Epilogue epilogue = *symbolizeEpilogue(getEpilogue());
  const std::tuple<StringRef, Value, int64_t> all[] = {
      {"A", getA(), shape.countA()},
      {"B", getB(), shape.countB()},
      {"C", getResult(), shape.countC()},
      {"operand of the epilogue", getWith(), shape.count(coll::getRead(epilogue))},
      {"second result", getKept(), shape.count(coll::getKept(epilogue))}};
  for (auto [name, value, elements] : all) {
    if (!value)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    const bool isFactor = value == getA() || value == getB();
    if (!isFactor && type.getElementType() != shape.sum) // (C1)
      return emitOpError() << name << " must be of " << shape.sum << ", but is " << type;
    const bool isWhole = value == getA() || value == getB() || value == getResult();
    if (isWhole ? type.getNumElements() < elements
                : type.getNumElements() != elements) // (C3), (C5), (C6)
      return emitOpError() << name << " needs " << elements << " elements, but is " << type;
  }
  return success();
}
