// calls.h - a rank's MoeBuffer with data in GPU memory, and the calls to measure.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CALLS_H
#define COLL_TOOLS_COLL_PERF_MOE_CALLS_H

#include "runtime/exchange/moe/buffer.h"
#include "tools/coll-perf/moe/gpu_room.h"
#include "tools/coll-perf/moe/task.h"

#include <memory>
#include <vector>

namespace coll::perf {

class MoeCalls {
public:
  // `transport`: between nodes, if there are several; outlives the object.
  static Result<std::unique_ptr<MoeCalls>> create(const MoeTask &task, int rank,
                                                  net::Transport *transport);

  rt::MoeBuffer &buffer() { return *buffer_; }
  // Prepares the layout and the counts that the other calls use. All ranks call it, after sync.
  Status begin(const rt::MoeConfig &config);
  Status call(MoeCall call, const rt::MoeConfig &config);
  Status synchronize();
  int64_t numReceived() const { return handle_.numRecv; }

  // Returns the number of wrong values after one round of dispatches and a combine of their
  // results.
  Result<int64_t> check(const rt::MoeConfig &config);

private:
  MoeCalls(const MoeTask &task, int rank, net::Transport *transport)
      : task_(task), rank_(rank), transport_(transport) {}
  Status open();
  Status fill();
  Result<int64_t> checkReceived(const rt::MoeReceived &received, int64_t rowBytes, bool isFp8);
  Result<int64_t> checkCombined();
  rt::MoeCombine combineOf(const void *rows) const;

  const MoeTask &task_;
  const int rank_;
  net::Transport *const transport_;
  GpuRoom room_;
  std::unique_ptr<rt::MoeBuffer> buffer_;
  rt::MoeOrder order_;
  std::vector<int64_t> topk_;
  rt::MoeRouting routing_;
  rt::MoeTokens tokens_, fp8_;
  rt::MoeLayout layout_;
  void *handleMemory_ = nullptr, *countedMemory_ = nullptr;
  rt::MoeHandle handle_;
  std::vector<int32_t> perExpert_;
  char *rows_ = nullptr; // rows outside of the buffer
  float *weights_ = nullptr;
  uint16_t *out_ = nullptr;
  float *outWeights_ = nullptr;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CALLS_H
