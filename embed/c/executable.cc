#include "embed/c/executable.h"

#include "embed/c/structs.h"
#include "runtime/base/dtype.h"
#include "runtime/step/class_check.h"
#include "runtime/step/rank_memory.h"
#include "runtime/step/rank_state.h"

namespace coll::embed {

namespace {

std::string writeMesh(const rt::Descriptor &descriptor) {
  std::string text;
  for (const rt::MeshAxis &axis : descriptor.axes)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
}

// As the dialect writes it: [{"dp"}, {}].
std::string writeSharding(const rt::TensorInfo &info) {
  std::string text;
  for (const rt::DimSharding &dim : info.sharding) {
    std::string axes;
    for (const std::string &axis : dim.axes)
      axes += (axes.empty() ? "\"" : ", \"") + axis + "\"";
    text += (text.empty() ? "{" : ", {") + axes + "}";
  }
  return "[" + text + "]";
}

Outcome noSuch(const char *what, size_t index, size_t count) {
  return invalid("there is no " + std::string(what) + " " + std::to_string(index) +
                 ": the executable has " + std::to_string(count));
}

} // namespace

// Classes that do not form one job are refused when an instance is made of them.
static rt::Descriptor signatureOf(const std::vector<rt::Program> &classes) {
  rt::Result<rt::Job> job = rt::checkClasses(classes);
  return job ? job->signature : classes.front().descriptor;
}

Executable::Executable(StepCode code)
    : code_(std::move(code)), signature_(signatureOf(code_.classes)),
      mesh_(writeMesh(descriptor())) {
  for (const rt::TensorInfo &arg : descriptor().args) {
    argShardings_.push_back(writeSharding(arg));
    numBatch_ += !arg.isState();
  }
  for (size_t k = 0; k < descriptor().results.size(); ++k) {
    resultShardings_.push_back(writeSharding(descriptor().results[k]));
    const int arg = rt::updatedArg(descriptor(), k);
    numOutputs_ += arg < 0 || !descriptor().args[static_cast<size_t>(arg)].isState();
  }
  for (size_t c = 0; c < classes().size(); ++c)
    for (const rt::OpInfo &op : classes()[c].descriptor.ops)
      collectives_.push_back({c, &op});
}

coll_executable_info Executable::describe() const {
  coll_executable_info info = {};
  info.mesh = mesh_.c_str();
  info.num_ranks = descriptor().numRanks();
  info.num_classes = static_cast<int32_t>(classes().size());
  info.is_proved = isProved;
  info.is_from_cache = isFromCache;
  info.num_args = descriptor().args.size();
  info.num_results = descriptor().results.size();
  info.num_state = numState();
  info.num_batch = numBatch_;
  info.num_outputs = numOutputs_;
  info.num_collectives = collectives_.size();
  info.num_stages = stages.size();
  info.num_messages = messages.size();
  info.is_on_gpu = descriptor().isOnGpu;
  return info;
}

coll_value_info Executable::describeValue(const rt::TensorInfo &value,
                                          const std::string &sharding) const {
  coll_value_info info = {};
  info.name = value.name.c_str();
  info.role = value.role.c_str();
  info.sharding = sharding.c_str();
  info.dtype = value.dtype;
  info.num_dims = static_cast<int32_t>(value.shape.size());
  info.shape = value.shape.data();
  info.local_shape = value.local.data();
  info.updates = -1;
  return info;
}

Outcome Executable::describeArg(size_t index, coll_value_info &info) const {
  if (index >= descriptor().args.size())
    return noSuch("argument", index, descriptor().args.size());
  info = describeValue(descriptor().args[index], argShardings_[index]);
  return nullptr;
}

Outcome Executable::describeResult(size_t index, coll_value_info &info) const {
  if (index >= descriptor().results.size())
    return noSuch("result", index, descriptor().results.size());
  info = describeValue(descriptor().results[index], resultShardings_[index]);
  info.updates = rt::updatedArg(descriptor(), index);
  return nullptr;
}

Outcome Executable::describeCollective(size_t index, coll_collective_info &info) const {
  if (index >= collectives_.size())
    return noSuch("collective", index, collectives_.size());
  const auto &[classIndex, op] = collectives_[index];
  const std::vector<rt::GroupLists> &groups = classes()[classIndex].descriptor.groups;
  const size_t group = static_cast<size_t>(op->group);
  const std::optional<CollDtype> dtype = rt::parseDtype(op->dtype);
  info.kind = op->kind.c_str();
  info.name = op->name.c_str();
  info.location = op->loc.c_str();
  info.reason = op->why.c_str();
  info.reduction = op->reduction.c_str();
  info.dtype = dtype ? *dtype : -1;
  info.is_init = op->isInit;
  info.rank_class = static_cast<int32_t>(classIndex);
  info.group_size = op->group >= 0 && group < groups.size() && !groups[group].empty()
                        ? static_cast<int32_t>(groups[group].front().size())
                        : 0;
  info.bytes = op->bytes;
  return nullptr;
}

Outcome Executable::describeMemory(int32_t rank, coll_memory_info &info) const {
  for (const rt::Program &program : classes()) {
    if (!program.descriptor.hasRank(rank))
      continue;
    const rt::RankMemory memory = rt::memoryOf(program.descriptor);
    info.state = memory.state;
    info.batch = memory.batch + memory.nextBatch;
    info.outputs = memory.outputs;
    info.temporaries = memory.temporaries;
    return nullptr;
  }
  return invalid("there is no rank " + std::to_string(rank) + ": the executable has " +
                 std::to_string(descriptor().numRanks()));
}

} // namespace coll::embed

