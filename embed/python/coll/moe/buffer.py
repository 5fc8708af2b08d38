"""The token exchange's buffer."""

import ctypes
from ctypes import byref, c_int32, c_int64, c_void_p

from . import library
from .errors import Error
from .library import must
from .tensors import DTYPES, GPU, HOST, Taken, View, dtype_code, place

_i32, _i64, _ptr = c_int32, c_int64, c_void_p


class Received:
    """The rows that a dispatch received, as views that are valid until the next one. Views of the handle
    are the caller's memory, and valid as long as that. Where only the GPU knows how many tokens came,
    `num_received` is -1, `rank_prefix[-1][rank]` that number, and the views have `num_rows` rows: the
    worst case, as far as the buffer has room."""

    def __init__(self, buffer, raw, num_tokens, hidden, dtype, num_topk, num_scales):
        self._raw, self._buffer, self.dtype, self.num_tokens = raw, buffer, dtype, num_tokens
        self.num_received, self.num_rows = raw.numReceived, raw.numRows
        self.num_relayed = raw.numRelayed  # over the network, for ranks of this node; -1: one node, or a worst case
        rows, ranks = raw.numRows, buffer.num_ranks

        def view(address, kind, *shape):
            return View(address, kind, shape, buffer.device, self) if address else None

        self.x = view(raw.x, dtype, rows, hidden)
        self.scales = view(raw.scales, "float32", rows, num_scales)
        self.topk_idx = view(raw.topkIdx, "int64", rows, num_topk)
        self.topk_weights = view(raw.topkWeights, "float32", rows, num_topk)
        self.source_idx = view(raw.sourceIdx, "int32", rows)
        self.rank_prefix = view(raw.rankPrefix, "int32", ranks, ranks)
        self.channel_prefix = view(raw.channelPrefix, "int32", ranks, raw.numChannels)
        self.send_head = view(raw.sendHead, "int32", num_tokens, ranks)
        count = buffer.experts_here if raw.tokensPerExpert else 0
        self.tokens_per_expert = [raw.tokensPerExpert[i] for i in range(count)]

    def __del__(self):
        library.loaded.coll_moe_free_handle(_ptr(self._raw.handle))


