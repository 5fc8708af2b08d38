// exchange_without.cc - a library that was built without transports has no exchange.

#include "embed/c/coll_exchange.h"
#include "embed/c/outcome.h"

#define COLL_WITHOUT_EXCHANGE(function, ...)                                                       \
  coll_error function(__VA_ARGS__) {                                                               \
    return coll::embed::guarded([]() -> coll::embed::Outcome {                                     \
      return coll::embed::fail(COLL_UNSUPPORTED, #function " needs the transports, which this "    \
                                                           "library was built without (OpenSSL)"); \
    });                                                                                            \
  }

COLL_WITHOUT_EXCHANGE(coll_owner_create, const coll_exchange_options *, coll_owner *)
COLL_WITHOUT_EXCHANGE(coll_owner_free, coll_owner)
COLL_WITHOUT_EXCHANGE(coll_owner_allocate, coll_owner, int32_t, int32_t, const int64_t *,
                      coll_tensor *)
COLL_WITHOUT_EXCHANGE(coll_owner_publish, coll_owner, coll_tensor, void *, size_t, size_t *)
COLL_WITHOUT_EXCHANGE(coll_owner_withdraw, coll_owner, const void *, size_t)
COLL_WITHOUT_EXCHANGE(coll_remote_open, const coll_exchange_options *, const void *, size_t,
                      coll_remote *)
COLL_WITHOUT_EXCHANGE(coll_remote_free, coll_remote)
COLL_WITHOUT_EXCHANGE(coll_remote_describe, coll_remote, coll_tensor_view *)
COLL_WITHOUT_EXCHANGE(coll_remote_read, coll_remote, const int64_t *, const int64_t *,
                      coll_tensor *)
COLL_WITHOUT_EXCHANGE(coll_remote_write, coll_remote, const int64_t *, coll_tensor)
COLL_WITHOUT_EXCHANGE(coll_reshard_plan, int32_t, int32_t, const int64_t *, const coll_placement *,
                      const coll_placement *, coll_reshard *)
COLL_WITHOUT_EXCHANGE(coll_reshard_free, coll_reshard)
COLL_WITHOUT_EXCHANGE(coll_reshard_describe, coll_reshard, coll_reshard_info *)
COLL_WITHOUT_EXCHANGE(coll_reshard_run, coll_reshard, const coll_tensor *, size_t, coll_tensor *,
                      size_t)
