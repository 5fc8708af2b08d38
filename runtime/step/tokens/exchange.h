// exchange.h - dispatch and combine of a mixture of experts, over any backend.
//
// Made of calls that every backend has: the members tell each other what they call and how many
// rows go where (all_gather of 12 + n words), then rows and what belongs to them go from rank to
// rank (send, recv). Host memory. What moe.h defines for GPUs holds here, too; moe/reference.h
// gives the same results.
//
// What is wrong with a call, tokens that name no expert, and too small a capacity all members
// find alike, and all fail with the same reason.
//
// **Conservation.** What a rank receives is checked against what its peers say that they sent,
// for each expert; tokens of a peer come once each, in order; and what comes back along a route
// is as many rows as went. A failure is an error of the rank that finds it, which ends the job.

#ifndef COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H
#define COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H

#include "runtime/backend/backend.h"
#include "runtime/step/tokens/rows.h"

namespace coll::rt {

// The arguments of `combine` in abi.def.
struct TokenCombine {
  const void *src = nullptr;
  void *dst = nullptr;
  RouteShape shape;
  int64_t hidden = 0;
  int32_t dtype = kCollF32;
  const int32_t *route = nullptr;
};

// What is wrong with the arguments, or ok. What the route says is not looked at.
Status checkCombine(const TokenCombine &combine);

// Where an exchange takes place. The endpoint is the communicator's.
struct TokenPlace {
  Endpoint &endpoint;
  Communicator &communicator;
  CallSite site; // `within` is set
};

// Both block until this rank has what it gets; the arguments have passed their check. `serial`
// tells apart the dispatches that this rank takes part in; it is not negative. After an error of
// its own the caller ends the job (Endpoint::abort), as after any other: peers wait for this rank.
Status runDispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place);
Status runCombine(const TokenCombine &combine, const TokenPlace &place);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H
