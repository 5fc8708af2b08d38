// device.h - the place of a rank's program, with its memory and its kernels: the host, or a GPU.
//
// A device belongs to the rank's thread while a task runs, and to the executor's caller in between.
// Calls on host memory are complete when they return. Calls on a GPU are put on the rank's stream,
// in order, and are complete after synchronize().

#ifndef COLL_RUNTIME_STEP_DEVICE_DEVICE_H
#define COLL_RUNTIME_STEP_DEVICE_DEVICE_H

#include "runtime/backend/call/check.h"
#include "runtime/base/trace.h"
#include "runtime/kernels/attention/attention.h"
#include "runtime/kernels/convolution/convolution.h"
#include "runtime/program/program.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coll::rt {

struct TokenDispatch; // tokens/exchange.h
struct TokenCombine;
struct TokenPlace;

struct BufferNeed {
  int64_t bytes = 0;
  bool isZeroed = true;
  std::string what; // for messages
};

// Writes the bytes [begin, begin + bytes) of an input to `to`.
using InputWriter = std::function<void(int64_t begin, int64_t bytes, char *to)>;

// Memory of the device for inputs of the next run, which arrive while the present run computes. It
// must be destroyed before the device.
class InputsAhead {
public:
  struct Input {
    void *dst = nullptr;
    int64_t offset = 0, bytes = 0;
  };

  virtual ~InputsAhead() = default;
  // Begins to copy an input to its place in the memory, beside the device's work. `write` is called
  // at once, for consecutive ranges. What was there must have been taken, or is given up.
  virtual Status bring(int64_t offset, int64_t bytes, const InputWriter &write) = 0;
  // Work that is put on the device from now on finds the inputs at their destinations.
  virtual Status take(const std::vector<Input> &inputs) = 0;
};

// Work that follows a communication call once it is complete.
class CallEnd {
public:
  virtual ~CallEnd() = default;
  virtual Status finish() = 0;
};

// One run of a program's function.
struct Execution {
  const std::vector<void *> &args, &results;
  // Whether the run may be captured as a graph, and replayed in later runs with the same buffers.
  // The same on all ranks.
  bool mayCapture = false;
  std::function<Status()> run;  // calls the function
  std::function<void()> forget; // forgets its failure, before it is called again
  int rank = 0;
  uint64_t trace = 0; // span of the function (base/trace.h); 0: none
};

class Device {
public:
  virtual ~Device() = default;

  virtual bool isHost() const = 0;

  // Allocates all buffers of the program; once. They are aligned to 64 bytes, never null, and live
  // as long as the device. If `members` is not null, it allocates their memory: a collective of it.
  virtual Result<std::vector<char *>> allocate(const std::vector<BufferNeed> &needs,
                                               Communicator *members) = 0;
  // Calls `write` at once, for consecutive ranges of the bytes that are copied to `dst`.
  virtual Status upload(void *dst, int64_t bytes, const InputWriter &write) = 0;
  // Memory for `bytes` of inputs, at offsets that are multiples of 256. Null if they are as well
  // uploaded when they are needed, or there is no room. Call it while nothing runs on the device.
  virtual std::unique_ptr<InputsAhead> makeInputsAhead(int64_t) { return nullptr; }
  // The bytes have arrived after synchronize().
  virtual Status download(char *hostDst, const void *src, int64_t bytes) = 0;
  // Blocks until all work that was put on the device is done.
  virtual Status synchronize() = 0;
  // Waits for that after a failure, too, though not for ever: some of it may never end. The last
  // call.
  virtual void drain() {}

  // Runs the program's function, or replays its graph.
  virtual Status execute(const Execution &execution) = 0;
  // Whether the function can be captured as a graph, judging by its runs so far.
  virtual bool mayCapture() const { return false; }
  // Call it before the call: sets the call's stream, or replaces its buffers by host memory.
  // Returns null if nothing follows the call. `isStarted`: the call is waited for later.
  virtual Result<std::unique_ptr<CallEnd>> prepare(Call &call, const CallExtents &extents,
                                                   bool isStarted) = 0;

  // For the trace (base/trace.h). Whether the device reports when the stream reaches and completes
  // its work. If so, a call on the stream is enclosed by beginCall() and endCall(), and
  // synchronize() reports its End. `bytes` as in the trace; `group` is the context's.
  bool tracesStream() const { return tracesStream_; }
  virtual bool isCapturing() const { return false; }
  virtual void beginCall(const Call &, const TraceGroup &, int64_t) {}
  virtual void endCall(const Call &) {}

  // The following are functions of abi.def; `site` is for messages. Sizes are not negative, and
  // pointers are null only if the size is zero.
  virtual Status launch(const CallSite &site, int32_t kernel, const void *const *args,
                        int32_t numArgs) = 0;
  virtual Status copy(const CallSite &site, void *dst, const void *src, int64_t bytes) = 0;
  // The pattern has 1, 2, 4, 8 or 16 bytes.
  virtual Status fill(const CallSite &site, void *dst, const void *pattern, int32_t patternBytes,
                      int64_t count) = 0;
  virtual Status fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) = 0;
  virtual Status store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) = 0;
  // The contraction has passed checkContraction(), and is not empty.
  virtual Status contract(const CallSite &site, const CollContraction &contraction, const void *a,
                          const void *b, void *out) = 0;
  // The call has passed checkAttention(), and is not empty.
  virtual Status attend(const CallSite &site, const kernels::Attention &attention,
                        const kernels::AttentionBuffers &buffers, bool isBackward) = 0;
  // The call has passed checkConvolution(), and is not empty.
  virtual Status convolve(const CallSite &site, const kernels::Convolution &convolution,
                          const kernels::ConvolutionBuffers &buffers) = 0;
  // Like runDispatch and runCombine in tokens/exchange.h, with buffers in this device's memory.
  virtual Status dispatch(const TokenDispatch &dispatch, int32_t serial,
                          const TokenPlace &place) = 0;
  virtual Status combine(const TokenCombine &combine, const TokenPlace &place) = 0;
  // Null if the program has no constants.
  virtual Result<void *> constants() = 0;

protected:
  bool tracesStream_ = false; // while a function runs
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_DEVICE_H
