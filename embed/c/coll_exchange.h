/* coll_exchange.h - tensors of other processes, and changes of sharding, in host memory.
 *
 *   coll_owner_create(NULL, &owner);                      process A
 *   coll_owner_allocate(owner, COLL_F32, 2, shape, &tensor);
 *   coll_owner_publish(owner, tensor, handle, sizeof(handle), &bytes);
 *   ...the bytes of the handle reach process B by any means...
 *   coll_remote_open(NULL, handle, bytes, &remote);       process B
 *   coll_remote_read(remote, NULL, NULL, &copy);
 *
 * Owners take no part in accesses, and are not told of them: the caller has to make sure that the
 * data is there, and that it may be written. A handle carries keys that cannot be guessed; every
 * process that has it may read and write the tensor.
 *
 * Handles, errors and threads are those of coll.h. A library without transports refuses all of it
 * with COLL_UNSUPPORTED.
 */

#ifndef COLL_EMBED_C_COLL_EXCHANGE_H
#define COLL_EMBED_C_COLL_EXCHANGE_H

#include "coll.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
typedef struct coll_owner   { uint64_t id; } coll_owner;
typedef struct coll_remote  { uint64_t id; } coll_remote;
typedef struct coll_reshard { uint64_t id; } coll_reshard;
/* clang-format on */

/* ---------------------------------------------------------------- tensors of other processes */

typedef struct coll_exchange_options {
  size_t struct_size;
  const char *name;      /* of the owner, in messages; null: "owner" */
  const char *transport; /* "tcp", "verbs": also between machines; null: processes of this one */
  const char *interface; /* network interface; null: any */
  const char *secret;    /* with a transport: of at least 16 characters, the same on both sides */
  int64_t timeout_us;    /* longest wait; 0: one minute */
} coll_exchange_options;

/* `options` may be null. Starts a thread that answers the other processes. */
COLL_EXPORT coll_error coll_owner_create(const coll_exchange_options *options, coll_owner *owner);
/* Withdraws everything. Memory that it has allocated lives as long as its tensors. */
COLL_EXPORT coll_error coll_owner_free(coll_owner owner);
/* Allocates zeros in memory that other processes of this machine can map. */
COLL_EXPORT coll_error coll_owner_allocate(coll_owner owner, int32_t dtype, int32_t num_dims,
                                           const int64_t *shape, coll_tensor *tensor);
/* Writes the handle's bytes to `handle` and their number to *bytes. COLL_INVALID_ARGUMENT if it
 * has more than `capacity`; COLL_EXCHANGE_HANDLE_BYTES is enough. The memory is kept until the
 * tensor is withdrawn; without a transport it has to come from coll_owner_allocate(). */
enum { COLL_EXCHANGE_HANDLE_BYTES = 4096 };
COLL_EXPORT coll_error coll_owner_publish(coll_owner owner, coll_tensor tensor, void *handle,
                                          size_t capacity, size_t *bytes);
/* Withdraws the tensor: no access begins afterwards. */
COLL_EXPORT coll_error coll_owner_withdraw(coll_owner owner, const void *handle, size_t bytes);

/* `options` may be null; their transport is the owner's. Connects at the first access. */
COLL_EXPORT coll_error coll_remote_open(const coll_exchange_options *options, const void *handle,
                                        size_t bytes, coll_remote *remote);
COLL_EXPORT coll_error coll_remote_free(coll_remote remote);
/* Type and shape; `data` is null. The shape lives until the remote is freed. */
COLL_EXPORT coll_error coll_remote_describe(coll_remote remote, coll_tensor_view *view);
/* Reads the part from begin[d] on, of extent[d] elements; both null: all of it. Blocks until the
 * elements have arrived. */
COLL_EXPORT coll_error coll_remote_read(coll_remote remote, const int64_t *begin,
                                        const int64_t *extent, coll_tensor *tensor);
/* Writes `tensor`, from begin[d] on; null: from 0. Blocks until the elements are there. */
COLL_EXPORT coll_error coll_remote_write(coll_remote remote, const int64_t *begin,
                                         coll_tensor tensor);

/* ---------------------------------------------------------------- changes of sharding */

/* A tensor on a mesh. Rank r of each mesh is the same device. */
typedef struct coll_placement {
  size_t struct_size;
  const char *mesh;     /* "dp=4,tp=2" */
  const char *sharding; /* "[dp, -]": of each dimension the axes that split it, as "dp+tp", or - */
} coll_placement;

/* Plans the cheapest moves from one placement to another. */
COLL_EXPORT coll_error coll_reshard_plan(int32_t dtype, int32_t num_dims, const int64_t *shape,
                                         const coll_placement *source, const coll_placement *target,
                                         coll_reshard *reshard);
COLL_EXPORT coll_error coll_reshard_free(coll_reshard reshard);

typedef struct coll_reshard_info {
  size_t struct_size;
  size_t num_sources, num_targets; /* ranks of the two meshes */
  size_t num_transfers;            /* pairs of different ranks that exchange something */
  int64_t bytes;                   /* that travel between ranks */
  int64_t least_bytes;             /* that any plan has to move */
} coll_reshard_info;
COLL_EXPORT coll_error coll_reshard_describe(coll_reshard reshard, coll_reshard_info *info);

/* Moves the blocks of all ranks, which are in this process. A block is a rank's part of the
 * tensor, with padding at its end where the extent does not divide. `targets` get new tensors. */
COLL_EXPORT coll_error coll_reshard_run(coll_reshard reshard, const coll_tensor *sources,
                                        size_t num_sources, coll_tensor *targets,
                                        size_t num_targets);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_EMBED_C_COLL_EXCHANGE_H */
