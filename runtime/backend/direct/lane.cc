#include "runtime/backend/direct/lane.h"

#include "runtime/backend/call/check.h"
#include "runtime/backend/direct/root_update.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/error_word.h"
#include "runtime/kernels/peer/tuning.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace coll::rt::direct {

namespace {

static_assert(sizeof(SliceId) <= sizeof(gpu::Identity));

// How long the reason for a kernel's error may take to arrive.
constexpr int64_t kGraceUs = 1'000'000;

// A rank sends to all others and receives from them at the same time, so the kernels of all
// transfers have to fit on the GPU together. With up to four ranks it is enough if four fit: among
// all twelve in flight, both ends of some are then on the GPU. The same on all ranks.
uint32_t transfersAtOnce(int ranks) {
  return ranks <= 4 ? 4 : 2 * (static_cast<uint32_t>(ranks) - 1);
}

// Sizes for which the driver uses different ways of copying.
constexpr int64_t kRehearsedBytes[] = {4, 512, 64 << 10, 1 << 20};
constexpr int kEventsOfCalls = 4;

// A hint for ranks of one process that share a GPU.
constexpr const char *kQueuesHint =
    "; ranks of one process share a GPU here, which needs a queue of its own for each of their "
    "streams: set CUDA_DEVICE_MAX_CONNECTIONS=32 before CUDA starts";

// Bits of an offset in symmetric memory; the serial number is above them.
constexpr int kOffsetBits = 44;

// The host's own deadline comes first, because it has the better message.
uint64_t kernelTimeoutNs(int64_t hostUs) { return static_cast<uint64_t>(hostUs) * 1100; }

} // namespace

DirectLane::~DirectLane() {
  reclaim();
  gpu_.put(lastDone_);
  for (Left &left : left_) {
    gpu_.put(left.after);
    node_.retire(std::move(left.memory));
  }
  if (control_.host())
    node_.alarm().remove(reinterpret_cast<kernels::PeerControl *>(control_.host()));
  if (slice_.data)
    node_.giveSlice(slice_);
}

//===-- connecting --------------------------------------------------------------===//

// The workspace is initialised before any other member learns of it.
Status DirectLane::identify(gpu::Identity &mine) {
  if (!identified_) {
    group_.rank = static_cast<uint32_t>(position_);
    group_.size = static_cast<uint32_t>(size());
    group_.layout = kernels::workspaceLayout(group_.size, options_.sizes);
    group_.maxBlocks = options_.maxBlocks;
    group_.timeoutNs = kernelTimeoutNs(options_.timeoutUs);
    Result<Node::Slice> slice = node_.takeSlice(static_cast<int64_t>(group_.layout.bytes));
    if (!slice)
      return slice.status();
    slice_ = *slice;
    Result<dl::GpuMemory> control = dl::GpuMemory::create(
        gpu_.context(), dl::GpuMemory::Kind::Pinned, sizeof(kernels::PeerControl));
    if (!control)
      return control.status();
    control_ = control.take();
    std::memset(control_.host(), 0, sizeof(kernels::PeerControl));
    node_.alarm().add(reinterpret_cast<kernels::PeerControl *>(control_.host()));
    group_.control = reinterpret_cast<kernels::PeerControl *>(control_.device());
    COLL_RETURN_IF_ERROR(rehearse());
    // The other members' workspaces are not known yet, and not used.
    std::fill_n(group_.workspace, size(), slice_.data);
    Result<dl::CudaStream> own = stream(); // nothing on it waits for a peer
    if (!own)
      return own.status();
    COLL_RETURN_IF_ERROR(platform_.kernels.init(group_, *own));
    COLL_RETURN_IF_ERROR(
        gpu_.context()->check(gpu_.cuda().streamSynchronize(*own), "cuStreamSynchronize"));
    identified_ = true;
  }
  std::memcpy(mine.bytes, &slice_.id, sizeof(slice_.id));
  return {};
}

