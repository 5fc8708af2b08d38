#include "runtime/backend/direct/node.h"

#include "runtime/backend/direct/unasked.h"
#include "runtime/base/boot_id.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unistd.h>

namespace coll::rt::direct {

namespace {

constexpr int64_t kFarewellUs = 5'000'000;
// All ranks connect at the same time. A rank that cannot be reached within this time has failed,
// and the other ranks, which have to be told, still wait.
constexpr int64_t kConnectUs = 10'000'000;

// A slice larger than this part of a chunk would fragment the pool, and gets a block of its own.
constexpr int64_t kSlicesOfAChunk = 8;

template <size_t bytes>
void put(char (&to)[bytes], const std::string &text) {
  std::memset(to, 0, bytes);
  std::memcpy(to, text.data(), std::min(text.size(), bytes - 1));
}
template <size_t bytes>
std::string get(const char (&from)[bytes]) {
  return std::string(from, strnlen(from, bytes));
}

Status refuse(const std::string &reason) { return {kCollUnsupported, "direct: " + reason}; }

std::string nameOfRank(size_t rank) { return "rank " + std::to_string(rank); }

// The kind of sharing that COLL_DIRECT_MEMORY requests.
Result<std::optional<Sharing>> wantedSharing() {
  std::string text = envString(EnvVar::DirectMemory);
  if (text == "auto")
    return std::optional<Sharing>();
  if (text == "ipc")
    return std::optional<Sharing>(Sharing::Ipc);
  if (text == "vmm")
    return std::optional<Sharing>(Sharing::Vmm);
  return Status::invalid("COLL_DIRECT_MEMORY=" + text + ": expected auto, ipc or vmm");
}

} // namespace

Result<std::unique_ptr<Node>> Node::open(int rank, int size, std::shared_ptr<GpuContext> gpu,
                                         bool inProcess, Demand demand,
                                         std::shared_ptr<Shared> shared) {
  std::unique_ptr<Node> node(new Node(rank, size, std::move(gpu), std::move(shared)));
  Result<std::optional<Sharing>> wanted = wantedSharing();
  if (!wanted)
    return wanted.status();
  NodeCard &card = node->card_;
  const dl::Cuda &cuda = node->gpu_->cuda();
  const int ordinal = node->gpu_->ordinal();
  char host[64] = "";
  (void)gethostname(host, sizeof(host) - 1);
  put(card.host, host);
  const std::string id = bootId();
  put(card.boot, id.empty() ? std::string(host) : id);
  COLL_RETURN_IF_ERROR(node->gpu_->check(
      cuda.deviceGetPciBusId(card.gpu, sizeof(card.gpu), ordinal), "cuDeviceGetPCIBusId"));
  (void)!readlink("/proc/self/ns/net", card.net, sizeof(card.net) - 1);
  card.process = static_cast<int32_t>(getpid());
  card.demand = demand;
  card.hasVmm = canShare(cuda, ordinal, Sharing::Vmm);
  if (*wanted)
    card.wanted = static_cast<int32_t>(**wanted);
  if (!inProcess) {
    Result<std::unique_ptr<Links>> links = Links::create(rank, size);
    if (!links)
      return links.status();
    node->links_ = links.take();
    put(card.links, node->links_->name());
  }
  return node;
}

Status Node::agree(const std::vector<NodeCard> &cards) {
  for (size_t rank = 0; rank < cards.size(); ++rank)
    if (cards[rank].code != kCollOk)
      return refuse(nameOfRank(rank) + ": " + get(cards[rank].why));
  for (size_t rank = 1; rank < cards.size(); ++rank) {
    if (get(cards[rank].boot) != get(cards[0].boot))
      return refuse("it works inside one node, and rank 0 is on " + get(cards[0].host) + ", " +
                    nameOfRank(rank) + " on " + get(cards[rank].host));
    if (cards[rank].wanted != cards[0].wanted)
      return refuse("COLL_DIRECT_MEMORY differs between rank 0 and " + nameOfRank(rank));
    if (cards[rank].demand != cards[0].demand)
      return refuse("rank 0 and " + nameOfRank(rank) + " have different routes (COLL_ROUTES)");
    if (get(cards[rank].net) != get(cards[0].net))
      return refuse("rank 0 and " + nameOfRank(rank) + " are in different network name spaces");
  }
  const bool allVmm =
      std::all_of(cards.begin(), cards.end(), [](const NodeCard &c) { return c.hasVmm != 0; });
  if (!links_)
    sharing_ = Sharing::Process;
  else if (cards[0].wanted >= 0)
    sharing_ = static_cast<Sharing>(cards[0].wanted);
  else
    sharing_ = allVmm ? Sharing::Vmm : Sharing::Ipc;
  if (sharing_ == Sharing::Vmm && !allVmm)
    return refuse("COLL_DIRECT_MEMORY is vmm, which not all GPUs support; set it to auto or ipc");
  for (const NodeCard &one : cards) {
    auto isSame = [&](const NodeCard &other) { return get(one.gpu) == get(other.gpu); };
    sharers_ =
        std::max(sharers_, static_cast<int>(std::count_if(cards.begin(), cards.end(), isSame)));
  }
  if (sharers_ > 1 && rank_ == 0)
    log(LogLevel::Info, "direct: up to " + std::to_string(sharers_) + " ranks share a GPU");
  if (card_.demand == Demand::ByDefault)
    COLL_RETURN_IF_ERROR(agreeUnasked(cards));
  return reachGpus(cards);
}

// -1: this process does not see the GPU.
int Node::ordinalOf(const NodeCard &card) const {
  int count = 0;
  (void)gpu_->cuda().deviceGetCount(&count); // it stays 0
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    char bus[24] = "";
    if (gpu_->cuda().deviceGetPciBusId(bus, sizeof(bus), ordinal) == dl::kCudaSuccess &&
        get(card.gpu) == get(bus))
      return ordinal;
  }
  return -1;
}

