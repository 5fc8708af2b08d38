#include "runtime/step/executor.h"

#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/profiler/host/host.h"
#include "runtime/program/state_arguments.h"
#include "runtime/step/abi/gemm.h"
#include "runtime/step/affinity.h"
#include "runtime/step/class_check.h"
#include "runtime/step/collect.h"
#include "runtime/step/crew.h"
#include "runtime/step/failure_report.h"
#include "runtime/step/flight_file.h"
#include "runtime/step/rank_memory.h"
#include "runtime/step/rank_state.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace coll::rt {

struct Executor::Impl {
  Impl() = default;
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;
  // A kernel of one rank may reach the memory of another, so no rank goes while one works.
  ~Impl() {
    for (const std::unique_ptr<RankState> &rank : ranks)
      if (rank)
        rank->drain();
  }

  std::shared_ptr<profiler::Host> profilers; // null: none; outlives the ranks
  std::vector<Program> classes;
  std::unique_ptr<Backend> backend;
  std::vector<int> classOfRank;
  Descriptor signature;                          // of all classes together
  std::vector<std::unique_ptr<RankState>> ranks; // of this process
  std::unique_ptr<Collector> collector;
  std::unique_ptr<Crew> crew;
  ExecutorOptions options;
  bool initialized = false;
  bool hasRoomAhead = false;            // the ranks have made room for batches ahead of their step
  std::vector<const char *> batchAhead; // addresses of the batch that the ranks have; empty: none
  Status failure;                       // the first one; ends the executor

  const Descriptor &descriptor() const { return signature; }

  // The ranks' own threads create them, on the processors on which they will run, so that their
  // memory is local.
  Status createRanks(const Affinity &affinity);
  Status createRank(const Affinity &affinity, int rank, std::unique_ptr<RankState> &made);
  // Whether ranks allocate their memory together, after all of them have been created.
  bool meetToAllocate() const;
  Status allocateTogether();
  // Runs the task on every rank's thread; a failure of any ends the executor.
  template <typename Task>
  Status runOnRanks(const char *what, Task task);
  // Whether all ranks of the job may capture the step as a graph.
  bool mayCapture() const;
  // Whether the ranks can bring this batch ahead of its step; if so, they have made room for it.
  bool mayBring(const std::vector<TensorView> &batch);
  // Copies arguments, by their numbers in the step, to memory that the host can read.
  Status fetchArgs(const std::vector<int> &indices);
  Status checkInputs(bool state, const std::vector<TensorView> &given) const;
  Collector::Item itemOfArg(const TensorInfo &info) const;
  Collector::Item itemOfResult(const TensorInfo &info) const;
  // As Collector::collect; a failure ends the executor.
  Result<std::vector<HostTensor>> collect(const std::vector<Collector::Item> &items);
};

namespace {

// Returns the status of a rank's task. The first rank may run on the caller's thread: an exception
// must not leave this frame while the other ranks use data on the caller's stack.
template <typename Task>
Status withoutExceptions(Task task) {
  try {
    return task();
  } catch (const std::bad_alloc &) {
    return {kCollDevice, "the process is out of memory"};
  } catch (const std::exception &error) {
    return {kCollInternal, error.what()};
  }
}

// Rejects a step that does not fit into this machine's memory, before anything is allocated.
Status checkMemory(const std::vector<Program> &classes, const std::vector<int> &classOfRank,
                   const std::optional<JobOptions> &job) {
  const MemoryLimit limit = memoryLimit();
  int64_t total = 0;
  std::vector<int> local = classOfRank;
  if (job)
    local = {classOfRank[static_cast<size_t>(job->rank)]};
  for (int index : local) {
    if (classes[static_cast<size_t>(index)].descriptor.isOnGpu)
      continue; // the GPU's memory is checked when it is allocated
    int64_t bytes = memoryOf(classes[static_cast<size_t>(index)].descriptor).total();
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total) || total > limit.bytes)
      return {kCollDevice, "the program's buffers do not fit: " + std::to_string(local.size()) +
                               " ranks in one process, and " + limit.name + " is " +
                               std::to_string(limit.bytes) + " bytes"};
  }
  return {};
}

} // namespace

