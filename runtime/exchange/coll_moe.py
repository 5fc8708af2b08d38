"""The token exchange of a mixture of experts (moe_buffer.h) for Python, by way of libcoll-moe.so.

    import coll_moe
    buffer = coll_moe.MoeBuffer(rank, num_ranks, nvl_bytes=1 << 30, device=rank)
    buffer.sync(all_gather(buffer.card()))      # cards of all ranks, by any means
    buffer.dispatch_layout(topk_idx, layout, num_experts, stream=stream)
    received = buffer.dispatch(x, topk_idx, layout, handle_memory, num_experts, stream=stream)
    y = experts(torch.from_dlpack(received.x))
    buffer.combine(y, received, out, stream=stream)

**Tensors** are whatever has `__dlpack__` (those of PyTorch, JAX, CuPy), contiguous, in this GPU's
memory; or an address as an int; or None. What the buffer gives is a `View`, which has `__dlpack__`
and points into it. Memory is the caller's: nothing is allocated here, and a tensor has to live until
its stream is done with it. Element types are names as NumPy has them, "bfloat16", "float8_e4m3fn".
**Streams and events** are integers, as PyTorch's `stream.cuda_stream` and `event.cuda_event` are:
`stream` is what the call waits for and who waits for it, `previous` and `done` events as in MoeOrder.
**Failures** are `Error`s with the code of runtime/abi.h. Contracts are those of moe.h,
moe_low_latency.h and moe_buffer.h; the lock of Python is free during calls.
"""

import ctypes
import pathlib
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

VERSION = 1  # of libcoll-moe.so
_i32, _i64, _ptr = c_int32, c_int64, c_void_p

# Name: CollDtype, DLPack's code and bits.
_DTYPES = {
    "float32": (0, 2, 32), "float64": (1, 2, 64), "float16": (2, 2, 16), "bfloat16": (3, 4, 16),
    "int8": (4, 0, 8), "int16": (5, 0, 16), "int32": (6, 0, 32), "int64": (7, 0, 64),
    "uint8": (4, 1, 8), "uint32": (6, 1, 32), "uint64": (7, 1, 64), "bool": (8, 6, 8), "float8_e4m3fn": (9, 10, 8), "float8_e5m2": (10, 12, 8),
}


class Error(RuntimeError):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def _structure(name, **fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


# Those of moe_c.h.
_Shape = _structure("Shape", maxTokens=_i64, hidden=_i64, numTopk=_i32, numExperts=_i32)
_Options = _structure(
    "Options", rank=_i32, numRanks=_i32, nvlBytes=_i64, netBytes=_i64, lowLatency=_i32,
    explicitlyDestroy=_i32, lowLatencyShape=_Shape, device=_i32, nodeSize=_i32, timeoutUs=_i64,
    netChunkBytes=_i64, transport=c_char_p, secret=c_char_p)
_Info = _structure(
    "Info", isAvailable=_i32, isInternodeAvailable=_i32, numNetRanks=_i32, netRank=_i32, nvlRank=_i32,
    device=_i32, netBytesSent=_i64, commStream=_ptr)
_Order = _structure("Order", compute=_ptr, previous=_ptr, done=_ptr)
_Routing = _structure("Routing", topkIdx=_ptr, numTokens=_i64, numTopk=_i32, numExperts=_i32)
_Layout = _structure(
    "Layout", tokensPerRank=_ptr, tokensPerNetRank=_ptr, tokensPerExpert=_ptr, isTokenInRank=_ptr)
_Tokens = _structure(
    "Tokens", x=_ptr, hidden=_i64, dtype=_i32, reserved=_i32, topkWeights=_ptr, scales=_ptr,
    numScales=_i64, scaleTokenStride=_i64, scaleStride=_i64)
_DispatchOptions = _structure(
    "DispatchOptions", numSms=_i32, expertAlignment=_i32, worstCaseTokens=_i64)
_Received = _structure(
    "Received", handle=_ptr, numReceived=_i64, x=_ptr, scales=_ptr, topkIdx=_ptr, topkWeights=_ptr,
    sourceIdx=_ptr, rankPrefix=_ptr, channelPrefix=_ptr, sendHead=_ptr, tokensPerExpert=POINTER(_i32))
_Combine = _structure(
    "Combine", x=_ptr, numRows=_i64, hidden=_i64, topkWeights=_ptr, numTopk=_i32, numSms=_i32,
    bias=_ptr * 2, out=_ptr, outWeights=_ptr)
_Rows = _structure("Rows", x=_ptr, scales=_ptr, counts=_ptr, ranges=_ptr, sources=_ptr)
_LowLatencyDispatch = _structure(
    "LowLatencyDispatch", routing=_Routing, x=_ptr, dtype=_i32, numSms=_i32, expertTokens=_ptr)
_LowLatencyCombine = _structure(
    "LowLatencyCombine", routing=_Routing, x=_ptr, topkWeights=_ptr, log=_i32, numSms=_i32, out=_ptr)

# --- DLPack

_DLDevice = _structure("DLDevice", type=_i32, id=_i32)
_DLType = _structure("DLType", code=c_uint8, bits=c_uint8, lanes=c_uint16)
_DLTensor = _structure(
    "DLTensor", data=_ptr, device=_DLDevice, ndim=_i32, dtype=_DLType, shape=POINTER(_i64),
    strides=POINTER(_i64), offset=c_uint64)


class _DLManaged(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_DLManaged))
_DLManaged._fields_ = [("tensor", _DLTensor), ("context", _ptr), ("deleter", _Deleter)]

