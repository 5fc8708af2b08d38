"""The token exchange of a mixture of experts between GPUs, by way of libcoll-moe.so.

    import coll
    buffer = coll.MoeBuffer(rank, num_ranks, nvl_bytes=1 << 30, device=rank)
    buffer.sync(all_gather(buffer.card()))      # cards of all ranks, by any means
    buffer.dispatch_layout(topk_idx, layout, num_experts, stream=stream)
    received = buffer.dispatch(x, topk_idx, layout, handle_memory, num_experts, stream=stream)
    y = experts(torch.from_dlpack(received.x))
    buffer.combine(y, received, out, stream=stream)

**Tensors** are whatever has `__dlpack__` (those of PyTorch, JAX, CuPy), contiguous, in this GPU's
memory: what is not as runtime/exchange/moe/moe.h says is an Error that names rank and argument, before anything is sent;
or, where the others say its shape, an address as an int, which nobody checks; or None. What the
buffer gives is a `View`, which has `__dlpack__` and points into it. Memory is the caller's: nothing
is allocated here, and a tensor has to live until its stream is done with it. Element types are names
as NumPy has them, "bfloat16", "float8_e4m3fn".
**Streams and events** are integers, as PyTorch's `stream.cuda_stream` and `event.cuda_event` are:
`stream` is what the call waits for and who waits for it, `previous` and `done` events as in MoeOrder.
**Failures** are `Error`s with the code of runtime/step/abi/abi.h. Contracts are those of moe.h,
low_latency.h and buffer.h; the lock of Python is free during calls.
"""

from .buffer import MoeBuffer, Received
from .errors import Error
from .library import handle_bytes, load, low_latency_bytes, low_latency_host_bytes
from .tensors import View

__all__ = ["Error", "MoeBuffer", "Received", "View", "handle_bytes", "load", "low_latency_bytes",
           "low_latency_host_bytes"]
