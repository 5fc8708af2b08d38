// context.h - one rank's state behind the C ABI.

#ifndef COLL_RUNTIME_STEP_ABI_CONTEXT_H
#define COLL_RUNTIME_STEP_ABI_CONTEXT_H

#include "runtime/backend/backend.h"
#include "runtime/base/trace.h"
#include "runtime/program/program.h"
#include "runtime/step/abi/abi.h"
#include "runtime/step/abi/flight_recorder.h"
#include "runtime/step/device/device.h"

#include <memory>
#include <vector>

// A started operation, as a compiled step sees it.
struct CollRequest {
  coll::rt::Request *request = nullptr;
  coll::rt::Call call;
  uint64_t number = 0;                         // in the flight recorder
  const coll::rt::TraceGroup *group = nullptr; // one of the context's
  std::unique_ptr<coll::rt::CallEnd> end;      // null: nothing follows the call
};

// Belongs to the rank's thread while a step runs.
struct CollContext {
  // `descriptor`, `endpoint` and `device` must outlive the context. `program` numbers the rank
  // class. Opens a communicator for each group that has this rank.
  static coll::rt::Result<std::unique_ptr<CollContext>>
  create(int rank, int program, const coll::rt::Descriptor &descriptor,
         coll::rt::Endpoint &endpoint, coll::rt::Device &device);

  // Keeps the first failure and returns its code.
  int32_t fail(coll::rt::Status status);

  int rank = 0;
  int program = 0;
  const coll::rt::Descriptor *descriptor = nullptr;
  coll::rt::Endpoint *endpoint = nullptr;
  coll::rt::Device *device = nullptr;
  // By index of the group table; null if this rank is not in any of the lists.
  std::vector<std::unique_ptr<coll::rt::Communicator>> communicators;
  std::vector<coll::rt::TraceGroup> traceGroups; // of the communicators, by the same index
  uint64_t functionTrace = 0;                    // span of the function that runs
  uint64_t computeTrace = 0; // span of the program's computing on the host; 0: none
  int32_t computeOp = -1;    // its id
  int32_t reached = -1;      // index of the group whose members' memory is reached; -1: none
  std::vector<std::unique_ptr<CollRequest>> requests; // started, not waited for
  coll::rt::FlightRecorder recorder{0};
  coll::rt::Status error; // the first failure
  int32_t numDispatches = 0;

  // Counted since the last reset.
  int64_t bytesMoved = 0;
  int64_t numCalls = 0;
};

namespace coll::rt {

// The table that compiled steps receive. Several threads may call each function at once, each with
// its own context.
const CollAbi &abiTable();

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_CONTEXT_H