// Whether direct serves the ranks if no table of routes asks for it.
Status Node::agreeUnasked(const std::vector<NodeCard> &cards) const {
  if (sharers_ > 1)
    return refuse("ranks share a GPU");
  for (size_t rank = 0; rank < cards.size(); ++rank) {
    const int peer = ordinalOf(cards[rank]);
    if (peer < 0)
      return refuse(nameOfRank(static_cast<size_t>(rank_)) + " does not see the GPU of " +
                    nameOfRank(rank) + ", and so not how it is connected");
    COLL_RETURN_IF_ERROR(servesUnasked(gpu_->cuda(), gpu_->ordinal(), peer));
  }
  return {};
}

// Whether this GPU reaches the others, as far as this process sees them.
Status Node::reachGpus(const std::vector<NodeCard> &cards) const {
  const dl::Cuda &cuda = gpu_->cuda();
  int count = 0;
  COLL_RETURN_IF_ERROR(gpu_->check(cuda.deviceGetCount(&count), "cuDeviceGetCount"));
  for (int peer = 0; peer < count; ++peer) {
    char bus[24] = "";
    if (peer == gpu_->ordinal() ||
        cuda.deviceGetPciBusId(bus, sizeof(bus), peer) != dl::kCudaSuccess)
      continue;
    auto it = std::find_if(cards.begin(), cards.end(),
                           [&](const NodeCard &card) { return get(card.gpu) == get(bus); });
    if (it == cards.end())
      continue;
    auto pair = [&] {
      return "GPU " + get(card_.gpu) + " (rank " + std::to_string(rank_) +
             ") cannot reach the memory of GPU " + get(bus) + " (rank " +
             std::to_string(it - cards.begin()) + ")";
    };
    int can = 0;
    if (cuda.deviceCanAccessPeer(&can, gpu_->ordinal(), peer) != dl::kCudaSuccess || !can)
      return refuse(pair() + ": no peer access");
    if (sharing_ != Sharing::Process)
      continue;
    Result<std::shared_ptr<GpuContext>> other = GpuContext::open(cuda, peer);
    if (!other)
      return other.status();
    dl::CudaScope scope(cuda, gpu_->context());
    dl::CudaResult enabled = cuda.contextEnablePeerAccess((*other)->context(), 0);
    if (enabled != dl::kCudaSuccess && enabled != dl::kCudaPeerAccessAlready)
      return refuse(pair() + ": " + gpu_->check(enabled, "cuCtxEnablePeerAccess").message());
  }
  return {};
}

