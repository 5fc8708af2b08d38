// page_copy.h - the arguments of the launchers of unpack and pack. Any thread may call them; the
// caller keeps the memory until the launch has ended.

#ifndef COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_H
#define COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_H

#include "runtime/base/status.h"
#include "runtime/base/unpack_layout.h"

#include <cstdint>

namespace coll::kernels {

// Pages of a list of any length. The GPU can read all pointers and write the destinations; bounce
// and buffer may have any alignment.
struct PageCopy {
  const rt::PageDescriptor *pages = nullptr; // aligned to 16
  uint64_t count = 0;                        // below 2^32 - 256
  void *bounce = nullptr;
  uint64_t bounceBytes = 0; // at most 4 GiB
  void *buffer = nullptr;
  uint64_t bufferBytes = 0;
  uint64_t *errorWord = nullptr; // error_word.h; may be null
  int blocks = 0;                // 0: one for each multiprocessor
};

// The version of a handle's layouts that these kernels read.
template <class Handle>
inline constexpr int32_t kHandleVersion = rt::kUnpackVersion;
template <>
inline constexpr int32_t kHandleVersion<rt::PackHandle> = rt::kPackVersion;

// The next message of a connection. `handle` is in GPU memory and has the bounce buffer, the
// descriptors and the head; `version` is the connection's (net::DeviceHandle).
template <class Handle>
struct MessageCopy {
  Handle *handle = nullptr;
  int32_t version = rt::kUnpackVersionInvalid;
  uint64_t bounceBytes = 0;
  void *buffer = nullptr;
  uint64_t bufferBytes = 0;
  uint64_t *errorWord = nullptr;
  int blocks = 0; // 0: by bufferBytes
};

// The next messages of connections to several peers. A peer takes part if its bit is in `mask`,
// which means that its next message has arrived as pages. Other peers are ignored.
struct UnpackGroupCopy {
  static constexpr uint32_t kPeers = 8;
  struct Peer {
    rt::UnpackHandle *handle = nullptr;
    uint64_t bounceBytes = 0;
    void *buffer = nullptr;
    uint64_t bufferBytes = 0;
  };
  Peer peers[kPeers];
  uint32_t mask = 0;
  int32_t version = rt::kUnpackVersionInvalid; // of all the handles, as in MessageCopy
  uint64_t *errorWord = nullptr;
  int blocks = 0; // each serves some of the peers; 0: one for each peer
};

// kCollUnsupported, with both versions, for a handle of another version than the kernel's.
rt::Status checkVersion(int32_t version, int32_t known);
// kCollInvalidCall, with the reason, for arguments that no launch accepts. The kernel checks the
// descriptors.
rt::Status checkCopy(const PageCopy &copy);
rt::Status checkMessage(const void *handle, uint64_t bounceBytes, const void *buffer,
                        uint64_t bufferBytes, const uint64_t *errorWord, int blocks);
rt::Status checkGroup(const UnpackGroupCopy &copy); // names the peer

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_H
