// device.h - where a rank's program has its memory and its kernels: on the host, or on a GPU.
//
// The functions are those of abi.def with the same names; `site` is for messages. A device belongs
// to the rank's thread while a step runs, and to the executor's caller in between.

#ifndef COLL_RUNTIME_STEP_DEVICE_DEVICE_H
#define COLL_RUNTIME_STEP_DEVICE_DEVICE_H

#include "runtime/backend/backend.h"
#include "runtime/program/program.h"

namespace coll::rt {

class Device {
public:
  virtual ~Device() = default;

  virtual Status launch(const CallSite &site, int32_t kernel, const void *const *args,
                        int32_t numArgs) = 0;
  // Sizes are not negative, and pointers are null only where the size is zero.
  virtual Status copy(const CallSite &site, void *dst, const void *src, int64_t bytes) = 0;
  // The pattern has 1, 2, 4, 8 or 16 bytes.
  virtual Status fill(const CallSite &site, void *dst, const void *pattern, int32_t patternBytes,
                      int64_t count) = 0;
  virtual Status fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) = 0;
  virtual Status store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) = 0;
  // The contraction has passed checkContraction().
  virtual Status contract(const CallSite &site, const CollContraction &contraction, const void *a,
                          const void *b, void *out) = 0;
  // Null if the program has no constants.
  virtual Result<void *> constants() = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_DEVICE_H
