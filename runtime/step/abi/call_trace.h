// call_trace.h - reports the calls of a program to the trace (base/trace.h).
//
// A call carries the id of its span in Call::site.trace. It is 0 if there was no listener when the
// call began, and then none of its phases is reported.

#ifndef COLL_RUNTIME_STEP_ABI_CALL_TRACE_H
#define COLL_RUNTIME_STEP_ABI_CALL_TRACE_H

#include "runtime/backend/backend.h"
#include "runtime/base/trace.h"
#include "runtime/step/abi/context.h"

namespace coll::rt {

// Describes `communicator` for the trace; the description refers to its rank list.
TraceGroup traceGroupOf(const Communicator &communicator);

// Fills in the trace's begin of a call: name, group, details, peer.
void describeCall(const Call &call, const TraceGroup &group, TraceEvent &event, TraceCall &details);

namespace detail {
uint64_t traceSpanBegin(TraceLevel level, int rank, int32_t op, const char *name, uint64_t parent);
uint64_t traceGroupBegin(const CallSite &site, const TraceGroup &group, uint64_t parent,
                         int64_t bytes);
void traceComputeBegin(CollContext &ctx, int32_t op);
void traceComputeEnd(CollContext &ctx);
void traceSpanEnd(TraceLevel level, int rank, int32_t op, uint64_t id, bool failed);
void traceCallBegin(Call &call, const TraceGroup &group, uint64_t parent, int64_t bytes);
void traceCallPhase(const Call &call, const TraceGroup &group, TracePhase phase, bool failed);
} // namespace detail

// A Function, Wait, Launch or Compute begins. Returns the span's id, or 0 if there is no listener.
inline uint64_t traceBeginSpan(TraceLevel level, int rank, int32_t op, const char *name,
                               uint64_t parent) {
  return tracing() ? detail::traceSpanBegin(level, rank, op, name, parent) : 0;
}
// The same for a Group, which is called as `site.within` says.
inline uint64_t traceBeginGroup(const CallSite &site, const TraceGroup &group, uint64_t parent,
                                int64_t bytes) {
  return tracing() ? detail::traceGroupBegin(site, group, parent, bytes) : 0;
}
inline void traceEndSpan(TraceLevel level, int rank, int32_t op, uint64_t id, bool failed) {
  if (__builtin_expect(id != 0, 0))
    detail::traceSpanEnd(level, rank, op, id, failed);
}

// The program begins to compute `op` on the host, or stops because it makes a call.
inline void traceComputeBegin(CollContext &ctx, int32_t op) {
  if (tracing())
    detail::traceComputeBegin(ctx, op);
}
inline void traceComputeEnd(CollContext &ctx) {
  if (__builtin_expect(ctx.computeTrace != 0, 0))
    detail::traceComputeEnd(ctx);
}

// `parent` is the span that contains the call, `bytes` the payload of this rank. `group` describes
// the communicator; null: the call is not traced.
inline void traceBegin(Call &call, const TraceGroup *group, uint64_t parent, int64_t bytes) {
  if (tracing() && group)
    detail::traceCallBegin(call, *group, parent, bytes);
}
inline void traceIssued(const Call &call, const TraceGroup *group) {
  if (__builtin_expect(call.site.trace != 0, 0))
    detail::traceCallPhase(call, *group, TracePhase::Issued, /*failed=*/false);
}
inline void traceEnd(const Call &call, const TraceGroup *group, bool failed) {
  if (__builtin_expect(call.site.trace != 0, 0))
    detail::traceCallPhase(call, *group, TracePhase::End, failed);
}

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_CALL_TRACE_H
