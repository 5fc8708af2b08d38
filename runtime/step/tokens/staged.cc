#include "runtime/step/tokens/staged.h"

#include "runtime/base/aligned_buffer.h"
#include "runtime/base/dtype.h"

#include <memory>

namespace coll::rt {

namespace {

// Host memory that replaces an exchange's buffers.
class Staged {
public:
  Staged(Device &device, const CallSite &site) : device_(device), site_(site) {}

  // Sets the pointer to a copy of its bytes.
  template <typename T>
  Status read(T *&data, int64_t bytes) {
    if (!data || bytes == 0)
      return {};
    Result<char *> host = add(bytes);
    if (!host)
      return host.status();
    COLL_RETURN_IF_ERROR(device_.fetch(site_, *host, data, bytes));
    data = reinterpret_cast<T *>(*host);
    return {};
  }

  // Sets the pointer to memory that finish() copies to its old target.
  template <typename T>
  Status write(T *&data, int64_t bytes) {
    if (!data || bytes == 0)
      return {};
    Result<char *> host = add(bytes);
    if (!host)
      return host.status();
    results_.push_back({data, *host, bytes});
    data = reinterpret_cast<T *>(*host);
    return {};
  }

  Status finish() {
    for (const Written &written : results_)
      COLL_RETURN_IF_ERROR(device_.store(site_, written.to, written.from, written.bytes));
    return {};
  }

private:
  struct Written {
    void *to;
    const char *from;
    int64_t bytes;
  };

  Result<char *> add(int64_t bytes) {
    Result<AlignedBuffer> made = AlignedBuffer::create(bytes);
    if (!made)
      return made.status();
    buffers_.push_back(made.take());
    return buffers_.back().data();
  }

  Device &device_;
  const CallSite &site_;
  std::vector<AlignedBuffer> buffers_;
  std::vector<Written> results_;
};

constexpr int64_t kWord = sizeof(int32_t);

} // namespace

Status runStagedDispatch(Device &device, TokenDispatch d, int32_t serial, const TokenPlace &place) {
  Staged staged(device, place.site);
  const int64_t tokens = d.shape.tokens, capacity = d.shape.capacity, topk = d.shape.topk;
  const int64_t index = dtypeSize(static_cast<CollDtype>(d.indexDtype));
  COLL_RETURN_IF_ERROR(staged.read(d.x, tokens * d.rowBytes()));
  COLL_RETURN_IF_ERROR(staged.read(d.experts, tokens * topk * index));
  COLL_RETURN_IF_ERROR(staged.read(d.weights, tokens * topk * kWord));
  COLL_RETURN_IF_ERROR(staged.read(d.scales, tokens * d.numScales * kWord));
  COLL_RETURN_IF_ERROR(staged.write(d.rows, capacity * d.rowBytes()));
  COLL_RETURN_IF_ERROR(staged.write(d.rowExperts, capacity * topk * index));
  COLL_RETURN_IF_ERROR(staged.write(d.rowWeights, capacity * topk * kWord));
  COLL_RETURN_IF_ERROR(staged.write(d.rowScales, capacity * d.numScales * kWord));
  COLL_RETURN_IF_ERROR(staged.write(d.counts, d.localExperts * kWord));
  COLL_RETURN_IF_ERROR(staged.write(d.route, collRouteBytes(tokens, d.shape.topk, capacity)));
  COLL_RETURN_IF_ERROR(runDispatch(d, serial, place));
  return staged.finish();
}

Status runStagedCombine(Device &device, TokenCombine c, const TokenPlace &place) {
  Staged staged(device, place.site);
  const int64_t rowBytes = c.hidden * dtypeSize(static_cast<CollDtype>(c.dtype));
  COLL_RETURN_IF_ERROR(staged.read(c.src, c.shape.capacity * rowBytes));
  COLL_RETURN_IF_ERROR(
      staged.read(c.route, collRouteBytes(c.shape.tokens, c.shape.topk, c.shape.capacity)));
  COLL_RETURN_IF_ERROR(staged.write(c.dst, c.shape.tokens * rowBytes));
  COLL_RETURN_IF_ERROR(runCombine(c, place));
  return staged.finish();
}

} // namespace coll::rt