Status Executor::Impl::createRank(const Affinity &affinity, int rank,
                                  std::unique_ptr<RankState> &made) {
  COLL_RETURN_IF_ERROR(affinity.pinThisThread(rank));
  Result<std::unique_ptr<Endpoint>> endpoint = backend->endpoint(rank);
  if (!endpoint)
    return endpoint.status();
  int index = classOfRank[static_cast<size_t>(rank)];
  Result<std::unique_ptr<RankState>> state =
      RankState::create(rank, index, classes[static_cast<size_t>(index)], options.job,
                        options.timeoutUs, endpoint.take());
  if (!state)
    return state.status();
  made = state.take();
  return meetToAllocate() ? Status() : made->allocate();
}

bool Executor::Impl::meetToAllocate() const {
  return std::any_of(classes.begin(), classes.end(), [](const Program &program) {
    return RankState::meetsToAllocate(program.descriptor);
  });
}

// A failure reaches the ranks that wait for this rank.
Status Executor::Impl::allocateTogether() {
  for (const std::unique_ptr<RankState> &rank : ranks)
    rank->endpoint().enter();
  std::vector<Status> outcomes(ranks.size());
  crew->run([&](int index) {
    RankState &rank = *ranks[static_cast<size_t>(index)];
    Status status = withoutExceptions([&] { return rank.allocate(); });
    if (!status.ok())
      rank.endpoint().abort(status.annotate("rank " + std::to_string(rank.context().rank)));
    rank.endpoint().leave();
    outcomes[static_cast<size_t>(index)] = std::move(status);
  });
  Status first;
  for (const Status &status : outcomes)
    if (!status.ok() && (first.ok() || first.code() == kCollAborted))
      first = status;
  return first;
}

Status Executor::Impl::createRanks(const Affinity &affinity) {
  std::vector<int> local = backend->localRanks();
  ranks.resize(local.size());
  std::vector<Status> outcomes(local.size());
  crew->run([&](int index) {
    size_t i = static_cast<size_t>(index);
    outcomes[i] = withoutExceptions([&] { return createRank(affinity, local[i], ranks[i]); });
  });
  for (const Status &status : outcomes)
    COLL_RETURN_IF_ERROR(status);
  if (meetToAllocate())
    COLL_RETURN_IF_ERROR(allocateTogether());
  Result<std::unique_ptr<Collector>> made =
      Collector::create(static_cast<int>(classOfRank.size()), ranks);
  if (!made)
    return made.status();
  collector = made.take();
  return {};
}

template <typename Task>
Status Executor::Impl::runOnRanks(const char *what, Task task) {
  for (const std::unique_ptr<RankState> &rank : ranks)
    rank->endpoint().enter();
  std::vector<RankOutcome> outcomes(ranks.size());
  crew->run([&](int index) {
    size_t i = static_cast<size_t>(index);
    RankState &rank = *ranks[i];
    bool hasReturned = false;
    Status status = withoutExceptions([&] {
      Status made = task(rank);
      hasReturned = true;
      return made;
    });
    if (!hasReturned) { // the others wait for this rank, which has not left
      rank.endpoint().abort(status.annotate("rank " + std::to_string(rank.context().rank)));
      rank.endpoint().leave();
    }
    outcomes[i] = {rank.context().rank, std::move(status), &rank.context().recorder};
  });
  failure = reportFailure(what, outcomes);
  if (!failure.ok())
    writeFlightFile(ranks);
  return failure;
}

// False if ranks of other processes may run another program, about which nothing is known.
bool Executor::Impl::mayCapture() const {
  const bool isAlike = ranks.size() == classOfRank.size() || classes.size() == 1;
  return options.graphs && isAlike &&
         std::all_of(ranks.begin(), ranks.end(),
                     [](const std::unique_ptr<RankState> &rank) { return rank->mayCapture(); });
}

bool Executor::Impl::mayBring(const std::vector<TensorView> &batch) {
  if (!descriptor().isOnGpu || !checkInputs(/*state=*/false, batch).ok())
    return false;
  if (!hasRoomAhead)
    crew->run([&](int index) {
      (void)withoutExceptions([&] {
        ranks[static_cast<size_t>(index)]->reserveAhead();
        return Status();
      });
    });
  hasRoomAhead = true;
  return true;
}

