// instance.h - an executable on its ranks, with the state of its training.

#ifndef COLL_EMBED_C_INSTANCE_H
#define COLL_EMBED_C_INSTANCE_H

#include "embed/c/executable.h"
#include "embed/c/request.h"
#include "runtime/step/executor.h"

#include <thread>

namespace coll::embed {

// From any thread. Steps run one after another, in the order of the calls.
class Instance {
public:
  static constexpr Kind kKind = Kind::Instance;

  static Outcome create(std::shared_ptr<Executable> executable, const rt::ExecutorOptions &options,
                        std::shared_ptr<Instance> &instance);
  ~Instance();
  Instance(const Instance &) = delete;
  Instance &operator=(const Instance &) = delete;

  Outcome setState(const std::vector<std::shared_ptr<Tensor>> &state);
  Outcome state(size_t index, std::shared_ptr<Tensor> &tensor);
  Outcome findState(const std::string &name, size_t &index) const;
  Outcome step(const std::vector<std::shared_ptr<Tensor>> &batch,
               std::vector<std::shared_ptr<Tensor>> &results);
  // Queues a step; the request is complete at once where the instance was cancelled.
  Outcome start(std::shared_ptr<Request> request);
  void cancel();

  // How many results a call may ask for: all or none.
  Outcome checkResults(const coll_tensor *results, size_t count) const;

private:
  class Core;

  explicit Instance(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  std::shared_ptr<Core> core_;
  std::mutex workerMutex_;
  std::thread worker_; // runs queued steps; started by the first
};

} // namespace coll::embed

#endif // COLL_EMBED_C_INSTANCE_H
