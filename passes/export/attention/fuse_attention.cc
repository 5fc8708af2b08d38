//===- fuse_attention.cc - attention and its gradient to coll.attention ---------------===//

#include "dialect/attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/attention/pattern.h"
#include "passes/passes.h"
#include "passes/transform/erase_dead.h"

namespace mlir::coll {

#define GEN_PASS_DEF_FUSEATTENTIONPASS
#include "passes/passes.h.inc"

namespace {

/// The entries of `*_at`: the batch, the head, the row. `isBatch`: an only axis is the batch's.
SmallVector<int64_t> placeOf(const Rows &rows, bool isBatch) {
  SmallVector<int64_t> axes = rows.getBatchStrides();
  const int64_t row = rows.strides[rows.strides.size() - 2];
  if (axes.size() == 2)
    return {rows.first, axes[0], axes[1], row};
  const int64_t only = axes.empty() ? 0 : axes[0];
  return {rows.first, isBatch ? only : 0, isBatch ? 0 : only, row};
}

/// The same elements in their order.
Value reshape(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  auto flat = [](size_t rank) {
    ReassociationIndices all = llvm::to_vector<2>(llvm::seq<int64_t>(0, rank));
    return SmallVector<ReassociationIndices>{all};
  };
  if (type.getShape() == shape)
    return value;
  auto line = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  value = tensor::CollapseShapeOp::create(builder, loc, line, value, flat(type.getRank()));
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), value, flat(shape.size()));
}

/// The place where a result of attention is written, and the value that it replaces.
struct Target {
  Value replaced; // null if nothing reads the result
  bool isDirect;  // the runtime writes `replaced` itself; else a copy makes it
  Rows rows;      // of `replaced`, if it does
  RankedTensorType type;
  SmallVector<int64_t> place;
};

class AttentionRewriter {
public:
  AttentionRewriter(AttentionPattern &pattern, OpBuilder &builder)
      : pattern_(pattern), builder_(builder), loc_(pattern.softmax.exponential.getLoc()) {}

  /// Why the attention cannot be fused, or empty. Nothing is changed before that is known.
  std::string check();
  void rewrite();

private:
  SmallVector<int64_t> place(const Rows &rows) const { return placeOf(rows, pattern_.batch > 1); }
  Target makeTarget(const std::optional<AttentionProduct> &product, int64_t heads, int64_t rows);
  Value finish(const Target &target, const std::optional<AttentionProduct> &product, Value result);
  void makeOutput();
  void makeGradient();
  Operation *findLastOperand() const;
  Operation *findFirst() const;

  AttentionPattern &pattern_;
  OpBuilder &builder_;
  Location loc_;
  Target outputTarget_;
  Value output_, lse_; // of the attention
};

/// Finds a place for the gradient: after all that it reads, and before all that reads it.
std::array<const std::optional<AttentionProduct> *, 3>
gradientsOf(const AttentionPattern &pattern) {
  return {&pattern.queryGradient, &pattern.keyGradient, &pattern.valueGradient};
}

bool isRounded(const AttentionProduct &product, Type element) {
  return writeThrough(product.getResult(), element).has_value();
}

std::string AttentionRewriter::check() {
  SmallVector<const std::optional<AttentionProduct> *> products{&pattern_.output};
  for (const std::optional<AttentionProduct> *gradient : gradientsOf(pattern_))
    products.push_back(gradient);
  for (const std::optional<AttentionProduct> *product : products)
    if (*product && !isRounded(**product, pattern_.element))
      return "its results are kept in f32";
  if (!pattern_.hasGradient())
    return "";
  Block *block = pattern_.softmax.exponential->getBlock();
  Operation *last = findLastOperand();
  for (const std::optional<AttentionProduct> *gradient : gradientsOf(pattern_)) {
    if (!*gradient)
      continue;
    linalg::GenericOp op = (*gradient)->op;
    if (op->getBlock() != block)
      return "its gradient is in another region than its output";
    std::optional<Rows> rows = writeThrough((*gradient)->getResult(), pattern_.element);
    for (Operation *user : rows->base.getUsers())
      if (last && !last->isBeforeInBlock(block->findAncestorOpInBlock(*user)))
        return "its gradients are used before all values that they depend on are computed";
  }
  return "";
}

