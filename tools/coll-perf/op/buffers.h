// buffers.h - a rank's source and destination, in host memory or on its GPU.

#ifndef COLL_TOOLS_COLL_PERF_OP_BUFFERS_H
#define COLL_TOOLS_COLL_PERF_OP_BUFFERS_H

#include "runtime/base/aligned_buffer.h"
#include "runtime/dl/gpu_memory.h"
#include "tools/coll-perf/op/plan.h"

#include <functional>
#include <memory>

namespace coll::perf {

class Buffers {
public:
  // Creates buffers for the largest size of the plan. If the side says so, `group` allocates them,
  // which all ranks do together; `group` must outlive the buffers.
  static Result<std::unique_ptr<Buffers>> create(const OpPlan &plan, const Side &side, int rank,
                                                 rt::Communicator &group);
  virtual ~Buffers() = default;

  void *src() const { return src_; }
  void *dst(Placement place) const { return place == Placement::In ? src_ : dst_; }
  // Called with host memory that holds `bytes` bytes of the buffer from `at` on, always whole
  // elements.
  using Part = std::function<void(int64_t at, int64_t bytes, void *memory)>;
  // Writes to `to` or reads from `from` part by part: `fill` provides the data, and `look` examines
  // it. Done on return.
  virtual Status write(void *to, int64_t bytes, const Part &fill) = 0;
  virtual Status read(void *from, int64_t bytes, const Part &look) = 0;

  virtual int gpu() const { return -1; } // of the buffers; -1: the host
  // Null for host memory.
  virtual void *stream() const { return nullptr; }
  // Captures the work that `body` enqueues on the stream; launch() replays it.
  virtual Status capture(const std::function<Status()> &body);
  virtual Status launch() { return {}; }
  virtual void forget() {} // the captured work

protected:
  void *src_ = nullptr, *dst_ = nullptr;
};

// Checks that the buffers of all ranks, of all sides at once, fit into the machine's memory.
Status checkHostRoom(const OpPlan &plan, const std::vector<Side> &sides);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_BUFFERS_H
