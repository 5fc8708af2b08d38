#include "test/support/fakes/nccl.h"

#include "test/support/fakes/nccl_state.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace coll::rt::dl {

using fake::Clique;
using fake::Op;
using fake::OpKind;

// The library's functions.
struct FakeNcclFunctions : FakeNcclLaunch {
  static const char *getErrorString(NcclResult result) {
    static const char *const kNames[] = {"no error",
                                         "unhandled cuda error",
                                         "system error",
                                         "internal error",
                                         "invalid argument",
                                         "invalid usage",
                                         "remote process exited or there was a network error",
                                         "in progress"};
    return result >= 0 && result < 8 ? kNames[result] : "unknown result code";
  }
  static const char *getLastError(NcclComm) {
    thread_local std::string text;
    FakeCuda::locked([] { text = fake.load()->lastError; });
    return text.c_str();
  }

  static NcclResult getVersion(int *version) {
    return call("getVersion", [&](State &state) {
      *version = state.table.version;
      return kNcclSuccess;
    });
  }
  static NcclResult getUniqueId(NcclUniqueId *id) {
    return call("getUniqueId", [&](State &state) {
      std::string text = "fake " + std::to_string(++state.ids);
      std::memcpy(id->bytes, text.c_str(), text.size() + 1);
      return kNcclSuccess;
    });
  }

  //===-- communicators -----------------------------------------------------------===//

  static NcclComm adopt(State &state, int gpu) {
    auto made = std::make_unique<NcclCommTag>();
    made->gpu = gpu;
    NcclComm comm = made.get();
    state.comms[comm] = std::move(made);
    return comm;
  }
  static void join(State &state, NcclComm comm, const std::shared_ptr<Clique> &clique, int rank) {
    comm->clique = clique;
    comm->rank = rank;
    for (int gpu : clique->gpus)
      if (gpu == comm->gpu) {
        clique->error = kNcclInvalidUsage;
        state.lastError = "Duplicate GPU detected";
      }
    clique->gpus.push_back(comm->gpu);
  }
  static NcclResult commInitRankConfig(NcclComm *comm, int ranks, NcclUniqueId id, int rank,
                                       NcclConfig *config) {
    return call("commInitRankConfig", [&](State &state) {
      *comm = nullptr;
      int gpu = FakeCuda::currentGpu();
      if (!config || config->magic != 0xcafebeef)
        return state.wrong("a communicator without a configuration");
      if (gpu < 0 || rank < 0 || rank >= ranks)
        return state.wrong("a communicator without a GPU or a rank", kNcclInvalidArgument);
      std::shared_ptr<Clique> &clique = state.joining[id.bytes];
      if (!clique)
        clique = std::make_shared<Clique>(ranks);
      if (state.hangInit)
        clique->hangs = true;
      *comm = adopt(state, gpu);
      (*comm)->launched = (*comm)->blocks = config->blocking == 1;
      join(state, *comm, clique, rank);
      return kNcclInProgress;
    });
  }
  static NcclResult commSplit(NcclComm comm, int color, int key, NcclComm *slot,
                              NcclConfig *config) {
    return callOn("commSplit", comm, [&](State &state) {
      *slot = nullptr;
      Clique &parent = *comm->clique;
      fake::Split &split = parent.splits[parent.splitsOf[static_cast<size_t>(comm->rank)]++];
      NcclComm made = color != kNcclNoColor ? adopt(state, comm->gpu) : nullptr;
      if (made)
        made->launched = made->blocks = config && config->blocking == 1;
      comm->splitting = &split;
      split.push_back({color, key, comm->rank, made, slot});
      if (static_cast<int>(split.size()) == parent.size)
        resolve(state, split);
      return kNcclInProgress;
    });
  }
  // All members have named their group.
  static void resolve(State &state, fake::Split &split) {
    std::sort(split.begin(), split.end(), [](const auto &a, const auto &b) {
      return std::tie(a.color, a.key, a.rank) < std::tie(b.color, b.key, b.rank);
    });
    for (size_t begin = 0; begin < split.size();) {
      size_t end = begin;
      while (end < split.size() && split[end].color == split[begin].color)
        ++end;
      auto clique = std::make_shared<Clique>(static_cast<int>(end - begin));
      for (size_t i = begin; i < end && split[i].made; ++i) {
        join(state, split[i].made, clique, static_cast<int>(i - begin));
        *split[i].slot = split[i].made;
      }
      begin = end;
    }
  }
  static NcclResult end(State &state, NcclComm comm) {
    *comm->dead = true;
    if (comm->clique)
      comm->clique->left(comm->rank);
    // A communicator that was split from it and is not complete yet ends with it.
    if (comm->splitting && static_cast<int>(comm->splitting->size()) < comm->clique->size)
      for (const fake::SplitEntry &entry : *comm->splitting)
        if (entry.rank == comm->rank && entry.made)
          state.comms.erase(entry.made);
    // So do its registrations; the memory stays its owner's.
    forget(state.registrations, comm);
    forget(state.windows, comm);
    state.comms.erase(comm);
    return kNcclSuccess;
  }
  template <typename Known>
  static void forget(Known &known, NcclComm comm) {
    for (auto it = known.begin(); it != known.end();)
      it = it->second == comm ? known.erase(it) : std::next(it);
  }
  static bool isReady(const NcclCommTag &comm) {
    const Clique &clique = *comm.clique;
    return !clique.hangs && static_cast<int>(clique.gpus.size()) == clique.size &&
           (!comm.splitting || static_cast<int>(comm.splitting->size()) == clique.size);
  }
  static NcclResult commDestroy(NcclComm comm) {
    return callOn("commDestroy", comm, [&](State &state) {
      if (!comm->clique || !isReady(*comm))
        return state.wrong("a communicator destroyed while it is being made", kNcclInvalidArgument);
      return end(state, comm);
    });
  }
  // Like NCCL, aborts also the communicator that was split from it last, which must exist then.
  static NcclResult commAbort(NcclComm comm) {
    return callOn("commAbort", comm, [&](State &state) {
      for (const fake::SplitEntry &entry : comm->splitting ? *comm->splitting : fake::Split()) {
        if (entry.rank != comm->rank || !entry.made)
          continue;
        if (!state.comms.count(entry.made))
          return state.wrong("a communicator aborted after one that was split from it");
        *entry.made->dead = true;
      }
      return end(state, comm);
    });
  }
  static NcclResult commGetAsyncError(NcclComm comm, NcclResult *result) {
    std::vector<Op> deferred;
    CudaStream stream = nullptr;
    NcclResult outcome = callOn("commGetAsyncError", comm, [&](State &) {
      Clique *clique = comm->clique.get();
      bool ready = clique && isReady(*comm);
      *result = clique && clique->error ? clique->error : ready ? kNcclSuccess : kNcclInProgress;
      if (!comm->deferred.empty()) {
        *result = clique->error ? clique->error : kNcclInProgress;
        deferred.swap(comm->deferred);
        stream = comm->deferredTo;
      }
      return kNcclSuccess;
    });
    if (!deferred.empty())
      launch(comm, stream, std::move(deferred));
    return outcome;
  }

