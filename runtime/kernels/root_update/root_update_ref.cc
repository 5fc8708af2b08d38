#include "runtime/base/narrow.h"
#include "runtime/kernels/root_update/root_update.h"

namespace coll::kernels {
namespace {

float load(CollDtype type, const void *buffer, uint64_t index) {
  if (type == kCollF32)
    return static_cast<const float *>(buffer)[index];
  return rt::bf16ToF32(static_cast<const uint16_t *>(buffer)[index]);
}

void store(CollDtype type, void *buffer, uint64_t index, float value) {
  if (type == kCollF32)
    static_cast<float *>(buffer)[index] = value;
  else
    static_cast<uint16_t *>(buffer)[index] = rt::f32ToBf16(value);
}

// One span, for its root.
struct Span {
  const std::vector<RootUpdate> &calls;
  const RootUpdate &root;
  void *rootParameters;
  const UpdateSpan &span;
  int numSlots;
  const ElementUpdate &apply;

  float gradient(uint64_t i) const {
    float sum = load(root.gradientType, calls[0].gradients, span.gradient + i);
    for (size_t r = 1; r < calls.size(); ++r)
      sum += load(root.gradientType, calls[r].gradients, span.gradient + i);
    const float members = root.mean ? static_cast<float>(calls.size()) : 1;
    return sum * (root.step->gradientScale / members);
  }

  void update(uint64_t i) const {
    float slots[kMaxOptimizerSlots] = {};
    for (int k = 0; k < numSlots; ++k)
      slots[k] = root.slots[k][span.state + i];
    const uint64_t at = span.parameter + i;
    const float old = root.parameterType == kCollF32 ? load(kCollF32, rootParameters, at)
                                                     : root.master[span.state + i];
    const float fresh = apply(old, gradient(i), slots);
    for (int k = 0; k < numSlots; ++k)
      root.slots[k][span.state + i] = slots[k];
    if (root.parameterType != kCollF32)
      root.master[span.state + i] = fresh;
    for (size_t r = 0; r < calls.size(); ++r)
      store(root.parameterType, calls[r].parameters[r], at, fresh);
  }
};

} // namespace

ElementUpdate elementUpdate(const AnyOptimizer &optimizer, const UpdateStep &now) {
  return std::visit([&](const auto &o) { return elementUpdate(o, now); }, optimizer);
}

void rootUpdateReference(const std::vector<RootUpdate> &calls, const std::vector<UpdateSpan> &spans,
                         int numSlots, const ElementUpdate &apply) {
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    const RootTable &table = calls[rank].table;
    const UpdateSpan *all = spans.empty() ? table.shards : spans.data();
    for (uint32_t s = table.first[rank]; s < table.first[rank + 1]; ++s)
      for (uint64_t i = 0; i < all[s].count; ++i)
        Span{calls, calls[rank], calls[rank].parameters[rank], all[s], numSlots, apply}.update(i);
  }
}

} // namespace coll::kernels
