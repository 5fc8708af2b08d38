// The exchange of tokens of a program on a GPU: by the GPUs, or through the host.

#include "runtime/step/device/gpu/gpu_device.h"
#include "runtime/step/tokens/staged.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <thread>

namespace coll::rt {

namespace {

constexpr int64_t kSpinUs = 50, kMostPauseUs = 200;
// How long the reason of a rank that has failed may take to arrive.
constexpr int64_t kReasonUs = 500'000;

using Clock = std::chrono::steady_clock;

int64_t usSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
}

// Whether another rank may know the reason of a failure: it has failed first, or its route is
// foreign, so that other rows return than were received from it.
bool isAnothers(const Status &failure) {
  return failure.code() == kCollPeer || failure.code() == kCollAborted ||
         failure.code() == kCollMismatch;
}

} // namespace

Status GpuDevice::dispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place) {
  Result<TokensOnGpu::Way> way = TokensOnGpu::Way::Host;
  if (tokens_)
    way = tokens_->agree(dispatch, serial, place, isCapturing_);
  if (!way)
    return isCapturing_ ? leaveGraphs("a new exchange of tokens") : way.status();
  if (*way == TokensOnGpu::Way::Host)
    return runStagedDispatch(*this, dispatch, serial, place);
  return put(place.site, [&] { return tokens_->dispatch(dispatch, serial, place); });
}

Status GpuDevice::combine(const TokenCombine &combine, const TokenPlace &place) {
  Result<TokensOnGpu::Way> way = TokensOnGpu::Way::Host;
  if (tokens_)
    way = tokens_->agree(combine, place, isCapturing_);
  if (!way)
    return isCapturing_ ? leaveGraphs("a new exchange of tokens") : way.status();
  if (*way == TokensOnGpu::Way::Host)
    return runStagedCombine(*this, combine, place);
  return put(place.site, [&] { return tokens_->combine(combine, place); });
}

// Kernels of an exchange wait for other ranks, which may fail on the host.
Status GpuDevice::awaitTokens() {
  Result<dl::CudaEvent> end = gpu_->record(stream_);
  if (!end)
    return end.status();
  const Clock::time_point begin = Clock::now();
  Status status;
  for (bool isDone = false; status.ok() && !isDone;) {
    Result<bool> reached = gpu_->reached(*end);
    status = reached.status();
    isDone = reached && *reached;
    // In this order: a kernel that fails reports it before it ends.
    if (status.ok())
      status = tokens_->check();
    if (status.ok() && !isDone)
      status = endpoint_.health();
    if (!status.ok() || isDone)
      break;
    if (const int64_t us = usSince(begin); us <= kSpinUs)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(us / 8, kMostPauseUs)));
  }
  gpu_->put(*end);
  if (status.ok())
    return status;
  status = reasonOf(status);
  endTokens();
  for (const Clock::time_point failed = Clock::now();
       isAnothers(status) && usSince(failed) < kReasonUs;) {
    COLL_RETURN_IF_ERROR(endpoint_.health());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

// This rank's GPU may have reported the reason just before another rank failed because of it.
Status GpuDevice::reasonOf(const Status &failure) {
  const Status own = isAnothers(failure) ? tokens_->check() : Status();
  return own.ok() || isAnothers(own) ? failure : own;
}

void GpuDevice::endTokens() {
  tokens_->abort();
  gpu_->drain(stream_);
}

} // namespace coll::rt
