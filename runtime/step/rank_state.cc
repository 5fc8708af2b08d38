#include "runtime/step/rank_state.h"

#include "runtime/program/shard.h"
#include "runtime/step/abi/call_trace.h"
#include "runtime/step/device/host_device.h"

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
                                                     std::unique_ptr<Endpoint> endpoint) {
  std::unique_ptr<RankState> state(new RankState());
  state->program_ = &program;
  state->endpoint_ = std::move(endpoint);
  state->device_ = std::make_unique<HostDevice>(program.data.constants);
  Result<std::unique_ptr<CollContext>> context = CollContext::create(
      rank, programIndex, program.descriptor, *state->endpoint_, *state->device_);
  if (!context)
    return context.status();
  state->context_ = context.take();
  COLL_RETURN_IF_ERROR(state->allocate());
  return state;
}

Status RankState::allocate() {
  auto allocateZeroed = [](int64_t bytes) {
    Result<AlignedBuffer> buffer = AlignedBuffer::create(bytes);
    if (buffer)
      std::memset(buffer->data(), 0, static_cast<size_t>(bytes));
    return buffer;
  };
  for (const TensorInfo &info : descriptor().args) {
    Result<AlignedBuffer> buffer = allocateZeroed(info.localBytes());
    if (!buffer)
      return buffer.status();
    argPointers_.push_back(buffer->data());
    args_.push_back(buffer.take());
  }
  for (size_t i = 0; i < args_.size(); ++i)
    mayBorrow_.push_back(mayBorrow(i));
  for (const TensorInfo &info : descriptor().results) {
    if (info.arg >= 0) {
      results_.emplace_back();
      resultPointers_.push_back(argPointers_[static_cast<size_t>(info.arg)]);
      continue;
    }
    Result<AlignedBuffer> buffer = allocateZeroed(info.localBytes());
    if (!buffer)
      return buffer.status();
    resultPointers_.push_back(buffer->data());
    results_.push_back(buffer.take());
  }
  Result<AlignedBuffer> arena = AlignedBuffer::create(descriptor().arenaBytes);
  if (!arena)
    return arena.status();
  arena_ = arena.take();
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

void RankState::load(bool state, const std::vector<TensorView> &globals, bool zeroReplicated) {
  const std::vector<TensorInfo> &infos = descriptor().args;
  size_t next = 0;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].isState() != state)
      continue;
    const TensorView &global = globals[next++];
    if (mayBorrow_[i] && isAligned(global.data)) {
      argPointers_[i] = const_cast<char *>(global.data);
      continue;
    }
    argPointers_[i] = args_[i].data();
    if (zeroReplicated && isReplicated(infos[i]))
      std::memset(args_[i].data(), 0, static_cast<size_t>(infos[i].localBytes()));
    else
      sliceTensor(infos[i], descriptor().axes, context_->rank, global.data, args_[i].data());
  }
}

Status RankState::runInit() {
  std::vector<void *> state;
  for (size_t i = 0; i < args_.size(); ++i)
    if (descriptor().args[i].isState())
      state.push_back(argPointers_[i]);
  return runEntry(program_->init, "init", state, state);
}

Status RankState::runStep() {
  COLL_RETURN_IF_ERROR(runEntry(program_->step, "step", argPointers_, resultPointers_));
  for (size_t k = 0; k < results_.size(); ++k) {
    int arg = updatedArg(descriptor(), k);
    if (arg < 0 || !results_[k].data())
      continue;
    std::swap(results_[k], args_[static_cast<size_t>(arg)]);
    std::swap(resultPointers_[k], argPointers_[static_cast<size_t>(arg)]);
  }
  return {};
}

Status RankState::runEntry(CollEntry entry, const char *name, const std::vector<void *> &args,
                           const std::vector<void *> &results) {
  CollContext &context = *context_;
  context.bytesMoved = context.numCalls = 0;
  context.functionTrace =
      traceBeginSpan(TraceLevel::Function, context.rank, /*op=*/-1, name, /*parent=*/0);
  int32_t code = entry(&abiTable(), &context, args.data(), results.data(), arena_.data());
  traceEndSpan(TraceLevel::Function, context.rank, /*op=*/-1, context.functionTrace,
               code != kCollOk);
  Status status;
  std::string who = "rank " + std::to_string(context.rank);
  if (code != kCollOk)
    status = !context.error.ok() && context.error.code() == code
                 ? context.error
                 : Status(code > kCollOk && code <= kCollInternal ? static_cast<CollCode>(code)
                                                                  : kCollInternal,
                          who + ": the program returned " + std::to_string(code));
  else if (!context.error.ok())
    status = context.error.annotate(who + " ignored a failure");
  else if (endpoint_->inFlight() > 0)
    status = Status::invalid(
        who + ": the program returned while " + std::to_string(endpoint_->inFlight()) +
        " operations were in flight; the first is " + describe(context.requests.front()->call));
  if (!status.ok())
    endpoint_->abort(status.annotate(who));
  endpoint_->leave();
  for (const std::unique_ptr<CollRequest> &request : context.requests)
    traceEnd(request->call, request->group, /*failed=*/true);
  context.requests.clear();
  return status;
}

} // namespace coll::rt
