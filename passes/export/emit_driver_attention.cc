// Driver functions: attention, which the runtime computes.

#include "passes/export/emit_driver.h"

#include "dialect/attention.h"
#include "dialect/exec/memory_form.h"
#include "dialect/shape.h"

using namespace mlir;
using namespace mlir::coll;

static CollRows rowsAt(ArrayRef<int64_t> at) { return {at[1], at[2], at[3]}; }

/// Shared by the operation and its gradient.
template <typename Op>
static CollAttention describeAttention(Op op) {
  CollAttention call = {};
  call.dtype = *getDtype(op.getElement());
  call.compute = op.getPrecision() == "tf32" ? kCollComputeTf32 : kCollComputeF32;
  call.causal = op.getCausal();
  AttentionSizes sizes = AttentionSizes::of(op.getSizes());
  call.batch = sizes.batch, call.heads = sizes.heads, call.kv_heads = sizes.kvHeads;
  call.queries = sizes.queries, call.keys = sizes.keys, call.dim = sizes.dim;
  call.scale = op.getScale().convertToDouble();
  call.q = rowsAt(op.getQAt()), call.k = rowsAt(op.getKAt());
  call.v = rowsAt(op.getVAt()), call.o = rowsAt(op.getOAt());
  return call;
}

Value DriverEmitter::firstElement(Value view, ArrayRef<int64_t> at, Type element) {
  return gep(address(view), at[0] * getElementBytes(element));
}

void DriverEmitter::emitAttention(exec::AttentionOp op) {
  Type element = op.getElement();
  callAbi(AbiFunction::attention,
          {ctx_, i32(computation("attention")), makeTable("attention", describeAttention(op)),
           firstElement(op.getQ(), op.getQAt(), element),
           firstElement(op.getK(), op.getKAt(), element),
           firstElement(op.getV(), op.getVAt(), element),
           firstElement(op.getO(), op.getOAt(), element), address(op.getLse())});
}

void DriverEmitter::emitAttentionGradient(exec::AttentionGradientOp op) {
  Type element = op.getElement();
  CollAttention call = describeAttention(op);
  call.d_q = rowsAt(op.getDQAt()), call.d_k = rowsAt(op.getDKAt());
  call.d_v = rowsAt(op.getDVAt()), call.d_o = rowsAt(op.getDOAt());
  callAbi(
      AbiFunction::attention_backward,
      {ctx_, i32(computation("attention gradient")), makeTable("attention", call),
       firstElement(op.getQ(), op.getQAt(), element), firstElement(op.getK(), op.getKAt(), element),
       firstElement(op.getV(), op.getVAt(), element), firstElement(op.getO(), op.getOAt(), element),
       address(op.getLse()), firstElement(op.getDO(), op.getDOAt(), element),
       firstElement(op.getDQ(), op.getDQAt(), element),
       firstElement(op.getDK(), op.getDKAt(), element),
       firstElement(op.getDV(), op.getDVAt(), element), address(op.getScratch())});
}
