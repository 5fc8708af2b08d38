#include "runtime/backend/nccl/plan.h"

#include "runtime/backend/nccl/types.h"
#include "runtime/base/dtype.h"

namespace coll::rt::nccl {

namespace {

// Where scratch memory begins while its size is counted: nothing is read or written there.
constexpr uintptr_t kAnyAddress = 4096;

class Planner {
public:
  Planner(const Call &call, int n, int me, char *scratch)
      : call_(call), n_(n), me_(me),
        scratch_(scratch ? scratch : reinterpret_cast<char *>(kAnyAddress)),
        size_(dtypeSize(call.dtype)), block_(call.outer * call.count * size_),
        src_(static_cast<const char *>(call.src)), dst_(static_cast<char *>(call.dst)) {}

  Plan make(bool hasAllToAll);

private:
  void reduction();
  void broadcast();
  void allGather();
  void gather();
  void scatter();
  void allToAll(bool hasAllToAll);
  void permute();
  void barrier();

  bool inPlace() const { return src_ == dst_; }
  char *scratch(int64_t bytes) {
    char *at = scratch_ + plan_.scratchBytes;
    plan_.scratchBytes += (bytes + 255) / 256 * 256;
    return at;
  }
  void move(OpKind kind, const char *src, char *dst, int64_t bytes, int peer) {
    if (bytes > 0)
      plan_.steps.push_back({kind, src, dst, bytes, dl::kNcclInt8, 0, peer});
  }
  void copy(std::vector<Copy> &list, char *dst, const char *src, int64_t bytes) {
    if (bytes > 0 && dst != src)
      list.push_back({dst, src, bytes, bytes, bytes, 1});
  }
  // The source as n dense blocks: the source itself, or a packed copy.
  const char *packed();
  // A copy of `bytes` of the source, if writing the destination would overwrite it.
  const char *keptSource(int64_t bytes);
  // From n dense blocks to [outer][n][count].
  void unpack(const char *blocks, int64_t outer, int64_t count);
  void zeroDestination(int64_t bytes) {
    if (dst_ && bytes > 0)
      plan_.after.push_back({dst_, nullptr, bytes, 0, bytes, 1});
  }