// Makes the driver create and load now what it would load at first use. Then, if ranks share a GPU,
// it could wait for their running kernels, which wait for this rank's kernel.
Status DirectLane::rehearse() {
  Result<dl::CudaStream> own = stream();
  if (!own)
    return own.status();
  // Copies as calls do beside their kernels; the workspace has no state yet.
  const auto most = static_cast<int64_t>(group_.layout.bytes / 2);
  for (int64_t bytes : kRehearsedBytes)
    for (const char *from : std::initializer_list<const char *>{nullptr, slice_.data + most})
      COLL_RETURN_IF_ERROR(gpu_.copy({slice_.data, from, 0, 0, std::min(bytes, most), 1}, *own));
  std::vector<dl::CudaEvent> events; // of a call, and of the one before
  Status made;
  for (int i = 0; i < kEventsOfCalls && made.ok(); ++i) {
    Result<dl::CudaEvent> event = gpu_.record(*own);
    made = event.status();
    if (event)
      events.push_back(*event);
  }
  for (dl::CudaEvent event : events)
    gpu_.put(event);
  COLL_RETURN_IF_ERROR(made);
  return gpu_.context()->check(gpu_.cuda().streamSynchronize(*own), "cuStreamSynchronize");
}

Status DirectLane::join(const std::vector<gpu::Identity> &all) {
  for (int i = 0; i < size(); ++i) {
    if (i == position_)
      continue;
    SliceId id;
    std::memcpy(&id, all[static_cast<size_t>(i)].bytes, sizeof(id));
    Result<char *> workspace =
        node_.reach(ranks_[static_cast<size_t>(i)], id, static_cast<int64_t>(group_.layout.bytes));
    if (!workspace)
      return workspace.status();
    group_.workspace[i] = *workspace;
  }
  joined_ = true;
  return {};
}

//===-- symmetric memory --------------------------------------------------------===//

// When this rank's calls have ended, no peer writes into the memory any more: each peer's call ends
// only after its own writes to this rank.
void DirectLane::leave(Node::Memory memory) {
  if (!lastDone_ && !captured_)
    return node_.giveMemory(std::move(memory));
  Left left;
  left.memory = std::move(memory);
  if (!captured_) {
    Result<dl::CudaEvent> after = afterLast();
    left.after = after ? *after : nullptr;
  }
  left_.push_back(std::move(left));
  reclaim();
}

// An event after all calls so far.
Result<dl::CudaEvent> DirectLane::afterLast() {
  gpu::Gpu::Scope scope(gpu_);
  gpu::Gpu::BesideCaptures beside(gpu_.cuda());
  Result<dl::CudaStream> own = stream();
  if (!own)
    return own.status();
  COLL_RETURN_IF_ERROR(follow(*own, 0));
  return gpu_.record(*own);
}

void DirectLane::reclaim() {
  gpu::Gpu::Scope scope(gpu_);
  gpu::Gpu::BesideCaptures beside(gpu_.cuda());
  for (size_t i = left_.size(); i-- > 0;) {
    Result<bool> isDone = left_[i].after ? gpu_.reached(left_[i].after) : Result<bool>(false);
    if (!isDone || !*isDone)
      continue;
    gpu_.put(left_[i].after);
    node_.giveMemory(std::move(left_[i].memory));
    left_.erase(left_.begin() + static_cast<ptrdiff_t>(i));
  }
}

//===-- calls -------------------------------------------------------------------===//

const Symmetric *DirectLane::find(const Call &call) const {
  const bool isUsed = call.kind == OpKind::AllReduce || call.kind == OpKind::AllGather ||
                      call.kind == OpKind::AllToAll || call.kind == OpKind::Broadcast ||
                      call.kind == OpKind::RootUpdate;
  const int64_t bytes = extentsOf(call, size(), position_).dst * dtypeSize(dstType(call));
  return isUsed ? find(call.dst, bytes) : nullptr;
}

const Symmetric *DirectLane::find(const void *data, int64_t bytes) const {
  auto *at = static_cast<const char *>(data);
  auto it = symmetric.upper_bound(at);
  if (!at || it == symmetric.begin())
    return nullptr;
  const Symmetric &memory = std::prev(it)->second;
  return at - memory.data + bytes <= memory.bytes ? &memory : nullptr;
}

