// stream_copy.h - copies that bypass the caches.

#ifndef COLL_RUNTIME_BASE_STREAM_COPY_H
#define COLL_RUNTIME_BASE_STREAM_COPY_H

#include <cstdint>

namespace coll::rt {

// Like memcpy, but writes bypass the caches and the destination's old content is not read. For
// destinations that are not cached and will not be read soon. Another thread may read the data
// after the caller has called endStream() and then published it.
void streamCopy(void *to, const void *from, int64_t bytes);
void endStream();

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_STREAM_COPY_H
