// rank_state.h - one rank of an executor: its buffers and how it runs an entry point.

#ifndef COLL_RUNTIME_STEP_RANK_STATE_H
#define COLL_RUNTIME_STEP_RANK_STATE_H

#include "runtime/program/host_tensor.h"
#include "runtime/program/program.h"
#include "runtime/program/tensor_view.h"
#include "runtime/step/abi/context.h"

#include <memory>
#include <optional>
#include <vector>

namespace coll::rt {

// The argument that result `k` updates, or -1: the one that it names. A state result that names
// none updates the k-th state argument (the rank swaps the buffers).
int updatedArg(const Descriptor &descriptor, size_t k);

// Belongs to the rank's thread while a task runs, to the executor's caller otherwise.
class RankState {
public:
  // `program` must outlive the state. The job, if there is one, may name the GPU. `timeoutUs`:
  // longest wait of the device for another rank. Call allocate() next.
  static Result<std::unique_ptr<RankState>>
  create(int rank, int programIndex, const Program &program, const std::optional<JobOptions> &job,
         int64_t timeoutUs, std::unique_ptr<Endpoint> endpoint);

  // Allocates the buffers, once. If ranks meet to allocate, all of them call it in a stretch of the
  // program.
  Status allocate();
  // Whether some ranks of the program reach each other's memory, which they then allocate together.
  static bool meetsToAllocate(const Descriptor &descriptor) {
    return descriptor.isOnGpu && descriptor.reached >= 0;
  }

  const Descriptor &descriptor() const { return program_->descriptor; }
  CollContext &context() const { return *context_; }
  Endpoint &endpoint() { return *endpoint_; }

  // Fills the arguments whose role is state (or is not) from global tensors: those that
  // `signature`, the arguments of all classes, has of that role, in its order. With
  // `zeroReplicated`, replicated arguments become zero instead. If this rank has all of a batch
  // tensor and it is aligned, it is not copied: it must live until the step has run.
  Status load(bool state, const Descriptor &signature, const std::vector<TensorView> &globals,
              bool zeroReplicated);
  // Makes room for the batch of the next step, if the device brings it ahead of time and has room.
  // Nothing may run on the device.
  void reserveAhead();
  // Fills the batch arguments from the batch that runStep() has brought, or else from `globals`,
  // which is the same one.
  Status loadAhead(const Descriptor &signature, const std::vector<TensorView> &globals);

  // Ends a stretch of the program in which nothing was run; its failure aborts the job.
  Status endLoading(Status loaded);

  // Runs @init over the state arguments, or the step over all. Returns this rank's failure, which
  // the other ranks have already received. `mayCapture` as in Execution. While the step runs,
  // begins to bring the batch of the next step, `next`, for loadAhead(); null: none. If that fails,
  // the next loadAhead() fails.
  Status runInit();
  Status runStep(bool mayCapture, const Descriptor &signature, const std::vector<TensorView> *next);
  // Whether the step can be captured as a graph.
  bool mayCapture() const { return device_->mayCapture(); }
  void drain() { device_->drain(); }
  // Copies the arguments with these numbers to host memory for arg(), unless they are there
  // already.
  Status fetchArgs(const std::vector<int> &indices);

  // The argument with this number in the step; null if this rank's class lacks it. Host memory:
  // call fetchArgs() before; results that are not state need runStep().
  const char *arg(int index) const;
  const char *result(int index) const;

private:
  RankState() = default;
  Communicator *findMembers() const;
  bool mayBorrow(size_t index) const;
  // Writes this rank's block of an argument, by its place.
  InputWriter writerOf(size_t index, const TensorView &global) const;
  Status bringAhead(const Descriptor &signature, const std::vector<TensorView> &globals);
  // `meanwhile` is called when the function is on the device.
  Status runEntry(CollEntry entry, const char *name, const std::vector<void *> &args,
                  const std::vector<void *> &results, bool mayCapture,
                  const std::function<void()> &meanwhile);
  Status callEntry(CollEntry entry, const std::vector<void *> &args,
                   const std::vector<void *> &results);
  Status finishResults(const std::function<void()> &meanwhile);

  const Program *program_ = nullptr;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<CollContext> context_; // destroyed before the endpoint
  std::unique_ptr<Device> device_;       // a communicator of the context may use its memory
  std::unique_ptr<InputsAhead> ahead_;   // of the device; null: batches are not brought ahead
  std::vector<int64_t> aheadOffsets_;    // by argument, in ahead_
  Status broughtAhead_;
  std::vector<char *> args_;        // of the device
  std::vector<char *> results_;     // of the device; null if the result names an argument
  std::vector<bool> mayBorrow_;     // by argument: this rank has all of it and only reads it
  std::vector<void *> argPointers_; // of args_, or borrowed for one step
  std::vector<void *> resultPointers_;
  // If the device is not the host: the results that this rank provides, and the arguments and
  // results that were fetched.
  std::vector<bool> givesResult_;
  std::vector<std::vector<char>> fetchedArgs_, fetchedResults_;
  char *arena_ = nullptr;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_RANK_STATE_H
