// unpack.h - launches of the unpack kernel, and what it computes.
//
// For each descriptor: buffer[bufferOff, +len) = bounce[bounceOff, +len). Destinations
// that overlap get one of the values. A descriptor that points outside its regions is left
// out and reported in the error word. Device functions: unpack_device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PAGES_UNPACK_H
#define COLL_RUNTIME_KERNELS_PAGES_UNPACK_H

#include "runtime/kernels/pages/page_copy.h"

namespace coll::kernels {

// All enqueue on `stream` (a cudaStream_t; null: the default one) of the current device
// and return at once. kCollInvalidCall: the arguments; kCollUnsupported: no CUDA in this
// build, or a GPU that it has no code for; kCollDevice: CUDA refused.
//
// Data that the GPU reads has to be complete before the kernel starts, by stream order or because
// the host knew it at the launch.
rt::Status launchUnpack(const PageCopy &copy, void *stream);
// Consumes a slot: the next launch takes the next message.
rt::Status launchUnpackNext(const MessageCopy<rt::UnpackHandle> &message, void *stream);
// The same for several connections at once. Peers that are not in the mask keep their place.
rt::Status launchUnpackGroup(const UnpackGroupCopy &copy, void *stream);

// The same on the host, byte by byte; returns the error word. Pointers are the host's.
uint64_t unpackReference(const PageCopy &copy);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_UNPACK_H
