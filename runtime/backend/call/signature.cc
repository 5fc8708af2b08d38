#include "runtime/backend/call/signature.h"

#include "runtime/base/fnv.h"

#include <cstring>

namespace coll::rt {

namespace {

uint64_t hashPairs(const int32_t *pairs, int32_t numPairs) {
  uint64_t hash = kFnvStart;
  for (int32_t i = 0; i < 2 * numPairs; ++i)
    hash = fnvMixed(hash, static_cast<uint32_t>(pairs[i]));
  return hash;
}

} // namespace

CallSignature signatureOf(const Call &call) {
  CallSignature signature;
  signature.kind = call.kind;
  signature.op = call.site.op;
  signature.program = call.site.program;
  if (call.kind == OpKind::Init || call.kind == OpKind::Barrier)
    return signature;
  signature.dtype = call.dtype;
  signature.outer = call.outer;
  signature.count = call.count;
  signature.dstOuter = call.dstOuter;
  signature.dstCount = call.dstCount;
  if (reduces(call.kind)) {
    signature.reduction = call.reduction;
    signature.accumulation = call.accumulation;
    signature.order = call.order;
    signature.scale = call.scale;
  }
  if (hasRoot(call.kind))
    signature.root = call.root;
  if (call.kind == OpKind::Permute) {
    signature.numPairs = call.numPairs;
    signature.pairsHash = hashPairs(call.pairs, call.numPairs);
  }
  if (call.update)
    signature.update = call.update->mark();
  return signature;
}

uint64_t hashOf(const CallSignature &signature) {
  const auto kinds =
      static_cast<uint64_t>(signature.kind) << 32 | static_cast<uint64_t>(signature.dtype) << 24 |
      static_cast<uint64_t>(signature.reduction) << 16 |
      static_cast<uint64_t>(signature.accumulation) << 8 | static_cast<uint64_t>(signature.order);
  uint64_t scale = 0;
  std::memcpy(&scale, &signature.scale, sizeof(scale));
  uint64_t hash = fnvMixed(kFnvStart, kinds);
  for (int64_t number : {static_cast<int64_t>(signature.root), signature.outer, signature.count,
                         signature.dstOuter, signature.dstCount})
    hash = fnvMixed(hash, static_cast<uint64_t>(number));
  // Multiplication carries upwards only, and the low bits must depend on all fields.
  hash = fnvMixed(fnvMixed(fnvMixed(hash, signature.pairsHash), signature.update), scale);
  return hash ^ hash >> 32;
}

const char *difference(const CallSignature &a, const CallSignature &b) {
  if (a.kind != b.kind)
    return "operations";
  if (a.program == b.program && a.op != b.op)
    return "places in the program";
  if (a.dtype != b.dtype)
    return "element types";
  if (a.outer != b.outer || a.count != b.count || a.dstOuter != b.dstOuter ||
      a.dstCount != b.dstCount)
    return "counts";
  if (a.reduction != b.reduction)
    return "reductions";
  if (a.accumulation != b.accumulation)
    return "accumulation types";
  if (a.scale != b.scale)
    return "scales";
  if (a.order != b.order)
    return "orders";
  if (a.root != b.root)
    return "roots";
  if (a.numPairs != b.numPairs || a.pairsHash != b.pairsHash)
    return "pairs";
  if (a.update != b.update)
    return "plans, types or optimizers of the update";
  return nullptr;
}

} // namespace coll::rt
