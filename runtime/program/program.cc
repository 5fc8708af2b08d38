#include "runtime/program/program.h"

#include "runtime/base/dtype.h"

#include <algorithm>

namespace coll::rt {

int64_t TensorInfo::localBytes() const { return numElements(local).value_or(0) * dtypeSize(dtype); }

int64_t TensorInfo::globalBytes() const {
  return numElements(shape).value_or(0) * dtypeSize(dtype);
}

// The part as a tensor of its own; no rank stores it in this form.
static TensorInfo partInfo(const TensorInfo &arg, const StatePart &part) {
  TensorInfo info;
  info.name = part.name;
  info.role = arg.role;
  info.dtype = arg.dtype;
  info.shape = info.local = part.shape;
  info.sharding.resize(part.shape.size());
  return info;
}

Result<std::vector<StateInfo>> listStates(const std::vector<TensorInfo> &args) {
  size_t count = 0;
  for (const TensorInfo &arg : args)
    if (arg.isState() && !arg.isInternal)
      count += arg.parts.empty() ? 1 : arg.parts.size();
  std::vector<StateInfo> states(count);
  std::vector<bool> isTaken(count);
  for (size_t i = 0; i < args.size(); ++i)
    for (const StatePart &part : args[i].parts) {
      const size_t place = static_cast<size_t>(part.state);
      if (place >= count || isTaken[place])
        return Status::invalid("argument " + std::to_string(i) + " has state " +
                               std::to_string(part.state) +
                               ", which does not exist or occurs twice");
      isTaken[place] = true;
      states[place] = {partInfo(args[i], part), static_cast<int>(i), true, part.offset};
    }
  size_t next = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].isState() || args[i].isInternal || !args[i].parts.empty())
      continue;
    while (isTaken[next])
      ++next;
    states[next++] = {args[i], static_cast<int>(i), false, 0};
  }
  return states;
}

int Descriptor::numRanks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : axes)
    ranks *= axis.size;
  return static_cast<int>(ranks);
}

bool Descriptor::hasRank(int rank) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](const std::pair<int, int> &range) {
    return range.first <= rank && rank <= range.second;
  });
}

const OpInfo *Descriptor::findOp(int32_t op) const {
  return op >= 0 && static_cast<size_t>(op) < ops.size() ? &ops[static_cast<size_t>(op)] : nullptr;
}

const Computation *Descriptor::findComputation(int32_t op) const {
  const int64_t place = int64_t{kCollFirstComputation} - op;
  return place >= 0 && place < static_cast<int64_t>(computations.size())
             ? &computations[static_cast<size_t>(place)]
             : nullptr;
}

Result<Program> Program::create(std::string_view json, CollEntry step, CollEntry init,
                                ProgramData data) {
  if (!step)
    return Status::invalid("program without a step function");
  Result<Descriptor> descriptor = Descriptor::parse(json);
  if (!descriptor)
    return descriptor.status();
  Program program;
  program.descriptor = descriptor.take();
  program.step = step;
  program.init = init;
  program.data = data;
  if (data.constantsBytes < 0 || (data.constantsBytes > 0 && !data.constants))
    return Status::invalid("the program's constants are damaged");
  if (!program.descriptor.isOnGpu)
    return program;
  if (!data.gpuKernels)
    return program; // such a program only moves memory and calls libraries
  Result<std::vector<GpuKernel>> kernels = GpuKernel::parse(data.gpuKernels);
  if (!kernels)
    return kernels.status();
  program.kernels = kernels.take();
  if (!program.kernels.empty() && !data.gpuImage)
    return Status::invalid("the program has GPU kernels, but no image that holds them");
  return program;
}

} // namespace coll::rt
