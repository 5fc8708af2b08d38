"""The token exchange of a mixture of experts between GPUs, by way of libcoll-moe.so.

    import coll
    buffer = coll.MoeBuffer(rank, num_ranks, nvl_bytes=1 << 30, device=rank)
    buffer.sync(all_gather(buffer.card()))      # cards of all ranks, by any means
    buffer.dispatch_layout(topk_idx, layout, num_experts, stream=stream)
    received = buffer.dispatch(x, topk_idx, layout, handle_memory, num_experts, stream=stream)
    y = experts(torch.from_dlpack(received.x))
    buffer.combine(y, received, out, stream=stream)

**Tensors** are objects with `__dlpack__` (those of PyTorch, JAX, CuPy), contiguous, in this GPU's memory. An
argument that is not as runtime/exchange/moe/moe.h requires raises an Error that names rank and argument, before
anything is sent. If other arguments give its shape, an argument may be an address as an int, which is not checked;
optional ones may be None. The buffer returns `View`s, which have `__dlpack__` and point into it. The caller owns all
memory: nothing is allocated here, and a tensor has to live until its stream has finished with it. Element types are
names as in NumPy, "bfloat16", "float8_e4m3fn".
**Streams and events** are integers, such as PyTorch's `stream.cuda_stream` and `event.cuda_event`: a call waits for the
earlier work of `stream`, whose later work waits for the call; `previous` and `done` are events as in MoeOrder.
**Failures** are `Error`s with a code of runtime/base/codes.h. Contracts are those of moe.h,
low_latency.h and buffer.h; Python's lock is free during calls.
"""

from .buffer import MoeBuffer, Received
from .errors import Error
from .library import handle_bytes, load, low_latency_bytes, low_latency_host_bytes
from .tensors import View

__all__ = ["Error", "MoeBuffer", "Received", "View", "handle_bytes", "load", "low_latency_bytes",
           "low_latency_host_bytes"]
