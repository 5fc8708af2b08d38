//===- fuse_epilogues.cc - products that compute what follows them -------------------===//

#include "dialect/epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/epilogues/formula.h"
#include "passes/export/epilogues/passes.h"
#include "passes/export/epilogues/pattern.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "passes/export/epilogues/passes.h.inc"

namespace {

// The library needs rows of whole vectors for the argument of gelu.
constexpr int64_t kVector = 8;

/// The same elements as a tensor of `type`.
Value reshape(OpBuilder &builder, Location loc, Value value, RankedTensorType type) {
  value = lookThroughReshapes(value);
  auto own = cast<RankedTensorType>(value.getType());
  if (own.getShape() == type.getShape())
    return value;
  if (own.getRank() != 1) {
    SmallVector<ReassociationIndices> all(1, llvm::to_vector(llvm::seq<int64_t>(own.getRank())));
    value = tensor::CollapseShapeOp::create(builder, loc, value, all);
  }
  if (type.getRank() == 1)
    return value;
  SmallVector<ReassociationIndices> all(1, llvm::to_vector(llvm::seq<int64_t>(type.getRank())));
  return tensor::ExpandShapeOp::create(builder, loc, type, value, all);
}

/// Erases the operation if nothing uses it, and then those that only it has used.
void eraseDead(Operation *op) {
  // A set: two users of an operation name it once.
  llvm::SetVector<Operation *> candidates;
  candidates.insert(op);
  while (!candidates.empty()) {
    Operation *next = candidates.pop_back_val();
    if (!isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *defining = operand.getDefiningOp())
        candidates.insert(defining);
    next->erase();
  }
}

struct Counts {
  Operation *first = nullptr;
  int64_t products = 0, gelus = 0, gradients = 0, sums = 0;

  void report() const {
    if (first)
      first->emitRemark() << products << " products compute what follows them: " << gelus
                          << " gelu, " << gradients << " its gradient, " << sums
                          << " with the sum of its columns, the others bias or relu";
  }
};

class EpilogueFuser {
public:
  EpilogueFuser(MLIRContext *context, bool hasGelu, bool hasGradient, bool forLibrary)
      : builder_(context), hasGelu_(hasGelu), hasGradient_(hasGradient), forLibrary_(forLibrary) {}

  void fuse(func::FuncOp function) {
    SmallVector<GemmOp> gemms;
    function.walk([&](GemmOp gemm) { gemms.push_back(gemm); });
    SmallVector<FusedGemmOp> gelus;
    for (GemmOp gemm : gemms)
      if (canHaveEpilogue(gemm))
        if (FusedGemmOp fused = fuse(gemm); fused && fused.getKept())
          gelus.push_back(fused);
    if (hasGradient_)
      for (FusedGemmOp gelu : gelus)
        fuseGradients(gelu);
  }

  const Counts &getCounts() const { return counts_; }

private:
  bool canHaveEpilogue(GemmOp gemm) const {
    RankedTensorType type = gemm.getC().getType();
    ArrayRef<int64_t> mnk = gemm.getMnk();
    const bool isDense = gemm.getLds()[2] == mnk[1] && type.getNumElements() == mnk[0] * mnk[1];
    const bool isMatrix = llvm::all_of(mnk, [](int64_t size) { return size > 1; });
    return isDense && isMatrix && gemm.getBatchSizes().empty() && !gemm.getAccumulate() &&
           !(forLibrary_ && type.getElementType().isF64());
  }

  /// Whether gelu may keep its argument, which its gradient then reads.
  bool canKeepArgument(GemmOp gemm) const {
    Type type = gemm.getC().getType().getElementType();
    const bool isNarrow = type.isBF16() || type.isF16();
    return !forLibrary_ || (isNarrow && gemm.getA().getType().getElementType() == type &&
                            gemm.getMnk()[1] % kVector == 0);
  }

  /// Returns the product with its epilogue, or null.
  FusedGemmOp fuse(GemmOp gemm) {
    std::optional<BiasAddition> bias = findBias(gemm);
    Value argument = bias ? bias->add.getResult(0) : gemm.getResult();
    auto usable = [&](linalg::GenericOp op) {
      return op && op->getBlock() == gemm->getBlock() && isReadFromMemory(op.getResult(0)) &&
             getElementTypeOrSelf(op.getResult(0)) == gemm.getC().getType().getElementType();
    };
    if (bias && bias->add->getBlock() != gemm->getBlock())
      return {};
    if (linalg::GenericOp relu = findRelu(argument); usable(relu))
      return replace(gemm, bias, bias ? Epilogue::BiasRelu : Epilogue::Relu, relu);
    Type element = gemm.getC().getType().getElementType();
    SmallVector<FoundValue> gelus;
    if (hasGelu_)
      gelus = findValues(argument, [&](const Formula &formula) { return formula.isGelu(element); });
    if (gelus.size() == 1 && usable(gelus[0].op) &&
        (canKeepArgument(gemm) || feedsOnly(argument, {gelus[0].op})))
      return replace(gemm, bias, bias ? Epilogue::BiasGelu : Epilogue::Gelu, gelus[0].op);
    if (bias && isReadFromMemory(argument))
      return replace(gemm, bias, Epilogue::Bias, bias->add);
    return {};
  }

