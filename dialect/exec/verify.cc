//===- verify.cc - verifiers of the exec dialect --------------------------------===//
//
// (Cn) names the constraint in ops.td that a line checks. Attribute values come from unchecked
// text: arithmetic on them is guarded.
//
//===----------------------------------------------------------------------------===//

#include "dialect/exec/exec.h"
#include "dialect/exec/memory_form.h"
#include "dialect/futures.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::coll;
using namespace mlir::coll::exec;

/// Integers, indices and floats lie in memory.
static bool hasMemoryForm(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrIndexOrFloat() &&
         getTensorBytes(tensor);
}

static LogicalResult verifyWritable(Operation *op, Value target) {
  std::optional<Extent> extent = getExtent(target);
  if (!extent || !extent->isReadOnly)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("writes read-only memory: a constant, or an argument that no result updates");
  diagnostic.attachNote(extent->base.getLoc()) << "this is the memory";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Functions and memory
//===----------------------------------------------------------------------===//

LogicalResult FunctionOp::verify() {
  FunctionType type = getSignature();
  for (Type operand : llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!hasMemoryForm(operand)) // (C1)
      return emitOpError("arguments and results must be tensors of static shape, but one is ")
             << operand;
  if (getUpdates().size() != type.getNumResults()) // (C2)
    return emitOpError("updates must have one entry per result, but has ")
           << getUpdates().size() << " for " << type.getNumResults();
  SmallVector<bool> isUpdated(type.getNumInputs());
  for (auto [k, argument] : llvm::enumerate(getUpdates())) {
    if (argument == -1)
      continue;
    if (argument < -1 || argument >= type.getNumInputs() || isUpdated[argument] ||
        type.getInput(argument) != type.getResult(k)) // (C2)
      return emitOpError("result ") << k << " cannot update argument " << argument;
    isUpdated[argument] = true;
  }
  Block &block = getBody().front();
  size_t buffers = type.getNumInputs() + llvm::count(getUpdates(), -1) + 1;
  if (block.getNumArguments() != buffers ||
      !llvm::all_of(block.getArgumentTypes(), llvm::IsaPred<BufferType>)) // (C3)
    return emitOpError("block must have ") << buffers << " buffers: arguments, results, the arena";
  if (getArenaBytesAttr().getInt() < 0) // (C3)
    return emitOpError("arena cannot have ") << getArenaBytesAttr().getInt() << " bytes";
  return success();
}

/// Checks that only the dialect's operations pass buffers on.
static LogicalResult verifyInside(Operation *op) {
  bool isExec = isa<ExecDialect>(op->getDialect());
  bool takes = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
  bool makes = llvm::any_of(op->getResultTypes(), llvm::IsaPred<BufferType>);
  if ((takes && !isExec) || (makes && !isa<ViewOp, exec::ConstantOp>(op)))
    return op->emitOpError("cannot pass a buffer on: only views and constants make buffers");
  StringRef name = op->getName().getStringRef();
  bool isFlow = name == "scf.for" || name == "scf.while" || name == "scf.if";
  if (op->getNumRegions() && !isExec && !isFlow)
    return op->emitOpError("cannot be in an exec.function: control flow is scf.for, scf.while "
                           "and scf.if");
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), llvm::IsaPred<BufferType>))
        return op->emitOpError("cannot pass a buffer on: only views and constants make buffers");
  return success();
}

LogicalResult FunctionOp::verifyRegions() {
  WalkResult result = getBody().walk([](Operation *op) { // (C4)
    return WalkResult(verifyInside(op));
  });
  return failure(result.wasInterrupted());
}

LogicalResult ViewOp::verify() {
  if (getBase().getDefiningOp<ViewOp>()) // (C1)
    return emitOpError("base must be a buffer of the function, not a view");
  std::optional<Extent> base = getExtent(getBase());
  int64_t offset = getOffsetAttr().getInt(), bytes = getBytesAttr().getInt(), end;
  bool isInside = offset >= 0 && bytes >= 0 && !llvm::AddOverflow(offset, bytes, end);
  if (!isInside || (base && end > base->bytes)) { // (C2)
    InFlightDiagnostic diagnostic = emitOpError("takes ")
                                    << bytes << " bytes at " << offset << ", outside of its base";
    if (base)
      diagnostic << ", which has " << base->bytes;
    return diagnostic;
  }
  return success();
}

