// executor.h - runs a program on its ranks, with a thread for each: all ranks in this process or,
// in a job of several processes, this process's rank.
//
// In a job every process makes the same calls with the same arguments. Only rank 0's process
// receives results and state; the other processes get empty lists.
//
// The rank threads and the state live as long as the executor. On CPUs the first rank of backend
// `threads` runs on the caller's thread, unless ranks are pinned, so that thread needs a stack of
// the size that a rank needs. One thread at a time may call the executor; each call blocks until
// all ranks are done. If a call fails in a rank, the state is undefined, and every later call fails
// with the first cause.

#ifndef COLL_RUNTIME_STEP_EXECUTOR_H
#define COLL_RUNTIME_STEP_EXECUTOR_H

#include "runtime/backend/backend.h"
#include "runtime/program/host_tensor.h"
#include "runtime/program/program.h"
#include "runtime/program/tensor_view.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt {

struct ExecutorOptions {
  std::string backend = "threads";
  std::optional<JobOptions> job; // absent: all ranks are in this process
  int64_t timeoutUs = 0; // longest wait for the peers of one operation; 0: COLL_TIMEOUT_US decides
  // Processors of the rank threads, see Affinity::create; empty: COLL_AFFINITY decides.
  std::string affinity;
  // Whether steps on GPUs may be captured as CUDA graphs and replayed.
  bool graphs = true;
};

class Executor {
public:
  // Counts of the last step (or of the initialisation, before the first step), summed over the
  // ranks: payload bytes of operations, and operations called. In a job of several processes, all
  // ranks are assumed to have the counts of this process's rank.
  struct Stats {
    int64_t bytesPerStep = 0;
    int64_t collectivesPerStep = 0;
  };

  // `classes` together cover ranks 0 … N-1 of one mesh, each rank once, and agree in the arguments
  // and results that they share. Each class has the arguments and results of the step that its
  // ranks need.
  static Result<std::unique_ptr<Executor>> create(std::vector<Program> classes,
                                                  ExecutorOptions options = {});
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  int numRanks() const;
  // The ranks of this process, ascending.
  std::vector<int> localRanks() const;
  // Whether this process receives results and state.
  bool isRoot() const;
  // The descriptor of the first class, with the arguments and results of all classes.
  const Descriptor &descriptor() const;
  const std::vector<Program> &classes() const;

  // `globalState`: the states in order (Descriptor::states), with global shapes. If the program has
  // an @init, rank 0 receives its part, the other ranks zeros, and @init distributes the state;
  // otherwise each rank receives its part.
  Status initialize(const std::vector<HostTensor> &globalState);

  // `globalBatch`: the other arguments in order, with global shapes. Returns the results that do
  // not update a state argument, with global shapes; replicated results come from rank 0.
  //
  // `next`, if it is not null: the batch of the next step. On GPUs it is copied to them while this
  // step computes, into memory of its own. It is read before the call returns, and never after a
  // failure. If the next call's batch has the same addresses, that call takes the copy, so that the
  // contents must not change in between; with any other batch the copy is dropped. If the copying
  // fails, or `next` does not fit the arguments, the next call fails, and this one does not. On
  // host memory `next` is ignored.
  Result<std::vector<HostTensor>> step(const std::vector<HostTensor> &globalBatch,
                                       const std::vector<HostTensor> *next = nullptr);

  // The same, from memory of the caller. A rank that needs all of a batch tensor reads it in place
  // if its address is a multiple of 64.
  Status initializeFrom(const std::vector<TensorView> &globalState);
  Result<std::vector<HostTensor>> stepFrom(const std::vector<TensorView> &globalBatch,
                                           const std::vector<TensorView> *next = nullptr);

  // The states in order, assembled from the ranks' blocks.
  Result<std::vector<HostTensor>> state();
  // One state, by its position in that order; empty in processes without rank 0.
  Result<std::vector<HostTensor>> stateAt(size_t index);
  // A local rank's blocks of the state arguments. A block has no data if the rank's class lacks the
  // argument.
  Result<std::vector<HostTensor>> stateOf(int rank);

  // All-gathers a text of each process of the job. Returns the texts by rank in rank 0's process,
  // and none in the others; a single text if all ranks are in this process.
  Result<std::vector<std::string>> gather(const std::string &text);
  // The text of rank 0's process, in every process of the job.
  Result<std::string> broadcast(const std::string &text);

  Stats stats() const;

  // Ends the running step at its next communication; every later call fails. May be called from any
  // thread, at any time while the executor lives.
  void cancel();

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_EXECUTOR_H
