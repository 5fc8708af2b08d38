#include "runtime/executor.h"

#include "runtime/base/env.h"
#include "runtime/class_check.h"
#include "runtime/crew.h"
#include "runtime/failure_report.h"
#include "runtime/gemm.h"
#include "runtime/rank_state.h"
#include "runtime/shard.h"

namespace coll::rt {

struct Executor::Impl {
  std::vector<Program> classes;
  std::unique_ptr<Backend> backend;
  std::vector<std::unique_ptr<RankState>> ranks;
  std::unique_ptr<Crew> crew;
  bool initialized = false;
  Status failure; // the first one; ends the executor

  const Descriptor &descriptor() const { return classes[0].descriptor; }

  Status createRanks(const std::vector<int> &classOfRank);
  // Runs the task on every rank's thread; a failure of any ends the executor.
  template <typename Task>
  Status runOnRanks(const char *what, Task task);
  Status checkInputs(bool state, const std::vector<HostTensor> &given) const;
  // The global tensor from the ranks' blocks; block(rank) is that rank's.
  template <typename Block>
  Result<HostTensor> assemble(const TensorInfo &info, Block block) const;
};

namespace {

// Refuses what this machine cannot hold, before anything is allocated.
Status checkMemory(const std::vector<Program> &classes, const std::vector<int> &classOfRank) {
  int64_t available = physicalMemoryBytes();
  int64_t total = 0;
  for (int index : classOfRank) {
    int64_t bytes = rankBytes(classes[static_cast<size_t>(index)].descriptor);
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total) || total > available)
      return {kCollDevice,
              "the program's buffers do not fit: " + std::to_string(classOfRank.size()) +
                  " ranks on a machine with " + std::to_string(available) + " bytes of memory"};
  }
  return {};
}

} // namespace

Status Executor::Impl::createRanks(const std::vector<int> &classOfRank) {
  for (size_t rank = 0; rank < classOfRank.size(); ++rank) {
    Result<std::unique_ptr<Endpoint>> endpoint = backend->endpoint(static_cast<int>(rank));
    if (!endpoint)
      return endpoint.status();
    int index = classOfRank[rank];
    Result<std::unique_ptr<RankState>> state = RankState::create(
        static_cast<int>(rank), index, classes[static_cast<size_t>(index)], endpoint.take());
    if (!state)
      return state.status();
    ranks.push_back(state.take());
  }
  return {};
}

template <typename Task>
Status Executor::Impl::runOnRanks(const char *what, Task task) {
  for (const std::unique_ptr<RankState> &rank : ranks)
    rank->endpoint().enter();
  std::vector<Status> outcomes(ranks.size());
  crew->run([&](int rank) {
    size_t i = static_cast<size_t>(rank);
    outcomes[i] = task(*ranks[i]);
  });
  failure = reportFailure(what, outcomes, [&](size_t rank) -> const FlightRecorder & {
    return ranks[rank]->context().recorder;
  });
  return failure;
}

Status Executor::Impl::checkInputs(bool state, const std::vector<HostTensor> &given) const {
  const char *role = state ? "state" : "batch";
  size_t next = 0;
  for (const TensorInfo &info : descriptor().args) {
    if (info.isState() != state)
      continue;
    if (next < given.size()) {
      const HostTensor &tensor = given[next];
      if (tensor.dtype != info.dtype || tensor.shape != info.shape ||
          static_cast<int64_t>(tensor.data.size()) != info.globalBytes())
        return Status::invalid(std::string(role) + " argument " + std::to_string(next) + " (\"" +
                               info.name + "\") is " + tensor.typeString() + " with " +
                               std::to_string(tensor.data.size()) + " bytes, expected " +
                               typeString(info.dtype, info.shape) + " with " +
                               std::to_string(info.globalBytes()));
    }
    ++next;
  }
  if (next != given.size())
    return Status::invalid("the program takes " + std::to_string(next) + " " + role +
                           " arguments, got " + std::to_string(given.size()));
  return {};
}