/// The operation of the block that defines the last operand of the gradient; null if all come from
/// outside.
Operation *AttentionRewriter::findLastOperand() const {
  Block *block = pattern_.softmax.exponential->getBlock();
  Operation *last = nullptr;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == block && (!last || last->isBeforeInBlock(op)))
      last = op;
  };
  for (const RowSource *source : {&pattern_.q, &pattern_.k, &pattern_.v, &*pattern_.outputGradient})
    add(source->usable ? source->usable->base : source->own.base);
  if (pattern_.output)
    add(linalg::GenericOp(pattern_.output->op).getResult(0));
  return last;
}

/// The first of the gradient's products.
Operation *AttentionRewriter::findFirst() const {
  Operation *first = nullptr;
  for (const std::optional<AttentionProduct> *gradient : gradientsOf(pattern_))
    if (*gradient && (!first || (*gradient)->op->isBeforeInBlock(first)))
      first = (*gradient)->op;
  return first;
}

Target AttentionRewriter::makeTarget(const std::optional<AttentionProduct> &product, int64_t heads,
                                     int64_t rowCount) {
  Target target;
  target.isDirect = false;
  if (product) {
    Rows own = product->getResult();
    target.rows = *writeThrough(own, pattern_.element);
    target.isDirect = target.rows.isUsable();
    target.replaced = target.isDirect ? target.rows.base : own.base;
  }
  if (target.isDirect) {
    target.type = cast<RankedTensorType>(target.replaced.getType());
    target.place = place(target.rows);
    return target;
  }
  SmallVector<int64_t> shape{pattern_.batch, heads, rowCount, pattern_.dim};
  target.type = RankedTensorType::get(shape, pattern_.element);
  target.place = {0, shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]};
  return target;
}

