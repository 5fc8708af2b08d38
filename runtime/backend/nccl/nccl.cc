#include "runtime/backend/nccl/nccl.h"

#include "runtime/backend/gpu/gpu_of_job.h"
#include "runtime/backend/nccl/engine.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/backend/nccl/types.h"
#include "runtime/base/env.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

namespace coll::rt::nccl {

namespace {

constexpr int kFirstMajorWithFp8 = 9; // compute capability

// A rank of this process, until its endpoint exists.
struct LocalRank {
  int rank = 0;
  std::unique_ptr<gpu::GpuEndpoint> endpoint;
  NcclLane *world = nullptr;
};

class NcclBackend final : public Backend {
public:
  NcclBackend(const Platform &platform, std::unique_ptr<Backend> control)
      : platform_(platform), control_(std::move(control)) {}

  Status open(const BackendOptions &options);

  std::vector<int> localRanks() const override { return control_->localRanks(); }
  Status supports(const Call &call) const override { return nccl::supports(call, hasFp8_); }
  const Backend *below() const override { return control_.get(); }
  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override;

private:
  Status openRank(int rank, int gpu, const BackendOptions &options);
  Status makeCommunicators(const BackendOptions &options);
  void giveUp(const Status &why);
  Result<dl::NcclUniqueId> worldId(const BackendOptions &options);
  Status joinWorld(const dl::NcclUniqueId &id, const std::vector<int> &world);
  Status split(const std::vector<int> &ranks, const std::vector<int> &world, int64_t timeoutUs);
  Status settle(const std::vector<int> &ranks, int64_t timeoutUs);
  Status settleBases(const std::vector<int> &ranks, int64_t timeoutUs);
  Status await(const std::vector<int> &ranks, int64_t timeoutUs,
               const std::function<Result<bool>(NcclLane &)> &isReady);