Status Node::connect(const std::vector<NodeCard> &cards, const std::string &secret,
                     int64_t timeoutUs) {
  timeoutUs_ = timeoutUs;
  if (!links_)
    return {};
  Result<net::Secret> key = net::Secret::create(secret);
  if (!key)
    return key.status();
  std::vector<std::string> names;
  for (const NodeCard &card : cards)
    names.push_back(get(card.links));
  return links_->connect(
      names, *key, std::min(timeoutUs / 2, kConnectUs),
      [shared = shared_](const Status &failure) { shared->alarm.raise(failure); });
}

Node::~Node() {
  // Peers' work on their GPUs ends soon after a failure; without a failure it has ended already.
  if (links_) {
    dl::CudaScope scope(gpu_->cuda(), gpu_->context());
    (void)gpu_->cuda().contextSynchronize();
    links_->farewell(kFarewellUs);
  }
  peerChunks_.clear();
  for (Memory &memory : retired_) {
    memory.windows.clear();
    spare_.push_back(std::move(memory.block));
  }
  // Other ranks of this process may still be working.
  std::lock_guard<std::mutex> lock(shared_->mutex);
  for (std::vector<Block> *blocks : {&chunks_, &spare_})
    for (Block &block : *blocks)
      if (!links_)
        shared_->kept.push_back(std::move(block));
}

//===-- memory ------------------------------------------------------------------===//

Status Node::share(const Block &block, const std::vector<int> &peers) {
  if (sharing_ != Sharing::Vmm)
    return {};
  Result<net::Fd> fd = block.descriptor();
  if (!fd)
    return fd.status();
  for (int peer : peers)
    if (peer != rank_)
      COLL_RETURN_IF_ERROR(links_->give(peer, block.exported().id, *fd));
  return {};
}

void Node::decline(int peer, const Export &exported) {
  if (exported.sharing == Sharing::Vmm && links_)
    (void)links_->take(peer, exported.id, timeoutUs_); // if none arrives, none is kept
}

// Adds a chunk with room for a slice of `bytes` bytes, and for more if the GPU has the memory. Each
// rank decides on its own chunks; peers learn where a slice is, and how large its chunk is.
Status Node::addChunk(int64_t bytes) {
  const int64_t least = Pool::rounded(bytes);
  // If no table asks for direct, it allocates no more than its one group needs.
  const int64_t usual = card_.demand == Demand::ByDefault ? 0 : envInt(EnvVar::DirectPoolBytes);
  int64_t chunk = std::max(least, usual);
  Result<Block> made = make(chunk);
  if (!made && least < chunk) {
    log(LogLevel::Info, "direct: rank " + std::to_string(rank_) + " has no room for a pool of " +
                            std::to_string(chunk) + " bytes, and makes one of " +
                            std::to_string(least) + ": " + made.status().message());
    chunk = least;
    made = make(chunk);
  }
  if (!made)
    return made.status().annotate("a pool of " + std::to_string(chunk) +
                                  " bytes (more: COLL_DIRECT_POOL_BYTES)");
  std::vector<int> all(static_cast<size_t>(size_));
  std::iota(all.begin(), all.end(), 0);
  COLL_RETURN_IF_ERROR(share(*made, all));
  pool_.addChunk(made->exported().bytes); // rounded by the driver
  chunks_.push_back(made.take());
  return {};
}

