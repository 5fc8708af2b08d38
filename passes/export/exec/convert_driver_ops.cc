// Driver functions on buffers: kernels, products, communication, scalars.

#include "passes/export/exec/convert_driver.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coll;

LogicalResult DriverConverter::convertCall(func::CallOp op) {
  const KernelInfo &kernel = kernels_.find(op.getCallee())->second;
  SmallVector<Value> operands;
  SmallVector<int32_t> accesses;
  auto add = [&](Value operand, exec::Access access) {
    operands.push_back(operand);
    accesses.push_back(static_cast<int32_t>(access));
  };
  auto slotOf = [&](unsigned content) { return plan_->contents[content].slot; };
  ArrayRef<Move> moves;
  if (auto it = plan_->movesBefore.find(op); it != plan_->movesBefore.end())
    moves = it->second;
  for (auto [i, arg] : llvm::enumerate(kernel.args)) {
    if (arg.access == KernelArg::Access::Scalar) {
      add(values_.lookup(op.getOperand(i)), exec::Access::Scalar);
      continue;
    }
    if (i >= kernel.firstDest()) {
      bool isUpdate = arg.access == KernelArg::Access::ReadWrite;
      add(view(op.getResult(i - kernel.firstDest())),
          isUpdate ? exec::Access::Update : exec::Access::Write);
      continue;
    }
    unsigned content = plan_->contentOf.lookup(op.getOperand(i));
    bool isReuse = llvm::any_of(op.getResults(), [&](Value result) {
      return slotOf(plan_->contentOf.lookup(result)) == slotOf(content);
    });
    // An operand that is updated in place as well has the result's name by now.
    for (const Move &move : moves)
      if (!move.isCopy && move.src == content)
        content = move.dst;
    add(view(content), isReuse ? exec::Access::Reuse : exec::Access::Read);
  }
  if (auto it = plan_->scratchOf.find(op); it != plan_->scratchOf.end())
    add(view(it->second), exec::Access::Scratch);
  exec::CallOp::create(b_, loc_, op.getCallee(), operands, accesses);
  return success();
}

void DriverConverter::convertExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  Value linear;
  for (auto [index, size] :
       llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape())) {
    Value component = values_.lookup(index);
    if (linear) {
      Value stride = arith::ConstantIndexOp::create(b_, loc_, size);
      linear = arith::MulIOp::create(b_, loc_, linear, stride);
      component = arith::AddIOp::create(b_, loc_, linear, component);
    }
    linear = component;
  }
  if (!linear)
    linear = arith::ConstantIndexOp::create(b_, loc_, 0);
  values_.map(extract.getResult(),
              exec::LoadOp::create(b_, loc_, extract.getType(), view(extract.getTensor()), linear)
                  .getResult());
}

void DriverConverter::convertFromElements(Operation *op) {
  if (op->getNumOperands())
    exec::StoreOp::create(b_, loc_, scalars(op->getOperands()), view(op->getResult(0)));
}

void DriverConverter::convertConstant(arith::ConstantOp op) {
  auto it = plan_->contentOf.find(op);
  if (!op->hasAttr(kFillAttr) || it == plan_->contentOf.end())
    return;
  Attribute element = cast<DenseElementsAttr>(op.getValue()).getSplatValue<Attribute>();
  exec::FillOp::create(b_, loc_, view(it->second), cast<TypedAttr>(element));
}

/// The precision to which factors may be rounded: that of the options, as far as the step allows
/// it.
exec::Precision DriverConverter::getPrecision(Type factor, std::optional<StringRef> asked) const {
  if (!factor.isF32() || asked == kPrecisionHighest)
    return exec::Precision::Highest;
  if (asked == kPrecisionHigh && precision_ == exec::Precision::Bf16)
    return exec::Precision::Tf32;
  return precision_;
}

/// Null for the highest.
StringAttr DriverConverter::getProductPrecision(Type factor, std::optional<StringRef> asked) {
  exec::Precision used = getPrecision(factor, asked);
  return used == exec::Precision::Highest ? StringAttr()
                                          : b_.getStringAttr(exec::stringifyPrecision(used));
}