_capsule = ctypes.pythonapi
_capsule.PyCapsule_New.restype = ctypes.py_object
_capsule.PyCapsule_New.argtypes = [_ptr, c_char_p, _ptr]
_capsule.PyCapsule_IsValid.argtypes = [ctypes.py_object, c_char_p]
_capsule.PyCapsule_GetPointer.restype = _ptr
_capsule.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
_DLTENSOR = b"dltensor"  # has to outlive capsules
_GPU = 2  # kDLCUDA

_exported = {}  # by address: what a consumer of a capsule still uses


@_Deleter
def _release(managed):
    _exported.pop(ctypes.addressof(managed.contents), None)


# The same functions for a capsule that is on its way out: no reference is to be made of it.
_ending = ctypes.PyDLL(None)
_ending.PyCapsule_IsValid.argtypes = [_ptr, c_char_p]
_ending.PyCapsule_GetPointer.restype = _ptr
_ending.PyCapsule_GetPointer.argtypes = [_ptr, c_char_p]


@ctypes.CFUNCTYPE(None, _ptr)
def _end_capsule(capsule):
    if _ending.PyCapsule_IsValid(capsule, _DLTENSOR):  # nobody has taken it
        _exported.pop(_ending.PyCapsule_GetPointer(capsule, _DLTENSOR), None)


class View:
    """A contiguous part of a buffer, for `from_dlpack`."""

    def __init__(self, address, dtype, shape, device, owner, device_type=_GPU):
        self.address, self.dtype, self.shape = address, dtype, tuple(shape)
        self._device, self._owner = (device_type, device), owner

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, stream=None, **_):
        _, code, bits = _DTYPES[self.dtype]
        shape = (c_int64 * len(self.shape))(*self.shape)
        tensor = _DLTensor(self.address, _DLDevice(*self._device), len(self.shape),
                           _DLType(code, bits, 1), shape, None, 0)
        managed = _DLManaged(tensor, None, _release)
        _exported[ctypes.addressof(managed)] = (managed, shape, self)
        return _capsule.PyCapsule_New(ctypes.addressof(managed), _DLTENSOR, _end_capsule)