/// The value that replaces the result of the product: a transposed copy if the runtime does not
/// write it directly.
Value AttentionRewriter::finish(const Target &target,
                                const std::optional<AttentionProduct> &product, Value result) {
  if (!target.replaced || target.isDirect)
    return result;
  auto own = cast<RankedTensorType>(target.replaced.getType());
  ArrayRef<int64_t> dims = product->resultDims;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(axes, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  Value copy = copyTransposed(builder_, loc_,
                              reshape(builder_, loc_, result, product->getResult().extents), axes);
  copy = reshape(builder_, loc_, copy, own.getShape());
  return own.getElementType() == pattern_.element
             ? copy
             : arith::ExtFOp::create(builder_, loc_, own, copy).getResult();
}

void AttentionRewriter::makeOutput() {
  outputTarget_ = makeTarget(pattern_.output, pattern_.heads, pattern_.queries);
  Rows q = pattern_.q.getReadable(builder_, loc_), k = pattern_.k.getReadable(builder_, loc_),
       v = pattern_.v.getReadable(builder_, loc_);
  auto lse = RankedTensorType::get({pattern_.batch, pattern_.heads, pattern_.queries},
                                   builder_.getF32Type());
  auto list = [&](ArrayRef<int64_t> values) { return builder_.getDenseI64ArrayAttr(values); };
  auto op = AttentionOp::create(builder_, loc_, outputTarget_.type, lse, q.base, k.base, v.base,
                                list({pattern_.batch, pattern_.heads, pattern_.keyHeads,
                                      pattern_.queries, pattern_.keys, pattern_.dim}),
                                builder_.getF64FloatAttr(pattern_.softmax.scale),
                                pattern_.causal ? builder_.getUnitAttr() : UnitAttr(),
                                pattern_.precision, list(place(q)), list(place(k)), list(place(v)),
                                list(outputTarget_.place));
  output_ = op.getO(), lse_ = op.getLse();
  if (Value replaced = outputTarget_.replaced)
    replaced.replaceAllUsesWith(finish(outputTarget_, pattern_.output, output_));
}

void AttentionRewriter::makeGradient() {
  Target dQ = makeTarget(pattern_.queryGradient, pattern_.heads, pattern_.queries),
         dK = makeTarget(pattern_.keyGradient, pattern_.keyHeads, pattern_.keys),
         dV = makeTarget(pattern_.valueGradient, pattern_.keyHeads, pattern_.keys);
  Rows q = pattern_.q.getReadable(builder_, loc_), k = pattern_.k.getReadable(builder_, loc_),
       v = pattern_.v.getReadable(builder_, loc_),
       dO = pattern_.outputGradient->getReadable(builder_, loc_);
  auto list = [&](ArrayRef<int64_t> values) { return builder_.getDenseI64ArrayAttr(values); };
  auto op = AttentionGradientOp::create(
      builder_, loc_, dQ.type, dK.type, dV.type, q.base, k.base, v.base, output_, lse_, dO.base,
      list({pattern_.batch, pattern_.heads, pattern_.keyHeads, pattern_.queries, pattern_.keys,
            pattern_.dim}),
      builder_.getF64FloatAttr(pattern_.softmax.scale),
      pattern_.causal ? builder_.getUnitAttr() : UnitAttr(), pattern_.precision, list(place(q)),
      list(place(k)), list(place(v)), list(outputTarget_.place), list(place(dO)), list(dQ.place),
      list(dK.place), list(dV.place));
  const std::tuple<Target &, std::optional<AttentionProduct> &, Value> results[] = {
      {dQ, pattern_.queryGradient, op.getDQ()},
      {dK, pattern_.keyGradient, op.getDK()},
      {dV, pattern_.valueGradient, op.getDV()}};
  for (auto &[target, product, result] : results)
    if (Value replaced = target.replaced)
      replaced.replaceAllUsesWith(finish(target, product, result));
}

void AttentionRewriter::rewrite() {
  Operation *last = pattern_.hasGradient() ? findLastOperand() : nullptr;
  if (pattern_.output) {
    builder_.setInsertionPoint(pattern_.output->op);
    makeOutput();
  }
  if (!pattern_.hasGradient())
    return;
  Operation *first = findFirst();
  if (last && !last->isBeforeInBlock(first))
    builder_.setInsertionPointAfter(last);
  else
    builder_.setInsertionPoint(first);
  if (!pattern_.output)
    makeOutput(); // it has been computed elsewhere; the gradient needs it again
  makeGradient();
}

/// The remark about the attention of a function.
struct Summary {
  Operation *first = nullptr;
  int64_t fused = 0, gradients = 0, bytes = 0;

  void add(const AttentionPattern &pattern) {
    if (!first)
      first = pattern.softmax.exponential;
    ++fused;
    gradients += pattern.hasGradient();
    bytes += pattern.batch * pattern.heads * pattern.queries * pattern.keys *
             (pattern.element.getIntOrFloatBitWidth() / 8);
  }
  void report() const {
    if (first)
      first->emitRemark() << "attention is fused, here and in " << fused - 1 << " more places, in "
                          << gradients << " with its gradient: probabilities of " << bytes
                          << " bytes are not in memory";
  }
};

struct FuseAttentionPass : public impl::FuseAttentionPassBase<FuseAttentionPass> {
  using FuseAttentionPassBase::FuseAttentionPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<CollDialect, arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([&](func::FuncOp function) { fuse(function); });
  }

  void fuse(func::FuncOp function) {
    SmallVector<math::ExpOp> exponentials;
    function.walk([&](math::ExpOp op) { exponentials.push_back(op); });
    OpBuilder builder(&getContext());
    Summary summary;
    for (math::ExpOp op : exponentials) {
      AttentionSearch search = findAttention(op);
      if (search.found) {
        AttentionRewriter rewriter(*search.found, builder);
        search.problem = rewriter.check();
        if (search.problem.empty()) {
          summary.add(*search.found);
          rewriter.rewrite();
        }
      }
      if (!search.problem.empty())
        op.emitRemark() << "attention is not fused: " << search.problem;
    }
    summary.report();
    if (summary.fused)
      function.walk([](Block *block) { eraseDead(*block); });
  }
};

} // namespace
} // namespace mlir::coll