template <typename Block>
Result<HostTensor> Executor::Impl::assemble(const TensorInfo &info, Block block) const {
  Result<HostTensor> global = HostTensor::zeros(info.dtype, info.shape);
  if (!global)
    return global;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (isPrimary(info, descriptor().axes, static_cast<int>(rank)))
      placeTensor(info, descriptor().axes, static_cast<int>(rank), block(*ranks[rank]),
                  global->data.data());
  return global;
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(std::vector<Program> classes,
                                                   ExecutorOptions options) {
  Result<std::vector<int>> classOfRank = checkClasses(classes);
  if (!classOfRank)
    return classOfRank.status();
  COLL_RETURN_IF_ERROR(checkMemory(classes, *classOfRank));

  auto impl = std::make_unique<Impl>();
  impl->classes = std::move(classes);
  BackendOptions backendOptions;
  backendOptions.numRanks = static_cast<int>(classOfRank->size());
  backendOptions.timeoutUs = options.timeoutUs != 0 ? options.timeoutUs : envInt(EnvVar::TimeoutUs);
  Result<std::unique_ptr<Backend>> backend = createBackend(options.backend, backendOptions);
  if (!backend)
    return backend.status();
  impl->backend = backend.take();
  COLL_RETURN_IF_ERROR(impl->createRanks(*classOfRank));
  prepareGemm();
  Result<std::unique_ptr<Crew>> crew = Crew::create(backendOptions.numRanks);
  if (!crew)
    return crew.status();
  impl->crew = crew.take();
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

int Executor::numRanks() const { return static_cast<int>(impl_->ranks.size()); }

const Descriptor &Executor::descriptor() const { return impl_->descriptor(); }

Status Executor::initialize(const std::vector<HostTensor> &globalState) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  COLL_RETURN_IF_ERROR(impl_->checkInputs(/*state=*/true, globalState));
  bool hasInit = impl_->classes[0].init != nullptr;
  COLL_RETURN_IF_ERROR(impl_->runOnRanks("initialisation", [&](RankState &rank) {
    rank.load(/*state=*/true, globalState, hasInit && rank.context().rank != 0);
    if (hasInit)
      return rank.runInit();
    rank.endpoint().leave();
    return Status();
  }));
  impl_->initialized = true;
  return {};
}

Result<std::vector<HostTensor>> Executor::step(const std::vector<HostTensor> &globalBatch) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  COLL_RETURN_IF_ERROR(impl_->checkInputs(/*state=*/false, globalBatch));
  const Descriptor &descriptor = impl_->descriptor();
  for (const TensorInfo &arg : descriptor.args)
    if (arg.isState() && !impl_->initialized)
      return Status::invalid("the state is not initialised");
  COLL_RETURN_IF_ERROR(impl_->runOnRanks("step", [&](RankState &rank) {
    rank.load(/*state=*/false, globalBatch, /*zeroReplicated=*/false);
    return rank.runStep();
  }));
  std::vector<HostTensor> outputs;
  for (size_t k = 0; k < descriptor.results.size(); ++k) {
    int arg = updatedArg(descriptor, k);
    if (arg >= 0 && descriptor.args[static_cast<size_t>(arg)].isState())
      continue;
    Result<HostTensor> output = impl_->assemble(
        descriptor.results[k], [&](const RankState &rank) { return rank.result(k); });
    if (!output)
      return output.status();
    outputs.push_back(output.take());
  }
  return outputs;
}

Result<std::vector<HostTensor>> Executor::state() {
  COLL_RETURN_IF_ERROR(impl_->failure);
  std::vector<HostTensor> tensors;
  const std::vector<TensorInfo> &args = impl_->descriptor().args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isState())
      continue;
    Result<HostTensor> tensor =
        impl_->assemble(args[i], [&](const RankState &rank) { return rank.arg(i); });
    if (!tensor)
      return tensor.status();
    tensors.push_back(tensor.take());
  }
  return tensors;
}

Result<std::vector<HostTensor>> Executor::stateOf(int rank) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  if (rank < 0 || rank >= numRanks())
    return Status::invalid("there is no rank " + std::to_string(rank));
  std::vector<HostTensor> tensors;
  const RankState &state = *impl_->ranks[static_cast<size_t>(rank)];
  const std::vector<TensorInfo> &args = state.descriptor().args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isState())
      continue;
    Result<HostTensor> tensor = HostTensor::zeros(args[i].dtype, args[i].local);
    if (!tensor)
      return tensor.status();
    tensor->data.assign(state.arg(i), state.arg(i) + args[i].localBytes());
    tensors.push_back(tensor.take());
  }
  return tensors;
}

Executor::Stats Executor::stats() const {
  Stats stats;
  for (const std::unique_ptr<RankState> &rank : impl_->ranks) {
    stats.bytesPerStep += rank->context().bytesMoved;
    stats.collectivesPerStep += rank->context().numCalls;
  }
  return stats;
}

} // namespace coll::rt