class MoeBuffer:
    """One rank's end of the token exchange, on its GPU (runtime/exchange/moe/buffer.h).

    *Dispatch* brings each token to every rank that has one of its experts; *combine* brings one row per
    token back and adds them up. Every rank makes one, and gives `sync` the cards of all. An :class:`Error`
    says which GPU or kernel is missing.
    """

    def __init__(self, rank, num_ranks, nvl_bytes=0, net_bytes=0, low_latency=None,
                 explicitly_destroy=False, device=0, node_size=0, timeout_us=0, net_chunk_bytes=0,
                 transport=None, secret=None):
        """Allocates the buffer on GPU `device`.

        Args:
          rank, num_ranks: this rank and the number of ranks of the job.
          nvl_bytes, net_bytes: for rows inside the node, and between nodes.
          low_latency: (max_tokens, hidden, num_topk, num_experts), or None: without that mode.
          explicitly_destroy: True: only `destroy` frees it.
          node_size: ranks of a node; 0: eight.
          timeout_us: longest wait for a peer; 0: a minute.
          transport: "tcp" or "verbs", between nodes; then `secret`, known to all ranks.
        """
        self._buffer = _ptr()
        self.rank, self.num_ranks, self.device, self.experts_here = rank, num_ranks, device, 0
        self._low_latency = low_latency
        options = library.Options(
            rank, num_ranks, nvl_bytes, net_bytes, low_latency is not None, explicitly_destroy,
            library.Shape(*(low_latency or ())), device, node_size, timeout_us, net_chunk_bytes,
            transport and transport.encode(), secret and secret.encode())
        must(library.load().coll_moe_create(byref(options), byref(self._buffer)))

    def __del__(self):
        if library.loaded and self._buffer:
            library.loaded.coll_moe_free(self._buffer)

    # --- life

    def card(self):
        """This rank's card, as bytes, which reaches all ranks by any means."""
        card = ctypes.create_string_buffer(library.loaded.coll_moe_card_bytes())
        must(library.loaded.coll_moe_card(self._buffer, card))
        return card.raw

    def sync(self, cards):
        """Connects to all ranks; `cards`: theirs, in the order of the ranks. Blocks until all have called it."""
        if any(len(card) != library.loaded.coll_moe_card_bytes() for card in cards):
            raise Error(1, "moe: a card is invalid, or of another version")
        must(library.loaded.coll_moe_sync(self._buffer, b"".join(cards), _i32(len(cards))))

    def destroy(self):
        """Ends the buffer on all ranks, which all call it."""
        must(library.loaded.coll_moe_destroy(self._buffer))

    def check(self):
        """Raises the error of a kernel or a peer that failed since the last call, if any."""
        must(library.loaded.coll_moe_check(self._buffer))

    def abort(self):
        """Ends all waits, of this rank and of its peers, with an error."""
        library.loaded.coll_moe_abort(self._buffer)

    def info(self):
        """A dict: whether it is connected, its places in node and job, bytes sent, its stream."""
        info = library.Info()
        must(library.loaded.coll_moe_info(self._buffer, byref(info)))
        return {name: getattr(info, name) for name, _ in library.Info._fields_}

    @property
    def comm_stream(self):
        """The buffer's own stream, as an integer."""
        return self.info()["commStream"] or 0

    def root_net_rank(self, is_global):
        """0, or with `is_global` the rank's number in its node; -1: no buffer."""
        return library.loaded.coll_moe_root_net_rank(self._buffer, _i32(is_global))

    def _identity(self, of, size):
        found = ctypes.create_string_buffer(size)
        must(of(self._buffer, found))
        return found.raw

    def local_ipc_handle(self):
        """A CUipcMemHandle, as bytes."""
        return self._identity(library.loaded.coll_moe_local_ipc_handle, 64)

    def local_net_id(self):
        """The address by which other nodes connect to this rank, as bytes."""
        return self._identity(library.loaded.coll_moe_local_net_id, 128)

    def local_buffer(self, dtype, offset=0, use_net=False):
        """A view of this rank's buffer, for rows of its node or of other nodes, from `offset` on."""
        data, count, code = _ptr(), c_int64(), _i32(dtype_code("dtype", dtype))
        must(library.loaded.coll_moe_local_buffer(self._buffer, code, _i64(offset), _i32(use_net), byref(data),
                                             byref(count)))
        return View(data.value, dtype, (count.value,), self.device, self)

    # --- what tensors have to be

    def _wrong(self, what, found, wanted):
        return Error(1, f"moe: rank {self.rank}: `{what}` is {found}; it has to be {wanted}")

    def _tensor(self, what, tensor):
        try:
            return Taken(tensor)
        except Exception as failure:
            name = f"{type(tensor).__name__} ({failure})"
            raise self._wrong(what, name, "a tensor for DLPack") from failure

    def _is_here(self, taken):
        kind, number = taken.device
        return kind in library.devices and (kind == HOST or number == self.device)

    def _take(self, what, tensor, dtypes, shape, optional=False, strided=False):
        """A size of `shape` that is None may be any. For an address, the type and `shape` are taken for
        granted: there has to be one. `strided`: strides may be any from 0 on."""
        taken = self._tensor(what, tensor)
        if taken.shape is None:
            fits = None not in shape and (taken.address or 0 in shape) or not taken.address and optional
        else:
            fits = (taken.dtype in dtypes and len(taken.shape) == len(shape) and self._is_here(taken) and
                    all(n in (None, found) for n, found in zip(shape, taken.shape)) and
                    (taken.is_contiguous or strided and min(taken.strides) >= 0))
        if not fits:
            sizes = ", ".join("any" if size is None else str(size) for size in shape)
            layout = "with strides from 0 on" if strided else "contiguous"
            raise self._wrong(what, taken, f"{' or '.join(dtypes)} [{sizes}], {layout}, {self._place()}")
        return taken

    def _place(self):
        return place(GPU, self.device)

    def _address(self, what, tensor, dtypes, shape, optional=False):
        return self._take(what, tensor, dtypes, shape, optional).address

    def _memory(self, what, tensor, count):
        """At least `count` bytes of any type."""
        taken = self._tensor(what, tensor)
        if not taken.address or taken.shape is not None and not (
                taken.is_contiguous and taken.bytes >= count and self._is_here(taken)):
            raise self._wrong(what, taken, f"at least {count} bytes, contiguous, {self._place()}")
        return _ptr(taken.address)

    def _parts(self, what, parts, names):
        if not isinstance(parts, (tuple, list)) or len(parts) != len(names):
            found = f"{len(parts)} parts" if isinstance(parts, (tuple, list)) else type(parts).__name__
            raise self._wrong(what, found, f"({', '.join(names)})")
        return [(f"{what}: {name}", part) for name, part in zip(names, parts)]

    # --- the normal mode. `layout`: int32 [ranks], int32 [nodes] or None, int32 [experts], and bool or
    # uint8 [tokens][ranks].

    @staticmethod
    def _order(stream, previous, done):
        return byref(library.Order(stream, previous, done))

    def _routing(self, topk_idx, num_experts, num_tokens=None):
        taken = self._take("topk_idx", topk_idx, ("int64",), (num_tokens, None))
        return library.Routing(taken.address, *taken.shape, num_experts)

    def _layout(self, layout, routing):
        ranks, nodes, experts, is_in_rank = self._parts(
            "layout", layout, ("tokens per rank", "tokens per node", "tokens per expert", "is token in rank"))
        counts = ("int32",)
        return byref(library.Layout(
            self._address(*ranks, counts, (self.num_ranks,)),
            self._address(*nodes, counts, (self.info()["numNetRanks"],), optional=True),
            self._address(*experts, counts, (routing.numExperts,)),
            self._address(*is_in_rank, ("bool", "uint8"), (routing.numTokens, self.num_ranks))))

    def dispatch_layout(self, topk_idx, layout, num_experts, stream=0, previous=None, done=None):
        """Counts the tokens for each rank: `layout` is tokens per rank, per node or None, per expert, and whether each
        token goes to each rank; tensors that it fills in."""
        routing = self._routing(topk_idx, num_experts)
        must(library.loaded.coll_moe_dispatch_layout(
            self._buffer, byref(routing), self._layout(layout, routing),
            self._order(stream, previous, done)))

    def _tokens(self, x, num_tokens, scales, weights=None):
        rows = self._take("x", x, ("bfloat16", "float8_e4m3fn", "float8_e5m2"), (num_tokens, None))
        factors = self._take("scales", scales, ("float32",), (rows.shape[0], None), optional=True, strided=True)
        count, strides = (factors.shape[1], factors.strides) if factors.shape else (0, (0, 0))
        return rows, count, library.Tokens(rows.address, rows.shape[1], DTYPES[rows.dtype][0], 0, weights,
                                    factors.address, count, *strides)

    def dispatch(self, x, topk_idx, layout, handle_memory, num_experts, topk_weights=None, scales=None,
                 num_sms=0, expert_alignment=0, worst_case_tokens=0, stream=0, previous=None, done=None):
        """Sends each row of `x` to the ranks of its experts, and returns a :class:`Received`.

        `handle_memory`: handle_bytes() of memory, as long as what is returned. `scales`: with any
        strides, as those of a transposed tensor."""
        routing = self._routing(topk_idx, num_experts)
        shape = (routing.numTokens, routing.numTopk)
        weights = self._address("topk_weights", topk_weights, ("float32",), shape, optional=True)
        rows, num_scales, tokens = self._tokens(x, routing.numTokens, scales, weights)
        memory = self._memory("handle_memory", handle_memory,
                              library.handle_bytes(routing.numTokens, self.num_ranks, num_sms))
        raw = library.Received()
        self.experts_here = num_experts // self.num_ranks
        must(library.loaded.coll_moe_dispatch(
            self._buffer, byref(tokens), byref(routing), self._layout(layout, routing),
            byref(library.DispatchOptions(num_sms, expert_alignment, worst_case_tokens)), memory,
            self._order(stream, previous, done), byref(raw)))
        return Received(self, raw, *rows.shape, rows.dtype, routing.numTopk, num_scales)

    def _handle(self, received):
        if not isinstance(received, Received):
            raise self._wrong("received", type(received).__name__, "what a dispatch returned")
        return _ptr(received._raw.handle)

    def dispatch_again(self, x, received, scales=None, num_sms=0, stream=0, previous=None, done=None):
        """Sends other rows the ways of an earlier dispatch, without counting anew."""
        handle = self._handle(received)
        rows, num_scales, tokens = self._tokens(x, received.num_tokens, scales)
        raw = library.Received()
        must(library.loaded.coll_moe_dispatch_again(
            self._buffer, byref(tokens), handle, _i32(num_sms), self._order(stream, previous, done),
            byref(raw)))
        return Received(self, raw, *rows.shape, rows.dtype, 0, num_scales)

    def combine_input(self, num_rows, hidden):
        """Where experts may write the rows of `combine`, which then copies nothing."""
        address = library.loaded.coll_moe_combine_input(self._buffer)
        whole = self.local_buffer("uint8")
        room = whole.address + whole.shape[0] - address if address else 0
        if num_rows < 0 or hidden < 1 or num_rows * hidden * 2 > room:
            raise self._wrong("combine_input", f"bfloat16 [{num_rows}, {hidden}]", f"of up to {room} bytes")
        return View(address, "bfloat16", (num_rows, hidden), self.device, self)

    def combine(self, x, received, out, topk_weights=None, out_weights=None, bias=(None, None),
                num_sms=0, stream=0, previous=None, done=None):
        """Sends rows back the ways of a dispatch; `out` gets the sum of each token's rows, and of `bias`."""
        handle, b, f = self._handle(received), ("bfloat16",), ("float32",)
        rows = self._take("x", x, b, (None, None))
        if rows.shape[0] < received.num_rows:
            raise self._wrong("x", rows, f"of the {received.num_rows} rows that were received, or more")
        weights = self._take("topk_weights", topk_weights, f, (rows.shape[0], None), optional=True)
        num_topk = weights.shape[1] if weights.shape else 0
        if out_weights is not None and weights.shape is None:
            raise self._wrong("out_weights", self._tensor("out_weights", out_weights), "None without `topk_weights`")
        shape = (received.num_tokens, rows.shape[1])
        biases = self._parts("bias", bias, ("first", "second"))
        call = library.Combine(
            rows.address, *rows.shape, weights.address, num_topk, num_sms,
            (_ptr * 2)(*(self._address(*part, b, shape, optional=True) for part in biases)),
            self._address("out", out, b, shape),
            self._address("out_weights", out_weights, f, (shape[0], num_topk), optional=num_topk == 0))
        must(library.loaded.coll_moe_combine(self._buffer, byref(call), handle, self._order(stream, previous, done)))

    # --- the low-latency mode. `rows`: x, scales or None, counts, ranges, sources, as in
    # MoeLowLatencyRows; combine takes no notice of the first three. With `hook` a call only sends, and
    # returns what receive() takes.

    def _room(self):
        """Of a rank: experts, rows of each, hidden."""
        if not self._low_latency:
            raise Error(1, f"moe: rank {self.rank}: the buffer was made without the low-latency mode")
        max_tokens, hidden, _, experts = self._low_latency
        return experts // self.num_ranks, self.num_ranks * max_tokens, hidden

    def _rows(self, rows, dtype=None):
        """`dtype`: of the rows that a dispatch brings."""
        experts, room, hidden = self._room()
        x, scales, counts, ranges, sources = self._parts(
            "rows", rows, ("x", "scales", "counts", "ranges", "sources"))
        places = (self._address(*ranges, ("uint64", "int64"), (experts, self.num_ranks)),
                  self._address(*sources, ("uint32", "int32"), (experts, room)))
        if not dtype:
            return byref(library.Rows(None, None, None, *places))
        kinds, fp8 = (dtype,) if dtype == "bfloat16" else (dtype, "uint8"), dtype != "bfloat16"
        return byref(library.Rows(
            self._address(*x, kinds, (experts, room, hidden)),
            self._address(*scales, ("float32",), (experts, room, hidden // 128), optional=not fp8),
            self._address(*counts, ("int32",), (experts,)), *places))

    def low_latency_dispatch(self, x, topk_idx, rows, num_experts, dtype="bfloat16", expert_tokens=None,
                             num_sms=0, hook=False, stream=0, previous=None, done=None):
        """Sends tokens to their experts in one launch; `rows` gets them, packed by expert."""
        code, (experts, _, hidden) = dtype_code("dtype", dtype), self._room()
        routing = self._routing(topk_idx, num_experts)
        call = library.LowLatencyDispatch(
            routing, self._address("x", x, ("bfloat16",), (routing.numTokens, hidden)), code, num_sms,
            self._address("expert_tokens", expert_tokens, ("int32",), (experts,), optional=True))
        later = c_int64()
        must(library.loaded.coll_moe_low_latency_dispatch(
            self._buffer, byref(call), self._rows(rows, dtype), self._order(stream, previous, done),
            byref(later) if hook else None))
        return later.value if hook else None

    def low_latency_combine(self, x, topk_idx, topk_weights, rows, out, num_experts, log=False, num_sms=0,
                            hook=False, stream=0, previous=None, done=None):
        """Sends the experts' rows back; `out` gets their sums, weighted by `topk_weights`."""
        room = self._room()
        routing = self._routing(topk_idx, num_experts)
        shape = (routing.numTokens, routing.numTopk)
        call = library.LowLatencyCombine(
            routing, self._address("x", x, ("bfloat16",), room),
            self._address("topk_weights", topk_weights, ("float32",), shape), log, num_sms,
            self._address("out", out, ("bfloat16",), (routing.numTokens, room[2])))
        later = c_int64()
        must(library.loaded.coll_moe_low_latency_combine(
            self._buffer, byref(call), self._rows(rows), self._order(stream, previous, done),
            byref(later) if hook else None))
        return later.value if hook else None

    def low_latency_receive(self, hook, stream=0, previous=None, done=None):
        """Receives what a call with `hook` has only sent."""
        must(library.loaded.coll_moe_low_latency_receive(self._buffer, _i64(hook),
                                                    self._order(stream, previous, done)))

    def low_latency_clean(self, max_tokens, hidden, num_topk, num_experts, stream=0, previous=None,
                          done=None):
        """From here on calls have this shape, which fits into the same bytes: of all ranks."""
        shape = (max_tokens, hidden, num_topk, num_experts)
        must(library.loaded.coll_moe_low_latency_clean(self._buffer, byref(library.Shape(*shape)),
                                                  self._order(stream, previous, done)))
        self._low_latency = shape

    def low_latency_combine_input(self):
        """Where experts may write the rows of a low-latency combine."""
        data, count = _ptr(), c_int64()
        must(library.loaded.coll_moe_low_latency_combine_input(self._buffer, byref(data), byref(count)))
        return View(data.value, "bfloat16", self._room(), self.device, self)
