// buffers.h - how a rank of the net backend serves calls whose buffers are GPU memory.
//
// Large dense operations use the schedules of host memory, with a GpuMover. Small operations, whose
// data is sent inside other messages, go through host memory.
//
// The GPU has finished with a call's buffers before the call: the caller ensures it, or the
// endpoint has waited for the call's stream. When the call, or wait(), has returned, the results
// are in GPU memory. Belongs to one thread at a time.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_BUFFERS_H
#define COLL_RUNTIME_BACKEND_NET_GPU_BUFFERS_H

#include "runtime/backend/net/activity.h"
#include "runtime/backend/net/gpu/mover.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace coll::rt::network {

class GpuBuffers {
public:
  // `transport` outlives the object.
  GpuBuffers(net::Transport &transport, const GpuMoverOptions &options)
      : transport_(transport), options_(options) {}
  ~GpuBuffers();
  GpuBuffers(const GpuBuffers &) = delete;
  GpuBuffers &operator=(const GpuBuffers &) = delete;

  // The mover of the GPU that holds all buffers of the call of the member at `position` of n; null
  // if they are host memory. kCollUnsupported if some are in other memory than the rest.
  Result<GpuMover *> moverFor(const Call &call, int64_t n, int position);

  // Waits until the GPU has done everything on a stream. Never call it if the stream waits for this
  // rank. Any thread may call it, at the same time as the other functions.
  Status synchronize(void *stream);

  // Waits until no kernel works on its items any more.
  void drain();

  // For host memory and memory of any GPU; done when it returns.
  Status copy(void *dst, const void *src, int64_t bytes);

  // From now on the calling thread may allocate memory while another thread captures a graph.
  void goBesideCaptures() const;

private:
  Result<GpuMover *> mover(int gpu);

  net::Transport &transport_;
  GpuMoverOptions options_;
  std::vector<net::Memory *> memories_;
  std::map<int, std::unique_ptr<GpuMover>> movers_;
  std::atomic<int> gpu_{0}; // the first one that has a GPU
};

// Runs `make(call on host memory)` instead of a call on GPU memory.
class HostDetour final : public Activity {
public:
  using Make = std::function<std::unique_ptr<Activity>(const Call &call)>;
  // srcBytes and dstBytes: of the call's buffers on this rank.
  static Result<std::unique_ptr<Activity>>
  create(GpuMover &mover, const Call &call, int64_t srcBytes, int64_t dstBytes, const Make &make);

  Result<bool> advance(bool &moved) override;
  std::vector<int> waitingFor() const override { return inner_->waitingFor(); }
  uint64_t key() const override { return inner_->key(); }

private:
  HostDetour(GpuMover &mover, const Call &call) : mover_(mover), call_(call) {}

  GpuMover &mover_;
  Call call_;
  std::vector<char> src_, dst_;
  int64_t dstBytes_ = 0;
  std::unique_ptr<Activity> inner_; // last: it may use the buffers until it is destroyed
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_BUFFERS_H
