#include "runtime/kernels/root_update/root_update.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/root_update/tuning.h"

#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr const char *kNames[] = {"sgd", "momentum", "adam", "adamw", "lion", "rmsprop"};
static_assert(std::size(kNames) == std::variant_size_v<AnyOptimizer>);

Status refuse(const PeerGroup &group, const std::string &why) {
  return Status::invalid("root update on member " + std::to_string(group.rank) + ": " + why);
}

bool aligned(const void *address, CollDtype type) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<size_t>(rt::dtypeSize(type)) == 0;
}

Status checkTable(const PeerGroup &group, const RootTable &table) {
  if (table.first[0] != 0)
    return refuse(group, "the plan does not begin with its first span");
  for (uint32_t r = 0; r < group.size; ++r) {
    if (table.first[r + 1] < table.first[r])
      return refuse(group, "the plan's spans are not in the order of their roots");
    if (table.elems[r] % kUpdateGrain)
      return refuse(group, "a root's list is not a multiple of " + std::to_string(kUpdateGrain) +
                               " elements");
    if (table.elems[r] != 0 && table.first[r + 1] == table.first[r])
      return refuse(group, "root " + std::to_string(r) + " has elements, but no spans");
  }
  if (!table.spans && table.first[group.size] > kMaxPeers)
    return refuse(group, "the plan's spans are not in GPU memory");
  return Status::okay();
}

bool anyElements(const RootTable &table, uint32_t ranks) {
  for (uint32_t r = 0; r < ranks; ++r)
    if (table.elems[r] != 0)
      return true;
  return false;
}

Status checkState(const PeerGroup &group, const RootUpdate &update, int numSlots) {
  if (update.table.elems[group.rank] == 0)
    return Status::okay();
  if (update.parameterType != kCollF32 && !update.master)
    return refuse(group, "parameters narrower than f32 need a master copy");
  if (update.parameterType == kCollF32 && update.master)
    return refuse(group, "parameters in f32 are their own master copy");
  if (!aligned(update.master, kCollF32))
    return refuse(group, "the master copy is not aligned to its elements");
  for (int k = 0; k < numSlots; ++k)
    if (!update.slots[k] || !aligned(update.slots[k], kCollF32))
      return refuse(group, "slot " + std::to_string(k) +
                               " of the optimizer's state is null or not aligned to its elements");
  return Status::okay();
}

} // namespace

const char *optimizerName(const AnyOptimizer &optimizer) { return kNames[optimizer.index()]; }

std::optional<AnyOptimizer> optimizerNamed(const std::string &name) {
  for (const AnyOptimizer &one :
       {AnyOptimizer(Sgd()), AnyOptimizer(Momentum()), AnyOptimizer(Adam()), AnyOptimizer(AdamW()),
        AnyOptimizer(Lion()), AnyOptimizer(RmsProp())})
    if (name == optimizerName(one))
      return one;
  return std::nullopt;
}

int optimizerSlots(const AnyOptimizer &optimizer) {
  return std::visit([](const auto &one) { return std::decay_t<decltype(one)>::kSlots; }, optimizer);
}

Status checkRootUpdate(const PeerGroup &group, const RootUpdate &update, int numSlots) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  for (CollDtype type : {update.gradientType, update.parameterType})
    if (type != kCollF32 && type != kCollBf16)
      return refuse(group, std::string("gradients and parameters are f32 or bf16, not ") +
                               rt::dtypeName(type));
  COLL_RETURN_IF_ERROR(checkTable(group, update.table));
  if (!update.step || reinterpret_cast<uintptr_t>(update.step) % alignof(UpdateStep))
    return refuse(group, "`step` is null or not aligned");
  if (update.threads % 32 || update.threads > kUpdateThreads)
    return refuse(group, "threads of a block are a multiple of 32 up to " +
                             std::to_string(kUpdateThreads));
  if (update.blocks > group.layout.ringBlocks)
    return refuse(group, "at most " + std::to_string(group.layout.ringBlocks) + " blocks");
  if (!anyElements(update.table, group.size))
    return Status::okay();
  if (!update.gradients || !aligned(update.gradients, update.gradientType))
    return refuse(group, "the gradients are null or not aligned to their elements");
  for (uint32_t r = 0; r < group.size; ++r)
    if (!update.parameters[r] || !aligned(update.parameters[r], update.parameterType))
      return refuse(group, "the parameters of member " + std::to_string(r) +
                               " are null or not aligned to their elements");
  return checkState(group, update, numSlots);
}

} // namespace coll::kernels
