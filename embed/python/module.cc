//===- module.cc - the extension module coll._coll ------------------------------===//
//
// Objects of the C API (embed/c/coll.h) as Python objects; what a user sees is in coll/*.py. Arrays
// come in through DLPack or the buffer protocol without a copy, and go out as NumPy arrays that own
// their memory. Element types that NumPy lacks travel as unsigned integers of their width together
// with the type's code; the Python side gives them their name.
//
//===----------------------------------------------------------------------------===//

#include "embed/python/convert.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace coll::python {
namespace {

// Steps that take longer than this are waited for in turns, so that Ctrl-C is seen.
constexpr auto kSignalPeriod = std::chrono::milliseconds(50);

/// Is set by the library's thread when a step is complete.
class Completion {
public:
  static void set(void *user, coll_request) {
    auto *self = static_cast<Completion *>(user);
    std::lock_guard lock(self->mutex_);
    self->isSet_ = true;
    self->changed_.notify_all(); // under the lock: the waiter destroys the object
  }

  /// Waits without Python's lock. Whether the step is complete.
  bool waitFor(std::chrono::milliseconds longest) {
    nb::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest, [&] { return isSet_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isSet_ = false;
};

class Instance : public Handle<coll_instance, coll_instance_free> {
public:
  using Handle::Handle;

  void setState(const std::vector<Input> &state) {
    std::vector<Tensor> tensors = wrap(state);
    std::vector<coll_tensor> handles = handlesOf(tensors);
    nb::gil_scoped_release release;
    check(coll_instance_set_state(get(), handles.data(), handles.size()));
  }

  Output state(size_t index) {
    Tensor tensor;
    {
      nb::gil_scoped_release release;
      check(coll_instance_state(get(), index, tensor.slot()));
    }
    return toOutput(std::move(tensor));
  }

  std::vector<Output> step(const std::vector<Input> &batch, size_t numResults) {
    std::vector<Tensor> tensors = wrap(batch);
    std::vector<coll_tensor> handles = handlesOf(tensors), results(numResults);
    const auto begin = std::chrono::steady_clock::now();
    if (isQuick_) {
      nb::gil_scoped_release release;
      check(coll_instance_step(get(), handles.data(), handles.size(), results.data(), numResults));
    } else {
      stepInTurns(handles, results);
    }
    isQuick_ = std::chrono::steady_clock::now() - begin < kSignalPeriod;
    std::vector<Output> outputs;
    for (coll_tensor result : results)
      outputs.push_back(toOutput(Tensor(result)));
    return outputs;
  }

  void cancel() {
    nb::gil_scoped_release release;
    check(coll_instance_cancel(get()));
  }

private:
  /// Runs a step and handles Python's signals meanwhile; one that raises cancels the step.
  void stepInTurns(const std::vector<coll_tensor> &batch, std::vector<coll_tensor> &results) {
    Completion completion;
    Request request;
    check(coll_instance_start(get(), batch.data(), batch.size(), &Completion::set, &completion,
                              request.slot()));
    bool isInterrupted = false;
    while (!completion.waitFor(kSignalPeriod)) {
      if (!isInterrupted && PyErr_CheckSignals() != 0) {
        isInterrupted = true; // the completion has to outlive the step's callback
        coll_error_free(coll_instance_cancel(get()));
      }
    }
    coll_error error = coll_request_wait(request.get(), -1, results.data(), results.size());
    if (!isInterrupted)
      return check(error);
    coll_error_free(error);
    throw nb::python_error();
  }

  bool isQuick_ = false;
};

class Executable : public Handle<coll_executable, coll_executable_free> {
public:
  using Handle::Handle;

  nb::dict describe() const;
  nb::dict arg(size_t index) const { return value(coll_executable_arg, index); }
  nb::dict result(size_t index) const { return value(coll_executable_result, index); }
  nb::dict collective(size_t index) const;
  nb::dict memory(int32_t rank) const;
  nb::dict stage(size_t index) const;
  nb::dict message(size_t index) const;
  Instance instantiate(std::optional<std::string> backend, std::optional<std::string> affinity,
                       int64_t timeoutUs, int32_t rank, int32_t worldSize,
                       std::optional<std::string> bootstrap,
                       std::optional<std::string> secret) const;

private:
  template <typename Get>
  nb::dict value(Get get, size_t index) const;
};

nb::dict Executable::describe() const {
  coll_executable_info info = COLL_INIT(coll_executable_info);
  check(coll_executable_describe(get(), &info));
  nb::dict dict;
  dict["mesh"] = info.mesh;
  dict["num_ranks"] = info.num_ranks;
  dict["num_classes"] = info.num_classes;
  dict["is_proved"] = bool(info.is_proved);
  dict["is_from_cache"] = bool(info.is_from_cache);
  dict["num_args"] = info.num_args;
  dict["num_results"] = info.num_results;
  dict["num_state"] = info.num_state;
  dict["num_outputs"] = info.num_outputs;
  dict["num_collectives"] = info.num_collectives;
  dict["num_stages"] = info.num_stages;
  dict["num_messages"] = info.num_messages;
  dict["is_on_gpu"] = bool(info.is_on_gpu);
  return dict;
}

template <typename Get>
nb::dict Executable::value(Get getInfo, size_t index) const {
  coll_value_info info = COLL_INIT(coll_value_info);
  check(getInfo(get(), index, &info));
  nb::list shape, local;
  for (int32_t d = 0; d < info.num_dims; ++d) {
    shape.append(info.shape[d]);
    local.append(info.local_shape[d]);
  }
  nb::dict dict;
  dict["name"] = info.name;
  dict["role"] = info.role;
  dict["sharding"] = info.sharding;
  dict["dtype"] = info.dtype;
  dict["shape"] = nb::tuple(shape);
  dict["local_shape"] = nb::tuple(local);
  dict["updates"] = info.updates;
  return dict;
}

nb::dict Executable::collective(size_t index) const {
  coll_collective_info info = COLL_INIT(coll_collective_info);
  check(coll_executable_collective(get(), index, &info));
  nb::dict dict;
  dict["kind"] = info.kind;
  dict["name"] = info.name;
  dict["location"] = info.location;
  dict["reason"] = info.reason;
  dict["reduction"] = info.reduction;
  dict["dtype"] = info.dtype;
  dict["is_init"] = bool(info.is_init);
  dict["rank_class"] = info.rank_class;
  dict["group_size"] = info.group_size;
  dict["bytes"] = info.bytes;
  return dict;
}

nb::dict Executable::memory(int32_t rank) const {
  coll_memory_info info = COLL_INIT(coll_memory_info);
  check(coll_executable_memory(get(), rank, &info));
  nb::dict dict;
  dict["state"] = info.state;
  dict["batch"] = info.batch;
  dict["outputs"] = info.outputs;
  dict["temporaries"] = info.temporaries;
  return dict;
}

nb::dict Executable::stage(size_t index) const {
  coll_stage_info info = COLL_INIT(coll_stage_info);
  check(coll_executable_stage(get(), index, &info));
  nb::dict dict;
  dict["name"] = info.name;
  dict["text"] = nb::str(info.text, info.bytes);
  return dict;
}

nb::dict Executable::message(size_t index) const {
  coll_message_info info = COLL_INIT(coll_message_info);
  check(coll_executable_message(get(), index, &info));
  nb::dict dict;
  dict["severity"] = info.severity;
  dict["location"] = info.location;
  dict["text"] = info.text;
  return dict;
}

Instance Executable::instantiate(std::optional<std::string> backend,
                                 std::optional<std::string> affinity, int64_t timeoutUs,
                                 int32_t rank, int32_t worldSize,
                                 std::optional<std::string> bootstrap,
                                 std::optional<std::string> secret) const {
  coll_instance_options options = COLL_INIT(coll_instance_options);
  options.backend = textOrNull(backend);
  options.affinity = textOrNull(affinity);
  options.timeout_us = timeoutUs;
  options.rank = rank;
  options.world_size = worldSize;
  options.bootstrap = textOrNull(bootstrap);
  options.secret = textOrNull(secret);
  Instance instance;
  nb::gil_scoped_release release;
  check(coll_instance_create(get(), &options, instance.slot()));
  return instance;
}

std::vector<const char *> toTexts(const std::vector<std::string> &list) {
  std::vector<const char *> texts;
  for (const std::string &text : list)
    texts.push_back(text.c_str());
  return texts;
}

class Context : public Handle<coll_context, coll_context_free> {
public:
  explicit Context(std::optional<std::string> cacheFolder) {
    coll_context_options options = COLL_INIT(coll_context_options);
    options.cache_folder = textOrNull(cacheFolder);
    check(coll_context_create(&options, slot()));
  }

  Executable compile(nb::bytes text, const std::string &name, int32_t ranks, int32_t stateArgs,
                     std::optional<std::string> mesh, std::optional<std::string> strategy,
                     const std::vector<std::string> &shards, std::optional<std::string> root,
                     std::optional<std::string> route, int32_t accumulate, int32_t stages,
                     int32_t microBatches, std::optional<std::string> schedule,
                     const std::vector<std::string> &stagePatterns,
                     const std::vector<std::string> &stageMeshes, int32_t staleness, bool proof,
                     bool keepStages, bool untrusted, std::optional<std::string> parser,
                     int64_t parserTimeoutUs, uint64_t parserMemory,
                     std::optional<std::string> device,
                     std::optional<std::string> matmulPrecision) const {
    coll_compile_options options = COLL_INIT(coll_compile_options);
    check(coll_compile_options_init(&options, sizeof options));
    options.name = name.c_str();
    options.ranks = ranks;
    options.state_args = stateArgs;
    options.mesh = textOrNull(mesh);
    options.strategy = textOrNull(strategy);
    options.root = textOrNull(root);
    options.route = textOrNull(route);
    options.accumulate = accumulate;
    options.stages = stages;
    options.micro_batches = microBatches;
    options.schedule = textOrNull(schedule);
    const std::vector<const char *> placed = toTexts(stagePatterns), meshes = toTexts(stageMeshes);
    options.stage_patterns = placed.data();
    options.num_stage_patterns = placed.size();
    options.stage_meshes = meshes.data();
    options.num_stage_meshes = meshes.size();
    options.staleness = staleness;
    options.skip_proof = !proof;
    options.keep_stages = keepStages;
    options.parse_apart = untrusted;
    options.parser = textOrNull(parser);
    options.parser_timeout_us = parserTimeoutUs;
    options.parser_memory = parserMemory;
    options.device = textOrNull(device);
    options.matmul_precision = textOrNull(matmulPrecision);
    const std::vector<const char *> patterns = toTexts(shards);
    options.shards = patterns.data();
    options.num_shards = patterns.size();
    Executable executable;
    const char *data = text.c_str();
    const bool isBytecode = std::string_view(data, text.size()).substr(0, 4) == "ML\xefR";
    const size_t bytes = text.size() + !isBytecode; // Python ends its bytes with a zero
    nb::gil_scoped_release release;
    check(coll_compile(get(), data, bytes, &options, executable.slot()));
    return executable;
  }

  Executable load(const std::string &path) const {
    Executable executable;
    nb::gil_scoped_release release;
    check(coll_load(get(), path.c_str(), executable.slot()));
    return executable;
  }
};

} // namespace

void bind(nb::module_ &module) {
  registerError(module);
  bindExchange(module);
  module.def("version", &coll_version);
  module.def("dtype_size", &coll_dtype_size, "dtype"_a);
  nb::class_<Context>(module, "Context")
      .def(nb::init<std::optional<std::string>>(), "cache_folder"_a = nb::none())
      .def("compile", &Context::compile, "text"_a, "name"_a, "ranks"_a, "state_args"_a,
           "mesh"_a.none(), "strategy"_a.none(), "shards"_a, "root"_a.none(), "route"_a.none(),
           "accumulate"_a, "stages"_a, "micro_batches"_a, "schedule"_a.none(), "stage_patterns"_a,
           "stage_meshes"_a, "staleness"_a, "proof"_a, "keep_stages"_a, "untrusted"_a,
           "parser"_a.none(), "parser_timeout_us"_a, "parser_memory"_a, "device"_a.none(),
           "matmul_precision"_a.none())
      .def("load", &Context::load, "path"_a);
  nb::class_<Executable>(module, "Executable")
      .def("describe", &Executable::describe)
      .def("arg", &Executable::arg, "index"_a)
      .def("result", &Executable::result, "index"_a)
      .def("collective", &Executable::collective, "index"_a)
      .def("memory", &Executable::memory, "rank"_a)
      .def("stage", &Executable::stage, "index"_a)
      .def("message", &Executable::message, "index"_a)
      .def("instantiate", &Executable::instantiate, "backend"_a.none(), "affinity"_a.none(),
           "timeout_us"_a, "rank"_a, "world_size"_a, "bootstrap"_a.none(), "secret"_a.none());
  nb::class_<Instance>(module, "Instance")
      .def("set_state", &Instance::setState, "state"_a)
      .def("state", &Instance::state, "index"_a)
      .def("step", &Instance::step, "batch"_a, "num_results"_a)
      .def("cancel", &Instance::cancel);
}

} // namespace coll::python

NB_MODULE(_coll, module) { coll::python::bind(module); }
