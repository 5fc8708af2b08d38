#include "runtime/backend/direct/start.h"

#include "runtime/gpu/agreement.h"
#include "runtime/net/launch_env.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace coll::rt::direct {

namespace {

class Meeting {
public:
  Meeting(const Result<Platform> &platform, const BackendOptions &options,
          std::vector<Start> &ranks)
      : platform_(platform), options_(options), ranks_(ranks),
        world_(static_cast<size_t>(options.numRanks)) {
    std::iota(world_.begin(), world_.end(), 0);
  }

  Met run();

private:
  // What the local ranks have becomes what all ranks have.
  template <typename T>
  Status exchange(std::vector<T> &values);
  // Goes on where every rank has been successful.
  Status agreeOn(const std::vector<Status> &local);
  Status open(Start &start, const std::shared_ptr<Shared> &shared);
  int gpuOf(int rank, int gpus) const;
  Status prove(Start &start, const Node::Slice &slice) const;
  Status steps();

  const Result<Platform> &platform_;
  const BackendOptions &options_;
  std::vector<Start> &ranks_;
  std::vector<int> world_;
  std::unique_ptr<Communicator> control_; // between processes
  Status refusal_;
};

template <typename T>
Status Meeting::exchange(std::vector<T> &values) {
  if (!control_)
    return {};
  std::vector<T> all(world_.size());
  Call call;
  call.kind = OpKind::AllGather;
  call.dtype = kCollI8;
  call.count = sizeof(T);
  call.src = values.data();
  call.dst = all.data();
  call.site.name = "start of backend direct";
  Status gathered = control_->run(call);
  values = std::move(all);
  return gathered;
}

Status Meeting::agreeOn(const std::vector<Status> &local) {
  std::vector<gpu::Verdict> verdicts;
  for (const Status &status : local)
    verdicts.push_back(gpu::verdictOf(status));
  COLL_RETURN_IF_ERROR(exchange(verdicts));
  refusal_ = gpu::outcomeOf(verdicts, world_);
  return {};
}

// Ranks of one host take its GPUs in order, in turns where there are more ranks.
int Meeting::gpuOf(int rank, int gpus) const {
  if (!options_.job)
    return rank % gpus;
  if (options_.job->gpu >= 0)
    return options_.job->gpu;
  Result<net::LaunchEnv> launched = net::readLaunchEnv();
  return (launched.ok() && launched->localRank >= 0 ? launched->localRank : rank) % gpus;
}

Status Meeting::open(Start &start, const std::shared_ptr<Shared> &shared) {
  if (!platform_)
    return platform_.status();
  const dl::Cuda &cuda = *platform_->cuda;
  int gpus = 0;
  COLL_RETURN_IF_ERROR(dl::cudaStatus(cuda, cuda.deviceGetCount(&gpus), "cuDeviceGetCount"));
  Result<std::unique_ptr<gpu::Gpu>> opened =
      gpu::Gpu::open(cuda, gpuOf(start.rank, gpus), "direct", /*keepsContext=*/false);
  if (!opened)
    return opened.status();
  start.gpu = opened.take();
  Result<std::unique_ptr<Node>> node = Node::open(
      start.rank, options_.numRanks, start.gpu->context(), !options_.job.has_value(), shared);
  if (!node)
    return node.status();
  start.node = node.take();
  return {};
}

// That the kernels run on this GPU.
Status Meeting::prove(Start &start, const Node::Slice &slice) const {
  dl::CudaScope scope(start.gpu->cuda(), start.gpu->context()->context());
  Result<dl::GpuMemory> control = dl::GpuMemory::create(
      start.gpu->context(), dl::GpuMemory::Kind::Pinned, sizeof(kernels::PeerControl));
  if (!control)
    return control.status();
  std::memset(control->host(), 0, sizeof(kernels::PeerControl));
  kernels::PeerGroup group;
  group.size = static_cast<uint32_t>(options_.numRanks);
  group.rank = static_cast<uint32_t>(start.rank);
  group.layout = kernels::workspaceLayout(group.size, platform_->sizes);
  group.timeoutNs = 1;
  group.control = reinterpret_cast<kernels::PeerControl *>(control->device());
  std::fill_n(group.workspace, options_.numRanks, slice.data);
  COLL_RETURN_IF_ERROR(platform_->kernels.init(group, start.gpu->stream()));
  return start.gpu->context()->check(start.gpu->cuda().streamSynchronize(start.gpu->stream()),
                                     "cuStreamSynchronize");
}

Status Meeting::steps() {
  auto shared = std::make_shared<Shared>();
  std::vector<Status> found;
  for (Start &start : ranks_)
    found.push_back(open(start, shared));
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  std::vector<NodeCard> cards;
  for (Start &start : ranks_)
    cards.push_back(start.node->card());
  COLL_RETURN_IF_ERROR(exchange(cards));
  for (size_t i = 0; i < ranks_.size(); ++i)
    found[i] = ranks_[i].node->agree(cards);
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  const std::string secret = options_.job ? options_.job->secret : std::string();
  for (size_t i = 0; i < ranks_.size(); ++i)
    found[i] = ranks_[i].node->connect(cards, secret, options_.timeoutUs);
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};

  // The memory of the largest group, which proves that it can be had and reached. It goes back
  // to the pool.
  auto bytes = static_cast<int64_t>(
      kernels::workspaceLayout(static_cast<uint32_t>(options_.numRanks), platform_->sizes).bytes);
  std::vector<Node::Slice> slices(ranks_.size());
  std::vector<SliceId> ids(ranks_.size());
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Result<Node::Slice> slice = ranks_[i].node->takeSlice(bytes);
    found[i] = slice ? Status() : slice.status();
    if (slice) {
      slices[i] = *slice;
      ids[i] = slice->id;
      found[i] = prove(ranks_[i], *slice);
    }
  }
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  COLL_RETURN_IF_ERROR(exchange(ids));
  for (size_t i = 0; i < ranks_.size(); ++i)
    for (int peer = 0; peer < options_.numRanks && found[i].ok(); ++peer)
      if (peer != ranks_[i].rank) {
        Result<char *> reached = ranks_[i].node->reach(peer, ids[static_cast<size_t>(peer)]);
        found[i] = reached ? Status() : reached.status();
      }
  for (size_t i = 0; i < ranks_.size(); ++i)
    ranks_[i].node->giveSlice(slices[i]);
  return agreeOn(found);
}

Met Meeting::run() {
  if (!options_.job)
    return {steps(), refusal_};
  Endpoint &below = *ranks_[0].below;
  Endpoint &host = below.host() ? *below.host() : below;
  Result<std::unique_ptr<Communicator>> control = host.communicator(world_);
  if (!control)
    return {control.status(), {}};
  control_ = control.take();
  below.enter();
  Status failure = steps();
  below.leave();
  control_.reset();
  return {failure, refusal_};
}

} // namespace

Met meet(const Result<Platform> &platform, const BackendOptions &options,
         std::vector<Start> &ranks) {
  return Meeting(platform, options, ranks).run();
}

} // namespace coll::rt::direct
