#include "runtime/call_signature.h"

namespace coll::rt {

namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t hashPairs(const int32_t *pairs, int32_t numPairs) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int32_t i = 0; i < 2 * numPairs; ++i)
    hash = (hash ^ static_cast<uint32_t>(pairs[i])) * 0x100000001b3u;
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
  return signature;
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
  return nullptr;
}

} // namespace coll::rt