  //===-- memory and reductions ---------------------------------------------------===//

  static NcclResult commRegister(NcclComm comm, void *data, size_t bytes, void **handle) {
    return callOn("commRegister", comm, [&](State &state) {
      if (FakeCuda::gpuOf(data, bytes) != comm->gpu)
        return state.wrong("memory registered that is not the GPU's", kNcclInvalidArgument);
      *handle = reinterpret_cast<void *>(++state.handles);
      state.registrations[*handle] = comm;
      return kNcclSuccess;
    });
  }
  static NcclResult commDeregister(NcclComm comm, void *handle) {
    return callOn("commDeregister", comm, [&](State &state) {
      return state.registrations.erase(handle) ? kNcclSuccess : state.wrong("an unknown handle");
    });
  }
  static NcclResult windowRegister(NcclComm comm, void *data, size_t bytes, NcclWindow *window,
                                   int) {
    return callOn("windowRegister", comm, [&](State &state) {
      if (FakeCuda::gpuOf(data, bytes) != comm->gpu)
        return state.wrong("a window that is not the GPU's", kNcclInvalidArgument);
      state.windowTags.push_back(std::make_unique<NcclWindowTag>());
      *window = state.windowTags.back().get();
      state.windows[*window] = comm;
      return kNcclSuccess;
    });
  }
  static NcclResult windowDeregister(NcclComm comm, NcclWindow window) {
    return callOn("windowDeregister", comm, [&](State &state) {
      return state.windows.erase(window) ? kNcclSuccess : state.wrong("an unknown window");
    });
  }
  static NcclResult memAlloc(void **data, size_t bytes) {
    int gpu = FakeCuda::currentGpu();
    NcclResult result =
        call("memAlloc", [&](State &) { return gpu < 0 ? kNcclInvalidUsage : kNcclSuccess; });
    if (result == kNcclSuccess)
      *data = FakeCuda::allocateCurrent(bytes);
    return result;
  }
  static NcclResult memFree(void *data) {
    NcclResult result = call("memFree", [&](State &) { return kNcclSuccess; });
    FakeCuda::freeCurrent(data);
    return result;
  }
  static NcclResult redOpCreatePreMulSum(int *op, void *scalar, int dtype, int residence,
                                         NcclComm comm) {
    return callOn("redOpCreatePreMulSum", comm, [&](State &state) {
      if (residence != 1)
        return state.wrong("a factor that is not in host memory");
      *op = state.nextOp++;
      state.scaledSums[*op] = fake::scalarOf(scalar, dtype);
      return kNcclSuccess;
    });
  }
  static NcclResult redOpDestroy(int op, NcclComm comm) {
    return callOn("redOpDestroy", comm, [&](State &state) {
      return state.scaledSums.erase(op) ? kNcclSuccess : state.wrong("an unknown reduction");
    });
  }

