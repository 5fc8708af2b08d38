//===- fuse_rows_build.cc - one kernel function of several -----------------------===//

#include "dialect/dialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/kernels/fuse_rows.h"

namespace mlir::coll {
namespace {

class RowKernelBuilder {
public:
  RowKernelBuilder(OpBuilder &callBuilder, const RowGroup &group)
      : callBuilder(callBuilder), b(callBuilder.getContext()), group(group),
        calls(group.inOrder()) {}

  RowKernel build() {
    collectOperands();
    createFunction();
    for (const RowCall &call : calls)
      cloneKernel(call);
    SmallVector<Value> returned;
    for (Value result : kernel.results)
      returned.push_back(inside.lookup(result));
    func::ReturnOp::create(b, loc(), returned);
    annotate();
    return kernel;
  }

private:
  Location loc() { return calls.back().call.getLoc(); }

  bool isUsedOutside(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
        return isUsedOutside(user->getResult(0));
      return !group.contains(user);
    });
  }

  void collectOperands() {
    SetVector<Value> tensors, scalars;
    for (const RowCall &call : calls) {
      func::CallOp op = call.call;
      for (Value operand : op.getOperands().take_front(call.numInputs())) {
        Value root = skipReshapes(operand);
        if (!group.contains(root.getDefiningOp()))
          (isa<RankedTensorType>(root.getType()) ? tensors : scalars).insert(root);
      }
      for (Value result : op.getResults())
        if (isUsedOutside(result))
          kernel.results.push_back(result);
    }
    numTensors = tensors.size();
    inputs.append(tensors.begin(), tensors.end());
    inputs.append(scalars.begin(), scalars.end());
    kernel.operands = inputs;
    for (Value result : kernel.results)
      kernel.operands.push_back(emptyLike(callBuilder, result));
  }

  Value emptyLike(OpBuilder &builder, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return tensor::EmptyOp::create(builder, loc(), type.getShape(), type.getElementType());
  }

  void createFunction() {
    SmallVector<Type> types(TypeRange(ValueRange(kernel.operands)));
    auto type = FunctionType::get(b.getContext(), types, TypeRange(ValueRange(kernel.results)));
    kernel.function = func::FuncOp::create(loc(), "kernel", type);
    kernel.function.setPrivate();
    if (group.hasRows())
      kernel.function->setAttr(kRowsAttr, b.getDenseI64ArrayAttr({group.rows, group.columns}));
    else
      kernel.function->setAttr(kUpdatesAttr, b.getUnitAttr());
    Block *entry = kernel.function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    for (auto [i, value] : llvm::enumerate(inputs))
      inside.map(value, entry->getArgument(i));
  }

  /// The counterpart of an operand, which may be a reshape of one.
  Value lookUp(Value operand) {
    if (inside.contains(operand))
      return inside.lookup(operand);
    Operation *reshape = operand.getDefiningOp();
    (void)lookUp(reshape->getOperand(0));
    return b.clone(*reshape, inside)->getResult(0);
  }

  Value getDestination(Value result) {
    auto it = llvm::find(kernel.results, result);
    if (it == kernel.results.end())
      return emptyLike(b, result);
    return kernel.function.getArgument(inputs.size() + (it - kernel.results.begin()));
  }

  void cloneKernel(const RowCall &call) {
    func::CallOp op = call.call;
    func::FuncOp function = call.kernel;
    IRMapping mapping;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      mapping.map(function.getArgument(i),
                  i < call.numInputs() ? lookUp(op.getOperand(i))
                                       : getDestination(op.getResult(i - call.numInputs())));
    for (Operation &inner : function.getBody().front().without_terminator())
      b.clone(inner, mapping);
    Operation *end = function.getBody().front().getTerminator();
    for (auto [result, returned] : llvm::zip_equal(op.getResults(), end->getOperands()))
      inside.map(result, mapping.lookup(returned));
  }

  void annotate() {
    for (unsigned i = 0; i < numTensors; ++i) {
      kernel.function.setArgAttr(i, kAccessAttr, b.getStringAttr("read"));
      SmallVector<int64_t> aliases = group.hasRows() ? findAliases(i) : findOwnAliases(i);
      if (!aliases.empty())
        kernel.function.setArgAttr(i, kMayAliasAttr, b.getDenseI64ArrayAttr(aliases));
    }
    for (unsigned k = 0; k < kernel.results.size(); ++k)
      kernel.function.setArgAttr(inputs.size() + k, kAccessAttr, b.getStringAttr("write"));
  }

  /// Results of the only kernel that reads the input, and may write in its place.
  SmallVector<int64_t> findOwnAliases(unsigned input) {
    SmallVector<int64_t> aliases;
    unsigned readers = 0;
    for (const RowCall &call : calls)
      for (unsigned i = 0; i < call.numInputs(); ++i) {
        if (skipReshapes(call.call.getOperand(i)) != inputs[input])
          continue;
        ++readers;
        if (auto own = call.kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, kMayAliasAttr))
          for (int64_t result : own.asArrayRef())
            aliases.push_back(llvm::find(kernel.results, call.call.getResult(result)) -
                              kernel.results.begin());
      }
    llvm::erase(aliases, int64_t(kernel.results.size())); // nothing reads that one
    return readers == 1 ? aliases : SmallVector<int64_t>();
  }

  /// Results whose elements are written when those of the input were read for the last time.
  SmallVector<int64_t> findAliases(unsigned input) {
    unsigned lastReader = 0;
    for (auto [position, call] : llvm::enumerate(calls)) {
      func::CallOp op = call.call;
      for (unsigned i = 0; i < call.numInputs(); ++i) {
        if (skipReshapes(op.getOperand(i)) != inputs[input])
          continue;
        lastReader = position;
        if (call.getInputAccess(i, group.rows, group.columns) != RowAccess::Element)
          return {};
      }
    }
    SmallVector<int64_t> aliases;
    for (auto [k, result] : llvm::enumerate(kernel.results)) {
      auto from = cast<RankedTensorType>(inputs[input].getType());
      auto to = cast<RankedTensorType>(result.getType());
      const RowCall &writer = group.calls.find(result.getDefiningOp())->second;
      auto position =
          llvm::find_if(calls, [&](const RowCall &call) { return call.call == writer.call; }) -
          calls.begin();
      unsigned number = cast<OpResult>(result).getResultNumber();
      if (from.getElementType() == to.getElementType() &&
          from.getNumElements() == to.getNumElements() && lastReader <= position &&
          writer.getResultAccess(number, group.rows, group.columns) == RowAccess::Element)
        aliases.push_back(k);
    }
    return aliases;
  }

  OpBuilder &callBuilder;
  OpBuilder b;
  const RowGroup &group;
  SmallVector<RowCall> calls;
  RowKernel kernel;
  SmallVector<Value> inputs; // tensors, then scalars
  unsigned numTensors = 0;
  IRMapping inside;
};

} // namespace

SmallVector<RowCall> RowGroup::inOrder() const {
  SmallVector<RowCall> ordered;
  for (const auto &entry : calls)
    ordered.push_back(entry.second);
  llvm::sort(ordered, [](RowCall x, RowCall y) { return x.call->isBeforeInBlock(y.call); });
  return ordered;
}

RowKernel buildRowKernel(OpBuilder &builder, const RowGroup &group) {
  return RowKernelBuilder(builder, group).build();
}

} // namespace mlir::coll