  const Call &call_;
  const int n_, me_;
  char *const scratch_;
  const int64_t size_, block_; // bytes of an element, and of a member's block
  const char *const src_;
  char *const dst_;
  Plan plan_;
};

const char *Planner::packed() {
  if (call_.outer == 1 || n_ == 1)
    return src_;
  char *blocks = scratch(block_ * n_);
  const int64_t row = call_.count * size_;
  for (int i = 0; i < n_ && row > 0; ++i)
    plan_.before.push_back({blocks + i * block_, src_ + i * row, row, n_ * row, row, call_.outer});
  return blocks;
}

const char *Planner::keptSource(int64_t bytes) {
  if (!inPlace())
    return src_;
  char *kept = scratch(bytes);
  copy(plan_.before, kept, src_, bytes);
  return kept;
}

void Planner::unpack(const char *blocks, int64_t outer, int64_t count) {
  const int64_t row = count * size_;
  for (int i = 0; i < n_ && row > 0; ++i)
    plan_.after.push_back({dst_ + i * row, blocks + i * outer * row, n_ * row, row, row, outer});
}

void Planner::reduction() {
  Arithmetic arithmetic = *arithmeticOf(call_.dtype, call_.reduction);
  int64_t count = call_.outer * call_.count;
  Step step = {call_.kind, src_, dst_, count, arithmetic.dtype, arithmetic.op, call_.root};
  if (call_.kind == OpKind::ReduceScatter) {
    step.src = packed();
    if (inPlace() && step.src == src_ && me_ != 0) {
      step.dst = scratch(block_);
      copy(plan_.after, dst_, step.dst, block_);
    }
  }
  if (call_.kind == OpKind::Reduce && me_ != call_.root && dst_)
    copy(plan_.after, dst_, src_, block_);
  if (count > 0)
    plan_.steps.push_back(step);
}

void Planner::broadcast() {
  move(OpKind::Broadcast, me_ == call_.root ? src_ : dst_, dst_, block_, call_.root);
}

void Planner::allGather() {
  const bool direct = call_.outer == 1;
  char *to = direct ? dst_ : scratch(block_ * n_);
  const char *from = direct && me_ != 0 ? keptSource(block_) : src_;
  move(OpKind::AllGather, from, to, block_, 0);
  if (!direct)
    unpack(to, call_.outer, call_.count);
}

void Planner::gather() {
  if (me_ != call_.root) {
    move(OpKind::Send, src_, nullptr, block_, call_.root);
    zeroDestination(block_ * n_);
    return;
  }
  const bool direct = call_.outer == 1;
  char *to = direct ? dst_ : scratch(block_ * n_);
  move(OpKind::Send, direct ? keptSource(block_) : src_, nullptr, block_, me_);
  for (int i = 0; i < n_; ++i)
    move(OpKind::Recv, nullptr, to + i * block_, block_, i);
  if (!direct)
    unpack(to, call_.outer, call_.count);
}

void Planner::scatter() {
  if (me_ == call_.root) {
    const char *from = packed();
    if (from == src_)
      from = keptSource(block_ * n_);
    for (int i = 0; i < n_; ++i)
      move(OpKind::Send, from + i * block_, nullptr, block_, i);
  }
  move(OpKind::Recv, nullptr, dst_, block_, call_.root);
}

void Planner::allToAll(bool hasAllToAll) {
  const char *from = packed();
  const bool direct = call_.dstOuter == 1 || n_ == 1;
  char *to = direct ? dst_ : scratch(block_ * n_);
  if (from == src_ && direct)
    from = keptSource(block_ * n_);
  if (hasAllToAll) {
    move(OpKind::AllToAll, from, to, block_, 0);
  } else {
    // Each member begins with its neighbour, so that not all members send to one at once.
    for (int d = 0; d < n_; ++d) {
      int target = (me_ + d) % n_, source = (me_ + n_ - d) % n_;
      move(OpKind::Send, from + target * block_, nullptr, block_, target);
      move(OpKind::Recv, nullptr, to + source * block_, block_, source);
    }
  }
  if (!direct)
    unpack(to, call_.dstOuter, call_.dstCount);
}

void Planner::permute() {
  int target = -1, source = -1;
  for (int p = 0; p < call_.numPairs; ++p) {
    if (call_.pairs[2 * p] == me_)
      target = call_.pairs[2 * p + 1];
    if (call_.pairs[2 * p + 1] == me_)
      source = call_.pairs[2 * p];
  }
  if (target >= 0)
    move(OpKind::Send, source >= 0 ? keptSource(block_) : src_, nullptr, block_, target);
  if (source >= 0)
    move(OpKind::Recv, nullptr, dst_, block_, source);
  else
    zeroDestination(block_);
}

// Without a stream, the members have already met.
void Planner::barrier() {
  if (!call_.stream)
    return;
  char *byte = scratch(1);
  plan_.steps.push_back({OpKind::AllReduce, byte, byte, 1, dl::kNcclInt8, dl::kNcclMax, 0});
}

Plan Planner::make(bool hasAllToAll) {
  switch (call_.kind) {
  case OpKind::AllReduce:
  case OpKind::Reduce:
  case OpKind::ReduceScatter:
    reduction();
    break;
  case OpKind::Broadcast:
    broadcast();
    break;
  case OpKind::AllGather:
    allGather();
    break;
  case OpKind::Gather:
    gather();
    break;
  case OpKind::Scatter:
    scatter();
    break;
  case OpKind::AllToAll:
    allToAll(hasAllToAll);
    break;
  case OpKind::Permute:
    permute();
    break;
  case OpKind::Send:
    move(OpKind::Send, src_, nullptr, block_, 1);
    break;
  case OpKind::Recv:
    move(OpKind::Recv, nullptr, dst_, block_, 0);
    break;
  case OpKind::Init:
  case OpKind::RootUpdate: // supports() rejects it
  case OpKind::Barrier:
    barrier();
    break;
  }
  return std::move(plan_);
}

} // namespace

Plan planOf(const Call &call, int n, int me, char *scratch, bool hasAllToAll) {
  return Planner(call, n, me, scratch).make(hasAllToAll);
}

} // namespace coll::rt::nccl
