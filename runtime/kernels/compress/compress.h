// compress.h - compressed messages (runtime/base/compressed_layout.h) on the host: the check of a
// message that came over a network, and the scalar reference of the channel kernel's code.

#ifndef COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_H
#define COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_H

#include "runtime/base/compressed_layout.h"
#include "runtime/base/status.h"

namespace coll::kernels {

// Ok if the `bytes` bytes at `message`, aligned to 16, are a message for a buffer of `rawBytes`
// bytes: then the kernel reads nothing outside, and every page can be decoded. Otherwise kCollPeer,
// with the first error.
rt::Status checkCompressed(const void *message, uint64_t bytes, uint64_t rawBytes);

// Makes a message of 1 to kCompressMaxBytes bytes; returns its length. `message` has
// compressedBound(rawBytes) bytes, aligned to 16.
uint64_t compressReference(void *message, const void *from, uint64_t rawBytes);
// The reverse, of a message that is checked first.
rt::Status expandReference(void *to, uint64_t rawBytes, const void *message, uint64_t bytes);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_H
