// root_update.h - an optimizer's step on a group, communication included, as a call of backend
// direct.
//
// A RootUpdate is one rank's part: the plan of which rank updates which parameters, the optimizer,
// and its state in GPU memory for the parameters whose root this rank is. It is created once, then
// called in every step:
//
//   auto plan = kernels::planShards(count, ranks).take();
//   RootUpdateOptions options;
//   options.plan = plan;
//   options.gradientElems = options.parameterElems = count;
//   options.optimizer = kernels::AdamW{};
//   auto update = RootUpdate::create(*group, gpu, options).take();
//   auto parameters = group->allocate(count * sizeof(float)).take(); // all members' memory
//   ...
//   update->setStep({learningRate, gradientScale, step}, stream);
//   group->run(update->call(gradients, parameters->data(), stream));
//
// kernels/root_update/root_update.h defines what a step computes, to the bit. Gradients may be in
// any memory of the GPU. Parameters are in memory that the group knows (Communicator::allocate,
// registerMemory), at the same offset on all members: every root writes into the memory of all
// members. A call is a launch on the stream and may be captured; a replay reads the values that
// setStep() put on the stream before it.
//
// Members whose plans, types, optimizers or constants differ get kCollMismatch. As with any call, a
// failed or missing peer ends it within the deadline; parameters and state are then undefined, so
// restore both.
//
// Threads: it belongs to the rank's thread, like the communicator.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_ROOT_UPDATE_H
#define COLL_RUNTIME_BACKEND_DIRECT_ROOT_UPDATE_H

#include "runtime/backend/backend.h"
#include "runtime/backend/direct/platform.h"
#include "runtime/dl/gpu_memory.h"

#include <functional>
#include <string>

namespace coll::rt::direct {

// A user's optimizer, compiled in a .cu file: `launch` is a launchRootUpdateAs
// (kernels/root_update/launch.cuh) with its constants.
struct OwnOptimizer {
  std::string name;
  int numSlots = 0;
  uint64_t mark = 0; // equal if two members' kinds and constants are
  std::function<Status(const kernels::PeerGroup &, const kernels::RootUpdate &, void *stream)>
      launch; // null: no such optimizer
};

// The same on all members.
struct RootUpdateOptions {
  kernels::RootPlan plan;
  int64_t gradientElems = 0, parameterElems = 0; // of every rank's buffers
  CollDtype gradientType = kCollF32;             // kCollF32 or kCollBf16
  CollDtype parameterType = kCollF32;            // kCollF32 or kCollBf16
  kernels::AnyOptimizer optimizer = kernels::AdamW{};
  OwnOptimizer own; // used instead of `optimizer`
  bool mean = true; // of the gradients; else their sum
};

class RootUpdate final : public RootUpdateSpec {
public:
  // Creates this member's part, on the GPU with this number. The state is 0, including a master
  // copy: see writeState(). Allocates GPU memory and waits for the GPU; no member waits for
  // another. kCollInvalidCall: an option is wrong; kCollUnsupported: there are no GPU kernels here.
  static Result<std::unique_ptr<RootUpdate>> create(const Communicator &group, int gpu,
                                                    const RootUpdateOptions &options);
  ~RootUpdate() override;
  RootUpdate(const RootUpdate &) = delete;
  RootUpdate &operator=(const RootUpdate &) = delete;

  // `stream`: see Call::stream. The update must outlive the call, and graphs that captured it.
  Call call(const void *gradients, void *parameters, void *stream) const;
  // Sets the values that later calls on the stream read, also during a capture. Without a stream
  // (null), the calls that are made after it has returned read them.
  Status setStep(const kernels::UpdateStep &step, void *stream);

  // A part of the state: the master copy, or the optimizer's slot k from 0 on.
  enum State : int { kMaster = -1 };
  // Copies to and from a host array that is indexed like the parameters, for the parameters whose
  // root this rank is; the rest of the array is not accessed. So a checkpoint consists of each
  // rank's part of one array, and a master copy is initialised with the parameters in f32. The
  // copies run after the work on the stream, if there is one, and are done on return.
  Status writeState(int state, const float *values, void *stream);
  Status readState(int state, float *values, void *stream) const;
  int numSlots() const;
  bool hasMaster() const { return options_.parameterType != kCollF32; }

  CollDtype parameterType() const override { return options_.parameterType; }
  const char *optimizer() const override { return name_.c_str(); }
  uint64_t mark() const override { return mark_; }

  // For the backend: ok, or why it does not fit such a call of such a member; the launch, without
  // buffers; the optimizer.
  Status takes(const Call &call, int size, int position, int gpu) const;
  const kernels::RootUpdate &arguments() const { return arguments_; }
  const kernels::AnyOptimizer &given() const { return options_.optimizer; }
  const auto &own() const { return options_.own.launch; }

private:
  RootUpdate(std::shared_ptr<dl::GpuContext> gpu, const PeerKernels &kernels,
             const Communicator &group, const RootUpdateOptions &options);

  Status allocate();
  Status allocate(dl::GpuMemory &memory, uint64_t bytes);
  dl::CudaStream streamOr(void *stream) const;
  Status wait(dl::CudaStream stream) const;
  Result<char *> stateOf(int state) const;
  // The GPU copies from and to pinned memory; both functions wait for it.
  Status copyIn(char *to, const void *from, uint64_t bytes, dl::CudaStream stream) const;
  Status copyOut(void *to, const char *from, uint64_t bytes, dl::CudaStream stream) const;
  // move(address of the GPU, index of the first parameter, bytes) for each span of this root.
  template <typename Move>
  Status eachSpan(int state, Move &&move) const;

  const std::shared_ptr<dl::GpuContext> gpu_;
  const PeerKernels kernels_;
  const int position_, size_;
  const RootUpdateOptions options_;
  const std::string name_;
  const uint64_t mark_;
  kernels::RootUpdate arguments_;
  dl::CudaStream stream_ = nullptr; // for work without a stream of the caller
  dl::GpuMemory staging_, spans_, step_, master_, slots_[kernels::kMaxOptimizerSlots];
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_ROOT_UPDATE_H