  Platform platform_;
  std::unique_ptr<Backend> control_;
  // NCCL writes them here until a lane adopts them; they outlive what they are split from.
  std::deque<dl::NcclComm> splits_;
  std::vector<LocalRank> ranks_;
  bool hasFp8_ = true;
};

Result<int> gpuCount(const Platform &platform) {
  int count = 0;
  COLL_RETURN_IF_ERROR(
      dl::cudaStatus(*platform.cuda, platform.cuda->deviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

// Ranks of one host take its GPUs in order.
int gpuOf(const JobOptions &job, int gpus) {
  const int said = gpu::gpuOfJob(job, gpus);
  return said >= 0 ? said : job.rank % gpus;
}

Status NcclBackend::open(const BackendOptions &options) {
  Result<int> gpus = gpuCount(platform_);
  if (!gpus)
    return gpus.status();
  // All GPUs of a job are of the same kind.
  int major = 0;
  COLL_RETURN_IF_ERROR(dl::cudaStatus(
      *platform_.cuda,
      platform_.cuda->deviceGetAttribute(&major, dl::kCudaComputeMajor, /*device=*/0),
      "cuDeviceGetAttribute"));
  hasFp8_ = platform_.nccl->version >= dl::kNcclFirstWithFp8 && major >= kFirstMajorWithFp8;
  for (int rank : control_->localRanks())
    COLL_RETURN_IF_ERROR(openRank(rank, options.job ? gpuOf(*options.job, *gpus) : rank, options)
                             .annotate("rank " + std::to_string(rank)));
  Status made = makeCommunicators(options);
  if (!made.ok())
    giveUp(made);
  return made;
}

Status NcclBackend::openRank(int rank, int gpu, const BackendOptions &options) {
  Result<std::unique_ptr<Endpoint>> control = control_->endpoint(rank);
  if (!control)
    return control.status();
  // NCCL destroys communicators in the background, and needs the context until then.
  Result<std::unique_ptr<gpu::Gpu>> opened =
      gpu::Gpu::open(*platform_.cuda, gpu, "nccl", /*keepsContext=*/true);
  if (!opened)
    return opened.status();
  gpu::EndpointOptions endpoint;
  endpoint.timeoutUs = options.timeoutUs;
  endpoint.comparison = gpu::comparisonOf(envInt(EnvVar::NcclCheck));
  endpoint.spinUs = envInt(EnvVar::SpinUs);
  ranks_.push_back(
      {rank, std::make_unique<gpu::GpuEndpoint>(
                 rank, opened.take(), std::make_unique<NcclEngine>(*platform_.nccl, hasFp8_),
                 control.take(), endpoint)});
  return {};
}

Status NcclBackend::makeCommunicators(const BackendOptions &options) {
  std::vector<int> world(static_cast<size_t>(options.numRanks));
  std::iota(world.begin(), world.end(), 0);
  Result<dl::NcclUniqueId> id = worldId(options);
  if (!id)
    return id.status();
  COLL_RETURN_IF_ERROR(joinWorld(*id, world));
  COLL_RETURN_IF_ERROR(settle(world, options.timeoutUs));
  for (const std::vector<int> &ranks : options.groups) {
    if (ranks == world)
      continue;
    COLL_RETURN_IF_ERROR(split(ranks, world, options.timeoutUs));
    COLL_RETURN_IF_ERROR(settle(ranks, options.timeoutUs));
  }
  return {};
}

// The bases end before the communicators that were split from them.
void NcclBackend::giveUp(const Status &why) {
  for (LocalRank &local : ranks_)
    local.endpoint->abort(why);
  for (LocalRank &local : ranks_) {
    gpu::Gpu::Scope scope(local.endpoint->gpu());
    if (local.world)
      local.world->kill();
  }
  for (dl::NcclComm split : splits_)
    if (split)
      (void)platform_.nccl->commAbort(split);
}

// Rank 0 creates it, and the control backend sends it to other processes.
Result<dl::NcclUniqueId> NcclBackend::worldId(const BackendOptions &options) {
  dl::NcclUniqueId id;
  if (ranks_.front().rank == 0)
    COLL_RETURN_IF_ERROR(
        dl::ncclStatus(*platform_.nccl, platform_.nccl->getUniqueId(&id), "ncclGetUniqueId"));
  if (!options.job || options.numRanks == 1)
    return id;
  std::vector<int> world(static_cast<size_t>(options.numRanks));
  std::iota(world.begin(), world.end(), 0);
  gpu::GpuEndpoint &endpoint = *ranks_.front().endpoint;
  Result<gpu::Group *> group = endpoint.group(world);
  if (!group)
    return group.status();
  Call broadcast;
  broadcast.kind = OpKind::Broadcast;
  broadcast.dtype = kCollI8;
  broadcast.count = sizeof(id.bytes);
  broadcast.src = broadcast.dst = id.bytes;
  endpoint.enter();
  Status sent = (*group)->control->run(broadcast);
  endpoint.leave();
  if (!sent.ok())
    return sent.annotate("identity of NCCL's communicator");
  return id;
}

// One thread drives several GPUs, so NCCL has to see their calls as one group.
Status NcclBackend::joinWorld(const dl::NcclUniqueId &id, const std::vector<int> &world) {
  const dl::Nccl &nccl = *platform_.nccl;
  COLL_RETURN_IF_ERROR(dl::ncclStatus(nccl, nccl.groupStart(), "ncclGroupStart"));
  Status joined;
  for (LocalRank &local : ranks_) {
    Result<gpu::Group *> group = local.endpoint->group(world);
    if (joined.ok())
      joined = group ? Status() : group.status();
    if (!joined.ok())
      break;
    gpu::Gpu::Scope scope(local.endpoint->gpu());
    local.world = &NcclEngine::laneOf(**group);
    joined = local.world->join(id).annotate("rank " + std::to_string(local.rank));
  }
  Status ended = dl::ncclStatus(nccl, nccl.groupEnd(), "ncclGroupEnd");
  return joined.ok() ? ended : joined;
}

Status NcclBackend::split(const std::vector<int> &ranks, const std::vector<int> &world,
                          int64_t timeoutUs) {
  const dl::Nccl &nccl = *platform_.nccl;
  const size_t first = splits_.size();
  splits_.resize(first + ranks_.size(), nullptr);
  dl::NcclConfig config; // non-blocking, like every base
  COLL_RETURN_IF_ERROR(dl::ncclStatus(nccl, nccl.groupStart(), "ncclGroupStart"));
  Status split;
  for (size_t i = 0; i < ranks_.size() && split.ok(); ++i) {
    gpu::GpuEndpoint &endpoint = *ranks_[i].endpoint;
    gpu::Gpu::Scope scope(endpoint.gpu());
    auto it = std::find(ranks.begin(), ranks.end(), ranks_[i].rank);
    int color = it == ranks.end() ? dl::kNcclNoColor : 0;
    split = dl::ncclStatus(nccl,
                           nccl.commSplit(ranks_[i].world->base(), color,
                                          static_cast<int>(it - ranks.begin()), &splits_[first + i],
                                          &config),
                           "ncclCommSplit");
  }
  Status ended = dl::ncclStatus(nccl, nccl.groupEnd(), "ncclGroupEnd");
  COLL_RETURN_IF_ERROR(split);
  COLL_RETURN_IF_ERROR(ended);
  COLL_RETURN_IF_ERROR(settleBases(world, timeoutUs));
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (!splits_[first + i])
      continue;
    Result<gpu::Group *> group = ranks_[i].endpoint->group(ranks);
    if (!group)
      return group.status();
    NcclEngine::laneOf(**group).adopt(std::exchange(splits_[first + i], nullptr), *ranks_[i].world);
  }
  return {};
}

// Waits for the communicators of the local members of a group, all at once, because each may wait
// for the others.
Status NcclBackend::settle(const std::vector<int> &ranks, int64_t timeoutUs) {
  return await(ranks, timeoutUs, [](NcclLane &lane) -> Result<bool> {
    COLL_RETURN_IF_ERROR(lane.health());
    return lane.ready();
  });
}

// The same for operations on the base of a group.
Status NcclBackend::settleBases(const std::vector<int> &ranks, int64_t timeoutUs) {
  return await(ranks, timeoutUs, [this](NcclLane &lane) -> Result<bool> {
    const dl::Nccl &nccl = *platform_.nccl;
    dl::NcclResult state = dl::kNcclSuccess;
    COLL_RETURN_IF_ERROR(dl::ncclStatus(nccl, nccl.commGetAsyncError(lane.base(), &state),
                                        "ncclCommGetAsyncError", lane.base()));
    COLL_RETURN_IF_ERROR(dl::ncclStatus(nccl, state, "ncclCommSplit", lane.base()));
    return state == dl::kNcclSuccess;
  });
}

Status NcclBackend::await(const std::vector<int> &ranks, int64_t timeoutUs,
                          const std::function<Result<bool>(NcclLane &)> &isReady) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(timeoutUs);
  while (true) {
    std::string missing;
    for (LocalRank &local : ranks_) {
      if (std::find(ranks.begin(), ranks.end(), local.rank) == ranks.end())
        continue;
      Result<gpu::Group *> group = local.endpoint->group(ranks);
      if (!group)
        return group.status();
      std::string who = "rank " + std::to_string(local.rank);
      gpu::Gpu::Scope scope(local.endpoint->gpu());
      Result<bool> ready = isReady(NcclEngine::laneOf(**group));
      if (!ready)
        return ready.status().annotate(who);
      COLL_RETURN_IF_ERROR(local.endpoint->health().annotate(who));
      if (!*ready)
        missing += (missing.empty() ? "" : ", ") + who;
    }
    if (missing.empty())
      return {};
    if (std::chrono::steady_clock::now() >= deadline)
      return {kCollTimeout, missing + ": NCCL's communicator of " + describeGroup(ranks) +
                                " was not ready within " + std::to_string(timeoutUs / 1000) +
                                " ms"};
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

Result<std::unique_ptr<Endpoint>> NcclBackend::endpoint(int rank) {
  for (LocalRank &local : ranks_)
    if (local.rank == rank && local.endpoint)
      return std::unique_ptr<Endpoint>(std::move(local.endpoint));
  return Status::invalid("rank " + std::to_string(rank) +
                         " is not in this process, or has its endpoint already");
}

} // namespace

Status available(const BackendOptions &options) {
  if (options.numRanks < 1 || options.timeoutUs < 1)
    return Status::invalid("nccl needs at least one rank and a positive timeout");
  Result<Platform> found = platform();
  if (!found)
    return found.status();
  Result<int> gpus = gpuCount(*found);
  if (!gpus)
    return gpus.status();
  if (!options.job && options.numRanks > *gpus)
    return {kCollUnsupported,
            "nccl needs a GPU for each rank: " + std::to_string(options.numRanks) + " ranks, " +
                std::to_string(*gpus) + (*gpus == 1 ? " GPU" : " GPUs")};
  return {};
}

Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options,
                                               std::unique_ptr<Backend> control) {
  COLL_RETURN_IF_ERROR(available(options));
  for (const std::vector<int> &ranks : options.groups)
    for (int rank : ranks)
      if (rank < 0 || rank >= options.numRanks)
        return Status::invalid("group " + describeGroup(ranks) + ": there is no rank " +
                               std::to_string(rank));
  Result<Platform> found = platform();
  if (!found)
    return found.status();
  auto backend = std::make_unique<NcclBackend>(*found, std::move(control));
  COLL_RETURN_IF_ERROR(backend->open(options));
  return std::unique_ptr<Backend>(std::move(backend));
}

} // namespace coll::rt::nccl
