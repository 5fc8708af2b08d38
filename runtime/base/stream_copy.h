// stream_copy.h - copies that leave the caches to others.

#ifndef COLL_RUNTIME_BASE_STREAM_COPY_H
#define COLL_RUNTIME_BASE_STREAM_COPY_H

#include <cstdint>

namespace coll::rt {

// As memcpy, but what is written goes to memory directly: the old content is not read
// first. For destinations that no cache holds and nobody reads soon. Another thread may
// read it once the caller has called endStream() and then published that it is there.
void streamCopy(void *to, const void *from, int64_t bytes);
void endStream();

// Bytes beyond which data that is written once does not stay in this machine's caches.
int64_t cacheBytes();

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_STREAM_COPY_H