void DriverConverter::convertFusedGemm(FusedGemmOp op) {
  Type factor = op.getA().getType().getElementType();
  Type sum = op.getResult().getType().getElementType();
  exec::FusedGemmOp::create(b_, loc_, op.getEpilogueAttr(), view(op.getA()), view(op.getB()),
                            op.getWith() ? view(op.getWith()) : Value(), view(op.getResult()),
                            op.getKept() ? view(op.getKept()) : Value(), TypeAttr::get(factor),
                            sum == factor ? TypeAttr() : TypeAttr::get(sum),
                            getProductPrecision(factor, op.getPrecision()), op.getTransAAttr(),
                            op.getTransBAttr(), op.getMnkAttr(), op.getLdsAttr());
}

/// Adjacent batch dimensions with matching strides become one.
void DriverConverter::convertGemm(GemmOp op) {
  SmallVector<int64_t> sizes, a, b, c;
  for (size_t i = 0; i < op.getBatchSizes().size(); ++i) {
    int64_t size = op.getBatchSizes()[i], strideA = op.getBatchStridesA()[i],
            strideB = op.getBatchStridesB()[i], strideC = op.getBatchStridesC()[i];
    if (size == 1)
      continue;
    if (!sizes.empty() && a.back() == strideA * size && b.back() == strideB * size &&
        c.back() == strideC * size) {
      sizes.back() *= size;
      a.back() = strideA, b.back() = strideB, c.back() = strideC;
      continue;
    }
    sizes.push_back(size);
    a.push_back(strideA), b.push_back(strideB), c.push_back(strideC);
  }
  Type factor = op.getA().getType().getElementType(), sum = op.getC().getType().getElementType();
  exec::GemmOp::create(b_, loc_, view(op.getA()), view(op.getB()), view(op.getResult()), factor,
                       sum == factor ? TypeAttr() : TypeAttr::get(sum),
                       getProductPrecision(factor, op.getPrecision()), op.getMnk(), op.getLds(),
                       op.getTransA(), op.getTransB(), op.getAccumulate(), sizes, a, b, c);
}

void DriverConverter::convertConvolution(ConvolutionOp op) {
  Type element = op.getA().getType().getElementType();
  exec::ConvolutionOp::create(b_, loc_, view(op.getA()), view(op.getB()), view(op.getResult()),
                              TypeAttr::get(element), op.getKindAttr(),
                              getProductPrecision(element, op.getPrecision()), op.getSizesAttr(),
                              op.getInputAttr(), op.getWindowAttr(), op.getOutputAttr(),
                              op.getStridesAttr(), op.getDilationsAttr(), op.getPadsAttr());
}

/// Null for the highest. Attention has no form that rounds factors to bf16: TF32 is the next.
StringAttr DriverConverter::getAttentionPrecision(Type element, std::optional<StringRef> asked) {
  if (getPrecision(element, asked) == exec::Precision::Highest)
    return {};
  return b_.getStringAttr(exec::stringifyPrecision(exec::Precision::Tf32));
}

void DriverConverter::convertAttention(AttentionOp op) {
  Type element = op.getQ().getType().getElementType();
  exec::AttentionOp::create(b_, loc_, view(op.getQ()), view(op.getK()), view(op.getV()),
                            view(op.getO()), view(op.getLse()), TypeAttr::get(element),
                            op.getSizesAttr(), op.getScaleAttr(), op.getCausalAttr(),
                            getAttentionPrecision(element, op.getPrecision()), op.getQAtAttr(),
                            op.getKAtAttr(), op.getVAtAttr(), op.getOAtAttr());
}

void DriverConverter::convertAttentionGradient(AttentionGradientOp op) {
  Type element = op.getQ().getType().getElementType();
  exec::AttentionGradientOp::create(
      b_, loc_, view(op.getQ()), view(op.getK()), view(op.getV()), view(op.getO()),
      view(op.getLse()), view(op.getDO()), view(op.getDQ()), view(op.getDK()), view(op.getDV()),
      view(plan_->scratchOf.lookup(op)), TypeAttr::get(element), op.getSizesAttr(),
      op.getScaleAttr(), op.getCausalAttr(), getAttentionPrecision(element, op.getPrecision()),
      op.getQAtAttr(), op.getKAtAttr(), op.getVAtAttr(), op.getOAtAttr(), op.getDOAtAttr(),
      op.getDQAtAttr(), op.getDKAtAttr(), op.getDVAtAttr());
}