Result<Node::Slice> Node::takeSlice(int64_t bytes) {
  std::optional<Pool::Slice> place = pool_.take(bytes);
  if (!place) {
    COLL_RETURN_IF_ERROR(addChunk(bytes));
    place = pool_.take(bytes);
  }
  if (!place)
    return Status::internal("a new chunk has no room");
  const Block &block = chunks_[static_cast<size_t>(place->chunk)];
  Pool::Account now = account();
  log(LogLevel::Debug, "direct: rank " + std::to_string(rank_) + " has " +
                           std::to_string(now.slices) + " pieces of memory in its pool, " +
                           std::to_string(now.used >> 20) + " of " +
                           std::to_string(now.bytes >> 20) + " MiB");
  return Slice{*place, block.data() + place->offset, {block.exported(), place->offset}};
}

Result<char *> Node::reach(int peer, const SliceId &slice, int64_t bytes) {
  PeerChunk &chunk = peerChunks_[{peer, slice.chunk.id}];
  const int64_t end = chunk.window.data() ? chunk.bytes : slice.chunk.bytes;
  if (slice.offset < 0 || slice.offset > end || bytes > end - slice.offset)
    return Status(kCollPeer,
                  nameOfRank(static_cast<size_t>(peer)) + " names an address outside its pool");
  if (!chunk.window.data()) {
    if (!chunk.descriptor.valid()) {
      Result<net::Fd> given = descriptorOf(peer, slice.chunk);
      if (!given)
        return given.status();
      chunk.descriptor = given.take();
    }
    Result<Window> mapped = map(peer, slice.chunk, chunk.descriptor);
    if (!mapped)
      return mapped.status();
    chunk.window = mapped.take();
    chunk.descriptor.reset();
    chunk.bytes = slice.chunk.bytes;
  }
  return chunk.window.data() + slice.offset;
}

Result<Node::Memory> Node::takeMemory(int64_t bytes, const std::vector<int> &peers) {
  Memory memory;
  memory.bytes = bytes;
  if (bytes <= envInt(EnvVar::DirectPoolBytes) / kSlicesOfAChunk) {
    Result<Slice> slice = takeSlice(bytes);
    if (!slice)
      return slice.status();
    memory.slice = *slice;
    return memory;
  }
  auto best = spare_.end();
  for (auto it = spare_.begin(); it != spare_.end(); ++it)
    if (it->bytes() >= bytes && it->bytes() / 2 <= bytes &&
        (best == spare_.end() || it->bytes() < best->bytes()))
      best = it;
  if (best != spare_.end()) {
    memory.block = std::move(*best);
    spare_.erase(best);
    return memory;
  }
  Result<Block> made = make(bytes);
  if (!made)
    return made.status();
  COLL_RETURN_IF_ERROR(share(*made, peers));
  memory.block = made.take();
  return memory;
}

void Node::giveMemory(Memory memory) {
  memory.windows.clear();
  if (memory.slice)
    giveSlice(*memory.slice);
  else if (!memory.isUsers && memory.block.exported().sharing != Sharing::Vmm)
    spare_.push_back(std::move(memory.block));
}

// There is a descriptor only for a VMM block.
Result<net::Fd> Node::descriptorOf(int peer, const Export &exported) {
  if (exported.sharing != Sharing::Vmm)
    return net::Fd();
  if (!links_)
    return Status(kCollPeer, "a descriptor in one process");
  return links_->take(peer, exported.id, timeoutUs_);
}

Result<Window> Node::map(int peer, const Export &exported, const net::Fd &descriptor) {
  Result<Window> window = Window::open(gpu_, exported, descriptor);
  return window
             ? std::move(window)
             : Result<Window>(window.status().annotate("memory of rank " + std::to_string(peer) +
                                                       ", shared by " + nameOf(exported.sharing)));
}

Result<Window> Node::open(int peer, const Export &exported) {
  Result<net::Fd> descriptor = descriptorOf(peer, exported);
  return descriptor ? map(peer, exported, *descriptor) : Result<Window>(descriptor.status());
}

} // namespace coll::rt::direct