  /// `last`: whose result the product then writes.
  FusedGemmOp replace(GemmOp gemm, std::optional<BiasAddition> bias, Epilogue epilogue,
                      linalg::GenericOp last) {
    Value argument = bias ? bias->add.getResult(0) : gemm.getResult();
    const bool isGelu = getKept(epilogue) == EpilogueTensor::Matrix;
    const bool keeps = isGelu && !feedsOnly(argument, {last});
    RankedTensorType type = gemm.getC().getType();
    const auto row = RankedTensorType::get({gemm.getMnk()[1]}, type.getElementType());
    builder_.setInsertionPoint(bias ? bias->add.getOperation() : gemm.getOperation());
    Value with = bias ? reshape(builder_, gemm.getLoc(), bias->vector, row) : Value();
    FusedGemmOp fused = create(gemm, epilogue, with, keeps ? type : RankedTensorType());
    replaceUses(last.getResult(0), fused.getResult());
    // Comparisons with zero may read the result of relu instead.
    if (argument != last.getResult(0) && (keeps || !isGelu))
      replaceUsesElsewhere(argument, keeps ? fused.getKept() : fused.getResult(), last);
    eraseDead(last);
    counts_.gelus += isGelu;
    return fused;
  }

  void fuseGradients(FusedGemmOp forward) {
    Value x = forward.getKept();
    Type element = getElementTypeOrSelf(x);
    SmallVector<FoundValue> found =
        findValues(x, [&](const Formula &formula) { return formula.isGeluGradient(element); });
    for (FoundValue &value : found) {
      auto gemm = value.product.getDefiningOp<GemmOp>();
      RankedTensorType type = gemm.getC().getType();
      if (!canHaveEpilogue(gemm) || !canKeepArgument(gemm) || type.getElementType() != element ||
          gemm.getMnk()[1] != forward.getMnk()[1] || gemm->getBlock() != value.op->getBlock() ||
          type.getNumElements() != cast<RankedTensorType>(x.getType()).getNumElements() ||
          !isReadFromMemory(value.op.getResult(0)) || !feedsOnly(value.product, {value.op}))
        continue;
      replaceGradient(gemm, x, value.op);
    }
  }

  void replaceGradient(GemmOp gemm, Value x, linalg::GenericOp last) {
    const int64_t columns = gemm.getMnk()[1];
    Value sums = findColumnSums(last.getResult(0), columns);
    RankedTensorType type = gemm.getC().getType();
    builder_.setInsertionPoint(last);
    FusedGemmOp fused =
        create(gemm, Epilogue::GeluGradient, reshape(builder_, gemm.getLoc(), x, type),
               sums ? RankedTensorType::get({columns}, type.getElementType()) : RankedTensorType());
    if (sums) {
      sums.replaceAllUsesWith(fused.getKept());
      eraseDead(sums.getDefiningOp());
    }
    replaceUses(last.getResult(0), fused.getResult());
    eraseDead(last);
    ++counts_.gradients;
    counts_.sums += sums != nullptr;
  }

  FusedGemmOp create(GemmOp old, Epilogue epilogue, Value with, RankedTensorType kept) {
    auto fused =
        FusedGemmOp::create(builder_, old.getLoc(), old.getResult().getType(), kept,
                            builder_.getStringAttr(stringifyEpilogue(epilogue)), old.getA(),
                            old.getB(), with, old.getPrecisionAttr(), old.getTransAAttr(),
                            old.getTransBAttr(), old.getMnkAttr(), old.getLdsAttr());
    if (!counts_.first)
      counts_.first = fused;
    ++counts_.products;
    return fused;
  }

  void replaceUses(Value old, Value by) {
    old.replaceAllUsesWith(
        reshape(builder_, old.getLoc(), by, cast<RankedTensorType>(old.getType())));
  }
  /// Except by `except`.
  void replaceUsesElsewhere(Value old, Value by, Operation *except) {
    old.replaceUsesWithIf(
        reshape(builder_, old.getLoc(), by, cast<RankedTensorType>(old.getType())),
        [&](OpOperand &use) { return use.getOwner() != except; });
  }

  OpBuilder builder_;
  bool hasGelu_, hasGradient_, forLibrary_;
  Counts counts_;
};

struct FuseEpiloguesPass : public impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  using FuseEpiloguesPassBase::FuseEpiloguesPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    EpilogueFuser fuser(&getContext(), gelu, gradient, library);
    getOperation().walk([&](func::FuncOp function) { fuser.fuse(function); });
    fuser.getCounts().report();
  }
};

} // namespace
} // namespace mlir::coll
