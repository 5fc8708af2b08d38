// How the fake NCCL puts operations on a stream.

#include "test/support/fakes/nccl_state.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace coll::rt::dl {

using fake::Clique;
using fake::Op;
using fake::OpKind;

namespace {

struct Pending {
  NcclComm comm;
  CudaStream stream;
  Op op;
};

thread_local int groupDepth = 0;
thread_local std::vector<Pending> group;

bool isOwn(NcclComm comm, const void *data, size_t bytes) {
  return bytes == 0 || FakeCuda::gpuOf(data, bytes) == comm->gpu;
}

// The connections that operations need, and the number of members of each.
std::map<std::string, size_t> wires(const Clique &clique, int rank, const std::vector<Op> &ops) {
  std::map<std::string, size_t> all;
  for (const Op &op : ops) {
    const bool sends = op.kind == OpKind::Send, isTransfer = sends || op.kind == OpKind::Recv;
    if (isTransfer)
      all[std::to_string(sends ? rank : op.root) + " to " +
          std::to_string(sends ? op.root : rank)] = op.root == rank ? 1 : 2;
    else
      all[std::to_string(static_cast<int>(op.kind)) + " of " + std::to_string(op.count)] =
          static_cast<size_t>(clique.size);
  }
  return all;
}

} // namespace

NcclResult FakeNcclLaunch::check(State &state, const char *name, NcclComm comm, Op &op) {
  const int n = comm->clique->size;
  if (op.root < 0 || op.root >= n)
    return state.wrong(std::string(name) + ": no such root or peer", kNcclInvalidArgument);
  if (op.dtype < 0 || op.dtype > kNcclFloat8e5m2 ||
      (op.dtype >= kNcclFloat8e4m3 && state.table.version < kNcclFirstWithFp8))
    return state.wrong(std::string(name) + ": no such type", kNcclInvalidArgument);
  if (op.dtype >= kNcclFloat8e4m3 && op.reduction == kNcclAvg)
    return state.wrong(std::string(name) + ": no average of eight-bit floats",
                       kNcclInvalidArgument);
  if (op.reduction >= 5) {
    op.scale = state.scaledSums.count(op.reduction) ? state.scaledSums[op.reduction] : 0;
    op.reduction = kNcclSum;
  }
  fake::Sizes sizes = fake::sizesOf(op, comm->rank, n);
  if (!isOwn(comm, op.src, sizes.src) || !isOwn(comm, op.dst, sizes.dst))
    return state.wrong(std::string(name) + ": memory that is not the GPU's", kNcclInvalidArgument);
  if (!comm->deferred.empty())
    return state.wrong(std::string(name) + " while a call is in progress");
  return kNcclSuccess;
}

NcclResult FakeNcclLaunch::issue(const char *name, Op op, NcclComm comm, CudaStream stream) {
  NcclResult result =
      callOn(name, comm, [&](State &state) { return check(state, name, comm, op); });
  if (result != kNcclSuccess)
    return result;
  group.push_back({comm, stream, op});
  return groupDepth > 0 ? kNcclSuccess : flush();
}

NcclResult FakeNcclLaunch::flush() {
  NcclResult result = kNcclSuccess;
  while (!group.empty()) {
    NcclComm comm = group.front().comm;
    CudaStream stream = group.front().stream;
    std::vector<Op> ops;
    for (auto it = group.begin(); it != group.end();) {
      bool mine = it->comm == comm && it->stream == stream;
      if (mine)
        ops.push_back(it->op);
      it = mine ? group.erase(it) : it + 1;
    }
    if (comm->blocks && !connect(comm, ops)) {
      group.clear();
      return kNcclInternalError;
    }
    bool defer = false;
    FakeCuda::locked([&] {
      defer = !comm->launched;
      comm->launched = true;
      if (defer) {
        comm->deferred = ops;
        comm->deferredTo = stream;
      }
    });
    if (defer)
      result = kNcclInProgress;
    else
      launch(comm, stream, std::move(ops));
  }
  return result;
}

bool FakeNcclLaunch::connect(NcclComm comm, const std::vector<Op> &ops) {
  std::shared_ptr<Clique> clique;
  std::shared_ptr<bool> dead;
  std::map<std::string, size_t> needed;
  FakeCuda::locked([&] {
    clique = comm->clique;
    dead = comm->dead;
    needed = wires(*clique, comm->rank, ops);
    for (const auto &[name, count] : needed)
      clique->connecting[name].insert(comm->rank);
  });
  while (true) {
    bool isDead = false, isConnected = false;
    FakeCuda::locked([&] {
      isDead = *dead;
      isConnected = !fake.load()->faults.hangConnect &&
                    std::all_of(needed.begin(), needed.end(), [&](const auto &wire) {
                      return clique->connecting[wire.first].size() >= wire.second;
                    });
    });
    if (isDead || isConnected)
      return isConnected && !isDead;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void FakeNcclLaunch::launch(NcclComm comm, CudaStream stream, std::vector<Op> ops) {
  State &state = *fake.load();
  (void)FakeCuda::enqueue(stream, [&state, clique = comm->clique, rank = comm->rank,
                                   dead = comm->dead, ops = std::move(ops)] {
    return fake::begin(state.faults, clique, rank, dead, ops);
  });
}

NcclResult FakeNcclLaunch::groupStart() {
  ++groupDepth;
  return call("groupStart", [](State &) { return kNcclSuccess; });
}

NcclResult FakeNcclLaunch::groupEnd() {
  NcclResult result = call("groupEnd", [](State &) { return kNcclSuccess; });
  if (--groupDepth > 0)
    return result;
  if (result == kNcclSuccess)
    return flush();
  group.clear();
  return result;
}

} // namespace coll::rt::dl
