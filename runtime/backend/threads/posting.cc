#include "runtime/backend/threads/posting.h"

#include <algorithm>
#include <new>
#include <type_traits>

namespace coll::rt::threads {

CallDigest digestOf(const Call &call) {
  CallDigest digest;
  digest.kind = static_cast<uint8_t>(call.kind);
  digest.op = call.site.op;
  digest.program = call.site.program;
  if (call.kind == OpKind::Init || call.kind == OpKind::Barrier)
    return digest;
  digest.dtype = static_cast<uint8_t>(call.dtype);
  digest.count = call.count;
  digest.outer = call.outer;
  if (reduces(call.kind)) {
    digest.reduction = static_cast<uint8_t>(call.reduction);
    digest.order = static_cast<uint8_t>(call.order | call.accumulation << 4);
  }
  if (hasRoot(call.kind))
    digest.root = call.root;
  return digest;
}

PostingRing::PostingRing(size_t postings, int64_t payloadBytes) {
  static_assert(std::is_trivially_destructible_v<Posting>, "the ring destroys none");
  size_t more = static_cast<size_t>(payloadBytes) -
                std::min(sizeof(Posting::head), static_cast<size_t>(payloadBytes));
  linesEach_ = (sizeof(Posting) + more + sizeof(Line) - 1) / sizeof(Line);
  lines_.reset(new Line[postings * linesEach_]);
  for (size_t i = 0; i < postings; ++i)
    new (&lines_[i * linesEach_]) Posting();
}

} // namespace coll::rt::threads
