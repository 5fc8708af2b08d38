#include "embed/c/instance.h"

#include <cstdint>
#include <deque>
#include <system_error>

namespace coll::embed {

namespace {

// The tensors' elements, and copies of those that are not dense.
class Views {
public:
  explicit Views(const std::vector<std::shared_ptr<Tensor>> &tensors) : scratch_(tensors.size()) {
    for (size_t i = 0; i < tensors.size(); ++i)
      views_.push_back(tensors[i]->view(scratch_[i]));
  }
  const std::vector<rt::TensorView> &get() const { return views_; }

private:
  std::vector<std::vector<char>> scratch_;
  std::vector<rt::TensorView> views_;
};

// A request, and its batch as the executor takes it.
struct Ready {
  explicit Ready(std::shared_ptr<Request> queued)
      : request(std::move(queued)), views(request->batch()) {}
  const std::shared_ptr<Request> request;
  const Views views;
};

} // namespace

// State that the instance and its worker share. Calls take a number and are served in that order,
// whether they block or are queued.
class Instance::Core {
public:
  Core(std::shared_ptr<Executable> executable, std::unique_ptr<rt::Executor> executor)
      : executable_(std::move(executable)), executor_(std::move(executor)) {}

  const Executable &executable() const { return *executable_; }

  // Waits for its turn and calls `body` with the executor.
  template <typename Body>
  Outcome serve(Body body) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (std::this_thread::get_id() == workerId_)
      return invalid("a step's callback may queue steps of its instance, but not wait for one");
    const uint64_t number = next_++;
    turn_.wait(lock, [&] { return serving_ == number; });
    lock.unlock();
    Outcome outcome = isCancelled() ? cancelled() : body(*executor_);
    endTurn();
    return outcome;
  }

  // `next`: the batch of the next step, if it is known; null: it is not.
  Outcome step(rt::Executor &executor, const std::vector<rt::TensorView> &batch,
               const std::vector<rt::TensorView> *next,
               std::vector<std::shared_ptr<Tensor>> &results);

  void enqueue(std::shared_ptr<Request> request) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back({next_++, std::move(request)});
    }
    turn_.notify_all();
  }

  void cancel() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      isCancelled_ = true;
    }
    executor_->cancel();
  }

  // The worker's life, until stop() was called and the queue is empty.
  void work();
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      isStopping_ = true;
    }
    turn_.notify_all();
  }

  Outcome fromStatus(const rt::Status &status) const {
    return !status.ok() && isCancelled() ? cancelled() : fail(status);
  }

private:
  struct Queued {
    uint64_t number;
    std::shared_ptr<Request> request;
  };

  // Runs a queued step. `following`: the request after it, if there is one.
  Outcome runQueued(const std::shared_ptr<Request> &request,
                    const std::shared_ptr<Request> &following,
                    std::vector<std::shared_ptr<Tensor>> &results);

  bool isCancelled() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return isCancelled_;
  }
  static Outcome cancelled() { return fail(COLL_CANCELLED, "the instance was cancelled"); }

  void endTurn() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++serving_;
    }
    turn_.notify_all();
  }

  const std::shared_ptr<Executable> executable_; // outlives the executor, which runs its code
  const std::unique_ptr<rt::Executor> executor_;

  mutable std::mutex mutex_;
  std::condition_variable turn_;
  uint64_t next_ = 0, serving_ = 0; // numbers
  std::deque<Queued> queue_;
  std::unique_ptr<Ready> ahead_; // the worker's: what the last step has named as the next one
  std::thread::id workerId_;
  bool isCancelled_ = false, isStopping_ = false;
};

Outcome Instance::Core::step(rt::Executor &executor, const std::vector<rt::TensorView> &batch,
                             const std::vector<rt::TensorView> *next,
                             std::vector<std::shared_ptr<Tensor>> &results) {
  rt::Result<std::vector<rt::HostTensor>> made = executor.stepFrom(batch, next);
  if (!made)
    return fromStatus(made.status());
  for (rt::HostTensor &tensor : *made)
    results.push_back(std::make_shared<Tensor>(std::move(tensor)));
  return nullptr;
}

