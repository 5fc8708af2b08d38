#include "runtime/step/class_check.h"

#include "runtime/program/host_tensor.h"
#include "runtime/step/rank_state.h"

#include <map>

namespace coll::rt {

namespace {

bool sameMesh(const Descriptor &a, const Descriptor &b) {
  if (a.axes.size() != b.axes.size())
    return false;
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (a.axes[i].name != b.axes[i].name || a.axes[i].size != b.axes[i].size)
      return false;
  return true;
}

bool sameSharding(const TensorInfo &a, const TensorInfo &b) {
  for (size_t d = 0; d < a.sharding.size(); ++d)
    if (a.sharding[d].axes != b.sharding[d].axes || a.sharding[d].unit != b.sharding[d].unit)
      return false;
  return true;
}

// Adds a class's tensors to those of the earlier classes, by their numbers.
Status joinTensors(const char *what, const std::vector<TensorInfo> &tensors,
                   std::map<int, TensorInfo> &joined) {
  for (const TensorInfo &b : tensors) {
    auto [known, isNew] = joined.try_emplace(b.index, b);
    const TensorInfo &a = known->second;
    if (isNew)
      continue;
    std::string which = std::string(what) + " " + std::to_string(b.index) + " (\"" + a.name + "\")";
    if (a.role != b.role)
      return Status::invalid(which + " has role \"" + b.role + "\"");
    if (a.dtype != b.dtype || a.shape != b.shape)
      return Status::invalid(which + " is " + typeString(b.dtype, b.shape) + " instead of " +
                             typeString(a.dtype, a.shape));
    if (!sameSharding(a, b))
      return Status::invalid(which + " is sharded differently");
  }
  return {};
}

Result<std::vector<TensorInfo>> takeJoined(const char *what, std::map<int, TensorInfo> joined) {
  std::vector<TensorInfo> tensors;
  for (auto &[index, info] : joined) {
    if (index != static_cast<int>(tensors.size()))
      return Status::invalid("no rank class has " + std::string(what) + " " +
                             std::to_string(tensors.size()));
    tensors.push_back(std::move(info));
  }
  return tensors;
}

// The results, with the arguments that they update named by their numbers in the step.
std::vector<TensorInfo> numberUpdates(const Descriptor &descriptor) {
  std::vector<TensorInfo> results = descriptor.results;
  for (TensorInfo &result : results)
    if (result.arg >= 0)
      result.arg = descriptor.args[static_cast<size_t>(result.arg)].index;
  return results;
}

// A state result that names no argument swaps buffers with the argument it updates.
Status checkUpdates(const Descriptor &descriptor) {
  for (size_t k = 0; k < descriptor.results.size(); ++k) {
    const TensorInfo &result = descriptor.results[k];
    int arg = updatedArg(descriptor, k);
    std::string which = "result " + std::to_string(k) + " (\"" + result.name + "\")";
    if (result.isState() && arg < 0)
      return Status::invalid(which + " updates no state argument");
    if (arg < 0)
      continue;
    const TensorInfo &updated = descriptor.args[static_cast<size_t>(arg)];
    if (updated.dtype != result.dtype || updated.local != result.local ||
        !sameSharding(updated, result))
      return Status::invalid(which + " does not have the type and sharding of argument " +
                             std::to_string(arg));
  }
  return {};
}

} // namespace

Result<Job> checkClasses(const std::vector<Program> &classes) {
  if (classes.empty())
    return Status::invalid("no program");
  const Descriptor &first = classes[0].descriptor;
  std::vector<int> classOfRank(static_cast<size_t>(first.numRanks()), -1);
  std::map<int, TensorInfo> args, results;
  for (size_t c = 0; c < classes.size(); ++c) {
    const Descriptor &descriptor = classes[c].descriptor;
    std::string where = "rank class " + std::to_string(c);
    if (!classes[c].step)
      return Status::invalid(where + " has no step function");
    if (!sameMesh(first, descriptor))
      return Status::invalid(where + " has another mesh than rank class 0");
    if (descriptor.isOnGpu != first.isOnGpu)
      return Status::invalid(where + " is for another device than rank class 0");
    if ((classes[c].init != nullptr) != (classes[0].init != nullptr))
      return Status::invalid("some rank classes have an init function, others have none");
    COLL_RETURN_IF_ERROR(joinTensors("argument", descriptor.args, args).annotate(where));
    COLL_RETURN_IF_ERROR(joinTensors("result", numberUpdates(descriptor), results).annotate(where));
    COLL_RETURN_IF_ERROR(checkUpdates(descriptor).annotate(where));
    for (auto [begin, end] : descriptor.ranks)
      for (int rank = begin; rank <= end; ++rank) {
        int &owner = classOfRank[static_cast<size_t>(rank)];
        if (owner >= 0)
          return Status::invalid("rank " + std::to_string(rank) + " is in rank classes " +
                                 std::to_string(owner) + " and " + std::to_string(c));
        owner = static_cast<int>(c);
      }
  }
  for (size_t rank = 0; rank < classOfRank.size(); ++rank)
    if (classOfRank[rank] < 0)
      return Status::invalid("rank " + std::to_string(rank) + " is in no rank class");
  Job job{std::move(classOfRank), first};
  Result<std::vector<TensorInfo>> allArgs = takeJoined("argument", std::move(args));
  if (!allArgs)
    return allArgs.status();
  Result<std::vector<TensorInfo>> allResults = takeJoined("result", std::move(results));
  if (!allResults)
    return allResults.status();
  job.signature.args = allArgs.take();
  Result<std::vector<StateInfo>> states = listStates(job.signature.args);
  if (!states)
    return states.status();
  job.signature.states = states.take();
  job.signature.results = allResults.take();
  return job;
}

} // namespace coll::rt
