// make_device.h - the device that a rank's program asks for.

#ifndef COLL_RUNTIME_STEP_DEVICE_MAKE_DEVICE_H
#define COLL_RUNTIME_STEP_DEVICE_MAKE_DEVICE_H

#include "runtime/step/device/device.h"

#include <memory>
#include <optional>

namespace coll::rt {

// On the host, or on a GPU if the descriptor says so. The GPU is the one that the job names for
// this process; otherwise the ranks of a machine take its GPUs in order, and start again at the
// first if there are more ranks. kCollUnsupported, with the reason, if there is no GPU that can be
// used. `program` and `endpoint` outlive the device. `timeoutUs`: longest wait for another rank.
Result<std::unique_ptr<Device>> makeDevice(int rank, const std::optional<JobOptions> &job,
                                           const Program &program, Endpoint &endpoint,
                                           int64_t timeoutUs);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_MAKE_DEVICE_H