LogicalResult exec::ConstantOp::verify() {
  if (!isa<DenseElementsAttr>(getValue()) || !hasMemoryForm(getValue().getShapedType())) // (C1)
    return emitOpError("must hold integers, indices or floats, but is ")
           << getValue().getShapedType();
  return success();
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

LogicalResult UndefinedOp::verify() { return verifyWritable(*this, getTarget()); } // (C1)

LogicalResult RenameOp::verify() {
  std::optional<Extent> source = getExtent(getSource()), target = getExtent(getTarget());
  if (source && target && !(*source == *target)) // (C1)
    return emitOpError("source and target must be the same memory, but are ")
           << source->bytes << " bytes at " << source->offset << " and " << target->bytes
           << " bytes at " << target->offset;
  return success();
}

LogicalResult CopyOp::verify() {
  std::optional<Extent> source = getExtent(getSource()), target = getExtent(getTarget());
  if (source && target && source->bytes != target->bytes) // (C1)
    return emitOpError("copies ") << source->bytes << " bytes to " << target->bytes;
  if (source && target && source->overlaps(*target)) // (C2)
    return emitOpError("source and target overlap");
  return verifyWritable(*this, getTarget()); // (C3)
}

LogicalResult FillOp::verify() {
  Type type = getValue().getType();
  std::optional<Extent> target = getExtent(getTarget());
  if (!type.isIntOrIndexOrFloat() || (target && target->bytes % getElementBytes(type) != 0)) // (C1)
    return emitOpError("cannot fill the view with elements of type ") << type;
  return verifyWritable(*this, getTarget()); // (C2)
}

LogicalResult LoadOp::verify() {
  std::optional<Extent> source = getExtent(getSource());
  if (source && source->bytes < getElementBytes(getType())) // (C1)
    return emitOpError("reads ") << getType() << " from " << source->bytes << " bytes";
  return success();
}

LogicalResult StoreOp::verify() {
  std::optional<Extent> target = getExtent(getTarget());
  if (getValues().empty() || !llvm::all_equal(getValues().getTypes())) // (C1)
    return emitOpError("must store values of one type");
  int64_t bytes = getValues().size() * getElementBytes(getValues().front().getType());
  if (target && target->bytes != bytes) // (C1)
    return emitOpError("stores ") << bytes << " bytes to a view of " << target->bytes;
  return verifyWritable(*this, getTarget()); // (C2)
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// Whether `exec.members` names two buffers among the operands.
static bool namesBuffers(const Members &members, CallOp call) {
  auto isBuffer = [&](int64_t index) {
    return index >= 0 && index < static_cast<int64_t>(call.getOperands().size()) &&
           isa<BufferType>(call.getOperands()[index].getType());
  };
  return members.sums != members.copies && isBuffer(members.sums) && isBuffer(members.copies);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCalleeAttr());
  if (!kernel || isa<FunctionOp>(kernel)) // (C1)
    return emitOpError("calls '") << getCallee() << "', which is not a kernel";
  std::optional<Members> members = getMembers(kernel);
  if (members && !namesBuffers(*members, *this)) // (C1)
    return emitOpError("calls '") << getCallee() << "', whose " << kMembersAttr
                                  << " must name two of its buffers";
  size_t expected = getOperands().size() + (members ? members->numAddresses() : 0);
  if (kernel.getNumArguments() != expected) // (C1)
    return emitOpError("passes ") << getOperands().size() << " operands"
                                  << (members ? " and the members' addresses" : "")
                                  << " to a kernel of " << kernel.getNumArguments();
  return success();
}

static bool isWritten(Access access) {
  return access == Access::Write || access == Access::Update || access == Access::Scratch;
}

LogicalResult CallOp::verify() {
  if (getAccesses().size() != getOperands().size()) // (C2)
    return emitOpError("has ") << getAccesses().size() << " accesses for " << getOperands().size()
                               << " operands";
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    std::optional<Access> access = symbolizeAccess(getAccesses()[i]);
    bool isScalar = access == Access::Scalar;
    if (!access || isScalar == isa<BufferType>(operand.getType())) // (C2)
      return emitOpError("operand ")
             << i << " must " << (isScalar ? "have an access" : "be a buffer");
    if (isWritten(*access) && failed(verifyWritable(*this, operand))) // (C3)
      return failure();
  }
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    std::optional<Extent> written = getExtent(operand);
    if (!isWritten(getAccess(i)) || !written)
      continue;
    for (auto [j, other] : llvm::enumerate(getOperands())) {
      if (i == j || getAccess(j) == Access::Scalar || getAccess(j) == Access::Reuse)
        continue;
      std::optional<Extent> extent = getExtent(other);
      if (extent && extent->overlaps(*written)) // (C4)
        return emitOpError("operand ") << i << " is written, and overlaps operand " << j;
    }
  }
  SmallVector<std::pair<unsigned, unsigned>> reused = getReused();
  for (auto [i, operand] : llvm::enumerate(getOperands()))
    if (getAccess(i) == Access::Reuse && getExtent(operand) &&
        llvm::none_of(reused, [&, i = i](auto pair) { return pair.first == i; })) // (C5)
      return emitOpError("operand ") << i << " is not the memory of a written operand";
  return success();
}