using namespace coll::embed;

// Finds the executable, has `fill` fill in a struct, and copies it to the caller's.
template <typename Info, typename Fill>
static coll_error describeInto(coll_executable executable, const char *name, Info *out, Fill fill) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Executable> object;
    COLL_EMBED_TRY(findObject(executable, "executable", object));
    Info info = {};
    COLL_EMBED_TRY(fill(*object, info));
    return writeStruct(info, name, out);
  });
}

coll_error coll_executable_describe(coll_executable executable, coll_executable_info *info) {
  return describeInto(executable, "coll_executable_info", info,
                      [](const Executable &object, coll_executable_info &filled) -> Outcome {
                        filled = object.describe();
                        return nullptr;
                      });
}

coll_error coll_executable_arg(coll_executable executable, size_t index, coll_value_info *info) {
  return describeInto(executable, "coll_value_info", info,
                      [=](const Executable &object, coll_value_info &filled) {
                        return object.describeArg(index, filled);
                      });
}

coll_error coll_executable_result(coll_executable executable, size_t index, coll_value_info *info) {
  return describeInto(executable, "coll_value_info", info,
                      [=](const Executable &object, coll_value_info &filled) {
                        return object.describeResult(index, filled);
                      });
}

coll_error coll_executable_collective(coll_executable executable, size_t index,
                                      coll_collective_info *info) {
  return describeInto(executable, "coll_collective_info", info,
                      [=](const Executable &object, coll_collective_info &filled) {
                        return object.describeCollective(index, filled);
                      });
}

coll_error coll_executable_memory(coll_executable executable, int32_t rank,
                                  coll_memory_info *info) {
  return describeInto(executable, "coll_memory_info", info,
                      [=](const Executable &object, coll_memory_info &filled) {
                        return object.describeMemory(rank, filled);
                      });
}

coll_error coll_executable_stage(coll_executable executable, size_t index, coll_stage_info *info) {
  return describeInto(executable, "coll_stage_info", info,
                      [=](const Executable &object, coll_stage_info &filled) -> Outcome {
                        if (object.stages.empty())
                          return invalid("the executable has no stages: compile it with "
                                         "coll_compile_options.keep_stages");
                        if (index >= object.stages.size())
                          return noSuch("stage", index, object.stages.size());
                        const StageText &stage = object.stages[index];
                        filled.name = stage.name.c_str();
                        filled.text = stage.text.c_str();
                        filled.bytes = stage.text.size();
                        return nullptr;
                      });
}

coll_error coll_executable_message(coll_executable executable, size_t index,
                                   coll_message_info *info) {
  return describeInto(executable, "coll_message_info", info,
                      [=](const Executable &object, coll_message_info &filled) -> Outcome {
                        if (index >= object.messages.size())
                          return noSuch("message", index, object.messages.size());
                        const MessageText &message = object.messages[index];
                        filled.severity = message.severity;
                        filled.location = message.location.c_str();
                        filled.text = message.text.c_str();
                        return nullptr;
                      });
}

coll_error coll_executable_free(coll_executable executable) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Executable> object;
    return freeHandle(executable, "executable", object);
  });
}
