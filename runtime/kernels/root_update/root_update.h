// root_update.h - an optimizer's step on N GPUs, communication included, in one kernel.
//
// Every member of a group has its own gradients and the same parameters. One launch on each member
// replaces reduce_scatter, a fused optimizer kernel and all_gather:
//
//   sum  = gradients of member 0 + gradients of member 1 + …      in f32, in that order
//   grad = sum * (step->gradientScale, divided by the number of members if `mean` is set)
//   parameter = optimizer(parameter, grad, slots)                 in f32, at the root only
//
// and writes the new parameters, rounded once to their type, into every member's buffer. The plan
// (plan.h) assigns a root to each parameter. Results are the same bits on all members, from run to
// run, and for any number of blocks; for the optimizers of optimizers.h also those of
// rootUpdateReference.
//
// Parameters narrower than f32 have a `master` copy in f32 at the root, which the optimizer updates
// and which is never rounded. Parameters in f32 need none.
//
// Any count and any alignment to the element are valid. Full speed needs spans whose gradients,
// state and parameters (those of all members) begin at multiples of 16 bytes.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_ROOT_UPDATE_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_ROOT_UPDATE_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"
#include "runtime/kernels/peer/group.h"
#include "runtime/kernels/root_update/optimizers.h"
#include "runtime/kernels/root_update/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coll::kernels {

// One member's call. All members use the same types, counts, plan and optimizer. The launch may be
// captured in a graph, and replayed after `*step` was changed.
struct RootUpdate {
  CollDtype gradientType = kCollF32;  // kCollF32 or kCollBf16
  CollDtype parameterType = kCollF32; // kCollF32 or kCollBf16
  const void *gradients = nullptr;    // this member's; read by its own GPU only
  // Every member's buffer, as an address of this GPU; [rank] is this member's. Peers write into it
  // while this member's kernel runs.
  void *parameters[kMaxPeers] = {};
  // State of the spans whose root is this member, table.elems[rank] elements each for a plan of
  // planRoots or planShards. Null if there are none.
  float *master = nullptr;               // only if parameterType is not kCollF32
  float *slots[kMaxOptimizerSlots] = {}; // the optimizer's first kSlots
  const UpdateStep *step = nullptr;      // GPU memory; the same values on all members
  RootTable table = {};                  // `spans`: GPU memory of this member
  bool mean = false;
  // 0: the values of tuning.h. The same on all members.
  uint32_t blocks = 0;
  uint32_t threads = 0;    // of a block; a multiple of 32
  uint32_t chunkElems = 0; // elements that a block pushes to a peer at a time; at most a slot
};

using AnyOptimizer = std::variant<Sgd, Momentum, Adam, AdamW, Lion, RmsProp>;
// "sgd", "momentum", "adam", "adamw", "lion", "rmsprop".
const char *optimizerName(const AnyOptimizer &optimizer);
// The optimizer with default constants; nullopt if there is none of that name.
std::optional<AnyOptimizer> optimizerNamed(const std::string &name);
int optimizerSlots(const AnyOptimizer &optimizer);

// Puts the update on `stream` and returns at once. The rules of peer/group.h hold, also for errors:
// if a peer is missing or makes another call, the kernel ends with the group's error word, and
// parameters and state are then undefined. kCollInvalidCall: the arguments; kCollUnsupported: no
// CUDA in this build, or no code for this GPU; kCollDevice: CUDA failed. launch.cuh launches a
// user's optimizer.
rt::Status launchRootUpdate(const PeerGroup &group, const RootUpdate &update,
                            const AnyOptimizer &optimizer, void *stream);

// *step = value, on the stream.
rt::Status launchSetStep(UpdateStep *step, const UpdateStep &value, void *stream);
// ++step->step, on the stream: at the beginning or end of a captured step.
rt::Status launchNextStep(UpdateStep *step, void *stream);

// Ok if the arguments are valid; `numSlots` is the optimizer's.
rt::Status checkRootUpdate(const PeerGroup &group, const RootUpdate &update, int numSlots);

// --- the same on the host, one element after the other

// Changes the slots and returns the new parameter.
using ElementUpdate = std::function<float(float parameter, float gradient, float *slots)>;

template <typename Optimizer>
ElementUpdate elementUpdate(const Optimizer &optimizer, const UpdateStep &now) {
  return [optimizer, step = optimizer.prepare(now)](float parameter, float gradient, float *slots) {
    return optimizer.apply(step, parameter, gradient, slots);
  };
}
ElementUpdate elementUpdate(const AnyOptimizer &optimizer, const UpdateStep &now);

// Does the work of one launch on each member, for all members, with pointers to host memory.
// calls[r] is member r's call, of which only its own parameters are used: calls[r].parameters[r].
// `spans` replace those of the table, unless it has shards.
void rootUpdateReference(const std::vector<RootUpdate> &calls, const std::vector<UpdateSpan> &spans,
                         int numSlots, const ElementUpdate &apply);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_ROOT_UPDATE_H