  //===-- operations --------------------------------------------------------------===//

  static Op makeOp(OpKind kind, const void *src, void *dst, size_t count, int dtype) {
    Op op;
    op.kind = kind;
    op.src = static_cast<const char *>(src);
    op.dst = static_cast<char *>(dst);
    op.count = count;
    op.dtype = dtype;
    return op;
  }
  static NcclResult allReduce(const void *src, void *dst, size_t count, int dtype, int op,
                              NcclComm comm, CudaStream stream) {
    Op made = makeOp(OpKind::AllReduce, src, dst, count, dtype);
    made.reduction = op;
    return issue("allReduce", made, comm, stream);
  }
  static NcclResult reduce(const void *src, void *dst, size_t count, int dtype, int op, int root,
                           NcclComm comm, CudaStream stream) {
    Op made = makeOp(OpKind::Reduce, src, dst, count, dtype);
    made.reduction = op;
    made.root = root;
    return issue("reduce", made, comm, stream);
  }
  static NcclResult broadcast(const void *src, void *dst, size_t count, int dtype, int root,
                              NcclComm comm, CudaStream stream) {
    Op made = makeOp(OpKind::Broadcast, src, dst, count, dtype);
    made.root = root;
    return issue("broadcast", made, comm, stream);
  }
  static NcclResult reduceScatter(const void *src, void *dst, size_t count, int dtype, int op,
                                  NcclComm comm, CudaStream stream) {
    Op made = makeOp(OpKind::ReduceScatter, src, dst, count, dtype);
    made.reduction = op;
    return issue("reduceScatter", made, comm, stream);
  }
  static NcclResult allGather(const void *src, void *dst, size_t count, int dtype, NcclComm comm,
                              CudaStream stream) {
    return issue("allGather", makeOp(OpKind::AllGather, src, dst, count, dtype), comm, stream);
  }
  static NcclResult allToAll(const void *src, void *dst, size_t count, int dtype, NcclComm comm,
                             CudaStream stream) {
    return issue("allToAll", makeOp(OpKind::AllToAll, src, dst, count, dtype), comm, stream);
  }
  // Calls with a configuration do the same, and keep its tag.
  static void keepTag(const NcclCallConfig *config) {
    FakeCuda::locked([&] {
      const bool isValid = config && config->size >= sizeof(NcclCallConfig) &&
                           config->magic == NcclCallConfig().magic && config->forceAlgorithm == 1;
      if (isValid)
        fake.load()->tags.push_back(config->profilerTag);
      else
        fake.load()->wrong("a configuration that was not initialized");
    });
  }
  static NcclResult allReduceConfig(const void *src, void *dst, size_t count, int dtype, int op,
                                    NcclComm comm, CudaStream stream,
                                    const NcclCallConfig *config) {
    keepTag(config);
    return allReduce(src, dst, count, dtype, op, comm, stream);
  }
  static NcclResult reduceConfig(const void *src, void *dst, size_t count, int dtype, int op,
                                 int root, NcclComm comm, CudaStream stream,
                                 const NcclCallConfig *config) {
    keepTag(config);
    return reduce(src, dst, count, dtype, op, root, comm, stream);
  }
  static NcclResult broadcastConfig(const void *src, void *dst, size_t count, int dtype, int root,
                                    NcclComm comm, CudaStream stream,
                                    const NcclCallConfig *config) {
    keepTag(config);
    return broadcast(src, dst, count, dtype, root, comm, stream);
  }
  static NcclResult reduceScatterConfig(const void *src, void *dst, size_t count, int dtype, int op,
                                        NcclComm comm, CudaStream stream,
                                        const NcclCallConfig *config) {
    keepTag(config);
    return reduceScatter(src, dst, count, dtype, op, comm, stream);
  }
  static NcclResult allGatherConfig(const void *src, void *dst, size_t count, int dtype,
                                    NcclComm comm, CudaStream stream,
                                    const NcclCallConfig *config) {
    keepTag(config);
    return allGather(src, dst, count, dtype, comm, stream);
  }
  static NcclResult allToAllConfig(const void *src, void *dst, size_t count, int dtype,
                                   NcclComm comm, CudaStream stream, const NcclCallConfig *config) {
    keepTag(config);
    return allToAll(src, dst, count, dtype, comm, stream);
  }
  static NcclResult send(const void *src, size_t count, int dtype, int peer, NcclComm comm,
                         CudaStream stream) {
    Op made = makeOp(OpKind::Send, src, nullptr, count, dtype);
    made.root = peer;
    return issue("send", made, comm, stream);
  }
  static NcclResult recv(void *dst, size_t count, int dtype, int peer, NcclComm comm,
                         CudaStream stream) {
    Op made = makeOp(OpKind::Recv, nullptr, dst, count, dtype);
    made.root = peer;
    return issue("recv", made, comm, stream);
  }
};

