//===- lower_contractions_form.cc - loops grouped into a matrix product ----------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/lower_contractions.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::coll {
namespace {

// The time of a kernel or a call of the library, whatever it does.
constexpr double kLaunch = 2500;
constexpr int64_t kTile = 128;

struct Groups {
  SmallVector<Loop> batch, m, n, k;
};

/// Group of a loop, by the operands that move with it; null if a product has no such group.
SmallVector<Loop> *findGroup(Groups &groups, const Loop &loop) {
  bool a = loop.strides[kA] != 0, b = loop.strides[kB] != 0, c = loop.strides[kC] != 0;
  if (a && b)
    return c ? &groups.batch : &groups.k;
  if (!c || (!a && !b))
    return nullptr;
  return a ? &groups.m : &groups.n;
}

/// Joins neighbours that are one loop for every operand; outermost first by `key`.
void mergeLoops(SmallVector<Loop> &loops, Operand key) {
  llvm::stable_sort(loops,
                    [&](const Loop &x, const Loop &y) { return x.strides[key] > y.strides[key]; });
  SmallVector<Loop> merged;
  for (const Loop &loop : loops) {
    bool joins = !merged.empty();
    for (unsigned i = 0; joins && i < 3; ++i)
      joins = merged.back().strides[i] == loop.strides[i] * loop.extent;
    if (!joins) {
      merged.push_back(loop);
      continue;
    }
    merged.back() = {merged.back().extent * loop.extent, loop.strides};
  }
  loops = std::move(merged);
}

const Loop kNoLoop{1, {0, 0, 0}};

/// Row stride and transposition of a rows × cols matrix; BLAS needs one unit stride.
bool findLayout(int64_t rows, int64_t rowStride, int64_t cols, int64_t colStride, int64_t &ld,
                bool &trans) {
  trans = false;
  if (cols == 1 || colStride == 1) {
    ld = rows == 1 ? cols : rowStride;
    if (ld >= cols)
      return true;
  }
  trans = true;
  if (rows == 1 || rowStride == 1) {
    ld = cols == 1 ? rows : colStride;
    return ld >= rows;
  }
  return false;
}

/// The product of one loop for each of M, N and K; C must not be transposed.
std::optional<GemmForm> findMatrices(const Loop &m, const Loop &n, const Loop &k, Operand a,
                                     Operand b) {
  GemmForm form;
  form.m = m.extent;
  form.n = n.extent;
  form.k = k.extent;
  bool transC = false;
  if (!findLayout(m.extent, m.strides[kC], n.extent, n.strides[kC], form.ldc, transC) || transC ||
      !findLayout(m.extent, m.strides[a], k.extent, k.strides[a], form.lda, form.transA) ||
      !findLayout(k.extent, k.strides[b], n.extent, n.strides[b], form.ldb, form.transB))
    return std::nullopt;
  form.swapped = a == kB;
  return form;
}

void addBatch(GemmForm &form, const Loop &loop) {
  form.batchSizes.push_back(loop.extent);
  form.batchStridesA.push_back(loop.strides[form.swapped ? kB : kA]);
  form.batchStridesB.push_back(loop.strides[form.swapped ? kA : kB]);
  form.batchStridesC.push_back(loop.strides[kC]);
}

/// Loops that do not fit into the matrices become batch loops, in which one operand does not move.
/// On a GPU the longest one comes last: one call does all of that, and each other loop repeats it.
void addBatchLoops(GemmForm &form, const Groups &groups, size_t m, size_t n, bool onGpu) {
  SmallVector<Loop> batch = groups.batch;
  for (auto [i, loop] : llvm::enumerate(groups.m))
    if (i != m)
      batch.push_back(loop);
  for (auto [i, loop] : llvm::enumerate(groups.n))
    if (i != n)
      batch.push_back(loop);
  mergeLoops(batch, kC);
  auto longest =
      llvm::max_element(batch, [](const Loop &a, const Loop &b) { return a.extent < b.extent; });
  if (onGpu && longest != batch.end())
    std::rotate(longest, longest + 1, batch.end());
  for (const Loop &loop : batch)
    addBatch(form, loop);
}

} // namespace

double ContractionCosts::product(const GemmForm &form) const {
  double calls = 1, products = 1;
  for (int64_t size : form.batchSizes)
    products *= size;
  for (int64_t size : ArrayRef(form.batchSizes).drop_back(form.batchSizes.empty() ? 0 : 1))
    calls *= size;
  if (onGpu) {
    // Results are computed in whole tiles, even if a matrix is smaller.
    double tiles = llvm::divideCeil(form.m, kTile) * llvm::divideCeil(form.n, kTile);
    return calls * kLaunch + products * tiles * kTile * kTile * form.k / 1.5e5;
  }
  double m = form.m, n = form.n, k = form.k;
  return products * (150.0 + 0.06 * m * n * k + 0.2 * (m * k + k * n + m * n));
}

double ContractionCosts::copy(int64_t elements) const {
  return onGpu ? kLaunch + 0.003 * elements : 1.0 * elements;
}

double ContractionCosts::nest(int64_t elements) const {
  return onGpu ? kLaunch + 0.003 * elements : 0.8 * elements;
}

