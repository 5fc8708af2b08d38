// posting.h - a member's announcement of one call to the other members of its group.
//
// The first cache line holds everything that a small operation needs: the flag that says that the
// posting is written, the description of the call, and the data. So one transfer between two cores'
// caches is enough.

#ifndef COLL_RUNTIME_BACKEND_THREADS_POSTING_H
#define COLL_RUNTIME_BACKEND_THREADS_POSTING_H

#include "runtime/backend/call/signature.h"
#include "runtime/backend/threads/work.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace coll::rt::threads {

// What members have to agree on, in compact form: like CallSignature, but without the parts that
// all_to_all and permute add (see digestTellsAll).
struct CallDigest {
  uint8_t kind = 0;
  uint8_t dtype = 0;
  uint8_t reduction = 0;
  uint8_t order = 0; // four bits each for the order and the accumulation
  int32_t root = 0;
  int32_t op = -1;
  int32_t program = 0;
  int64_t count = 0;
  int64_t outer = 1;
};

CallDigest digestOf(const Call &call);

inline bool digestTellsAll(OpKind kind) {
  return kind != OpKind::AllToAll && kind != OpKind::Permute;
}

inline bool agree(const CallDigest &a, const CallDigest &b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.reduction == b.reduction &&
         a.order == b.order && a.root == b.root && a.count == b.count && a.outer == b.outer &&
         (a.program != b.program || a.op == b.op);
}

// Bytes of a source that are stored in the posting itself.
constexpr int64_t kInlineBytes = 2048;

struct Posting {
  // For messages, and for fields that the digest omits. Its pointers may point to memory of the
  // member, which may have completed the call before another member compares: only its numbers are
  // read.
  Call call;
  CallSignature signature; // if the digest omits fields of the call
  // The operation's number plus one, stored after everything else.
  alignas(64) std::atomic<uint64_t> number{0};
  CallDigest digest;
  // See payload().
  char head[24];

  // The member's source, or its Buffers if the operation is too large. The payload continues behind
  // the struct for as many bytes as the ring has room for.
  char *payload() { return reinterpret_cast<char *>(this) + offsetof(Posting, head); }
};

static_assert(offsetof(Posting, head) + sizeof(Posting::head) == sizeof(Posting) &&
                  sizeof(Buffers) <= sizeof(Posting::head),
              "data begins in the flag's cache line and goes on in the next");

// Postings side by side, each followed by room for a longer payload.
class PostingRing {
public:
  PostingRing(size_t postings, int64_t payloadBytes);

  Posting &operator[](size_t index) {
    return *reinterpret_cast<Posting *>(&lines_[index * linesEach_]);
  }

private:
  struct alignas(64) Line {
    char bytes[64];
  };

  size_t linesEach_;
  std::unique_ptr<Line[]> lines_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_POSTING_H
