#include "runtime/step/abi/context.h"

#include "runtime/base/env.h"
#include "runtime/step/abi/call_trace.h"

#include <algorithm>

using namespace coll::rt;

Result<std::unique_ptr<CollContext>> CollContext::create(int rank, int program,
                                                         const Descriptor &descriptor,
                                                         Endpoint &endpoint, Device &device) {
  auto context = std::make_unique<CollContext>();
  context->rank = rank;
  context->program = program;
  context->descriptor = &descriptor;
  context->endpoint = &endpoint;
  context->device = &device;
  context->recorder = FlightRecorder(static_cast<size_t>(envInt(EnvVar::FlightRecorderOps)));
  for (const GroupLists &lists : descriptor.groups) {
    std::unique_ptr<Communicator> communicator;
    for (const std::vector<int> &ranks : lists) {
      if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
        continue;
      Result<std::unique_ptr<Communicator>> opened = endpoint.communicator(ranks);
      if (!opened)
        return opened.status();
      communicator = opened.take();
    }
    context->traceGroups.push_back(communicator ? traceGroupOf(*communicator) : TraceGroup());
    context->communicators.push_back(std::move(communicator));
  }
  return context;
}

int32_t CollContext::fail(Status status) {
  int32_t code = status.code();
  if (error.ok())
    error = std::move(status);
  return code;
}
