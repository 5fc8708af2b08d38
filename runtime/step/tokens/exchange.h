// exchange.h - dispatch and combine of a mixture of experts, over any backend.
//
// It consists of calls that every backend has. First the members send each other their call and how
// many rows go where (all_gather of 13 + n words); then rows and their notes go from rank to rank
// (send, recv). Host memory only. The definitions of moe.h for GPUs hold here, too; moe/reference.h
// gives the same results.
//
// If a call is wrong, a token names an expert that does not exist, or a capacity is too small, all
// members detect it and fail with the same reason.
//
// **Conservation.** A rank compares what it receives with the counts that its peers sent, for each
// expert; the tokens of a peer arrive once each, in order; and as many rows return along a route as
// were sent. The rank that detects a violation fails, which ends the job.

#ifndef COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H
#define COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H

#include "runtime/backend/backend.h"
#include "runtime/base/trace.h"
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

// Ok, or what is wrong with the arguments. The route's content is not checked here.
Status checkCombine(const TokenCombine &combine);

// The place of an exchange in the program. The endpoint is the communicator's.
struct TokenPlace {
  Endpoint &endpoint;
  Communicator &communicator;
  CallSite site;                     // `within` is set; `trace` is the exchange's span
  const TraceGroup *group = nullptr; // of the communicator; null: calls are not traced
};

// Both block until this rank has its results; the arguments have passed their check. `serial`
// distinguishes the dispatches of this rank; it is not negative. After any error the caller must
// end the job (Endpoint::abort), because peers wait for this rank.
Status runDispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place);
Status runCombine(const TokenCombine &combine, const TokenPlace &place);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_EXCHANGE_H