namespace {
struct Matrix {
  StringRef name;
  Value view;
  Type element;
  int64_t rows, cols, ld;
  ArrayRef<int64_t> batchStrides;
};
} // namespace

/// total += (count - 1) * stride; false if that does not fit into 64 bits.
static bool advance(int64_t &total, int64_t count, int64_t stride) {
  int64_t distance;
  return !llvm::MulOverflow(count - 1, stride, distance) &&
         !llvm::AddOverflow(total, distance, total);
}

/// Whether all elements that the matrices touch are inside the view.
static bool isInside(exec::GemmOp op, const Matrix &matrix) {
  std::optional<Extent> extent = getExtent(matrix.view);
  if (!extent || matrix.rows == 0 || matrix.cols == 0 || llvm::is_contained(op.getBatchSizes(), 0))
    return true;
  int64_t last = 0;
  bool fits = advance(last, matrix.rows, matrix.ld) && advance(last, matrix.cols, 1);
  for (auto [size, stride] : llvm::zip_equal(op.getBatchSizes(), matrix.batchStrides))
    fits = fits && advance(last, size, stride);
  return fits && last < extent->bytes / getElementBytes(matrix.element);
}

LogicalResult exec::GemmOp::verify() {
  Type factor = getElement(), sum = getResultElement();
  bool isNarrow = factor.isBF16() || factor.isF16();
  if (!isNarrow && !factor.isF32() && !factor.isF64()) // (C1)
    return emitOpError("elements must be f32, f64, bf16 or f16, but are ") << factor;
  if (sum != factor && !(isNarrow && sum.isF32())) // (C1)
    return emitOpError("factors of ") << factor << " cannot give " << sum;
  if (!exec::symbolizePrecision(getPrecision().value_or("highest"))) // (C1)
    return emitOpError("precision must be highest, tf32 or bf16, but is ") << getPrecisionAttr();
  ArrayRef<int64_t> mnk = getMnk(), lds = getLds(), batch = getBatchSizes();
  ArrayRef<int64_t> strides[] = {getBatchStridesA(), getBatchStridesB(), getBatchStridesC()};
  bool isComplete = mnk.size() == 3 && lds.size() == 3;
  for (ArrayRef<int64_t> list : {mnk, lds, batch, strides[0], strides[1], strides[2]})
    isComplete &= llvm::all_of(list, [](int64_t value) { return value >= 0; });
  for (ArrayRef<int64_t> list : strides)
    isComplete &= list.size() == batch.size();
  if (!isComplete) // (C2)
    return emitOpError("sizes and strides must be complete, and none negative");
  const Matrix matrices[] = {{"A", getA(), factor, getTransA() ? mnk[2] : mnk[0],
                              getTransA() ? mnk[0] : mnk[2], lds[0], strides[0]},
                             {"B", getB(), factor, getTransB() ? mnk[1] : mnk[2],
                              getTransB() ? mnk[2] : mnk[1], lds[1], strides[1]},
                             {"C", getC(), sum, mnk[0], mnk[1], lds[2], strides[2]}};
  for (const Matrix &matrix : matrices)
    if (!isInside(*this, matrix)) // (C3)
      return emitOpError() << "matrix " << matrix.name << " (" << matrix.rows << " x "
                           << matrix.cols << ", row stride " << matrix.ld
                           << ") reaches outside its view";
  std::optional<Extent> a = getExtent(getA()), b = getExtent(getB()), c = getExtent(getC());
  if (c && ((a && a->overlaps(*c)) || (b && b->overlaps(*c)))) // (C4)
    return emitOpError("C overlaps a factor");
  return verifyWritable(*this, getC()); // (C4)
}