std::vector<void *> DirectLane::addressesOf(const void *data, int64_t bytes) const {
  std::vector<void *> addresses;
  if (const Symmetric *memory = find(data, bytes))
    for (char *member : memory->members)
      addresses.push_back(member + (static_cast<const char *>(data) - memory->data));
  return addresses;
}

int64_t DirectLane::placeOf(const Call &call) const {
  const Symmetric *memory = find(call);
  return memory ? (memory->serial << kOffsetBits) +
                      (static_cast<const char *>(call.dst) - memory->data)
                : -1;
}

bool DirectLane::isCopy(const Call &call) const {
  return size() == 1 && call.kind != OpKind::Permute && call.kind != OpKind::RootUpdate;
}

int64_t DirectLane::keptBytes(const Call &call) const {
  const bool isAtRoot = call.root == position_;
  const bool moves = call.kind == OpKind::ReduceScatter || call.kind == OpKind::AllToAll ||
                     call.kind == OpKind::Permute || (call.kind == OpKind::Scatter && isAtRoot) ||
                     (call.kind == OpKind::Gather && isAtRoot) ||
                     // The first member's block is already in place.
                     (call.kind == OpKind::AllGather && (position_ != 0 || call.outer != 1));
  if (!moves || isCopy(call) || !call.src || call.src != call.dst)
    return 0;
  return extentsOf(call, size(), position_).src * dtypeSize(call.dtype);
}

Status DirectLane::issue(gpu::LaneOp &op) {
  int capturing = dl::kCudaNotCapturing;
  COLL_RETURN_IF_ERROR(gpu_.context()->check(gpu_.cuda().streamIsCapturing(op.stream, &capturing),
                                             "cuStreamIsCapturing"));
  // During a capture the graph itself has to order the calls.
  const bool isDone = capturing == dl::kCudaNotCapturing;
  const uint64_t stream = isDone ? idOf(op.stream) : 0;
  captured_ |= !isDone;
  if (isDone)
    COLL_RETURN_IF_ERROR(follow(op.stream, stream));
  Call call = op.call;
  if (const int64_t bytes = keptBytes(call); bytes > 0) {
    Result<char *> kept = scratch(bytes);
    if (!kept)
      return kept.status();
    gpu::Copy copy;
    copy.dst = *kept;
    copy.src = static_cast<const char *>(call.src);
    copy.bytes = bytes;
    COLL_RETURN_IF_ERROR(gpu_.copy(copy, op.stream));
    call.src = *kept;
  }
  lastCall_ = op.call;
  lastCall_.pairs = nullptr;
  lastCall_.update = nullptr;
  lastCall_.site = {op.call.site.op};
  COLL_RETURN_IF_ERROR(launch(call, op.stream));
  // A captured call has not run, so lastDone_ stays the end of the last call that has.
  if (!isDone)
    return {};
  gpu_.put(std::exchange(lastDone_, nullptr));
  Result<dl::CudaEvent> done = gpu_.record(op.stream);
  if (!done)
    return done.status();
  lastDone_ = *done;
  last_ = stream;
  return {};
}

// A handle may be reused after its stream was destroyed while work on it goes on; a stream's number
// is not reused. 0 if the driver has no numbers (before CUDA 12).
uint64_t DirectLane::idOf(dl::CudaStream stream) const {
  unsigned long long id = 0;
  const bool has = gpu_.cuda().streamGetId && gpu_.cuda().streamGetId(stream, &id) == 0;
  return has ? id : 0;
}

// Orders the calls of a group on the GPU, whatever streams they are on.
Status DirectLane::follow(dl::CudaStream stream, uint64_t id) {
  if (!lastDone_ || (id && id == last_))
    return {};
  return gpu_.context()->check(gpu_.cuda().streamWaitEvent(stream, lastDone_, 0),
                               "cuStreamWaitEvent");
}

