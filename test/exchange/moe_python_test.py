#!/usr/bin/env python3
"""coll.moe over a fake driver: a round of each mode on two ranks, tensors by DLPack both ways, two
nodes over tcp, what is refused.

moe_python_test.py LIBRARY [--one-node]: of test/exchange, with emulated GPUs in it; without
transports."""

import array
import ctypes
import gc
import math
import pathlib
import sys
import threading
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "embed" / "python" / "coll"))
import moe as coll_moe  # noqa: E402
from moe import library, tensors  # noqa: E402

LIBRARY = sys.argv.pop(1) if len(sys.argv) > 1 else None
ONE_NODE = "--one-node" in sys.argv and not sys.argv.remove("--one-node")
HIDDEN, TOKENS, RANKS, EXPERTS = 128, 3, 2, 4
# Tokens of each rank go to these experts; 0 and 1 are rank 0's. The last one goes nowhere.
TOPK = [[[0, 2], [1, -1], [-1, -1]], [[3, 2], [0, 3], [-1, -1]]]


def bf16(value):
    """Of a number that bf16 has."""
    return int.from_bytes(array.array("f", [value]).tobytes()[2:], "little")


class Tensor(coll_moe.View):
    """Memory of an emulated GPU, which is the host's."""

    CODES = {"bfloat16": "H", "int64": "q", "float32": "f", "int32": "i", "uint8": "B", "uint32": "I", "float8_e4m3fn": "B",
             "uint64": "Q"}

    def __init__(self, dtype, shape, values=None, device=0, device_type=2, strides=None):
        count = math.prod(shape)
        self.values = array.array(self.CODES[dtype], values if values is not None else [0] * count)
        # Rows are aligned to 16: array's memory is.
        super().__init__(self.values.buffer_info()[0], dtype, shape, device, None, device_type)
        self.strides = strides

    def __dlpack__(self, stream=None, **_):
        capsule = super().__dlpack__()
        if self.strides:
            self.given = (ctypes.c_int64 * len(self.strides))(*self.strides)
            managed = tensors._capsule.PyCapsule_GetPointer(capsule, b"dltensor")
            ctypes.cast(managed, ctypes.POINTER(tensors._DLManaged)).contents.tensor.strides = self.given
        return capsule


def row_of(rank, token):
    return [bf16(float(1 + rank + 2 * token + i % 4)) for i in range(HIDDEN)]


def values_of(view, code):
    """What a view of a buffer has, by DLPack."""
    taken = tensors.Taken(view)
    count = math.prod(taken.shape)
    size = array.array(code).itemsize
    found = array.array(code)
    found.frombytes(ctypes.string_at(taken.address, count * size))
    return taken.shape, list(found)