FakeNccl::FakeNccl(int version) : state_(std::make_unique<State>()) {
#define COLL_NCCL_FAKE(member, symbol, parameters) state_->table.member = FakeNcclFunctions::member;
  COLL_NCCL_FUNCTIONS(COLL_NCCL_FAKE)
  COLL_NCCL_OPTIONAL_FUNCTIONS(COLL_NCCL_FAKE)
#undef COLL_NCCL_FAKE
  Nccl &table = state_->table;
  table.getErrorString = FakeNcclFunctions::getErrorString;
  table.getLastError = FakeNcclFunctions::getLastError;
  table.version = version;
  if (version < 22700)
    table.windowRegister = nullptr, table.windowDeregister = nullptr;
  if (version < 22800)
    table.allToAll = nullptr;
  if (version < kNcclFirstWithTags) {
    table.allReduceConfig = nullptr, table.reduceConfig = nullptr;
    table.broadcastConfig = nullptr, table.reduceScatterConfig = nullptr;
    table.allGatherConfig = nullptr, table.allToAllConfig = nullptr;
  }
  FakeNcclFunctions::fake = state_.get();
}

FakeNccl::~FakeNccl() { FakeNcclFunctions::fake = nullptr; }

const Nccl &FakeNccl::table() const { return state_->table; }

void FakeNccl::failNext(const std::string &function, NcclResult result, int skip) {
  FakeCuda::locked([&] { state_->failures[function] = {result, skip}; });
}

std::vector<uint64_t> FakeNccl::tags() const {
  std::vector<uint64_t> tags;
  FakeCuda::locked([&] { tags = state_->tags; });
  return tags;
}

void FakeNccl::hangInit() {
  FakeCuda::locked([&] { state_->hangInit = true; });
}

void FakeNccl::hangConnect() {
  FakeCuda::locked([&] { state_->faults.hangConnect = true; });
}

void FakeNccl::hangAfter(int operations) {
  FakeCuda::locked([&] { state_->faults.hangAfter = operations; });
}

void FakeNccl::breakAfter(int operations, NcclResult result) {
  FakeCuda::locked([&] {
    state_->faults.breakAfter = operations;
    state_->faults.breakWith = result;
  });
}

int64_t FakeNccl::calls(const std::string &function) const {
  int64_t count = 0;
  FakeCuda::locked([&] { count = state_->calls[function]; });
  return count;
}

int64_t FakeNccl::liveObjects() const {
  int64_t count = 0;
  FakeCuda::locked([&] {
    count = static_cast<int64_t>(state_->comms.size() + state_->registrations.size() +
                                 state_->windows.size() + state_->scaledSums.size());
  });
  return count;
}

std::string FakeNccl::misuse() const {
  std::string text;
  FakeCuda::locked([&] { text = state_->misuse; });
  return text;
}

} // namespace coll::rt::dl