Status Executor::Impl::fetchArgs(const std::vector<int> &indices) {
  if (!descriptor().isOnGpu)
    return {};
  std::vector<Status> outcomes(ranks.size());
  crew->run([&](int index) {
    size_t i = static_cast<size_t>(index);
    outcomes[i] = withoutExceptions([&] { return ranks[i]->fetchArgs(indices); });
  });
  for (const Status &status : outcomes)
    if (!status.ok())
      return failure = status;
  return {};
}

Status Executor::Impl::checkInputs(bool state, const std::vector<TensorView> &given) const {
  const char *role = state ? "state" : "batch";
  std::vector<const TensorInfo *> expected;
  if (state)
    for (const StateInfo &own : descriptor().states)
      expected.push_back(&own.info);
  else
    for (const TensorInfo &arg : descriptor().args)
      if (!arg.isState())
        expected.push_back(&arg);
  size_t next = 0;
  for (const TensorInfo *wanted : expected) {
    const TensorInfo &info = *wanted;
    if (next < given.size()) {
      const TensorView &tensor = given[next];
      const std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.numDims);
      if (tensor.dtype != info.dtype || shape != info.shape || tensor.bytes != info.globalBytes())
        return Status::invalid(std::string(role) + " argument " + std::to_string(next) + " (\"" +
                               info.name + "\") is " + typeString(tensor.dtype, shape) + " with " +
                               std::to_string(tensor.bytes) + " bytes, expected " +
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

static bool has(const std::vector<TensorInfo> &tensors, int index) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const TensorInfo &info) { return info.index == index; });
}

// Finds the classes that have the tensor with this number, in one of their lists.
static std::vector<bool> findHolders(const std::vector<Program> &classes,
                                     std::vector<TensorInfo> Descriptor::*list, int index) {
  std::vector<bool> holders;
  for (const Program &program : classes)
    holders.push_back(has(program.descriptor.*list, index));
  return holders;
}

Collector::Item Executor::Impl::itemOfArg(const TensorInfo &info) const {
  std::vector<bool> holders = findHolders(classes, &Descriptor::args, info.index);
  return {&info, [index = info.index](const RankState &rank) { return rank.arg(index); },
          [this, holders](int rank) {
            return holders[static_cast<size_t>(classOfRank[static_cast<size_t>(rank)])];
          }};
}

Collector::Item Executor::Impl::itemOfResult(const TensorInfo &info) const {
  std::vector<bool> holders = findHolders(classes, &Descriptor::results, info.index);
  return {&info, [index = info.index](const RankState &rank) { return rank.result(index); },
          [this, holders](int rank) {
            return holders[static_cast<size_t>(classOfRank[static_cast<size_t>(rank)])];
          }};
}