bool ContractionCosts::prefersNest(const GemmForm &form, double cost, int64_t elements) const {
  // On a GPU the model is trusted only where most of a tile would be padding.
  const bool isVector = form.m == 1 || form.n == 1;
  return (!onGpu || (isVector && !form.batchSizes.empty())) && cost > nest(elements);
}

std::optional<GemmForm> findGemmForm(const Contraction &contraction, ContractionCosts costs) {
  Groups groups;
  for (const Loop &loop : contraction.loops) {
    SmallVector<Loop> *group = findGroup(groups, loop);
    if (!group)
      return std::nullopt;
    group->push_back(loop);
  }
  mergeLoops(groups.m, kC);
  mergeLoops(groups.n, kC);
  mergeLoops(groups.k, kA);
  if (groups.k.size() > 1)
    return std::nullopt;
  const Loop &k = groups.k.empty() ? kNoLoop : groups.k.front();
  std::optional<GemmForm> best;
  for (size_t i = 0; i < std::max<size_t>(groups.m.size(), 1); ++i) {
    for (size_t j = 0; j < std::max<size_t>(groups.n.size(), 1); ++j) {
      const Loop &m = groups.m.empty() ? kNoLoop : groups.m[i];
      const Loop &n = groups.n.empty() ? kNoLoop : groups.n[j];
      std::optional<GemmForm> form = findMatrices(m, n, k, kA, kB);
      if (!form)
        form = findMatrices(n, m, k, kB, kA);
      if (!form)
        continue;
      addBatchLoops(*form, groups, i, j, costs.onGpu);
      if (!best || costs.product(*form) < costs.product(*best))
        best = form;
    }
  }
  return best;
}

LogicalResult packOperand(OpBuilder &builder, Location loc, Contraction &contraction,
                          Operand operand, Type elementType, bool emit) {
  Value source = contraction.base[operand];
  auto sourceType = cast<RankedTensorType>(source.getType());
  FailureOr<SmallVector<Coordinate>> coordinates =
      alignLoops(contraction, operand, sourceType.getShape());
  if (failed(coordinates))
    return failure();

  // Batch outermost, then the two sides of the matrix; inside of a side the order
  // of the other operand or of C, so that both merge alike. The innermost side is
  // the one that is contiguous in the source.
  Operand other = operand == kA ? kB : kA;
  SmallVector<unsigned> batch, free, reduced;
  for (auto [i, loop] : llvm::enumerate(contraction.loops)) {
    if (loop.strides[operand] == 0)
      continue;
    bool inOther = loop.strides[other] != 0, inC = loop.strides[kC] != 0;
    (inOther ? (inC ? batch : reduced) : free).push_back(i);
  }
  auto sortBy = [&](SmallVector<unsigned> &loops, Operand key) {
    llvm::stable_sort(loops, [&](unsigned x, unsigned y) {
      return contraction.loops[x].strides[key] > contraction.loops[y].strides[key];
    });
  };
  sortBy(batch, kC);
  sortBy(free, kC);
  sortBy(reduced, other);
  // Smallest stride first; among equal ones the longer run.
  auto innermost = [&](ArrayRef<unsigned> loops) {
    std::pair<int64_t, int64_t> best(std::numeric_limits<int64_t>::max(), 0);
    for (unsigned i : loops)
      best = std::min(best, {contraction.loops[i].strides[operand], -contraction.loops[i].extent});
    return best;
  };
  bool freeInner = innermost(free) < innermost(reduced);
  SmallVector<unsigned> order(batch);
  llvm::append_range(order, freeInner ? reduced : free);
  llvm::append_range(order, freeInner ? free : reduced);

  MLIRContext *ctx = builder.getContext();
  SmallVector<AffineExpr> exprs(sourceType.getRank(), getAffineConstantExpr(0, ctx));
  SmallVector<int64_t> shape;
  for (auto [position, i] : llvm::enumerate(order)) {
    Coordinate at = (*coordinates)[i];
    exprs[at.dim] = exprs[at.dim] + getAffineDimExpr(position, ctx) * at.factor;
    shape.push_back(contraction.loops[i].extent);
  }
  for (auto [position, i] : llvm::enumerate(order)) {
    int64_t stride = 1;
    for (int64_t size : ArrayRef(shape).drop_front(position + 1))
      stride *= size;
    contraction.loops[i].strides[operand] = stride;
  }
  if (!emit)
    return success();

  Value empty = tensor::EmptyOp::create(builder, loc, shape, elementType);
  SmallVector<AffineMap> maps{AffineMap::get(order.size(), 0, exprs, ctx),
                              builder.getMultiDimIdentityMap(order.size())};
  SmallVector<utils::IteratorType> iterators(order.size(), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, ValueRange{source}, ValueRange{empty}, maps,
      iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value value = args[0];
        if (value.getType() != elementType)
          value = arith::ExtFOp::create(b, loc, elementType, value);
        linalg::YieldOp::create(b, loc, value);
      });
  contraction.base[operand] = copy.getResult(0);
  return success();
}

} // namespace mlir::coll
