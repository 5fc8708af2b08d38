// pack.h - launchers of the pack kernel, and its reference.
//
// For each descriptor: bounce[bounceOff, +len) = buffer[bufferOff, +len). The reverse of unpack.h,
// with the same rules. Device functions: pack_device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PAGES_PACK_H
#define COLL_RUNTIME_KERNELS_PAGES_PACK_H

#include "runtime/kernels/pages/page_copy.h"

namespace coll::kernels {

rt::Status launchPack(const PageCopy &copy, void *stream);
// Consumes a slot, and raises PackMeta::packed when the bytes are in the bounce buffer.
rt::Status launchPackNext(const MessageCopy<rt::PackHandle> &message, void *stream);

// The same on the host, byte by byte; returns the error word. Pointers are to host memory.
uint64_t packReference(const PageCopy &copy);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_PACK_H
