#!/usr/bin/env python3
"""coll_moe.py over a fake driver: a round of each mode on two ranks, tensors by DLPack both ways, two
nodes over tcp, what is refused.

moe_python_test.py LIBRARY: of test/exchange, with emulated GPUs in it."""

import array
import ctypes
import gc
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime" / "exchange"))
import coll_moe  # noqa: E402

LIBRARY = sys.argv.pop(1) if len(sys.argv) > 1 else None
HIDDEN, TOKENS, RANKS, EXPERTS = 128, 3, 2, 4
# Tokens of each rank go to these experts; 0 and 1 are rank 0's. The last one goes nowhere.
TOPK = [[[0, 2], [1, -1], [-1, -1]], [[3, 2], [0, 3], [-1, -1]]]


def bf16(value):
    """Of a number that bf16 has."""
    return int.from_bytes(array.array("f", [value]).tobytes()[2:], "little")


class Tensor(coll_moe.View):
    """Memory of an emulated GPU, which is the host's."""

    CODES = {"bfloat16": "H", "int64": "q", "float32": "f", "int32": "i", "uint8": "B", "uint32": "I",
             "uint64": "Q"}

    def __init__(self, dtype, shape, values=None):
        count = 1
        for size in shape:
            count *= size
        self.values = array.array(self.CODES[dtype], values if values is not None else [0] * count)
        # Rows are aligned to 16: array's memory is.
        super().__init__(self.values.buffer_info()[0], dtype, shape, 0, None)


def row_of(rank, token):
    return [bf16(float(1 + rank + 2 * token + i % 4)) for i in range(HIDDEN)]


def values_of(view, code):
    """What a view of a buffer has, by DLPack."""
    taken = coll_moe._Taken("a view", view)
    count = 1
    for size in taken.shape:
        count *= size
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

    def inputs(self, rank):
        x = Tensor("bfloat16", (TOKENS, HIDDEN), sum((row_of(rank, t) for t in range(TOKENS)), []))
        topk = Tensor("int64", (TOKENS, 2), sum(TOPK[rank], []))
        weights = Tensor("float32", (TOKENS, 2), [0.5, 0.25] * TOKENS)
        return x, topk, weights

    def play_low_latency(self, rank, buffer, hook):
        x, topk, weights = self.inputs(rank)
        local, room = EXPERTS // RANKS, RANKS * TOKENS
        rows = (Tensor("bfloat16", (local, room, HIDDEN)), None, Tensor("int32", (local,)),
                Tensor("uint64", (local, RANKS)), Tensor("uint32", (local, room)))
        stats = Tensor("int32", (local,))
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
        out = Tensor("bfloat16", (TOKENS, HIDDEN), [7] * (TOKENS * HIDDEN))
        buffer.low_latency_combine(rows[0], topk, weights, rows, out, EXPERTS, stream=buffer.comm_stream)
        self.wait(rank)
        for token in range(TOKENS):
            weight = sum(w for w, e in zip((0.5, 0.25), TOPK[rank][token]) if e >= 0)
            row = [bf16(weight * (1 + rank + 2 * token + i % 4)) for i in range(HIDDEN)]
            self.assertEqual(list(out.values[token * HIDDEN:(token + 1) * HIDDEN]), row)

    def play_normal(self, rank, buffer):
        x, topk, weights = self.inputs(rank)
        stream = buffer.comm_stream
        layout = (Tensor("int32", (RANKS,)), None, Tensor("int32", (EXPERTS,)),
                  Tensor("uint8", (TOKENS, RANKS)))
        buffer.dispatch_layout(topk, layout, EXPERTS, stream=stream)
        memory = Tensor("uint8", (coll_moe.handle_bytes(TOKENS, RANKS, 4),))
        received = buffer.dispatch(x, topk, layout, memory, EXPERTS, topk_weights=weights, num_sms=4,
                                   stream=stream)
        self.wait(rank)
        came = [(s, t) for s in range(RANKS) for t in range(TOKENS)
                if any(e >= 0 and e // 2 == rank for e in TOPK[s][t])]
        shape, values = values_of(received.x, "H")
        self.assertEqual(shape, (len(came), HIDDEN))
        self.assertEqual(values, sum((row_of(s, t) for s, t in came), []))
        self.assertEqual(values_of(received.source_idx, "i")[1], [t for _, t in came])
        self.assertEqual(sum(received.tokens_per_expert),
                         sum(e >= 0 and e // 2 == rank for s in TOPK for t in s for e in t))
        again = buffer.dispatch_again(x, received, num_sms=4, stream=stream)
        out = Tensor("bfloat16", (TOKENS, HIDDEN))
        buffer.combine(again.x, again, out, num_sms=4, stream=stream)
        self.wait(rank)
        for token in range(TOKENS):
            ranks = len({e // 2 for e in TOPK[rank][token] if e >= 0})
            row = [bf16(float(ranks * (1 + rank + 2 * token + i % 4))) for i in range(HIDDEN)]
            self.assertEqual(list(out.values[token * HIDDEN:(token + 1) * HIDDEN]), row)

    def test_both_modes_inside_a_node(self):
        self.open(nvl_bytes=1 << 18)
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=rank == 0))
        self.beside(self.play_normal)
        self.assertEqual(self.buffers[0].local_buffer("float32", 512).shape, ((1 << 16) - 128,))
        for buffer in self.buffers:
            buffer.destroy()
        with self.assertRaisesRegex(coll_moe.Error, "a second destroy"):
            self.buffers[0].destroy()

    def test_low_latency_between_nodes(self):
        self.open(node_size=1, transport="tcp", secret="a secret of this test")
        self.beside(lambda rank, buffer: self.play_low_latency(rank, buffer, hook=rank == 1))
        info = self.buffers[1].info()
        self.assertEqual((info["isInternodeAvailable"], info["numNetRanks"], info["netRank"]), (1, 2, 1))
        self.assertGreater(info["netBytesSent"], 0)
        self.assertGreater(coll_moe.low_latency_host_bytes(TOKENS, HIDDEN, 2, EXPERTS, RANKS, 1), 0)

    def test_wrong_tensors_are_refused_by_name(self):
        self.open()
        buffer, (x, topk, _) = self.buffers[0], self.inputs(0)
        rows = (x, None, x, x, x)
        for change, text in (({"x": topk}, "`x` has elements of int64"),
                             ({"topk_idx": x}, "`topk_idx` has elements of bfloat16"),
                             ({"topk_idx": Tensor("int64", (4,))}, "`topk_idx` has 1 dimensions"),
                             ({"num_experts": 3}, "numExperts")):
            call = {"x": x, "topk_idx": topk, "rows": rows, "num_experts": EXPERTS, **change}
            with self.assertRaisesRegex(coll_moe.Error, text):
                buffer.low_latency_dispatch(**call)
        with self.assertRaisesRegex(coll_moe.Error, "another version"):
            buffer.sync([b"none"] * 2)
        with self.assertRaises(coll_moe.Error) as caught:
            coll_moe.MoeBuffer(2, 2, nvl_bytes=128)
        self.assertEqual((caught.exception.code, str(caught.exception)),
                         (1, "invalid call: moe buffer: rank 2 of 2"))

    def tearDown(self):
        self.buffers = None
        gc.collect()
        self.assertEqual(coll_moe._exported, {})  # every capsule was ended


if __name__ == "__main__":
    if LIBRARY is None:
        sys.exit("usage: moe_python_test.py LIBRARY")
    coll_moe.load(LIBRARY)
    unittest.main(verbosity=1)
