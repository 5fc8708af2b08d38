#include "passes/export/gpu/nest.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::coll {

SmallVector<Value> NestEmitter::positionsOf(const NestOperand &operand, ArrayRef<Value> at,
                                            unsigned lane) {
  SmallVector<Value> dims(at);
  if (lane != 0)
    dims[fast] = launch.add(dims[fast], lane);
  SmallVector<Value> positions;
  for (AffineExpr expr : operand.map.getResults())
    positions.push_back(
        affine::expandAffineExpr(launch.b, launch.b.getLoc(), expr, dims, /*symbolValues=*/{}));
  return positions;
}

SmallVector<Value> NestEmitter::load(const NestOperand &operand, ArrayRef<Value> at) {
  ImplicitLocOpBuilder &b = launch.b;
  Value buffer = launch.get(operand.use->get());
  if (!operand.type)
    return SmallVector<Value>(width, buffer);
  if (width == 1 || operand.stride(fast) == 0)
    return SmallVector<Value>(width,
                              memref::LoadOp::create(b, buffer, positionsOf(operand, at, 0)));
  SmallVector<Value> values;
  if (operand.isVector(fast, width, nest.extents)) {
    auto type = VectorType::get(width, operand.type.getElementType());
    Value vector =
        vector::LoadOp::create(b, type, buffer, positionsOf(operand, at, 0), /*nontemporal=*/false,
                               llvm::MaybeAlign(width * operand.elementBytes()));
    for (unsigned lane = 0; lane < width; ++lane)
      values.push_back(vector::ExtractOp::create(b, vector, lane));
    return values;
  }
  for (unsigned lane = 0; lane < width; ++lane)
    values.push_back(memref::LoadOp::create(b, buffer, positionsOf(operand, at, lane)));
  return values;
}

void NestEmitter::store(unsigned output, ArrayRef<Value> at, const Values &values) {
  ImplicitLocOpBuilder &b = launch.b;
  const NestOperand &operand = nest.operandOf(nest.outputs[output]);
  Value buffer = launch.get(operand.use->get());
  if (width > 1 && operand.isVector(fast, width, nest.extents)) {
    SmallVector<Value> elements;
    for (unsigned lane = 0; lane < width; ++lane)
      elements.push_back(values[lane][output]);
    Value vector = vector::FromElementsOp::create(
        b, VectorType::get(width, operand.type.getElementType()), elements);
    vector::StoreOp::create(b, vector, buffer, positionsOf(operand, at, 0), /*nontemporal=*/false,
                            llvm::MaybeAlign(width * operand.elementBytes()));
    return;
  }
  for (unsigned lane = 0; lane < width; ++lane)
    memref::StoreOp::create(b, values[lane][output], buffer, positionsOf(operand, at, lane));
}

SmallVector<Value> NestEmitter::emitLane(ArrayRef<Value> at, unsigned lane,
                                         ArrayRef<SmallVector<Value>> loaded,
                                         ArrayRef<Value> accumulators) {
  ImplicitLocOpBuilder &b = launch.b;
  linalg::GenericOp op = nest.op;
  IRMapping body(launch.mapping);
  for (auto [arg, values] : llvm::zip_equal(op.getBody()->getArguments(), loaded))
    if (!values.empty())
      body.map(arg, values[lane]);
  for (auto [k, output] : llvm::enumerate(nest.outputs))
    if (output.accumulates)
      body.map(op.getRegionOutputArgs()[output.result], accumulators[k]);
  SmallVector<Value> positions(at);
  if (lane != 0)
    positions[fast] = launch.add(positions[fast], lane);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      body.map(index.getResult(), positions[index.getDim()]);
      continue;
    }
    SmallVector<linalg::IndexOp> nested;
    b.clone(inner, body)->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      index.replaceAllUsesWith(positions[index.getDim()]);
      index.erase();
    }
  }
  SmallVector<Value> results;
  Operation *yield = op.getBody()->getTerminator();
  for (const NestOutput &output : nest.outputs)
    results.push_back(body.lookupOrDefault(yield->getOperand(output.result)));
  return results;
}

NestEmitter::Values NestEmitter::loadInputs(ArrayRef<Value> at, const Values &known) {
  linalg::GenericOp op = nest.op;
  Values loaded(nest.operands.size());
  for (auto [i, operand] : llvm::enumerate(nest.operands)) {
    const NestOutput *output =
        llvm::find_if(nest.outputs, [&, &operand = operand](const NestOutput &output) {
          return &nest.operandOf(output) == &operand;
        });
    if (!known.empty() && !known[i].empty()) {
      loaded[i] = known[i];
    } else if (output == nest.outputs.end()) {
      if (op.payloadUsesValueFromOperand(operand.use))
        loaded[i] = load(operand, at);
    } else if (!output->accumulates && op.payloadUsesValueFromOperand(operand.use)) {
      loaded[i] = output->initial ? SmallVector<Value>(width, launch.get(output->initial))
                                  : load(operand, at);
    }
  }
  return loaded;
}

NestEmitter::Values NestEmitter::emit(ArrayRef<Value> at, const Values &inputs,
                                      const Values &accumulators) {
  Values results;
  for (unsigned lane = 0; lane < width; ++lane)
    results.push_back(
        emitLane(at, lane, inputs, accumulators.empty() ? ArrayRef<Value>() : accumulators[lane]));
  return results;
}

Value emitCombine(LaunchBuilder &launch, const Nest &nest, const NestOutput &output,
                  Value accumulator, Value other) {
  BlockArgument old = nest.op.getRegionOutputArgs()[output.result];
  IRMapping mapping;
  for (Value operand : output.combiner->getOperands())
    mapping.map(operand, operand == old ? accumulator : other);
  return launch.b.clone(*output.combiner, mapping)->getResult(0);
}

} // namespace mlir::coll
