#include "runtime/backend/direct/start.h"

#include "runtime/backend/direct/unasked.h"
#include "runtime/backend/gpu/agreement.h"
#include "runtime/backend/gpu/gpu_of_job.h"

#include <algorithm>
#include <numeric>

namespace coll::rt::direct {

namespace {

class Meeting {
public:
  Meeting(const Result<Platform> &platform, const BackendOptions &options, Demand demand,
          std::vector<Start> &ranks)
      : platform_(platform), options_(options), demand_(demand), ranks_(ranks),
        world_(static_cast<size_t>(options.numRanks)) {
    std::iota(world_.begin(), world_.end(), 0);
  }

  Met run();

private:
  // All-gathers what the local ranks have to all ranks.
  template <typename T>
  Status exchange(std::vector<T> &values);
  // Succeeds only if every rank has succeeded.
  Status agreeOn(const std::vector<Status> &local);
  Status open(Start &start, const std::shared_ptr<Shared> &shared, std::unique_ptr<Node> &node);
  int gpuOf(int rank, int gpus) const;
  LaneOptions laneOptions(const gpu::Gpu &gpu, const Node &node) const;
  Status connectWorld();
  Status steps();

  const Result<Platform> &platform_;
  const BackendOptions &options_;
  const Demand demand_;
  std::vector<Start> &ranks_;
  std::vector<int> world_;
  std::unique_ptr<Communicator> control_;    // between processes
  std::vector<std::unique_ptr<Node>> nodes_; // by local rank, until its engine has it
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

// Ranks of one host take its GPUs in order, and start again at the first if there are more ranks.
int Meeting::gpuOf(int rank, int gpus) const {
  if (!options_.job)
    return rank % gpus;
  const int said = gpu::gpuOfJob(*options_.job, gpus);
  return said >= 0 ? said : rank % gpus;
}

Status Meeting::open(Start &start, const std::shared_ptr<Shared> &shared,
                     std::unique_ptr<Node> &node) {
  if (demand_ == Demand::None)
    return {kCollUnsupported, "direct: no route of the table leads to it"};
  if (demand_ == Demand::ByDefault && options_.numRanks > kMostUnasked)
    return {kCollUnsupported, "direct: without a route in COLL_ROUTES it serves jobs of up to " +
                                  std::to_string(kMostUnasked) + " ranks, not " +
                                  std::to_string(options_.numRanks)};
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
  Result<std::unique_ptr<Node>> made =
      Node::open(start.rank, options_.numRanks, start.gpu->context(), !options_.job.has_value(),
                 demand_, shared);
  if (!made)
    return made.status();
  node = made.take();
  return {};
}

LaneOptions Meeting::laneOptions(const gpu::Gpu &gpu, const Node &node) const {
  LaneOptions lane;
  lane.timeoutUs = options_.timeoutUs;
  lane.sizes = platform_->sizes;
  if (demand_ == Demand::ByDefault)
    lane.sizes = unaskedSizes(lane.sizes);
  lane.maxBlocks = platform_->maxBlocks;
  int multiprocessors = 0;
  if (lane.maxBlocks == 0 &&
      platform_->cuda->deviceGetAttribute(&multiprocessors, dl::kCudaMultiprocessors,
                                          gpu.ordinal()) == dl::kCudaSuccess)
    lane.maxBlocks = kernels::residentBlocks(static_cast<uint32_t>(multiprocessors),
                                             static_cast<uint32_t>(node.sharers()));
  return lane;
}

// Connects the group of all ranks, the largest one. This proves that its memory can be allocated
// and reached, and that the kernels run on these GPUs.
Status Meeting::connectWorld() {
  std::vector<Status> found(ranks_.size());
  std::vector<gpu::Identity> identities(ranks_.size());
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Start &start = ranks_[i];
    gpu::Gpu::Scope scope(*start.gpu);
    const LaneOptions lane = laneOptions(*start.gpu, *nodes_[i]);
    start.engine = std::make_unique<DirectEngine>(*platform_, std::move(nodes_[i]), lane);
    found[i] = start.engine->identifyWorld(*start.gpu, world_, start.rank, identities[i]);
  }
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  COLL_RETURN_IF_ERROR(exchange(identities));
  for (size_t i = 0; i < ranks_.size(); ++i) {
    gpu::Gpu::Scope scope(*ranks_[i].gpu);
    found[i] = ranks_[i].engine->joinWorld(identities);
  }
  return agreeOn(found);
}

Status Meeting::steps() {
  auto shared = std::make_shared<Shared>();
  std::vector<Status> found;
  nodes_.resize(ranks_.size());
  for (size_t i = 0; i < ranks_.size(); ++i)
    found.push_back(open(ranks_[i], shared, nodes_[i]));
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  std::vector<NodeCard> cards;
  for (const std::unique_ptr<Node> &node : nodes_)
    cards.push_back(node->card());
  COLL_RETURN_IF_ERROR(exchange(cards));
  for (size_t i = 0; i < ranks_.size(); ++i)
    found[i] = nodes_[i]->agree(cards);
  COLL_RETURN_IF_ERROR(agreeOn(found));
  if (!refusal_.ok())
    return {};
  const std::string secret = options_.job ? options_.job->secret : std::string();
  for (size_t i = 0; i < ranks_.size(); ++i)
    found[i] = nodes_[i]->connect(cards, secret, options_.timeoutUs);
  COLL_RETURN_IF_ERROR(agreeOn(found));
  return refusal_.ok() ? connectWorld() : Status();
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

Met meet(const Result<Platform> &platform, const BackendOptions &options, Demand demand,
         std::vector<Start> &ranks) {
  return Meeting(platform, options, demand, ranks).run();
}

} // namespace coll::rt::direct
