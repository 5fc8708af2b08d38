#!/usr/bin/env python3
"""All-reduces of JAX, by as many processes as asked for, which may share a GPU.

    profiler_jax.py RANK RANKS PORT

Started once for each rank. Each rank is a host of its own for NCCL (NCCL_HOSTID), so that ranks may share a GPU.
"""

import os
import sys

RANK, RANKS, PORT = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.environ["NCCL_HOSTID"] = f"rank{RANK}"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

SIZES = (1 << 20, 16 << 20)
CALLS = 20


def main():
    jax.distributed.initialize(f"127.0.0.1:{PORT}", num_processes=RANKS, process_id=RANK, local_device_ids=[0])
    mesh = Mesh(np.array(jax.devices()), ("dp",))
    split = NamedSharding(mesh, PartitionSpec("dp"))
    add = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "dp"), mesh=mesh, in_specs=PartitionSpec("dp"),
                                out_specs=PartitionSpec()))
    for size in SIZES:
        own = jnp.full((1, size // 4), RANK + 1, jnp.float32)
        data = jax.make_array_from_single_device_arrays((RANKS, size // 4), split, [own])
        for _ in range(CALLS):
            total = add(data)
        value = float(np.asarray(total.addressable_shards[0].data)[0, 0])
        assert value == RANKS * (RANKS + 1) / 2, f"rank {RANK}: the sum is {value}"
    if RANK == 0:
        print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}")
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
