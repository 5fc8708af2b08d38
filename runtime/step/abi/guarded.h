// guarded.h - code that the functions behind CollAbi share.

#ifndef COLL_RUNTIME_STEP_ABI_GUARDED_H
#define COLL_RUNTIME_STEP_ABI_GUARDED_H

#include "runtime/step/abi/context.h"

#include <exception>
#include <string>

namespace coll::rt {

inline CallSite siteOf(const CollContext &ctx, int32_t op, const char *within = "") {
  CallSite site;
  site.within = within;
  site.op = op;
  site.program = ctx.program;
  if (const OpInfo *info = ctx.descriptor->findOp(op)) {
    site.loc = info->loc.c_str();
    site.name = info->name.c_str();
  } else if (const Computation *computation = ctx.descriptor->findComputation(op)) {
    site.loc = computation->loc.c_str();
    site.name = computation->name.c_str();
  }
  return site;
}

// No exception may leave a function of the C ABI; only failed allocations can throw here.
template <typename Function>
int32_t guarded(CollContext *ctx, Function function) {
  if (!ctx)
    return kCollInvalidCall;
  try {
    return function();
  } catch (const std::exception &error) {
    return ctx->fail(
        {kCollDevice, std::string("rank ") + std::to_string(ctx->rank) + ": " + error.what()});
  }
}

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_GUARDED_H