class _Taken:
    """Where a tensor is, and what."""

    def __init__(self, what, tensor, dtypes=None, ndim=None):
        self.address, self.shape, self.dtype = None, None, None
        if tensor is None or isinstance(tensor, int):
            self.address = tensor
            return
        # The call itself waits for its stream: the producer need not.
        on_gpu = tensor.__dlpack_device__()[0] == _GPU
        capsule = tensor.__dlpack__(stream=-1) if on_gpu else tensor.__dlpack__()
        managed = ctypes.cast(_capsule.PyCapsule_GetPointer(capsule, _DLTENSOR), POINTER(_DLManaged))
        found = managed.contents.tensor
        self.shape = tuple(found.shape[i] for i in range(found.ndim))
        self.address = (found.data or 0) + found.offset
        kind = (found.dtype.code, found.dtype.bits)
        self.dtype = next((n for n, d in _DTYPES.items() if d[1:] == kind), None)
        if found.dtype.lanes != 1 or self.dtype is None or (dtypes and self.dtype not in dtypes):
            raise Error(1, f"moe: `{what}` has elements of {self.dtype or kind}, "
                           f"which are to be {' or '.join(dtypes or ('known',))}")
        if ndim is not None and len(self.shape) != ndim:
            raise Error(1, f"moe: `{what}` has {len(self.shape)} dimensions instead of {ndim}")
        step = 1
        for i in reversed(range(found.ndim)):
            if found.strides and self.shape[i] > 1 and found.strides[i] != step:
                raise Error(1, f"moe: `{what}` is not contiguous")
            step *= self.shape[i]


def _address(what, tensor, *dtypes):
    return _Taken(what, tensor, dtypes or None).address


# --- the library

_library = None


def load(path=None):
    """Loads libcoll-moe.so: from `path`, beside this file, or where the linker looks. Once."""
    global _library
    if _library is None:
        beside = pathlib.Path(__file__).resolve().parent / "libcoll-moe.so"
        found = ctypes.CDLL(str(path or (beside if beside.exists() else "libcoll-moe.so")))
        if found.coll_moe_version() != VERSION:
            raise ImportError(f"libcoll-moe.so has version {found.coll_moe_version()}, not {VERSION}")
        found.coll_moe_last_error.restype = c_char_p
        for name in ("card_bytes", "handle_bytes", "low_latency_bytes", "low_latency_host_bytes"):
            getattr(found, f"coll_moe_{name}").restype = c_int64
        found.coll_moe_combine_input.restype = _ptr
        _library = found
    return _library


def _must(code):
    if code != 0:
        raise Error(code, _library.coll_moe_last_error().decode(errors="replace"))


def handle_bytes(num_tokens, num_ranks, num_sms=0):
    return load().coll_moe_handle_bytes(_i64(num_tokens), _i32(num_ranks), _i32(num_sms))


def low_latency_bytes(max_tokens, hidden, num_topk, num_experts, num_ranks):
    shape = _Shape(max_tokens, hidden, num_topk, num_experts)
    return load().coll_moe_low_latency_bytes(byref(shape), _i32(num_ranks))


def low_latency_host_bytes(max_tokens, hidden, num_topk, num_experts, num_ranks, node_size=8):
    shape = _Shape(max_tokens, hidden, num_topk, num_experts)
    return load().coll_moe_low_latency_host_bytes(byref(shape), _i32(num_ranks), _i32(node_size))


class Received:
    """What a dispatch brought; its views are valid until the next one. `x` and the like are None where
    only the GPU knows how many tokens came: `address` has them."""

    def __init__(self, buffer, raw, hidden, dtype, num_topk, num_scales):
        self._raw, self._buffer, self.dtype = raw, buffer, dtype
        self.num_received, rows = raw.numReceived, raw.numReceived
        self.address = {name: getattr(raw, name) for name in (
            "x", "scales", "topkIdx", "topkWeights", "sourceIdx", "rankPrefix", "channelPrefix",
            "sendHead")}

        def view(address, kind, *shape):
            known = address and rows >= 0
            return View(address, kind, (rows, *shape), buffer.device, self) if known else None

        self.x = view(raw.x, dtype, hidden)
        self.scales = view(raw.scales, "float32", num_scales)
        self.topk_idx = view(raw.topkIdx, "int64", num_topk)
        self.topk_weights = view(raw.topkWeights, "float32", num_topk)
        self.source_idx = view(raw.sourceIdx, "int32")
        count = buffer.experts_here if raw.tokensPerExpert else 0
        self.tokens_per_expert = [raw.tokensPerExpert[i] for i in range(count)]

    def __del__(self):
        _library.coll_moe_free_handle(_ptr(self._raw.handle))