Outcome Instance::Core::runQueued(const std::shared_ptr<Request> &request,
                                  const std::shared_ptr<Request> &following,
                                  std::vector<std::shared_ptr<Tensor>> &results) {
  try {
    // The executor recognises a batch by its addresses.
    const std::unique_ptr<Ready> now =
        ahead_ && ahead_->request == request ? std::move(ahead_) : std::make_unique<Ready>(request);
    const bool isAhead = following && executor_->descriptor().isOnGpu;
    ahead_ = isAhead ? std::make_unique<Ready>(following) : nullptr;
    return step(*executor_, now->views.get(), ahead_ ? &ahead_->views.get() : nullptr, results);
  } catch (const std::bad_alloc &) {
    return fail(COLL_DEVICE, "out of memory");
  }
}

void Instance::Core::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  workerId_ = std::this_thread::get_id();
  while (true) {
    turn_.wait(lock,
               [&] { return queue_.empty() ? isStopping_ : queue_.front().number == serving_; });
    if (queue_.empty())
      return;
    const std::shared_ptr<Request> request = std::move(queue_.front().request);
    queue_.pop_front();
    const std::shared_ptr<Request> following = queue_.empty() ? nullptr : queue_.front().request;
    lock.unlock();
    std::vector<std::shared_ptr<Tensor>> results;
    Outcome failure = isCancelled() ? cancelled() : runQueued(request, following, results);
    endTurn();
    request->complete(std::move(failure), std::move(results));
    lock.lock();
  }
}

Outcome Instance::create(std::shared_ptr<Executable> executable, const rt::ExecutorOptions &options,
                         std::shared_ptr<Instance> &instance) {
  rt::Result<std::unique_ptr<rt::Executor>> executor =
      rt::Executor::create(executable->classes(), options);
  if (!executor)
    return fail(executor.status());
  instance.reset(new Instance(std::make_shared<Core>(std::move(executable), executor.take())));
  return nullptr;
}

Instance::~Instance() {
  core_->cancel();
  core_->stop();
  if (!worker_.joinable())
    return;
  // A callback may free its own instance: the worker then ends by itself.
  if (worker_.get_id() == std::this_thread::get_id())
    worker_.detach();
  else
    worker_.join();
}

Outcome Instance::setState(const std::vector<std::shared_ptr<Tensor>> &state) {
  return core_->serve([&](rt::Executor &executor) {
    Views views(state);
    return core_->fromStatus(executor.initializeFrom(views.get()));
  });
}

Outcome Instance::state(size_t index, std::shared_ptr<Tensor> &tensor) {
  if (index >= core_->executable().numState())
    return invalid("there is no state argument " + std::to_string(index) + ": the step has " +
                   std::to_string(core_->executable().numState()));
  return core_->serve([&](rt::Executor &executor) -> Outcome {
    rt::Result<std::vector<rt::HostTensor>> found = executor.stateAt(index);
    if (!found)
      return core_->fromStatus(found.status());
    if (!found->empty())
      tensor = std::make_shared<Tensor>(std::move(found->front()));
    return nullptr;
  });
}

Outcome Instance::findState(const std::string &name, size_t &index) const {
  const std::vector<rt::StateInfo> &states = core_->executable().descriptor().states;
  for (size_t place = 0; place < states.size(); ++place)
    if (states[place].info.name == name) {
      index = place;
      return nullptr;
    }
  return invalid("no state argument is called \"" + name + "\"");
}

Outcome Instance::step(const std::vector<std::shared_ptr<Tensor>> &batch,
                       std::vector<std::shared_ptr<Tensor>> &results) {
  return core_->serve([&](rt::Executor &executor) {
    Views views(batch);
    return core_->step(executor, views.get(), /*next=*/nullptr, results);
  });
}

Outcome Instance::start(std::shared_ptr<Request> request) {
  {
    std::lock_guard<std::mutex> lock(workerMutex_);
    if (!worker_.joinable()) {
      try {
        worker_ = std::thread([core = core_] { core->work(); });
      } catch (const std::system_error &error) {
        return fail(COLL_DEVICE, std::string("cannot start a thread: ") + error.what());
      }
    }
  }
  core_->enqueue(std::move(request));
  return nullptr;
}

void Instance::cancel() { core_->cancel(); }

Outcome Instance::checkResults(const coll_tensor *results, size_t count) const {
  const size_t outputs = core_->executable().numOutputs();
  if (count != 0 && count != outputs)
    return invalid("num_results is " + std::to_string(count) + ", but a step has " +
                   std::to_string(outputs) + " results");
  if (count != 0 && !results)
    return invalid("results is null");
  return nullptr;
}

} // namespace coll::embed
