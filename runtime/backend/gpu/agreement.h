// agreement.h - the exchange of results after a collective step, so that either all members of a
// group continue, or none.

#ifndef COLL_RUNTIME_BACKEND_GPU_AGREEMENT_H
#define COLL_RUNTIME_BACKEND_GPU_AGREEMENT_H

#include "runtime/backend/gpu/endpoint.h"

#include <vector>

namespace coll::rt::gpu {

// A status that can be sent.
struct Verdict {
  int32_t code = 0;
  char text[252] = {};
};
Verdict verdictOf(const Status &status);
// The first failure, with its rank.
Status outcomeOf(const std::vector<Verdict> &all, const std::vector<int> &ranks);

// All-gathers plain bytes of each member, by position. All members call it. Blocks.
template <typename T>
Result<std::vector<T>> gather(GpuEndpoint &endpoint, Group &group, const T &mine) {
  std::vector<T> all(static_cast<size_t>(group.size()));
  Call call;
  call.kind = OpKind::AllGather;
  call.dtype = kCollI8;
  call.count = sizeof(T);
  call.src = &mine;
  call.dst = all.data();
  call.site.name = "memory of a group";
  COLL_RETURN_IF_ERROR(endpoint.meet(group, call));
  return all;
}

// A member's result for memory that all members are to know.
struct MemoryCard {
  Verdict verdict;
  int64_t bytes = 0;
};
// Ok, or the error in the cards. Either all members find one, or none does.
Status compareMemory(const std::vector<MemoryCard> &cards, const Group &group);

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_AGREEMENT_H
