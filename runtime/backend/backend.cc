#include "runtime/backend/backend.h"

#include "runtime/base/dtype.h"

namespace coll::rt {

const char *kindName(OpKind kind) {
  static constexpr const char *kNames[] = {
      "init",           "all_reduce", "reduce",  "broadcast",   "all_gather", "gather", "scatter",
      "reduce_scatter", "all_to_all", "permute", "root_update", "barrier",    "send",   "recv"};
  size_t index = static_cast<size_t>(kind);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "?";
}

bool reduces(OpKind kind) {
  return kind == OpKind::AllReduce || kind == OpKind::Reduce || kind == OpKind::ReduceScatter;
}

bool hasRoot(OpKind kind) {
  return kind == OpKind::Reduce || kind == OpKind::Broadcast || kind == OpKind::Gather ||
         kind == OpKind::Scatter;
}

bool isTransfer(OpKind kind) { return kind == OpKind::Send || kind == OpKind::Recv; }

namespace {

std::string describeCounts(const Call &call) {
  std::string text = std::string(" ") + dtypeName(call.dtype) + " x ";
  if (call.outer != 1)
    text += std::to_string(call.outer) + " x ";
  return text + std::to_string(call.count);
}

// "op 3 "grad" at train.py:12:3"
std::string placeIn(const CallSite &site) {
  std::string text = "op " + std::to_string(site.op);
  if (*site.name)
    text += std::string(" \"") + site.name + "\"";
  if (*site.loc)
    text += std::string(" at ") + site.loc;
  return text;
}

} // namespace

std::string describe(const Call &call) {
  std::string text = *call.site.within ? std::string(call.site.within) + ": " : "";
  text += kindName(call.kind);
  if (reduces(call.kind)) {
    text += std::string(" ") + reductionName(call.reduction);
    if (call.accumulation == kCollAccumulateF32)
      text += " in f32";
    if (call.order == kCollOrderRank)
      text += " order rank";
  }
  if (call.update)
    text += std::string(" ") + call.update->optimizer();
  if (call.kind != OpKind::Init && call.kind != OpKind::Barrier)
    text += describeCounts(call);
  if (hasRoot(call.kind))
    text += " root " + std::to_string(call.root);
  if (isTransfer(call.kind))
    text += (call.kind == OpKind::Send ? " to " : " from ") + std::to_string(call.peer) + " tag " +
            std::to_string(call.tag);
  return text + " (" + placeIn(call.site) + ")";
}

std::string describe(const CallSite &site) {
  if (site.op >= 0)
    return std::string(site.within) + " (" + placeIn(site) + ")";
  return *site.loc ? std::string(site.within) + " (at " + site.loc + ")" : site.within;
}

std::string describeGroup(const std::vector<int> &ranks) {
  constexpr size_t kShown = 16;
  std::string text = "[";
  for (size_t i = 0; i < ranks.size() && i < kShown; ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text + (ranks.size() > kShown ? ", …]" : "]");
}

Result<std::unique_ptr<Registration>> Communicator::registerMemory(void *, int64_t) {
  return Status(kCollUnsupported, "this backend does not register memory");
}

Result<std::unique_ptr<Registration>> Communicator::allocate(int64_t) {
  return Status(kCollUnsupported, "this backend does not allocate memory");
}

std::vector<void *> Communicator::addressesOf(const void *, int64_t) const { return {}; }

Status Endpoint::synchronize(void *) {
  return {kCollUnsupported, "this backend does not support streams"};
}

int Endpoint::gpuOf(const void *) const { return -1; }

bool Endpoint::isCapturing(void *) const { return false; }

Status Backend::supports(const Call &call) const {
  if (call.kind == OpKind::RootUpdate)
    return {kCollUnsupported, "it does not support root updates"};
  if (call.scale != 1)
    return {kCollUnsupported, "it does not scale contributions"};
  return {};
}

} // namespace coll::rt