// The addresses of all members' destinations, if these are in symmetric memory.
void DirectLane::reachDestinations(const Call &call, void *(&members)[kernels::kMaxPeers]) const {
  const Symmetric *memory = find(call);
  for (int i = 0; memory && i < size(); ++i)
    members[i] = memory->members[static_cast<size_t>(i)] +
                 (static_cast<const char *>(call.dst) - memory->data);
}

kernels::ReduceArgs DirectLane::reduceArgs(const Call &call) const {
  kernels::ReduceArgs args;
  args.src = call.src;
  args.dst = call.dst;
  args.outer = static_cast<uint64_t>(call.outer);
  args.count = static_cast<uint64_t>(call.count);
  args.dtype = call.dtype;
  args.reduction = call.reduction;
  args.root = static_cast<uint32_t>(call.root);
  args.tuning = platform_.tuning;
  reachDestinations(call, args.peerDst);
  args.dstPlace = static_cast<uint64_t>(placeOf(call));
  return args;
}

kernels::CopyArgs DirectLane::copyArgs(const Call &call) const {
  kernels::CopyArgs args;
  auto elem = static_cast<uint64_t>(dtypeSize(call.dtype));
  args.src = call.src;
  args.dst = call.dst;
  args.srcRows = args.dstRows = static_cast<uint64_t>(call.outer);
  args.srcRowBytes = args.dstRowBytes = static_cast<uint64_t>(call.count) * elem;
  if (call.kind == OpKind::AllToAll) {
    args.dstRows = static_cast<uint64_t>(call.dstOuter);
    args.dstRowBytes = static_cast<uint64_t>(call.dstCount) * elem;
  }
  args.root = static_cast<uint32_t>(call.root);
  args.tuning = platform_.tuning;
  reachDestinations(call, args.peerDst);
  args.dstPlace = static_cast<uint64_t>(placeOf(call));
  return args;
}

Status DirectLane::launch(const Call &call, dl::CudaStream stream) {
  if (isCopy(call))
    return launchAlone(call, stream);
  switch (call.kind) {
  case OpKind::AllReduce:
    return platform_.kernels.allReduce(group_, reduceArgs(call), stream);
  case OpKind::ReduceScatter:
    return platform_.kernels.reduceScatter(group_, reduceArgs(call), stream);
  case OpKind::Reduce:
    COLL_RETURN_IF_ERROR(platform_.kernels.reduce(group_, reduceArgs(call), stream));
    break;
  case OpKind::AllGather:
    return platform_.kernels.allGather(group_, copyArgs(call), stream);
  case OpKind::AllToAll:
    return platform_.kernels.allToAll(group_, copyArgs(call), stream);
  case OpKind::Broadcast:
    return platform_.kernels.broadcast(group_, copyArgs(call), stream);
  case OpKind::Gather:
    COLL_RETURN_IF_ERROR(platform_.kernels.gather(group_, copyArgs(call), stream));
    break;
  case OpKind::Scatter:
    return platform_.kernels.scatter(group_, copyArgs(call), stream);
  case OpKind::Permute:
    return platform_.kernels.permute(group_, copyArgs(call), call.pairs,
                                     static_cast<uint32_t>(call.numPairs), stream);
  case OpKind::RootUpdate:
    return launchUpdate(call, stream);
  case OpKind::Send:
  case OpKind::Recv:
    return launchTransfer(call, stream);
  case OpKind::Init:
  case OpKind::Barrier:
    return platform_.kernels.barrier(group_, stream);
  }
  // Fills the destinations of the members other than the root.
  const int64_t bytes =
      extentsOf(call, size(), position_).dst * static_cast<int64_t>(dtypeSize(call.dtype));
  if (position_ == call.root || !call.dst || bytes == 0 ||
      (call.kind == OpKind::Reduce && call.src == call.dst))
    return {};
  gpu::Copy rest;
  rest.dst = static_cast<char *>(call.dst);
  rest.src = call.kind == OpKind::Reduce ? static_cast<const char *>(call.src) : nullptr;
  rest.bytes = bytes;
  return gpu_.copy(rest, stream);
}

