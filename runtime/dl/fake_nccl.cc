#include "runtime/dl/fake_nccl.h"

#include "runtime/dl/fake_nccl_ops.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

namespace coll::rt::dl {

using fake::Clique;
using fake::Op;
using fake::OpKind;

struct NcclCommTag {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  int gpu = 0;
  bool launched = false; // its first operation was
  bool blocks = false;
  const fake::Split *splitting = nullptr; // the last that it was asked for
  std::shared_ptr<bool> dead = std::make_shared<bool>(false);
  // Operations that were called and not launched yet.
  std::vector<Op> deferred;
  CudaStream deferredTo = nullptr;
};

struct NcclWindowTag {
  int unused = 0;
};

namespace {

struct Failure {
  NcclResult result = 0;
  int skip = 0;
};

struct Pending {
  NcclComm comm;
  CudaStream stream;
  Op op;
};

thread_local int groupDepth = 0;
thread_local std::vector<Pending> group;

} // namespace

struct FakeNccl::State {
  Nccl table;
  std::map<std::string, Failure> failures;
  std::map<std::string, int64_t> calls;
  std::map<NcclComm, std::unique_ptr<NcclCommTag>> comms;
  std::map<std::string, std::shared_ptr<Clique>> joining; // by unique id
  std::map<int, double> scaledSums;                       // by number of the reduction
  std::set<void *> registrations;
  std::set<NcclWindow> windows;
  std::vector<std::unique_ptr<NcclWindowTag>> windowTags;
  fake::Faults faults;
  uint64_t ids = 0;
  int nextOp = 5;
  int64_t handles = 0;
  bool hangInit = false;
  std::string misuse, lastError;

  NcclResult wrong(const std::string &what, NcclResult result = kNcclInvalidUsage) {
    if (misuse.empty())
      misuse = what;
    lastError = what;
    return result;
  }
};

// The library's functions. All of the state is under the driver's lock.
struct FakeNcclFunctions {
  using State = FakeNccl::State;
  static inline std::atomic<State *> fake{nullptr};

  // Counts the call and runs `body` under the lock, unless the test wants it to fail.
  template <typename Body>
  static NcclResult call(const char *name, Body &&body) {
    NcclResult result = kNcclSuccess;
    FakeCuda::locked([&] {
      State &state = *fake.load();
      ++state.calls[name];
      auto it = state.failures.find(name);
      if (it != state.failures.end() && it->second.skip-- == 0) {
        result = it->second.result;
        state.lastError = "the test wants it so";
        state.failures.erase(it);
        return;
      }
      result = body(state);
    });
    return result;
  }
  template <typename Body>
  static NcclResult callOn(const char *name, NcclComm comm, Body &&body) {
    return call(name, [&](State &state) -> NcclResult {
      if (!state.comms.count(comm))
        return state.wrong(std::string(name) + " on a communicator that does not exist",
                           kNcclInvalidArgument);
      return body(state);
    });
  }

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
  // All have said where they go.
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
    // What was split from it and is not there yet goes with it.
    if (comm->splitting && static_cast<int>(comm->splitting->size()) < comm->clique->size)
      for (const fake::SplitEntry &entry : *comm->splitting)
        if (entry.rank == comm->rank && entry.made)
          state.comms.erase(entry.made);
    state.comms.erase(comm);
    return kNcclSuccess;
  }
  static NcclResult commDestroy(NcclComm comm) {
    return callOn("commDestroy", comm, [&](State &state) { return end(state, comm); });
  }
  // As NCCL does, tells the communicator that was split from it last, which has to exist then.
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
      bool ready =
          clique && !clique->hangs && static_cast<int>(clique->gpus.size()) == clique->size;
      if (ready && comm->splitting)
        ready = static_cast<int>(comm->splitting->size()) == clique->size;
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
      state.registrations.insert(*handle);
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
      state.windows.insert(*window);
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
  static bool isOwn(NcclComm comm, const void *data, size_t bytes) {
    return bytes == 0 || FakeCuda::gpuOf(data, bytes) == comm->gpu;
  }
  static NcclResult check(State &state, const char *name, NcclComm comm, Op &op) {
    const int n = comm->clique->size;
    if (op.root < 0 || op.root >= n)
      return state.wrong(std::string(name) + ": no such root or peer", kNcclInvalidArgument);
    if (op.dtype < 0 || op.dtype > kNcclFloat8e5m2 ||
        (op.dtype >= kNcclFloat8e4m3 && state.table.version < kNcclFirstWithFp8))
      return state.wrong(std::string(name) + ": no such type", kNcclInvalidArgument);
    if (op.reduction >= 5) {
      op.scale = state.scaledSums.count(op.reduction) ? state.scaledSums[op.reduction] : 0;
      op.reduction = kNcclSum;
    }
    fake::Sizes sizes = fake::sizesOf(op, comm->rank, n);
    if (!isOwn(comm, op.src, sizes.src) || !isOwn(comm, op.dst, sizes.dst))
      return state.wrong(std::string(name) + ": memory that is not the GPU's",
                         kNcclInvalidArgument);
    if (!comm->deferred.empty())
      return state.wrong(std::string(name) + " while a call is in progress");
    return kNcclSuccess;
  }
  static NcclResult issue(const char *name, Op op, NcclComm comm, CudaStream stream) {
    NcclResult result =
        callOn(name, comm, [&](State &state) { return check(state, name, comm, op); });
    if (result != kNcclSuccess)
      return result;
    group.push_back({comm, stream, op});
    return groupDepth > 0 ? kNcclSuccess : flush();
  }
  // Launches what the group holds, each communicator's share at once.
  static NcclResult flush() {
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
  // What operations have to be connected for, and by how many members.
  static std::map<std::string, size_t> wires(const Clique &clique, int rank,
                                             const std::vector<Op> &ops) {
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
  // False: aborted meanwhile.
  static bool connect(NcclComm comm, const std::vector<Op> &ops) {
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
  static void launch(NcclComm comm, CudaStream stream, std::vector<Op> ops) {
    State &state = *fake.load();
    (void)FakeCuda::enqueue(stream, [&state, clique = comm->clique, rank = comm->rank,
                                     dead = comm->dead, ops = std::move(ops)] {
      return fake::begin(state.faults, clique, rank, dead, ops);
    });
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
  static NcclResult groupStart() {
    ++groupDepth;
    return call("groupStart", [](State &) { return kNcclSuccess; });
  }
  static NcclResult groupEnd() {
    NcclResult result = call("groupEnd", [](State &) { return kNcclSuccess; });
    if (--groupDepth > 0)
      return result;
    if (result == kNcclSuccess)
      return flush();
    group.clear();
    return result;
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
  FakeNcclFunctions::fake = state_.get();
}

FakeNccl::~FakeNccl() { FakeNcclFunctions::fake = nullptr; }

const Nccl &FakeNccl::table() const { return state_->table; }

void FakeNccl::failNext(const std::string &function, NcclResult result, int skip) {
  FakeCuda::locked([&] { state_->failures[function] = {result, skip}; });
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
