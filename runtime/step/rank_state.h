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

// The argument that result `k` updates, or -1: the one that it names or, for a state result that
// names none, the k-th state argument (the rank swaps the buffers).
int updatedArg(const Descriptor &descriptor, size_t k);

// Belongs to the rank's thread while a task runs, to the executor's caller otherwise.
class RankState {
public:
  // `program` must outlive the state. The job, if there is one, may name the GPU. Next: allocate().
  static Result<std::unique_ptr<RankState>> create(int rank, int programIndex,
                                                   const Program &program,
                                                   const std::optional<JobOptions> &job,
                                                   std::unique_ptr<Endpoint> endpoint);

  // Allocates the buffers, once. A stretch of program of all ranks where they meet for it.
  Status allocate();
  // Whether some ranks of the program reach each other's memory, which they then allocate together.
  static bool meetsToAllocate(const Descriptor &descriptor) {
    return descriptor.isOnGpu && descriptor.reached >= 0;
  }

  const Descriptor &descriptor() const { return program_->descriptor; }
  CollContext &context() const { return *context_; }
  Endpoint &endpoint() { return *endpoint_; }

  // Fills arguments whose role is state (or is not) from global tensors: those that `signature`,
  // the arguments of all classes, has of that role, in its order. With `zeroReplicated`, replicated
  // ones become zero instead. A batch tensor that this rank holds whole is not copied if it is
  // aligned: it has to live until the step has run.
  Status load(bool state, const Descriptor &signature, const std::vector<TensorView> &globals,
              bool zeroReplicated);

  // Ends a stretch of program in which nothing was run; its failure aborts the job.
  Status endLoading(Status loaded);

  // Runs @init over the state arguments, or the step over all. Returns this rank's failure, which
  // the other ranks have already received. `mayCapture` as in Execution.
  Status runInit();
  Status runStep(bool mayCapture);
  // Whether a graph can be made of the step.
  bool mayCapture() const { return device_->mayCapture(); }
  // Makes the arguments with these numbers readable for arg(), where they are not host memory.
  Status fetchArgs(const std::vector<int> &indices);

  // By the number in the step; null where this rank's class does not have it. Host memory: after
  // fetchArgs(), and after runStep() for results that are not state.
  const char *arg(int index) const;
  const char *result(int index) const;

private:
  RankState() = default;
  Communicator *findMembers() const;
  bool mayBorrow(size_t index) const;
  Status runEntry(CollEntry entry, const char *name, const std::vector<void *> &args,
                  const std::vector<void *> &results, bool mayCapture);
  Status callEntry(CollEntry entry, const std::vector<void *> &args,
                   const std::vector<void *> &results);
  Status finishResults();

  const Program *program_ = nullptr;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<CollContext> context_; // destroyed before the endpoint
  std::unique_ptr<Device> device_;       // its memory may be known to a communicator of the context
  std::vector<char *> args_;             // of the device
  std::vector<char *> results_;          // of the device; null where the result names an argument
  std::vector<bool> mayBorrow_;          // by argument: this rank holds all of it and only reads it
  std::vector<void *> argPointers_;      // of args_, or borrowed for one step
  std::vector<void *> resultPointers_;
  // Where the device is not the host: the results that this rank gives, and what was fetched of
  // arguments and results.
  std::vector<bool> givesResult_;
  std::vector<std::vector<char>> fetchedArgs_, fetchedResults_;
  char *arena_ = nullptr;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_RANK_STATE_H
