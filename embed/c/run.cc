// run.cc - the functions of the C API that run steps.

#include "embed/c/instance.h"
#include "embed/c/structs.h"

#include <cstdint>

namespace coll::embed {
namespace {

constexpr int64_t kDefaultTimeoutUs = 60'000'000;
constexpr int64_t kMostTimeoutUs = 1'000'000'000'000'000;

Outcome readOptions(const coll_instance_options &given, rt::ExecutorOptions &options) {
  if (given.timeout_us < 0 || given.timeout_us > kMostTimeoutUs)
    return invalid("timeout_us is " + std::to_string(given.timeout_us) + ": expected 0 to " +
                   std::to_string(kMostTimeoutUs));
  options.backend = orElse(given.backend, "threads");
  options.affinity = orElse(given.affinity, "none");
  options.timeoutUs = given.timeout_us ? given.timeout_us : kDefaultTimeoutUs;
  if (given.world_size == 0)
    return nullptr;
  if (given.world_size < 0 || given.rank < 0 || given.rank >= given.world_size)
    return invalid("there is no rank " + std::to_string(given.rank) + " of " +
                   std::to_string(given.world_size));
  if (!given.bootstrap || !given.secret)
    return invalid("a job of several processes needs bootstrap and secret");
  rt::JobOptions &job = options.job.emplace();
  job.rank = given.rank;
  job.worldSize = given.world_size;
  job.bootstrap = given.bootstrap;
  job.secret = given.secret;
  job.iface = orElse(given.interface, "");
  return nullptr;
}

Outcome findTensors(const coll_tensor *handles, size_t count, const char *what,
                    std::vector<std::shared_ptr<Tensor>> &tensors) {
  if (count > 0 && !handles)
    return invalid(std::string(what) + " is null");
  for (size_t i = 0; i < count; ++i) {
    const std::string name = std::string(what) + "[" + std::to_string(i) + "]";
    COLL_EMBED_TRY(findObject(handles[i], name.c_str(), tensors.emplace_back()));
  }
  return nullptr;
}

// Handles for the results; in a process without rank 0 there are none, and the ids are 0.
void giveResults(std::vector<std::shared_ptr<Tensor>> tensors, coll_tensor *results, size_t count) {
  for (size_t k = 0; k < count; ++k)
    results[k].id = 0;
  for (size_t k = 0; k < std::min(count, tensors.size()); ++k)
    makeHandle(std::move(tensors[k]), &results[k]);
}

} // namespace
} // namespace coll::embed

using namespace coll::embed;

coll_error coll_instance_create(coll_executable executable, const coll_instance_options *given,
                                coll_instance *instance) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Executable> object;
    COLL_EMBED_TRY(findObject(executable, "executable", object));
    if (!instance)
      return invalid("instance is null");
    coll_instance_options raw = {};
    if (given)
      COLL_EMBED_TRY(readStruct(given, "coll_instance_options", raw));
    coll::rt::ExecutorOptions options;
    COLL_EMBED_TRY(readOptions(raw, options));
    std::shared_ptr<Instance> made;
    COLL_EMBED_TRY(Instance::create(std::move(object), options, made));
    makeHandle(std::move(made), instance);
    return nullptr;
  });
}

coll_error coll_instance_free(coll_instance instance) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(freeHandle(instance, "instance", object));
    if (object)
      object->cancel(); // another thread may still use it
    return nullptr;
  });
}

coll_error coll_instance_set_state(coll_instance instance, const coll_tensor *state,
                                   size_t num_state) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    std::vector<std::shared_ptr<Tensor>> tensors;
    COLL_EMBED_TRY(findTensors(state, num_state, "state", tensors));
    return object->setState(tensors);
  });
}

coll_error coll_instance_state(coll_instance instance, size_t index, coll_tensor *tensor) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    if (!tensor)
      return invalid("tensor is null");
    std::shared_ptr<Tensor> found;
    COLL_EMBED_TRY(object->state(index, found));
    tensor->id = 0;
    if (found)
      makeHandle(std::move(found), tensor);
    return nullptr;
  });
}

coll_error coll_instance_find_state(coll_instance instance, const char *name, size_t *index) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    if (!name || !index)
      return invalid(name ? "index is null" : "name is null");
    return object->findState(name, *index);
  });
}

coll_error coll_instance_step(coll_instance instance, const coll_tensor *batch, size_t num_batch,
                              coll_tensor *results, size_t num_results) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    COLL_EMBED_TRY(object->checkResults(results, num_results));
    std::vector<std::shared_ptr<Tensor>> tensors, made;
    COLL_EMBED_TRY(findTensors(batch, num_batch, "batch", tensors));
    COLL_EMBED_TRY(object->step(tensors, made));
    giveResults(std::move(made), results, num_results);
    return nullptr;
  });
}

coll_error coll_instance_start(coll_instance instance, const coll_tensor *batch, size_t num_batch,
                               coll_step_callback callback, void *user, coll_request *request) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    if (!request)
      return invalid("request is null");
    std::vector<std::shared_ptr<Tensor>> tensors;
    COLL_EMBED_TRY(findTensors(batch, num_batch, "batch", tensors));
    auto made = std::make_shared<Request>(std::move(tensors), callback, user);
    coll_request handle = {0};
    makeHandle(made, &handle);
    made->setHandle(handle);
    *request = handle; // before the callback may run
    if (Outcome failure = object->start(std::move(made))) {
      (void)HandleTable::get().remove(handle.id, Kind::Request);
      request->id = 0;
      return failure;
    }
    return nullptr;
  });
}

coll_error coll_request_wait(coll_request request, int64_t timeout_us, coll_tensor *results,
                             size_t num_results) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Request> object;
    COLL_EMBED_TRY(findObject(request, "request", object));
    if (num_results > 0 && !results)
      return invalid("results is null");
    std::vector<std::shared_ptr<Tensor>> tensors;
    COLL_EMBED_TRY(object->wait(timeout_us, num_results, tensors));
    giveResults(std::move(tensors), results, num_results);
    return nullptr;
  });
}

coll_error coll_request_free(coll_request request) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Request> object;
    return freeHandle(request, "request", object);
  });
}

coll_error coll_instance_cancel(coll_instance instance) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Instance> object;
    COLL_EMBED_TRY(findObject(instance, "instance", object));
    object->cancel();
    return nullptr;
  });
}
