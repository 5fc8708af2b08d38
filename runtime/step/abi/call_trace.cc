#include "runtime/step/abi/call_trace.h"

#include "runtime/base/fnv.h"

namespace coll::rt {

TraceGroup traceGroupOf(const Communicator &communicator) {
  const std::vector<int> &ranks = communicator.ranks();
  TraceGroup group;
  group.id = kFnvStart;
  for (int rank : ranks)
    group.id = fnvMixed(group.id, static_cast<uint64_t>(rank));
  group.ranks = ranks.data();
  group.numRanks = static_cast<int32_t>(ranks.size());
  group.position = communicator.position();
  return group;
}

namespace {

int rankOf(const TraceGroup &group) { return group.ranks[group.position]; }

TraceEvent beginOf(TraceLevel level, int rank, int32_t op, const char *name, uint64_t parent) {
  TraceEvent event;
  event.level = level;
  event.rank = rank;
  event.op = op;
  event.id = newTraceId();
  event.parent = parent;
  event.name = name;
  return event;
}

} // namespace

uint64_t detail::traceSpanBegin(TraceLevel level, int rank, int32_t op, const char *name,
                                uint64_t parent) {
  TraceEvent event = beginOf(level, rank, op, name, parent);
  trace(event);
  return event.id;
}

uint64_t detail::traceGroupBegin(const CallSite &site, const TraceGroup &group, uint64_t parent,
                                 int64_t bytes) {
  TraceEvent event = beginOf(TraceLevel::Group, rankOf(group), site.op, site.within, parent);
  event.bytes = bytes;
  event.group = &group;
  trace(event);
  return event.id;
}

void detail::traceComputeBegin(CollContext &ctx, int32_t op) {
  if (ctx.computeTrace != 0 && ctx.computeOp == op)
    return;
  traceComputeEnd(ctx);
  const Computation *computation = ctx.descriptor->findComputation(op);
  ctx.computeOp = op;
  ctx.computeTrace =
      traceSpanBegin(TraceLevel::Compute, ctx.rank, op,
                     computation ? computation->kind.c_str() : "compute", ctx.functionTrace);
}

void detail::traceComputeEnd(CollContext &ctx) {
  if (ctx.computeTrace != 0)
    traceSpanEnd(TraceLevel::Compute, ctx.rank, ctx.computeOp, ctx.computeTrace,
                 /*failed=*/false);
  ctx.computeTrace = 0;
}

void detail::traceSpanEnd(TraceLevel level, int rank, int32_t op, uint64_t id, bool failed) {
  TraceEvent event;
  event.level = level;
  event.phase = TracePhase::End;
  event.failed = failed;
  event.rank = rank;
  event.op = op;
  event.id = id;
  trace(event);
}

void describeCall(const Call &call, const TraceGroup &group, TraceEvent &event,
                  TraceCall &details) {
  details.dtype = call.dtype;
  details.count = call.outer * call.count;
  details.root = call.root;
  details.src = call.src;
  details.dst = call.dst;
  details.stream = call.stream;
  details.isTransfer = isTransfer(call.kind);
  event.name = kindName(call.kind);
  event.group = &group;
  event.call = &details;
  if (details.isTransfer) {
    event.isSend = call.kind == OpKind::Send;
    event.peer = group.ranks[call.peer];
    event.tag = call.tag;
  }
}

void detail::traceCallBegin(Call &call, const TraceGroup &group, uint64_t parent, int64_t bytes) {
  TraceEvent event = beginOf(TraceLevel::Call, rankOf(group), call.site.op, "", parent);
  TraceCall details;
  describeCall(call, group, event, details);
  call.site.trace = event.id;
  event.bytes = bytes;
  trace(event);
}

void detail::traceCallPhase(const Call &call, const TraceGroup &group, TracePhase phase,
                            bool failed) {
  TraceEvent event;
  event.level = TraceLevel::Call;
  event.phase = phase;
  event.failed = failed;
  event.rank = rankOf(group);
  event.op = call.site.op;
  event.id = call.site.trace;
  trace(event);
}

} // namespace coll::rt
