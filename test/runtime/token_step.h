// token_step.h - a step that exchanges tokens, for devices of every kind.

#ifndef COLL_TEST_RUNTIME_TOKEN_STEP_H
#define COLL_TEST_RUNTIME_TOKEN_STEP_H

#include "runtime/step/abi/abi.h"

namespace coll::rt::test {

// For two ranks and an arena of kTokenArena bytes. Each sends its two tokens, x, to the other,
// which sends them back: w becomes the rank's own x. The loss is the first element that arrived.
inline constexpr int64_t kTokenArena = 1024;

inline int32_t tokenStep(const CollAbi *abi, CollContext *ctx, void *const *args,
                         void *const *results, void *arena) {
  constexpr int32_t kTokens = 2, kHidden = 2, kCapacity = 4;
  auto at = [&](int64_t offset) { return static_cast<char *>(arena) + offset; };
  char *experts = at(0), *weights = at(64), *rows = at(128), *rowExperts = at(192),
       *rowWeights = at(256), *counts = at(320), *route = at(384);
  int64_t rank = 0;
  if (const int32_t code = abi->rank(ctx, &rank))
    return code;
  const auto other = static_cast<int32_t>(1 - rank);
  const int32_t chosen[kTokens] = {other, other};
  const float weight[kTokens] = {1, 1};
  int32_t code = abi->store(ctx, 0, experts, chosen, sizeof(chosen));
  code = code ? code : abi->store(ctx, 0, weights, weight, sizeof(weight));
  code = code ? code
              : abi->dispatch(ctx, 0, args[1], experts, reinterpret_cast<float *>(weights),
                              /*scales=*/nullptr, kTokens, kHidden, /*topk=*/1, /*num_scales=*/0,
                              kCollF32, kCollI32, /*local_experts=*/1, kCapacity, rows, rowExperts,
                              reinterpret_cast<float *>(rowWeights), /*row_scales=*/nullptr,
                              reinterpret_cast<int32_t *>(counts), route, /*group=*/0);
  code = code ? code
              : abi->combine(ctx, 0, rows, args[0], kTokens, kHidden, /*topk=*/1, kCapacity,
                             kCollF32, route, /*group=*/0);
  return code ? code : abi->copy(ctx, 0, results[1], rows, sizeof(float));
}

} // namespace coll::rt::test

#endif // COLL_TEST_RUNTIME_TOKEN_STEP_H
