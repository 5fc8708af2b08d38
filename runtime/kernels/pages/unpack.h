// unpack.h - launchers of the unpack kernel, and its reference.
//
// For each descriptor: buffer[bufferOff, +len) = bounce[bounceOff, +len). Destinations that overlap
// get one of the values. A descriptor that points outside its regions is skipped and reported in
// the error word. Device functions: unpack_device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PAGES_UNPACK_H
#define COLL_RUNTIME_KERNELS_PAGES_UNPACK_H

#include "runtime/kernels/pages/page_copy.h"

namespace coll::kernels {

// All launchers put work on `stream` (a cudaStream_t; null: the default one) of the current device
// and return at once. kCollInvalidCall: the arguments; kCollUnsupported: no CUDA in this build, or
// no code for this GPU; kCollDevice: CUDA failed.
//
// Data that the GPU reads must be complete before the kernel starts: either by stream order, or
// because it was complete before the launch.
rt::Status launchUnpack(const PageCopy &copy, void *stream);
// Consumes a slot: the next launch takes the next message.
rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &message, void *stream);
// The same for several connections at once. Peers that are not in the mask keep their place.
rt::Status launchUnpackGroup(const UnpackGroupCopy &copy, void *stream);

// The same on the host, byte by byte; returns the error word. Pointers are to host memory.
uint64_t unpackReference(const PageCopy &copy);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_UNPACK_H