LogicalResult ReachesOp::verifySymbolUses(SymbolTableCollection &) {
  return success(coll::detail::verifyGroup(*this, getGroup()).has_value());
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

namespace {
/// Checks that exec.communicate and exec.start share. The label beside a call names the constraint
/// that the call checks.
struct Communication {
  Operation *op;
  OperandRange reads, writes, scalars;
  Block &block;

  bool isBucket() const { return block.getOperations().size() > 2; }

  LogicalResult verifyRegion() const {
    SmallVector<Value> results;
    bool isWrong = block.getOperations().size() < 2 || !isa<YieldOp>(block.back());
    for (Operation &inner : block.without_terminator()) {
      isWrong |= !isa<CollectiveOpInterface>(inner);
      llvm::append_range(results, inner.getResults());
    }
    if (isWrong || block.back().getOperands() != ValueRange(results))
      return op->emitOpError("region must hold communication operations and coll.yield of their "
                             "results");
    return success();
  }

  LogicalResult verifyBucket() const {
    if (!isBucket())
      return success();
    SmallVector<Value> inputs;
    for (Operation &inner : block.without_terminator()) {
      if (!coll::detail::canShareCall(&inner) || !coll::detail::isSameCall(&block.front(), &inner))
        return op->emitOpError("region's operations are one call and must be alike");
      llvm::append_range(inputs, inner.getOperands());
    }
    if (ValueRange(inputs) != ValueRange(block.getArguments()))
      return op->emitOpError("block's arguments must be the inputs of its operations, in order");
    std::optional<Extent> before;
    for (auto [source, target] : llvm::zip_equal(reads, writes)) {
      std::optional<Extent> extent = getExtent(source), written = getExtent(target);
      if (extent && written && !(*extent == *written))
        return op->emitOpError("of several operations must write what it reads");
      if (extent && before &&
          (extent->base != before->base || extent->offset != alignInBucket(before->end())))
        return op->emitOpError("of several operations must find each tensor at the next multiple "
                               "of ")
               << kBucketAlignment << " bytes behind the one before";
      before = extent;
    }
    return success();
  }

  /// The runtime decides the size of a route.
  static bool fits(Type type, Value view) {
    if (isa<RouteType>(type))
      return true;
    std::optional<Extent> extent = getExtent(view);
    return hasMemoryForm(type) &&
           (!extent || extent->bytes == getTensorBytes(cast<RankedTensorType>(type)));
  }

  LogicalResult verifySources() const {
    TypeRange types = block.getArgumentTypes();
    if (types.size() != reads.size() + scalars.size())
      return op->emitOpError("block must have ")
             << reads.size() + scalars.size() << " arguments: what is read, and the scalars";
    for (auto [i, view] : llvm::enumerate(reads))
      if (!fits(types[i], view))
        return op->emitOpError("reads a ") << types[i] << " from a view of another size";
    if (!llvm::all_of(types.drop_front(reads.size()), [](Type type) { return type.isIndex(); }))
      return op->emitOpError("scalars must be of type index in the block as well");
    return success();
  }

  LogicalResult verifyDestinations() const {
    TypeRange types = block.back().getOperandTypes();
    if (types.size() != writes.size())
      return op->emitOpError("yields ")
             << types.size() << " values, but writes " << writes.size() << " views";
    for (auto [type, view] : llvm::zip_equal(types, writes))
      if (!fits(type, view))
        return op->emitOpError("writes a ") << type << " to a view of another size";
    return success();
  }

  LogicalResult verifyOverlap() const {
    for (auto [i, target] : llvm::enumerate(writes)) {
      if (failed(verifyWritable(op, target)))
        return failure();
      if (isBucket()) // verifyBucket() compares neighbours
        continue;
      std::optional<Extent> written = getExtent(target);
      auto clashes = [&](Value other, bool mayBeSame) {
        std::optional<Extent> extent = getExtent(other);
        return extent && written && extent->overlaps(*written) &&
               !(mayBeSame && *extent == *written && coll::detail::canShareCall(&block.front()));
      };
      for (Value source : reads)
        if (clashes(source, /*mayBeSame=*/true))
          return op->emitOpError("reads and writes memory that overlaps");
      for (Value other : writes.drop_front(i + 1))
        if (clashes(other, /*mayBeSame=*/false))
          return op->emitOpError("writes memory twice");
    }
    return success();
  }
};
} // namespace

LogicalResult CommunicateOp::verify() {
  Communication all{*this, getReads(), getWrites(), getScalars(), getBody().front()};
  if (failed(all.verifyRegion()) ||       // (C1)
      failed(all.verifySources()) ||      // (C2)
      failed(all.verifyDestinations()) || // (C3)
      failed(all.verifyOverlap()) ||      // (C4)
      failed(all.verifyBucket()))         // (C5)
    return failure();
  return success();
}

LogicalResult exec::StartOp::verify() {
  Communication all{*this, getReads(), getWrites(), getScalars(), getBody().front()};
  if (failed(all.verifyRegion()))
    return failure();
  if (isa<InitOp, DispatchOp, CombineOp>(getBody().front().front())) // (C1)
    return emitOpError("cannot start '") << getBody().front().front().getName() << "'";
  if (failed(all.verifySources()) || failed(all.verifyDestinations()) ||
      failed(all.verifyOverlap()) || failed(all.verifyBucket())) // (C4), (C5)
    return failure();
  return verifyAwaitedOnce(*this, getRequest(), "request", // (C6)
                           [](Operation *user) { return isa<exec::WaitOp>(user); });
}

static bool isSameMemory(ValueRange a, ValueRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](const auto &pair) {
           std::optional<Extent> x = getExtent(std::get<0>(pair)), y = getExtent(std::get<1>(pair));
           return !x || !y || *x == *y;
         });
}

LogicalResult exec::WaitOp::verify() {
  SmallVector<Operation *> starts = getStarts(getRequest());
  if (starts.empty() ||
      !llvm::all_of(starts, [](Operation *op) { return isa<exec::StartOp>(op); })) // (C1)
    return emitOpError("request must come from exec.start, directly or through the loops that "
                       "carry it");
  auto first = cast<exec::StartOp>(starts.front());
  for (Operation *op : starts) {
    auto start = cast<exec::StartOp>(op);
    if (isSameMemory(start.getWrites(), getWrites()) &&
        isSameMemory(start.getReads(), first.getReads()))
      continue;
    InFlightDiagnostic diagnostic = emitOpError( // (C2)
        "and what it waits for must name the same memory");
    diagnostic.attachNote(start.getLoc()) << "it was started here";
    return diagnostic;
  }
  return success();
}
