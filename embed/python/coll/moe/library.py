"""libcoll-moe.so: its structures, and how it is found."""

import ctypes
import pathlib
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_void_p

from .errors import Error
from .tensors import GPU, HOST, MANAGED, structure

VERSION = 2  # of libcoll-moe.so
_i32, _i64, _ptr = c_int32, c_int64, c_void_p

# Those of moe_c.h.
Shape = structure("Shape", maxTokens=_i64, hidden=_i64, numTopk=_i32, numExperts=_i32)
Options = structure(
    "Options", rank=_i32, numRanks=_i32, nvlBytes=_i64, netBytes=_i64, lowLatency=_i32,
    explicitlyDestroy=_i32, lowLatencyShape=Shape, device=_i32, nodeSize=_i32, timeoutUs=_i64,
    netChunkBytes=_i64, transport=c_char_p, secret=c_char_p)
Info = structure(
    "Info", isAvailable=_i32, isInternodeAvailable=_i32, numNetRanks=_i32, netRank=_i32, nvlRank=_i32,
    device=_i32, netBytesSent=_i64, commStream=_ptr)
Order = structure("Order", compute=_ptr, previous=_ptr, done=_ptr)
Routing = structure("Routing", topkIdx=_ptr, numTokens=_i64, numTopk=_i32, numExperts=_i32)
Layout = structure(
    "Layout", tokensPerRank=_ptr, tokensPerNetRank=_ptr, tokensPerExpert=_ptr, isTokenInRank=_ptr)
Tokens = structure(
    "Tokens", x=_ptr, hidden=_i64, dtype=_i32, reserved=_i32, topkWeights=_ptr, scales=_ptr,
    numScales=_i64, scaleTokenStride=_i64, scaleStride=_i64)
DispatchOptions = structure(
    "DispatchOptions", numSms=_i32, expertAlignment=_i32, worstCaseTokens=_i64)
Received = structure(
    "Received", handle=_ptr, numReceived=_i64, numRows=_i64, numRelayed=_i64, numChannels=_i32,
    reserved=_i32, x=_ptr, scales=_ptr, topkIdx=_ptr, topkWeights=_ptr, sourceIdx=_ptr, rankPrefix=_ptr,
    channelPrefix=_ptr, sendHead=_ptr, tokensPerExpert=POINTER(_i32))
Combine = structure(
    "Combine", x=_ptr, numRows=_i64, hidden=_i64, topkWeights=_ptr, numTopk=_i32, numSms=_i32,
    bias=_ptr * 2, out=_ptr, outWeights=_ptr)
Rows = structure("Rows", x=_ptr, scales=_ptr, counts=_ptr, ranges=_ptr, sources=_ptr)
LowLatencyDispatch = structure(
    "LowLatencyDispatch", routing=Routing, x=_ptr, dtype=_i32, numSms=_i32, expertTokens=_ptr)
LowLatencyCombine = structure(
    "LowLatencyCombine", routing=Routing, x=_ptr, topkWeights=_ptr, log=_i32, numSms=_i32, out=_ptr)

loaded = None
devices = (GPU, MANAGED)  # of tensors


def load(path=None, emulated=False):
    """Loads libcoll-moe.so once: from `path`, from this folder, or where the linker looks. `emulated`:
    it plays its GPUs on the host, and takes tensors that are there, too."""
    global loaded, devices
    if loaded is None:
        beside = pathlib.Path(__file__).resolve().parents[1] / "libcoll-moe.so"
        try:
            found = ctypes.CDLL(str(path or (beside if beside.exists() else "libcoll-moe.so")))
        except OSError as error:
            raise Error(2, f"moe: the token exchange needs libcoll-moe.so (target coll-moe): {error}") from None
        if found.coll_moe_version() != VERSION:
            raise ImportError(f"libcoll-moe.so has version {found.coll_moe_version()}, not {VERSION}")
        found.coll_moe_last_error.restype = c_char_p
        for name in ("card_bytes", "handle_bytes", "low_latency_bytes", "low_latency_host_bytes"):
            getattr(found, f"coll_moe_{name}").restype = c_int64
        found.coll_moe_combine_input.restype = _ptr
        loaded = found
        devices += (HOST,) if emulated else ()
    return loaded


def must(code):
    if code != 0:
        raise Error(code, loaded.coll_moe_last_error().decode(errors="replace"))


def handle_bytes(num_tokens, num_ranks, num_sms=0):
    bytes_ = load().coll_moe_handle_bytes(_i64(num_tokens), _i32(num_ranks), _i32(num_sms))
    if bytes_ == 0:
        raise Error(1, f"moe: there is no handle of {num_tokens} tokens, {num_ranks} ranks and numSms {num_sms}")
    return bytes_


def low_latency_bytes(max_tokens, hidden, num_topk, num_experts, num_ranks):
    shape = Shape(max_tokens, hidden, num_topk, num_experts)
    return load().coll_moe_low_latency_bytes(byref(shape), _i32(num_ranks))


def low_latency_host_bytes(max_tokens, hidden, num_topk, num_experts, num_ranks, node_size=8):
    shape = Shape(max_tokens, hidden, num_topk, num_experts)
    return load().coll_moe_low_latency_host_bytes(byref(shape), _i32(num_ranks), _i32(node_size))
