// tokens.h - kernels between the buffers of a compiled step and the token exchange of moe.h:
// launchers.
//
// A step's dispatch and combine (step/abi/abi.def) have experts of i32 or i64, rows up to a
// capacity with zeros behind the last, and a route of plain words (base/route_layout.h); the
// exchange has forms of its own. Each kernel works on one GPU alone and waits for nothing.
//
// **Bounds.** Counts that the exchange has written are compared with the capacity before a row is
// touched, because they are undefined after a failure of the group.
//
// Launchers validate, do not block, do not allocate, and may be captured. kCollInvalidCall:
// arguments; kCollUnsupported: no CUDA in this build, or no code for this GPU; kCollDevice: CUDA
// failed.

#ifndef COLL_RUNTIME_KERNELS_TOKENS_TOKENS_H
#define COLL_RUNTIME_KERNELS_TOKENS_TOKENS_H

#include "runtime/base/status.h"

#include <cstdint>

namespace coll::kernels {

inline constexpr uint32_t kTokenThreads = 256; // of a block; the same for all of these kernels

// Converts the tokens' experts.
struct WidenExperts {
  const int32_t *from = nullptr;
  int64_t *to = nullptr;
  uint64_t count = 0;
};
rt::Status launchWidenExperts(const WidenExperts &widen, void *stream);

// A member's place and the sizes of its dispatch.
struct TokenShape {
  uint32_t groupSize = 0; // 1 to 8
  uint32_t position = 0;
  uint32_t tokens = 0;
  uint32_t topk = 1; // 1 to 32
  uint32_t capacity = 0;
};

// Writes the results of a dispatch into the step's buffers.
struct UnpackTokens {
  TokenShape shape;
  uint32_t rowBytes = 0; // a multiple of 16
  uint32_t numScales = 0;
  uint32_t localExperts = 1;
  int32_t serial = 0;  // of the dispatch, for the route
  bool isWide = false; // whether rowExperts are i64
  // The exchange's results: arrays of `capacity` rows, of which it has written the first.
  const char *x = nullptr;                  // aligned to 16
  const int64_t *topkIdx = nullptr;         // [rows][topk]
  const float *topkWeights = nullptr;       // [rows][topk]
  const float *scales = nullptr;            // [rows][numScales]
  const int32_t *rankPrefix = nullptr;      // [source][target]
  const uint8_t *isTokenInRank = nullptr;   // [tokens][groupSize], of this member's tokens
  const int32_t *tokensPerExpert = nullptr; // [localExperts]
  // The step's buffers.
  char *rows = nullptr; // aligned to 16
  void *rowExperts = nullptr;
  float *rowWeights = nullptr;
  float *rowScales = nullptr;
  int32_t *counts = nullptr;
  int32_t *route = nullptr;
};
rt::Status launchUnpackTokens(const UnpackTokens &unpack, void *stream);

// The values of TokenRoute::error. 0: none.
enum class RouteError : uint32_t { Foreign = 1, Changed };

// Reads a route for a combine.
struct TokenRoute {
  TokenShape shape;
  const int32_t *route = nullptr;
  // Written by launchReadRoute: this member's tokens by target. If the route is not one of this
  // shape and member, they go nowhere, and the error is Foreign.
  uint8_t *isTokenInRank = nullptr; // [tokens][groupSize]
  int32_t *tokensPerRank = nullptr; // [groupSize]
  // Read by launchCheckRoute, between the exchange of counts and the combine: if not as many rows
  // return to each source as came from there, the error is Changed, unless it is Foreign.
  const int32_t *rankPrefix = nullptr; // [source][target]
  uint32_t *error = nullptr;           // pinned, or GPU memory
};
rt::Status launchReadRoute(const TokenRoute &route, void *stream);
rt::Status launchCheckRoute(const TokenRoute &route, void *stream);

// Launches each kernel once without effect, because a first launch may wait until the GPU is idle.
rt::Status rehearseTokenKernels(void *stream);

// Whether the arguments are valid.
rt::Status checkWidenExperts(const WidenExperts &widen);
rt::Status checkUnpackTokens(const UnpackTokens &unpack);
rt::Status checkTokenRoute(const TokenRoute &route);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_TOKENS_TOKENS_H