class MoeBuffer:
    def __init__(self, rank, num_ranks, nvl_bytes=0, net_bytes=0, low_latency=None,
                 explicitly_destroy=False, device=0, node_size=0, timeout_us=0, net_chunk_bytes=0,
                 transport=None, secret=None):
        """`low_latency`: (max_tokens, hidden, num_topk, num_experts), or None."""
        self._buffer = _ptr()
        self.rank, self.num_ranks, self.device, self.experts_here = rank, num_ranks, device, 0
        options = _Options(
            rank, num_ranks, nvl_bytes, net_bytes, low_latency is not None, explicitly_destroy,
            _Shape(*(low_latency or ())), device, node_size, timeout_us, net_chunk_bytes,
            transport and transport.encode(), secret and secret.encode())
        _must(load().coll_moe_create(byref(options), byref(self._buffer)))

    def __del__(self):
        if _library and self._buffer:
            _library.coll_moe_free(self._buffer)

    # --- life

    def card(self):
        card = ctypes.create_string_buffer(_library.coll_moe_card_bytes())
        _must(_library.coll_moe_card(self._buffer, card))
        return card.raw

    def sync(self, cards):
        if any(len(card) != _library.coll_moe_card_bytes() for card in cards):
            raise Error(1, "moe: a card is none, or another version's")
        _must(_library.coll_moe_sync(self._buffer, b"".join(cards), _i32(len(cards))))

    def destroy(self):
        _must(_library.coll_moe_destroy(self._buffer))

    def check(self):
        _must(_library.coll_moe_check(self._buffer))

    def abort(self):
        _library.coll_moe_abort(self._buffer)

    def info(self):
        info = _Info()
        _must(_library.coll_moe_info(self._buffer, byref(info)))
        return {name: getattr(info, name) for name, _ in _Info._fields_}

    @property
    def comm_stream(self):
        return self.info()["commStream"] or 0

    def local_buffer(self, dtype, offset=0, use_net=False):
        data, count = _ptr(), c_int64()
        _must(_library.coll_moe_local_buffer(self._buffer, _i32(_DTYPES[dtype][0]), _i64(offset),
                                             _i32(use_net), byref(data), byref(count)))
        return View(data.value, dtype, (count.value,), self.device, self)

    # --- the normal mode. `layout`: int32 [ranks], int32 [nodes] or None, int32 [experts], and bool or
    # uint8 [tokens][ranks].

    @staticmethod
    def _order(stream, previous, done):
        return byref(_Order(stream, previous, done))

    @staticmethod
    def _routing(topk_idx, num_experts):
        taken = _Taken("topk_idx", topk_idx, ("int64",), 2)
        return _Routing(taken.address, *taken.shape, num_experts)

    def dispatch_layout(self, topk_idx, layout, num_experts, stream=0, previous=None, done=None):
        routing = self._routing(topk_idx, num_experts)
        _must(_library.coll_moe_dispatch_layout(
            self._buffer, byref(routing), byref(self._layout(layout)),
            self._order(stream, previous, done)))

    @staticmethod
    def _layout(layout):
        return _Layout(*(_address("layout", part) for part in layout))

    def _tokens(self, x, topk_weights, scales):
        rows = _Taken("x", x, ("bfloat16", "float8_e4m3fn", "float8_e5m2"), 2)
        weights = _address("topk_weights", topk_weights, "float32")
        factors = _Taken("scales", scales, ("float32",), 2)
        count = factors.shape[1] if factors.shape else 0
        return rows, count, _Tokens(rows.address, rows.shape[1], _DTYPES[rows.dtype][0], 0, weights,
                                    factors.address, count, count, 1)

    def dispatch(self, x, topk_idx, layout, handle_memory, num_experts, topk_weights=None, scales=None,
                 num_sms=0, expert_alignment=0, worst_case_tokens=0, stream=0, previous=None, done=None):
        """`handle_memory`: handle_bytes() of memory, as long as what is returned."""
        rows, num_scales, tokens = self._tokens(x, topk_weights, scales)
        routing = self._routing(topk_idx, num_experts)
        raw = _Received()
        self.experts_here = num_experts // self.num_ranks
        _must(_library.coll_moe_dispatch(
            self._buffer, byref(tokens), byref(routing), byref(self._layout(layout)),
            byref(_DispatchOptions(num_sms, expert_alignment, worst_case_tokens)),
            _ptr(_address("handle_memory", handle_memory)), self._order(stream, previous, done),
            byref(raw)))
        return Received(self, raw, rows.shape[1], rows.dtype, routing.numTopk, num_scales)

    def dispatch_again(self, x, received, scales=None, num_sms=0, stream=0, previous=None, done=None):
        rows, num_scales, tokens = self._tokens(x, None, scales)
        raw = _Received()
        _must(_library.coll_moe_dispatch_again(
            self._buffer, byref(tokens), _ptr(received._raw.handle), _i32(num_sms),
            self._order(stream, previous, done), byref(raw)))
        return Received(self, raw, rows.shape[1], rows.dtype, 0, num_scales)

    def combine_input(self, num_rows, hidden):
        address = _library.coll_moe_combine_input(self._buffer)
        return View(address, "bfloat16", (num_rows, hidden), self.device, self)

    def combine(self, x, received, out, topk_weights=None, out_weights=None, bias=(None, None),
                num_sms=0, stream=0, previous=None, done=None):
        rows = _Taken("x", x, ("bfloat16",), 2)
        weights = _Taken("topk_weights", topk_weights, ("float32",), 2)
        call = _Combine(
            rows.address, rows.shape[0], rows.shape[1], weights.address,
            weights.shape[1] if weights.shape else 0, num_sms,
            (_ptr * 2)(*(_address("bias", b, "bfloat16") for b in bias)),
            _address("out", out, "bfloat16"), _address("out_weights", out_weights, "float32"))
        _must(_library.coll_moe_combine(self._buffer, byref(call), _ptr(received._raw.handle),
                                        self._order(stream, previous, done)))

    # --- the low-latency mode. `rows`: x, scales or None, counts, ranges, sources, as in
    # MoeLowLatencyRows. With `hook` a call only sends, and returns what receive() takes.

    @staticmethod
    def _rows(rows):
        return _Rows(*(_address("rows", part) for part in rows))

    def low_latency_dispatch(self, x, topk_idx, rows, num_experts, dtype="bfloat16", expert_tokens=None,
                             num_sms=0, hook=False, stream=0, previous=None, done=None):
        call = _LowLatencyDispatch(
            self._routing(topk_idx, num_experts), _address("x", x, "bfloat16"), _DTYPES[dtype][0],
            num_sms, _address("expert_tokens", expert_tokens, "int32"))
        later = c_int64()
        _must(_library.coll_moe_low_latency_dispatch(
            self._buffer, byref(call), byref(self._rows(rows)), self._order(stream, previous, done),
            byref(later) if hook else None))
        return later.value if hook else None

    def low_latency_combine(self, x, topk_idx, topk_weights, rows, out, num_experts, log=False, num_sms=0,
                            hook=False, stream=0, previous=None, done=None):
        call = _LowLatencyCombine(
            self._routing(topk_idx, num_experts), _address("x", x, "bfloat16"),
            _address("topk_weights", topk_weights, "float32"), log, num_sms,
            _address("out", out, "bfloat16"))
        later = c_int64()
        _must(_library.coll_moe_low_latency_combine(
            self._buffer, byref(call), byref(self._rows(rows)), self._order(stream, previous, done),
            byref(later) if hook else None))
        return later.value if hook else None

    def low_latency_receive(self, hook, stream=0, previous=None, done=None):
        _must(_library.coll_moe_low_latency_receive(self._buffer, _i64(hook),
                                                    self._order(stream, previous, done)))

    def low_latency_combine_input(self):
        data, count = _ptr(), c_int64()
        _must(_library.coll_moe_low_latency_combine_input(self._buffer, byref(data), byref(count)))
        return View(data.value, "bfloat16", (count.value,), self.device, self)