Result<std::vector<HostTensor>> Executor::Impl::collect(const std::vector<Collector::Item> &items) {
  Result<std::vector<HostTensor>> tensors = collector->collect(items);
  if (!tensors)
    failure = tensors.status();
  return tensors;
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::create(std::vector<Program> classes,
                                                   ExecutorOptions options) {
  Result<Job> checked = checkClasses(classes);
  if (!checked)
    return checked.status();
  Job job = checked.take();
  BackendOptions backendOptions;
  backendOptions.numRanks = static_cast<int>(job.classOfRank.size());
  backendOptions.job = options.job;
  if (options.job && options.job->worldSize != backendOptions.numRanks)
    return Status::invalid("the program is for " + std::to_string(backendOptions.numRanks) +
                           " ranks, but the job has " + std::to_string(options.job->worldSize) +
                           " processes");
  if (options.job && (options.job->rank < 0 || options.job->rank >= backendOptions.numRanks))
    return Status::invalid("there is no rank " + std::to_string(options.job->rank) + " of " +
                           std::to_string(backendOptions.numRanks));
  COLL_RETURN_IF_ERROR(checkMemory(classes, job.classOfRank, options.job));

  Result<Affinity> affinity =
      Affinity::create(options.affinity.empty() ? envString(EnvVar::Affinity) : options.affinity);
  if (!affinity)
    return affinity.status().annotate(options.affinity.empty() ? "COLL_AFFINITY" : "affinity");

  auto impl = std::make_unique<Impl>();
  impl->profilers = profiler::Host::ofEnvironment(
      /*ncclIsInUse=*/options.backend == "nccl" || options.backend == "auto");
  impl->classes = std::move(classes);
  impl->options = options;
  impl->classOfRank = std::move(job.classOfRank);
  impl->signature = std::move(job.signature);
  if (options.timeoutUs == 0)
    impl->options.timeoutUs = envInt(EnvVar::TimeoutUs);
  backendOptions.timeoutUs = impl->options.timeoutUs;
  Result<std::unique_ptr<Backend>> backend = createBackend(options.backend, backendOptions);
  if (!backend)
    return backend.status();
  impl->backend = backend.take();
  prepareGemm();
  const int local = static_cast<int>(impl->backend->localRanks().size());
  // It takes longer to wake a thread than to run a small step. The caller's thread must not be
  // pinned, and with several GPUs it has a GPU of its own choice.
  const bool takesCaller = options.backend == "threads" && affinity->processorOf(0) < 0 &&
                           (local == 1 || !impl->descriptor().isOnGpu);
  Result<std::unique_ptr<Crew>> crew =
      Crew::create(local, takesCaller ? Crew::First::Caller : Crew::First::Thread);
  if (!crew)
    return crew.status();
  impl->crew = crew.take();
  COLL_RETURN_IF_ERROR(impl->createRanks(*affinity));
  reserveGemm(static_cast<int>(impl->ranks.size()));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

int Executor::numRanks() const { return static_cast<int>(impl_->classOfRank.size()); }

std::vector<int> Executor::localRanks() const { return impl_->backend->localRanks(); }

bool Executor::isRoot() const { return impl_->collector->isRoot(); }

const Descriptor &Executor::descriptor() const { return impl_->descriptor(); }

const std::vector<Program> &Executor::classes() const { return impl_->classes; }

static std::vector<TensorView> viewsOf(const std::vector<HostTensor> &tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const HostTensor &tensor : tensors)
    views.push_back(TensorView::of(tensor));
  return views;
}

Status Executor::initialize(const std::vector<HostTensor> &globalState) {
  return initializeFrom(viewsOf(globalState));
}

Result<std::vector<HostTensor>> Executor::step(const std::vector<HostTensor> &globalBatch,
                                               const std::vector<HostTensor> *next) {
  if (!next)
    return stepFrom(viewsOf(globalBatch));
  const std::vector<TensorView> views = viewsOf(*next);
  return stepFrom(viewsOf(globalBatch), &views);
}

Status Executor::initializeFrom(const std::vector<TensorView> &globalState) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  COLL_RETURN_IF_ERROR(impl_->checkInputs(/*state=*/true, globalState));
  bool hasInit = impl_->classes[0].init != nullptr;
  Result<StateArguments> arguments = StateArguments::create(impl_->descriptor(), globalState);
  if (!arguments)
    return arguments.status();
  COLL_RETURN_IF_ERROR(impl_->runOnRanks("initialisation", [&](RankState &rank) {
    Status loaded = rank.load(/*state=*/true, impl_->signature, arguments->views(),
                              hasInit && rank.context().rank != 0);
    if (loaded.ok() && hasInit)
      return rank.runInit();
    return rank.endLoading(loaded);
  }));
  impl_->initialized = true;
  return {};
}

static std::vector<const char *> addressesOf(const std::vector<TensorView> &tensors) {
  std::vector<const char *> addresses;
  for (const TensorView &tensor : tensors)
    addresses.push_back(tensor.data);
  return addresses;
}

Result<std::vector<HostTensor>> Executor::stepFrom(const std::vector<TensorView> &globalBatch,
                                                   const std::vector<TensorView> *next) {
  // Also a call that is refused drops the copy: its batch may change afterwards.
  const std::vector<const char *> ahead = std::exchange(impl_->batchAhead, {});
  COLL_RETURN_IF_ERROR(impl_->failure);
  COLL_RETURN_IF_ERROR(impl_->checkInputs(/*state=*/false, globalBatch));
  const Descriptor &descriptor = impl_->descriptor();
  for (const TensorInfo &arg : descriptor.args)
    if (arg.isState() && !impl_->initialized)
      return Status::invalid("the state is not initialised");
  const bool mayCapture = impl_->mayCapture();
  const bool isThere = !ahead.empty() && ahead == addressesOf(globalBatch);
  if (next && !impl_->mayBring(*next))
    next = nullptr;
  COLL_RETURN_IF_ERROR(impl_->runOnRanks("step", [&](RankState &rank) {
    Status loaded = isThere ? rank.loadAhead(impl_->signature, globalBatch)
                            : rank.load(/*state=*/false, impl_->signature, globalBatch,
                                        /*zeroReplicated=*/false);
    return loaded.ok() ? rank.runStep(mayCapture, impl_->signature, next) : rank.endLoading(loaded);
  }));
  if (next)
    impl_->batchAhead = addressesOf(*next);
  std::vector<Collector::Item> items;
  for (size_t k = 0; k < descriptor.results.size(); ++k) {
    int arg = updatedArg(descriptor, k);
    if (arg >= 0 && descriptor.args[static_cast<size_t>(arg)].isState())
      continue;
    items.push_back(impl_->itemOfResult(descriptor.results[k]));
  }
  return impl_->collect(items);
}

