#include "runtime/step/device/attention.h"

#include "runtime/base/dtype.h"

namespace coll::rt {

namespace {

kernels::AttentionRows rowsOf(const CollRows &rows) { return {rows.batch, rows.head, rows.row}; }

} // namespace

Result<kernels::Attention> attentionOf(const CollAttention &a) {
  if (!isValidDtype(a.dtype))
    return Status::invalid("there is no element type " + std::to_string(a.dtype));
  if (a.compute < kCollComputeF32 || a.compute > kCollComputeBf16)
    return Status::invalid("there is no form " + std::to_string(a.compute) +
                           " of computing attention");
  if (a.reserved != 0)
    return Status::invalid("the reserved word is not 0");
  kernels::Attention out;
  out.dtype = static_cast<CollDtype>(a.dtype);
  out.tf32 = out.dtype == kCollF32 && a.compute != kCollComputeF32;
  out.causal = a.causal != 0;
  out.batch = a.batch;
  out.heads = a.heads;
  out.kvHeads = a.kv_heads;
  out.queries = a.queries;
  out.keys = a.keys;
  out.dim = a.dim;
  out.scale = static_cast<float>(a.scale);
  out.q = rowsOf(a.q);
  out.k = rowsOf(a.k);
  out.v = rowsOf(a.v);
  out.o = rowsOf(a.o);
  out.dQ = rowsOf(a.d_q);
  out.dK = rowsOf(a.d_k);
  out.dV = rowsOf(a.d_v);
  out.dO = rowsOf(a.d_o);
  return out;
}

} // namespace coll::rt