class MoeTest(unittest.TestCase):
    def open(self, **options):
        shape = (TOKENS, HIDDEN, 2, EXPERTS)
        self.buffers = [coll_moe.MoeBuffer(rank, RANKS, device=rank, low_latency=shape, **options)
                        for rank in range(RANKS)]
        cards = [buffer.card() for buffer in self.buffers]
        self.beside(lambda rank, buffer: buffer.sync(cards))

    def beside(self, body):
        failures = []

        def run(rank):
            try:
                body(rank, self.buffers[rank])
            except BaseException as failure:  # of a thread: to be told by the test
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(RANKS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for failure in failures:
            raise failure

    def wait(self, rank):
        buffer = self.buffers[rank]
        code = coll_moe.load().coll_moe_test_wait(rank, ctypes.c_void_p(buffer.comm_stream))
        self.assertEqual(code, 0)
        buffer.check()

    @staticmethod
    def inputs(rank):
        x = Tensor("bfloat16", (TOKENS, HIDDEN), sum((row_of(rank, t) for t in range(TOKENS)), []), rank)
        topk = Tensor("int64", (TOKENS, 2), sum(TOPK[rank], []), rank)
        weights = Tensor("float32", (TOKENS, 2), [0.5, 0.25] * TOKENS, rank)
        return x, topk, weights

    @staticmethod
    def rows(rank):
        local, room = EXPERTS // RANKS, RANKS * TOKENS
        return (Tensor("bfloat16", (local, room, HIDDEN), device=rank), None,
                Tensor("int32", (local,), device=rank), Tensor("uint64", (local, RANKS), device=rank),
                Tensor("uint32", (local, room), device=rank))

    @staticmethod
    def layout(rank):
        return (Tensor("int32", (RANKS,), device=rank), None, Tensor("int32", (EXPERTS,), device=rank),
                Tensor("uint8", (TOKENS, RANKS), device=rank))

    def dispatch(self, rank, buffer, **options):
        """Also: what it was called with."""
        x, topk, weights = self.inputs(rank)
        call = {"x": x, "topk_idx": topk, "layout": self.layout(rank), "num_experts": EXPERTS,
                "handle_memory": Tensor("uint8", (coll_moe.handle_bytes(TOKENS, RANKS, 4),), device=rank),
                "topk_weights": weights, "num_sms": 4, "stream": buffer.comm_stream, **options}
        buffer.dispatch_layout(topk, call["layout"], EXPERTS, stream=buffer.comm_stream)
        received = buffer.dispatch(**call)
        self.wait(rank)
        return received, call

    def play_low_latency(self, rank, buffer, hook):
        x, topk, weights = self.inputs(rank)
        local, room = EXPERTS // RANKS, RANKS * TOKENS
        rows = self.rows(rank)
        stats = Tensor("int32", (local,), device=rank)
        later = buffer.low_latency_dispatch(x, topk, rows, EXPERTS, expert_tokens=stats, hook=hook,
                                            stream=buffer.comm_stream)
        if hook:
            buffer.low_latency_receive(later, stream=buffer.comm_stream)
        self.wait(rank)
        expected = [[(s, t, k) for s in range(RANKS) for t in range(TOKENS) for k in range(2)
                     if TOPK[s][t][k] == rank * local + e] for e in range(local)]
        self.assertEqual(list(rows[2].values), [len(found) for found in expected])
        self.assertEqual(list(stats.values), [len(found) for found in expected])
        for e, found in enumerate(expected):
            for i, (source, token, place) in enumerate(found):
                at = (e * room + i) * HIDDEN
                self.assertEqual(list(rows[0].values[at:at + HIDDEN]), row_of(source, token))
                self.assertEqual(rows[4].values[e * room + i], place << 16 | token)
        self.assertEqual(buffer.low_latency_combine_input().shape, rows[0].shape)
        out = Tensor("bfloat16", (TOKENS, HIDDEN), [7] * (TOKENS * HIDDEN), rank)
        buffer.low_latency_combine(rows[0], topk, weights, rows, out, EXPERTS, stream=buffer.comm_stream)
        self.wait(rank)
        for token in range(TOKENS):
            weight = sum(w for w, e in zip((0.5, 0.25), TOPK[rank][token]) if e >= 0)
            row = [bf16(weight * (1 + rank + 2 * token + i % 4)) for i in range(HIDDEN)]
            self.assertEqual(list(out.values[token * HIDDEN:(token + 1) * HIDDEN]), row)

    def play_handle(self, rank, received, came):
        sent = [[any(e >= 0 and e // 2 == target for e in t) for t in TOPK[rank]] for target in range(RANKS)]
        heads = [sum(goes[:t]) if goes[t] else -1 for t in range(TOKENS) for goes in sent]
        self.assertEqual(values_of(received.send_head, "i"), ((TOKENS, RANKS), heads))
        shape, prefix = values_of(received.rank_prefix, "i")
        self.assertEqual((shape, prefix[-RANKS + rank]), ((RANKS, RANKS), len(came)))
        shape, channels = values_of(received.channel_prefix, "i")
        self.assertEqual((shape, channels[1::2]), ((RANKS, 2), [sum(goes) for goes in sent]))

    def play_worst_case(self, rank, buffer):
        for most, rows in ((7, 7), (1 << 20, 458)):
            received, call = self.dispatch(rank, buffer, worst_case_tokens=most)
            self.assertEqual((received.num_received, received.num_rows), (-1, rows))
            self.assertEqual(received.num_relayed, -1)
            for view in (received.x, received.topk_idx, received.topk_weights, received.source_idx):
                self.assertEqual(view.shape[0], rows)
            again = buffer.dispatch_again(call["x"], received, num_sms=4, stream=buffer.comm_stream)
            self.assertEqual((again.num_received, again.x.shape), (-1, received.x.shape))
            self.wait(rank)
            count = values_of(received.rank_prefix, "i")[1][-RANKS + rank]
            self.assertEqual(values_of(again.x, "H")[1][:count * HIDDEN:HIDDEN],
                             [row_of(s, t)[0] for s in range(RANKS) for t in range(TOKENS)
                              if any(e >= 0 and e // 2 == rank for e in TOPK[s][t])])
        with self.assertRaisesRegex(coll_moe.Error, "`x` is .* of the 458 rows"):
            buffer.combine(Tensor("bfloat16", (7, HIDDEN), device=rank), again,
                           Tensor("bfloat16", (TOKENS, HIDDEN), device=rank))

    def play_transposed_scales(self, rank, buffer):
        x = Tensor("float8_e4m3fn", (TOKENS, HIDDEN), [rank + t for t in range(TOKENS) for _ in range(HIDDEN)], rank)
        # The scales of token t are t and t + 10, plus 100 times the rank: all tokens' first ones come first.
        values = [100 * rank + 10 * s + t for s in range(2) for t in range(TOKENS)]
        scales = Tensor("float32", (TOKENS, 2), values, rank, strides=(1, TOKENS))
        received, call = self.dispatch(rank, buffer, x=x, scales=scales)
        came = [(s, t) for s in range(RANKS) for t in range(TOKENS)
                if any(e >= 0 and e // 2 == rank for e in TOPK[s][t])]
        self.assertEqual(values_of(received.scales, "f"),
                         ((len(came), 2), [100.0 * s + t + i for s, t in came for i in (0, 10)]))
        self.assertEqual(values_of(received.x, "B")[1][::HIDDEN], [s + t for s, t in came])
        backward = Tensor("float32", (TOKENS, 2), device=rank, strides=(2, -1))
        with self.assertRaisesRegex(coll_moe.Error, r"`scales` is .* strides \[2, -1\].* with strides from 0 on"):
            buffer.dispatch(**{**call, "scales": backward})

    def play_normal(self, rank, buffer):
        received, call = self.dispatch(rank, buffer)
        x, stream = call["x"], buffer.comm_stream
        came = [(s, t) for s in range(RANKS) for t in range(TOKENS)
                if any(e >= 0 and e // 2 == rank for e in TOPK[s][t])]
        shape, values = values_of(received.x, "H")
        self.assertEqual(shape, (len(came), HIDDEN))
        self.assertEqual(values, sum((row_of(s, t) for s, t in came), []))
        self.assertEqual(values_of(received.source_idx, "i")[1], [t for _, t in came])
        self.play_handle(rank, received, came)
        self.assertEqual(sum(received.tokens_per_expert),
                         sum(e >= 0 and e // 2 == rank for s in TOPK for t in s for e in t))
        again = buffer.dispatch_again(x, received, num_sms=4, stream=stream)
        out = Tensor("bfloat16", (TOKENS, HIDDEN), device=rank)
        buffer.combine(again.x, again, out, num_sms=4, stream=stream)
        self.wait(rank)
        for token in range(TOKENS):
            ranks = len({e // 2 for e in TOPK[rank][token] if e >= 0})
            row = [bf16(float(ranks * (1 + rank + 2 * token + i % 4))) for i in range(HIDDEN)]
            self.assertEqual(list(out.values[token * HIDDEN:(token + 1) * HIDDEN]), row)

    def test_both_modes_inside_a_node(self):
        self.open(nvl_bytes=1 << 18)
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=rank == 0))
        for play in (self.play_normal, self.play_worst_case, self.play_transposed_scales):
            self.beside(play)
        buffer = self.buffers[1]
        self.assertEqual([buffer.root_net_rank(is_global) for is_global in (False, True)], [0, 1])
        with self.assertRaisesRegex(coll_moe.Error, "on one node"):
            buffer.local_net_id()
        self.assertEqual([len({b.local_ipc_handle() for b in self.buffers}), len(buffer.local_ipc_handle())],
                         [RANKS, 64])
        self.assertEqual(self.buffers[0].local_buffer("float32", 512).shape, ((1 << 16) - 128,))
        for buffer in self.buffers:
            buffer.destroy()
        with self.assertRaisesRegex(coll_moe.Error, "destroy was called a second time"):
            self.buffers[0].destroy()
        with self.assertRaisesRegex(coll_moe.Error, "used after destroy"):
            self.buffers[0].card()
        self.assertEqual(self.buffers[0].comm_stream, 0)

    def test_low_latency_of_another_shape(self):
        self.open()
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=False))
        for shape in ((1, HIDDEN, 3, 2 * EXPERTS), (TOKENS, HIDDEN, 2, EXPERTS)):
            self.beside(lambda rank, buffer: buffer.low_latency_clean(*shape, stream=buffer.comm_stream))
            self.assertEqual(self.buffers[0].low_latency_combine_input().shape,
                             (shape[3] // RANKS, RANKS * shape[0], HIDDEN))
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=rank == 0))
        with self.assertRaisesRegex(coll_moe.Error, "rank 1: low-latency mode: `shape` needs"):
            self.buffers[1].low_latency_clean(TOKENS, 4 * HIDDEN, 2, EXPERTS)

    @unittest.skipIf(ONE_NODE, "the library has no transports")
    def test_low_latency_between_nodes(self):
        self.open(node_size=1, transport="tcp", secret="a secret of this test")
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=rank == 1))
        ids = {buffer.local_net_id() for buffer in self.buffers}
        self.assertEqual(({len(found) for found in ids}, len(ids)), ({128}, RANKS))
        info = self.buffers[1].info()
        self.assertEqual((info["isInternodeAvailable"], info["numNetRanks"], info["netRank"]), (1, 2, 1))
        self.assertGreater(info["netBytesSent"], 0)
        self.assertGreater(coll_moe.low_latency_host_bytes(TOKENS, HIDDEN, 2, EXPERTS, RANKS, 1), 0)

    def refused(self, method, right, *cases):
        for argument, given, found, wanted in cases:
            with self.subTest(method=method.__name__, argument=argument, found=found):
                text = f"^moe: rank 0: `{argument}[^`]*` is {found}.*; it has to be {wanted}"
                with self.assertRaisesRegex(coll_moe.Error, text):
                    method(**{**right, argument: given})

    def test_wrong_tensors_of_the_normal_mode_are_refused_by_name(self):
        self.open(nvl_bytes=1 << 18)
        played = [None] * RANKS

        def play(rank, buffer):
            played[rank] = self.dispatch(rank, buffer)

        self.beside(play)
        buffer, (received, call), (x, topk, weights) = self.buffers[0], played[0], self.inputs(0)
        layout, topk_bytes = call["layout"], call["handle_memory"].shape[0]

        def with_part(at, part):
            return (*layout[:at], part, *layout[at + 1:])

        layouts = (
            ("layout", None, "NoneType", r"\(tokens per rank"),
            ("layout", layout[:3], "3 parts", r"\(tokens per rank"),
            ("layout", with_part(0, None), "None", r"int32 \[2\], contiguous, on GPU 0"),
            ("layout", with_part(0, Tensor("int64", (RANKS,))), r"int64 \[2\] on GPU 0", "int32"),
            ("layout", with_part(1, Tensor("int32", (2,))), r"int32 \[2\] on GPU 0", r"int32 \[1\]"),
            ("layout", with_part(2, Tensor("int32", (3,))), r"int32 \[3\] on GPU 0", r"int32 \[4\]"),
            ("layout", with_part(3, Tensor("uint8", (2, RANKS))), r"uint8 \[2, 2\]", r"bool or uint8 \[3, 2\]"))
        routing = (
            ("topk_idx", x, "bfloat16", r"int64 \[any, any\]"),
            ("topk_idx", Tensor("int64", (6,)), r"int64 \[6\]", r"int64 \[any, any\]"),
            ("topk_idx", topk.address, "an address", "int64"),
            ("topk_idx", "indices", r"str \('str' object has no", "a tensor for DLPack"),
            ("topk_idx", Tensor("int64", (3, 2), strides=(1, 3)), r"int64 \[3, 2\] with strides \[1, 3\]", "int64"))
        self.refused(buffer.dispatch_layout, {"topk_idx": topk, "layout": layout, "num_experts": EXPERTS},
                     *layouts, *routing)
        rows = r"bfloat16 or float8_e4m3fn or float8_e5m2 \[3, any\], contiguous, on GPU 0"
        # Even without tokens, `x` has to give their length.
        none = {**call, "topk_idx": Tensor("int64", (0, 2)), "topk_weights": None,
                "layout": with_part(3, Tensor("uint8", (0, RANKS)))}
        self.refused(buffer.dispatch, none, ("x", None, "None", rows.replace("3, any", "0, any")))
        self.refused(
            buffer.dispatch, call, *layouts, *routing,
            ("x", Tensor("bfloat16", (2, HIDDEN)), r"bfloat16 \[2, 128\] on GPU 0", rows),
            ("x", Tensor("bfloat16", (TOKENS, HIDDEN), device=1), r"bfloat16 \[3, 128\] on GPU 1", rows),
            ("x", Tensor("bfloat16", (TOKENS, HIDDEN), device_type=1), r"bfloat16 \[3, 128\] on the host", rows),
            ("x", Tensor("bfloat16", (TOKENS, HIDDEN), device_type=10), r".* on DLPack's device \(10, 0\)", rows),
            ("x", None, "None", rows),
            ("topk_weights", Tensor("float32", (TOKENS, 1)), r"float32 \[3, 1\]", r"float32 \[3, 2\]"),
            ("scales", Tensor("float32", (2, 1)), r"float32 \[2, 1\]", r"float32 \[3, any\]"),
            ("handle_memory", Tensor("uint8", (1,)), r"uint8 \[1\]", f"at least {topk_bytes} bytes"),
            ("handle_memory", None, "None", f"at least {topk_bytes} bytes"))
        self.refused(buffer.dispatch_again, {"x": x, "received": received, "num_sms": 4},
                     ("x", Tensor("bfloat16", (4, HIDDEN)), r"bfloat16 \[4, 128\]", rows),
                     ("received", received.x, "View", "what a dispatch returned"))
        came = received.num_received
        ours, out = Tensor("bfloat16", (came, HIDDEN)), Tensor("bfloat16", (TOKENS, HIDDEN))
        all_out = r"bfloat16 \[3, 128\]"
        self.refused(
            buffer.combine, {"x": ours, "received": received, "out": out, "num_sms": 4},
            ("x", Tensor("bfloat16", (came - 1, HIDDEN)), "bfloat16", f"of the {came} rows"),
            ("out", Tensor("bfloat16", (1, HIDDEN)), r"bfloat16 \[1, 128\]", all_out),
            ("out", None, "None", all_out),
            ("bias", out, "Tensor", r"\(first, second\)"),
            ("bias", (out, Tensor("bfloat16", (TOKENS, 8))), r"bfloat16 \[3, 8\]", all_out),
            ("topk_weights", Tensor("float32", (came + 1, 2)), r"float32", rf"float32 \[{came}, any\]"),
            ("out_weights", Tensor("float32", (TOKENS, 2)), r"float32 \[3, 2\]", "None without"))
        for rows, hidden in ((-1, HIDDEN), (1 << 20, HIDDEN), (1, 0)):
            with self.assertRaisesRegex(coll_moe.Error, "`combine_input` is bfloat16"):
                buffer.combine_input(rows, hidden)
        with self.assertRaisesRegex(coll_moe.Error, "is not from a dispatch of this buffer"):
            self.buffers[1].combine(Tensor("bfloat16", (TOKENS, HIDDEN), device=1), received,
                                    Tensor("bfloat16", (TOKENS, HIDDEN), device=1), num_sms=4)
        with self.assertRaisesRegex(coll_moe.Error, "`dtype` is 'bf16'; it has to be one of float32"):
            buffer.local_buffer("bf16")
        with self.assertRaisesRegex(coll_moe.Error, "no handle of -1 tokens"):
            coll_moe.handle_bytes(-1, RANKS)
        self.beside(self.play_normal)  # nothing was sent to any rank

    def test_wrong_tensors_of_the_low_latency_mode_are_refused_by_name(self):
        self.open()
        buffer, (x, topk, weights), rows = self.buffers[0], self.inputs(0), self.rows(0)

        def with_part(at, part):
            return (*rows[:at], part, *rows[at + 1:])

        places = (
            ("rows", x, "Tensor", r"\(x, scales"),
            ("rows", with_part(3, Tensor("uint64", (2, 1))), r"uint64 \[2, 1\]", r"uint64 or int64 \[2, 2\]"),
            ("rows", with_part(4, Tensor("uint32", (2, 1))), r"uint32 \[2, 1\]", r"uint32 or int32 \[2, 6\]"))
        self.refused(
            buffer.low_latency_dispatch, {"x": x, "topk_idx": topk, "rows": rows, "num_experts": EXPERTS}, *places,
            ("x", Tensor("bfloat16", (2, HIDDEN)), r"bfloat16 \[2, 128\]", r"bfloat16 \[3, 128\]"),
            ("topk_idx", x, "bfloat16", "int64"),
            ("rows", with_part(0, Tensor("bfloat16", (2, 5, HIDDEN))), r"bfloat16 \[2, 5", r"bfloat16 \[2, 6, 128\]"),
            ("rows", with_part(2, Tensor("int32", (1,))), r"int32 \[1\]", r"int32 \[2\]"),
            ("expert_tokens", Tensor("int32", (1,)), r"int32 \[1\]", r"int32 \[2\]"))
        self.refused(
            buffer.low_latency_dispatch,
            {"x": x, "topk_idx": topk, "num_experts": EXPERTS, "dtype": "float8_e4m3fn"},
            ("rows", rows, "bfloat16", r"float8_e4m3fn or uint8 \[2, 6, 128\]"),
            ("rows", with_part(0, Tensor("uint8", rows[0].shape)), "None", r"float32 \[2, 6, 1\]"))
        out = Tensor("bfloat16", (TOKENS, HIDDEN))
        self.refused(
            buffer.low_latency_combine,
            {"x": rows[0], "topk_idx": topk, "topk_weights": weights, "rows": rows, "out": out,
             "num_experts": EXPERTS}, *places,
            ("x", x, r"bfloat16 \[3, 128\]", r"bfloat16 \[2, 6, 128\]"),
            ("topk_weights", Tensor("float32", (1, 2)), r"float32 \[1, 2\]", r"float32 \[3, 2\]"),
            ("out", Tensor("bfloat16", (1, HIDDEN)), r"bfloat16 \[1, 128\]", r"bfloat16 \[3, 128\]"))
        with self.assertRaisesRegex(coll_moe.Error, "numExperts"):
            buffer.low_latency_dispatch(x, topk, rows, 3)
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=False))

    def test_an_emulated_library_takes_tensors_of_the_host(self):
        self.open()
        on_host = Tensor("int64", (TOKENS, 2), device_type=1)
        with mock.patch.object(library, "devices", (*library.devices, tensors.HOST)):
            self.assertEqual(self.buffers[1]._routing(on_host, EXPERTS).topkIdx, on_host.address)

    def test_wrong_cards_and_options_are_refused(self):
        self.open()
        buffer = self.buffers[0]
        with self.assertRaisesRegex(coll_moe.Error, "another version"):
            buffer.sync([b"none"] * 2)
        with self.assertRaises(coll_moe.Error) as caught:
            coll_moe.MoeBuffer(2, 2, nvl_bytes=128)
        self.assertEqual((caught.exception.code, str(caught.exception)),
                         (1, "invalid call: moe buffer of rank 2: `rank` is not one of numRanks, which is 2"))

    def tearDown(self):
        self.buffers = None
        gc.collect()
        self.assertEqual(tensors._exported, {})  # every capsule was ended


if __name__ == "__main__":
    if LIBRARY is None:
        sys.exit("usage: moe_python_test.py LIBRARY")
    coll_moe.load(LIBRARY)
    unittest.main(verbosity=1)