/// The region of a communication: `ops` on the block's arguments, which stand for `sources`.
void DriverConverter::fillRegion(Region &region, ArrayRef<Operation *> ops, ValueRange sources) {
  OpBuilder::InsertionGuard guard(b_);
  Block *block = b_.createBlock(&region);
  IRMapping map;
  for (bool inMemory : {true, false})
    for (Value source : sources)
      if (livesInMemory(source.getType()) == inMemory && !map.contains(source))
        map.map(source, block->addArgument(source.getType(), loc_));
  SmallVector<Value> results;
  for (Operation *op : ops)
    llvm::append_range(results, b_.clone(*op, map)->getResults());
  YieldOp::create(b_, loc_, results);
}

/// Without repetition, in order.
static SmallVector<Value> distinct(ValueRange values) {
  llvm::SetVector<Value> set(values.begin(), values.end());
  return set.takeVector();
}

void DriverConverter::convertBlocking(Operation *op) {
  SmallVector<Value> sources = distinct(op->getOperands());
  auto communicate = exec::CommunicateOp::create(b_, loc_, views(sources), views(op->getResults()),
                                                 scalars(sources));
  fillRegion(communicate.getBody(), op, sources);
}

/// The await of a start of several operations, which the start need not be apart from.
static AwaitOp getAwaitBehind(StartOp start) {
  auto await = dyn_cast_if_present<AwaitOp>(start->getNextNode());
  return start.isBucket() && await && await.getFuture() == start.getFuture() ? await : AwaitOp();
}

/// A future that a loop carries has memory of its own; one of several operations has that of the
/// await's results; another reads its sources where they are and writes what its await results in.
void DriverConverter::convertStart(StartOp op) {
  SmallVector<Operation *> communications =
      llvm::map_to_vector(op.getCommunications(), [](Operation &inner) { return &inner; });
  ValueRange arguments = op.getBody().front().getArguments();
  if (AwaitOp await = getAwaitBehind(op)) {
    SmallVector<Value> held = views(await.getResults());
    auto communicate = exec::CommunicateOp::create(b_, loc_, held, held, ValueRange());
    return fillRegion(communicate.getBody(), communications, arguments);
  }
  SmallVector<Value> reads = views(op.getSources()), writes;
  if (const FutureMemory *memory = plan_->getMemory(op.getFuture())) {
    reads = llvm::map_to_vector(memory->sources, [&](unsigned content) { return view(content); });
    writes = llvm::map_to_vector(memory->results, [&](unsigned content) { return view(content); });
  } else {
    writes = views((*op.getFuture().user_begin())->getResults());
  }
  if (op.isBucket())
    reads = writes;
  auto start = exec::StartOp::create(b_, loc_, exec::RequestType::get(b_.getContext()), reads,
                                     writes, scalars(op.getSources()));
  fillRegion(start.getBody(), communications, arguments);
  values_.map(op.getFuture(), start.getRequest());
}

void DriverConverter::convertAwait(AwaitOp op) {
  if (auto start = op.getFuture().getDefiningOp<StartOp>(); start && getAwaitBehind(start) == op)
    return;
  const FutureMemory *memory = plan_->getMemory(op.getFuture());
  SmallVector<Value> writes = views(op.getResults());
  if (memory)
    writes = llvm::map_to_vector(memory->results, [&](unsigned content) { return view(content); });
  exec::WaitOp::create(b_, loc_, values_.lookup(op.getFuture()), writes);
  if (!memory)
    return;
  for (auto [from, result] : llvm::zip_equal(memory->results, op.getResults())) {
    unsigned to = plan_->contentOf.lookup(result);
    if (plan_->contents[to].bytes == 0)
      continue;
    if (plan_->contents[from].slot == plan_->contents[to].slot)
      exec::RenameOp::create(b_, loc_, view(from), view(to));
    else
      exec::CopyOp::create(b_, loc_, view(from), view(to));
  }
}