// The driver's copy starts sooner than a kernel, and is as fast for large sizes.
Status DirectLane::launchAlone(const Call &call, dl::CudaStream stream) {
  gpu::Copy copy;
  copy.dst = static_cast<char *>(call.dst);
  copy.src = static_cast<const char *>(call.src);
  copy.bytes = extentsOf(call, size(), position_).dst * dtypeSize(call.dtype);
  return copy.bytes == 0 || copy.src == copy.dst ? Status() : gpu_.copy(copy, stream);
}

// The lane connects the sender and the receiver.
Status DirectLane::launchTransfer(const Call &call, dl::CudaStream stream) {
  kernels::CopyArgs args = copyArgs(call);
  args.root = 0;
  if (call.kind == OpKind::Send)
    args.dst = const_cast<void *>(args.src); // the data is already in place
  else
    args.src = nullptr;
  kernels::PeerGroup part = group_;
  const uint32_t all =
      part.maxBlocks != 0 ? part.maxBlocks : kernels::residentBlocks(kernels::kMultiprocessors, 1);
  part.maxBlocks = std::max(1u, all / transfersAtOnce(node_.size()));
  return platform_.kernels.broadcast(part, args, stream);
}

Status DirectLane::takesUpdate(const Call &call) const {
  const auto *update = dynamic_cast<const RootUpdate *>(call.update);
  if (!update)
    return Status::invalid("its update was not made for backend direct (root_update.h)");
  COLL_RETURN_IF_ERROR(update->takes(call, size(), position_, gpu_.ordinal()));
  if (call.dstCount == 0 || find(call))
    return {};
  return Status::invalid("the parameters are not in memory that the whole group knows "
                         "(Communicator::allocate, registerMemory)");
}

Status DirectLane::launchUpdate(const Call &call, dl::CudaStream stream) {
  const auto &update = static_cast<const RootUpdate &>(*call.update);
  kernels::RootUpdate args = update.arguments();
  args.gradients = call.src;
  reachDestinations(call, args.parameters);
  return update.own() ? update.own()(group_, args, stream)
                      : platform_.kernels.rootUpdate(group_, args, update.given(), stream);
}

//===-- failures ----------------------------------------------------------------===//

uint64_t DirectLane::errorWord() const {
  auto *control = reinterpret_cast<kernels::PeerControl *>(control_.host());
  return control ? __atomic_load_n(&control->error, __ATOMIC_ACQUIRE) : 0;
}

// The error that a kernel reports first is often not the cause. The texts of a mismatch are on the
// cards, and a peer's failure has its own cause; both arrive a moment later by other means.
Status DirectLane::health() {
  const uint64_t word = errorWord();
  if (word == 0)
    return {};
  const auto error = static_cast<kernels::KernelError>(static_cast<uint32_t>(word));
  if (seenUs_ == 0)
    seenUs_ = net::nowUs();
  if (error != kernels::KernelError::PeerTimeout && net::nowUs() - seenUs_ < kGraceUs)
    return {};
  const auto member = static_cast<size_t>(word >> 32);
  std::string who = member < ranks_.size() ? "rank " + std::to_string(ranks_[member]) : "a member";
  const std::string text = "a kernel on group " + describeGroup(ranks_) +
                           ", whose last call here is " + describe(lastCall_) + ", has ended: ";
  switch (error) {
  case kernels::KernelError::PeerTimeout:
    return {kCollTimeout, text + who + " did not come within " +
                              std::to_string(group_.timeoutNs / 1'000'000) + " ms" +
                              (node_.sharers() > 1 && !node_.links() ? kQueuesHint : "")};
  case kernels::KernelError::PeerMismatch:
    return {kCollMismatch, text + who + " makes another call"};
  case kernels::KernelError::PeerFailed:
  case kernels::KernelError::PeerAborted:
    return {kCollAborted, text + who + " has failed"};
  default:
    return {kCollDevice, text + kernels::describeErrorWord(word)};
  }
}

void DirectLane::end() {
  if (control_.host())
    Alarm::set(reinterpret_cast<kernels::PeerControl *>(control_.host()));
  joined_ = false;
}

} // namespace coll::rt::direct