Result<std::vector<HostTensor>> Executor::state() {
  COLL_RETURN_IF_ERROR(impl_->failure);
  std::vector<Collector::Item> items;
  std::vector<int> indices;
  const Descriptor &descriptor = impl_->descriptor();
  for (const TensorInfo &arg : descriptor.args)
    if (arg.isState()) {
      items.push_back(impl_->itemOfArg(arg));
      indices.push_back(arg.index);
    }
  COLL_RETURN_IF_ERROR(impl_->fetchArgs(indices));
  Result<std::vector<HostTensor>> arguments = impl_->collect(items);
  if (!arguments || arguments->empty())
    return arguments;
  return statesOf(descriptor, arguments.take());
}

Result<std::vector<HostTensor>> Executor::stateAt(size_t index) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  const Descriptor &descriptor = impl_->descriptor();
  if (index >= descriptor.states.size())
    return Status::invalid("the program has no such state argument");
  const StateInfo &state = descriptor.states[index];
  const TensorInfo &arg = descriptor.args[static_cast<size_t>(state.arg)];
  COLL_RETURN_IF_ERROR(impl_->fetchArgs({arg.index}));
  Result<std::vector<HostTensor>> found = impl_->collect({impl_->itemOfArg(arg)});
  if (found && !found->empty() && state.isPart)
    found->front() = partOf(state, found->front());
  return found;
}

Result<std::vector<HostTensor>> Executor::stateOf(int rank) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  auto it = std::find_if(impl_->ranks.begin(), impl_->ranks.end(),
                         [&](const auto &state) { return state->context().rank == rank; });
  if (it == impl_->ranks.end())
    return Status::invalid("there is no rank " + std::to_string(rank) + " in this process");
  std::vector<HostTensor> tensors;
  const RankState &state = **it;
  for (const TensorInfo &info : impl_->descriptor().args) {
    if (!info.isState())
      continue;
    COLL_RETURN_IF_ERROR(impl_->fetchArgs({info.index}));
    const char *block = state.arg(info.index);
    if (!block) {
      tensors.emplace_back();
      continue;
    }
    Result<HostTensor> tensor = HostTensor::zeros(info.dtype, info.local);
    if (!tensor)
      return tensor.status();
    tensor->data.assign(block, block + info.localBytes());
    tensors.push_back(tensor.take());
  }
  return tensors;
}

Result<std::vector<std::string>> Executor::gather(const std::string &text) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  Result<std::vector<std::string>> texts = impl_->collector->gather(text);
  if (!texts)
    impl_->failure = texts.status();
  return texts;
}

Result<std::string> Executor::broadcast(const std::string &text) {
  COLL_RETURN_IF_ERROR(impl_->failure);
  Result<std::string> all = impl_->collector->broadcast(text);
  if (!all)
    impl_->failure = all.status();
  return all;
}

Executor::Stats Executor::stats() const {
  Stats stats;
  for (const std::unique_ptr<RankState> &rank : impl_->ranks) {
    stats.bytesPerStep += rank->context().bytesMoved;
    stats.collectivesPerStep += rank->context().numCalls;
  }
  int64_t processes = numRanks() / static_cast<int64_t>(impl_->ranks.size());
  stats.bytesPerStep *= processes;
  stats.collectivesPerStep *= processes;
  return stats;
}

void Executor::cancel() {
  for (const std::unique_ptr<RankState> &rank : impl_->ranks)
    rank->endpoint().abort({kCollAborted, "cancelled"});
}

} // namespace coll::rt
