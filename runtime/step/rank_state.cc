#include "runtime/step/rank_state.h"

#include "runtime/base/aligned_buffer.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/program/shard.h"
#include "runtime/step/abi/call_trace.h"
#include "runtime/step/device/make_device.h"

#include <algorithm>
#include <cstring>

namespace coll::rt {

int updatedArg(const Descriptor &descriptor, size_t k) {
  const TensorInfo &result = descriptor.results[k];
  if (result.arg >= 0 || !result.isState())
    return result.arg;
  size_t states = 0;
  for (size_t i = 0; i < descriptor.args.size(); ++i)
    if (descriptor.args[i].isState() && states++ == k)
      return static_cast<int>(i);
  return -1;
}

Result<std::unique_ptr<RankState>> RankState::create(int rank, int programIndex,
                                                     const Program &program,
                                                     const std::optional<JobOptions> &job,
                                                     int64_t timeoutUs,
                                                     std::unique_ptr<Endpoint> endpoint) {
  std::unique_ptr<RankState> state(new RankState());
  state->program_ = &program;
  state->endpoint_ = std::move(endpoint);
  Result<std::unique_ptr<Device>> device =
      makeDevice(rank, job, program, *state->endpoint_, timeoutUs);
  if (!device)
    return device.status();
  state->device_ = device.take();
  Result<std::unique_ptr<CollContext>> context = CollContext::create(
      rank, programIndex, program.descriptor, *state->endpoint_, *state->device_);
  if (!context)
    return context.status();
  state->context_ = context.take();
  return state;
}

static BufferNeed needOf(const TensorInfo &info, const char *role) {
  std::string what = std::string(role) + (info.name.empty() ? "" : " \"" + info.name + "\"");
  return {info.localBytes(), /*isZeroed=*/true,
          what + " (" + typeString(info.dtype, info.local) + ")"};
}

static std::string describeTemporaries(const TemporaryInfo &largest) {
  std::string text = "the memory of temporaries";
  if (largest.bytes == 0)
    return text;
  text += " (its largest: " + std::to_string(largest.bytes) + " bytes";
  if (!largest.name.empty())
    text += " of \"" + largest.name + "\"";
  if (!largest.loc.empty())
    text += ", made at " + largest.loc;
  return text + ")";
}

// Whether no earlier rank of its class has the same block: results are taken from the first rank
// that has them (collect.cc).
static bool isFirstHolder(const Descriptor &descriptor, const TensorInfo &info, int rank) {
  auto beginsOf = [&](int other) {
    std::vector<int64_t> begins;
    for (const BlockRange &block : blocksOf(info, descriptor.axes, other))
      begins.push_back(block.begin);
    return begins;
  };
  const std::vector<int64_t> own = beginsOf(rank);
  for (auto [first, last] : descriptor.ranks)
    for (int other = first; other <= last && other < rank; ++other)
      if (beginsOf(other) == own)
        return false;
  return true;
}

// The group whose members' memory this rank's kernels access; null if the program asks for none, or
// the backend cannot do it. The same on all members.
Communicator *RankState::findMembers() const {
  if (!meetsToAllocate(descriptor()))
    return nullptr;
  Communicator *members = context_->communicators[static_cast<size_t>(descriptor().reached)].get();
  if (!members)
    return nullptr;
  const bool isAsked = envInt(EnvVar::GpuRootUpdate) != 0;
  const bool isReached = isAsked && members->reachesMembers();
  if (members->position() == 0)
    log(LogLevel::Info, "root updates of " + describeGroup(members->ranks()) +
                            (isReached ? " run as one kernel on the memory of all members"
                             : isAsked ? " run as calls of their own: this backend's ranks do not "
                                         "reach each other's memory"
                                       : " run as calls of their own: COLL_GPU_ROOT_UPDATE is 0"));
  return isReached ? members : nullptr;
}

Status RankState::allocate() {
  std::vector<BufferNeed> needs;
  for (const TensorInfo &info : descriptor().args)
    needs.push_back(needOf(info, "argument"));
  for (const TensorInfo &info : descriptor().results)
    if (info.arg < 0)
      needs.push_back(needOf(info, "result"));
  needs.push_back({descriptor().arenaBytes, /*isZeroed=*/false,
                   describeTemporaries(descriptor().largestTemporary)});
  Communicator *members = findMembers();
  Result<std::vector<char *>> buffers = device_->allocate(needs, members);
  if (!buffers)
    return buffers.status();
  context_->reached = members ? descriptor().reached : -1;
  auto next = buffers->begin();
  for (size_t i = 0; i < descriptor().args.size(); ++i) {
    argPointers_.push_back(*next);
    args_.push_back(*next++);
    mayBorrow_.push_back(device_->isHost() && mayBorrow(i));
  }
  for (const TensorInfo &info : descriptor().results) {
    results_.push_back(info.arg < 0 ? *next++ : nullptr);
    resultPointers_.push_back(info.arg < 0 ? results_.back()
                                           : argPointers_[static_cast<size_t>(info.arg)]);
  }
  arena_ = *next;
  fetchedArgs_.resize(args_.size());
  fetchedResults_.resize(results_.size());
  for (const TensorInfo &info : descriptor().results)
    givesResult_.push_back(!device_->isHost() && isFirstHolder(descriptor(), info, context_->rank));
  return {};
}

bool RankState::mayBorrow(size_t index) const {
  const TensorInfo &info = descriptor().args[index];
  if (info.isState())
    return false;
  for (const TensorInfo &result : descriptor().results)
    if (result.arg == static_cast<int>(index))
      return false; // the step writes it
  const std::vector<BlockRange> blocks = blocksOf(info, descriptor().axes, context_->rank);
  for (size_t d = 0; d < blocks.size(); ++d)
    if (blocks[d].begin != 0 || blocks[d].valid != info.shape[d] ||
        blocks[d].extent != info.shape[d])
      return false;
  return true;
}

static bool isAligned(const char *data) {
  return reinterpret_cast<uintptr_t>(data) % AlignedBuffer::kAlignment == 0;
}

// The position of the tensor with this number; -1 if it is missing. Numbers ascend.
static int placeOf(const std::vector<TensorInfo> &infos, int index) {
  auto found = std::lower_bound(infos.begin(), infos.end(), index,
                                [](const TensorInfo &info, int i) { return info.index < i; });
  return found != infos.end() && found->index == index ? static_cast<int>(found - infos.begin())
                                                       : -1;
}

// Calls visit(place, global) for the arguments of `infos` that are state, or are not. `globals` are
// those of `signature`.
template <typename Visit>
static Status forEachArg(const std::vector<TensorInfo> &infos, bool state,
                         const Descriptor &signature, const std::vector<TensorView> &globals,
                         Visit visit) {
  size_t next = 0;
  for (const TensorInfo &arg : signature.args) {
    if (arg.isState() != state)
      continue;
    const TensorView &global = globals[next++];
    if (const int place = placeOf(infos, arg.index); place >= 0)
      COLL_RETURN_IF_ERROR(visit(static_cast<size_t>(place), global));
  }
  return {};
}

InputWriter RankState::writerOf(size_t index, const TensorView &global) const {
  return [this, &info = descriptor().args[index], from = global.data](int64_t begin, int64_t bytes,
                                                                      char *to) {
    sliceRange(info, descriptor().axes, context_->rank, from, begin, bytes, to);
  };
}

static void writeZeros(int64_t, int64_t bytes, char *to) {
  std::memset(to, 0, static_cast<size_t>(bytes));
}

Status RankState::load(bool state, const Descriptor &signature,
                       const std::vector<TensorView> &globals, bool zeroReplicated) {
  const std::vector<TensorInfo> &infos = descriptor().args;
  return forEachArg(
      infos, state, signature, globals, [&](size_t i, const TensorView &global) -> Status {
        if (mayBorrow_[i] && isAligned(global.data)) {
          argPointers_[i] = const_cast<char *>(global.data);
          return {};
        }
        argPointers_[i] = args_[i];
        const bool isZero = zeroReplicated && isReplicated(infos[i]);
        return device_->upload(args_[i], infos[i].localBytes(),
                               isZero ? InputWriter(writeZeros) : writerOf(i, global));
      });
}

void RankState::reserveAhead() {
  constexpr int64_t kAlignment = 256;
  int64_t total = 0;
  for (const TensorInfo &info : descriptor().args) {
    aheadOffsets_.push_back(total);
    if (!info.isState())
      total += (info.localBytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (total > 0)
    ahead_ = device_->makeInputsAhead(total);
}

Status RankState::bringAhead(const Descriptor &signature, const std::vector<TensorView> &globals) {
  return forEachArg(descriptor().args, /*state=*/false, signature, globals,
                    [&](size_t i, const TensorView &global) {
                      return ahead_->bring(aheadOffsets_[i], descriptor().args[i].localBytes(),
                                           writerOf(i, global));
                    });
}

Status RankState::loadAhead(const Descriptor &signature, const std::vector<TensorView> &globals) {
  if (!ahead_)
    return load(/*state=*/false, signature, globals, /*zeroReplicated=*/false);
  if (!broughtAhead_.ok())
    return broughtAhead_.annotate("its batch, copied during the step before");
  std::vector<InputsAhead::Input> inputs;
  for (size_t i = 0; i < args_.size(); ++i)
    if (const TensorInfo &info = descriptor().args[i]; !info.isState())
      inputs.push_back({args_[i], aheadOffsets_[i], info.localBytes()});
  return ahead_->take(inputs);
}

Status RankState::endLoading(Status loaded) {
  if (loaded.ok())
    loaded = device_->synchronize();
  if (!loaded.ok())
    endpoint_->abort(loaded.annotate("rank " + std::to_string(context_->rank)));
  endpoint_->leave();
  return loaded;
}

Status RankState::runInit() {
  std::vector<void *> state;
  for (size_t i = 0; i < args_.size(); ++i)
    if (descriptor().args[i].isState())
      state.push_back(argPointers_[i]);
  return runEntry(program_->init, "init", state, state, /*mayCapture=*/false, [] {});
}

Status RankState::runStep(bool mayCapture, const Descriptor &signature,
                          const std::vector<TensorView> *next) {
  COLL_RETURN_IF_ERROR(
      runEntry(program_->step, "step", argPointers_, resultPointers_, mayCapture, [&] {
        if (next && ahead_)
          broughtAhead_ = bringAhead(signature, *next);
      }));
  for (size_t k = 0; k < results_.size(); ++k) {
    int arg = updatedArg(descriptor(), k);
    if (arg < 0 || !results_[k])
      continue;
    std::swap(results_[k], args_[static_cast<size_t>(arg)]);
    std::swap(resultPointers_[k], argPointers_[static_cast<size_t>(arg)]);
  }
  return {};
}

const char *RankState::arg(int index) const {
  const int found = placeOf(descriptor().args, index);
  if (found < 0)
    return nullptr;
  const size_t place = static_cast<size_t>(found);
  return device_->isHost() ? args_[place] : fetchedArgs_[place].data();
}

const char *RankState::result(int index) const {
  const int found = placeOf(descriptor().results, index);
  if (found < 0)
    return nullptr;
  const size_t place = static_cast<size_t>(found);
  return device_->isHost() ? static_cast<char *>(resultPointers_[place])
                           : fetchedResults_[place].data();
}

Status RankState::fetchArgs(const std::vector<int> &indices) {
  if (device_->isHost())
    return {};
  for (int number : indices) {
    const int place = placeOf(descriptor().args, number);
    if (place < 0)
      continue;
    const size_t index = static_cast<size_t>(place);
    const int64_t bytes = descriptor().args[index].localBytes();
    fetchedArgs_[index].resize(static_cast<size_t>(bytes));
    COLL_RETURN_IF_ERROR(device_->download(fetchedArgs_[index].data(), args_[index], bytes));
  }
  return device_->synchronize();
}

// Waits for the device. Afterwards the results that this rank has to provide are on the host.
Status RankState::finishResults(const std::function<void()> &meanwhile) {
  if (device_->isHost())
    return {};
  const std::vector<TensorInfo> &infos = descriptor().results;
  for (size_t k = 0; k < infos.size(); ++k) {
    const int updated = updatedArg(descriptor(), k);
    if ((updated >= 0 && descriptor().args[static_cast<size_t>(updated)].isState()) ||
        !givesResult_[k])
      continue;
    const int64_t bytes = infos[k].localBytes();
    fetchedResults_[k].resize(static_cast<size_t>(bytes));
    COLL_RETURN_IF_ERROR(device_->download(fetchedResults_[k].data(), resultPointers_[k], bytes));
  }
  meanwhile();
  return device_->synchronize();
}

// Runs the program's function and checks its outcome.
Status RankState::callEntry(CollEntry entry, const std::vector<void *> &args,
                            const std::vector<void *> &results) {
  CollContext &context = *context_;
  context.bytesMoved = context.numCalls = 0;
  const int32_t code = entry(&abiTable(), &context, args.data(), results.data(), arena_);
  const std::string who = "rank " + std::to_string(context.rank);
  if (code != kCollOk)
    return !context.error.ok() && context.error.code() == code
               ? context.error
               : Status(code > kCollOk && code <= kCollInternal ? static_cast<CollCode>(code)
                                                                : kCollInternal,
                        who + ": the program returned " + std::to_string(code));
  if (!context.error.ok())
    return context.error.annotate(who + " ignored a failure");
  if (endpoint_->inFlight() > 0)
    return Status::invalid(
        who + ": the program returned while " + std::to_string(endpoint_->inFlight()) +
        " operations were in flight; the first is " + describe(context.requests.front()->call));
  return {};
}

Status RankState::runEntry(CollEntry entry, const char *name, const std::vector<void *> &args,
                           const std::vector<void *> &results, bool mayCapture,
                           const std::function<void()> &meanwhile) {
  CollContext &context = *context_;
  context.functionTrace =
      traceBeginSpan(TraceLevel::Function, context.rank, /*op=*/-1, name, /*parent=*/0);
  Status status =
      device_->execute({args, results, mayCapture, [&] { return callEntry(entry, args, results); },
                        [&] { context.error = {}; }, context.rank, context.functionTrace});
  traceComputeEnd(context);
  if (status.ok())
    status = finishResults(meanwhile);
  traceEndSpan(TraceLevel::Function, context.rank, /*op=*/-1, context.functionTrace, !status.ok());
  if (!status.ok())
    endpoint_->abort(status.annotate("rank " + std::to_string(context.rank)));
  endpoint_->leave();
  for (const std::unique_ptr<CollRequest> &request : context.requests)
    traceEnd(request->call, request->group, /*failed=*/true);
  context.requests.clear();
  return status;
}

} // namespace coll::rt
