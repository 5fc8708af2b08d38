#!/usr/bin/env python3
"""coll-lsp-server as an editor sees it.

usage: lsp_server_test.py SOURCE BIN

BIN is the folder of the tools, or the static executable that holds them all.
"""

import pathlib
import sys
import unittest

from lsp_client import Client

BIN = pathlib.Path(sys.argv.pop() if len(sys.argv) > 2 else "build/bin")
SOURCE = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
SERVER = [BIN, "lsp-server"] if BIN.is_file() else [BIN / "coll-lsp-server"]
URI = "file:///document.mlir"

STEP = (SOURCE / "examples/04_two_axes.mlir").read_text()
JAX_STEP = (SOURCE / "test/data/jax/mlp_digits_momentum/step.mlir").read_text()

PROGRAM = """\
coll.mesh @m ["x" = 4]
func.func @step(%row: tensor<3xf32>) -> tensor<3xf32> {
  %sum = coll.all_reduce sum %row over @m["x"] {coll.why = "the gradient"} : tensor<3xf32> loc("train.py":7:3)
  return %sum : tensor<3xf32>
}
"""

DEADLOCK = """\
coll.mesh @m ["x" = 2]
func.func @step(%x: tensor<1xi32>) -> tensor<1xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rank = coll.rank
  %after = arith.addi %rank, %c1 : index
  %next = arith.remui %after, %c2 : index
  coll.send %x to %next over @m["x"] : tensor<1xi32>
  %r = coll.recv from %next over @m["x"] : tensor<1xi32>
  return %r : tensor<1xi32>
}
"""


def find(text, words, offset=0):
    """Line and character of the first occurrence of words."""
    at = text.index(words) + offset
    before = text[:at].split("\n")
    return len(before) - 1, len(before[-1].encode("utf-16-le")) // 2


class LspServerTest(unittest.TestCase):
    def setUp(self):
        self.client = Client(SERVER)
        self.addCleanup(self.client.server.kill)
        self.capabilities = self.client.initialize()["capabilities"]

    def tearDown(self):
        self.assertEqual(self.client.close(), 0)

    def open(self, text):
        self.client.open(URI, text)
        return self.client.diagnostics(URI, 1)

    def hover(self, *place):
        hover = self.client.at("hover", URI, *place)
        return hover["contents"]["value"] if hover else ""

    def test_capabilities(self):
        for provider in ("hover", "definition", "references", "documentSymbol", "completion"):
            self.assertTrue(self.capabilities[provider + "Provider"], provider)
        self.assertEqual(self.capabilities["textDocumentSync"]["change"], 2)

    def test_diagnostic_of_a_verifier_has_the_range_of_the_operation(self):
        text = PROGRAM.replace('@m["x"] {', '@m["y"] {')
        diagnostics = self.open(text)
        self.assertEqual(len(diagnostics), 1)
        self.assertIn("has no axis \"y\"", diagnostics[0]["message"])
        self.assertEqual(diagnostics[0]["severity"], 1)
        line, character = find(text, "coll.all_reduce")
        self.assertEqual(diagnostics[0]["range"], {
            "start": {"line": line, "character": character},
            "end": {"line": line, "character": character + len("coll.all_reduce")}})

    def test_diagnostic_of_the_parser_has_the_range_of_the_word(self):
        diagnostics = self.open(PROGRAM.replace("coll.all_reduce sum", "coll.all_reduce summ"))
        line, character = find(PROGRAM, "sum %row")
        self.assertEqual(diagnostics[0]["range"], {
            "start": {"line": line, "character": character},
            "end": {"line": line, "character": character + len("summ")}})

    def test_deadlock_is_an_error_at_the_send(self):
        diagnostics = self.open(DEADLOCK)
        self.assertTrue(diagnostics)
        self.assertIn("wait", str(diagnostics))
        ranges = [diagnostics[0]["range"]] + [
            note["location"]["range"] for note in diagnostics[0]["relatedInformation"]]
        line, character = find(DEADLOCK, "coll.send")
        self.assertIn({"start": {"line": line, "character": character},
                       "end": {"line": line, "character": character + len("coll.send")}}, ranges)

    def test_hover_on_sharded_values(self):
        self.assertEqual(self.open(STEP), [])
        hidden = self.hover(*find(STEP, "%h = "))
        self.assertIn('dimension 0 (12) is split over "dp": 2 shards of 6', hidden)
        self.assertIn("`tensor<6x8xf32>`", hidden)
        use = self.hover(*find(STEP, "%h, %zero_h"))
        self.assertIn("`tensor<6x8xf32>`", use)
        partial = self.hover(*find(STEP, "%y = "))
        self.assertIn('partial: each rank along "tp" holds one contribution to the sum', partial)
        self.assertIn('**Moved**: sum of the contributions over "tp" for func.return', partial)
        self.assertIn("; instead: the value whole on every rank, then a slice of it, which sends 192 bytes a rank", partial)

    def test_hover_on_a_step_from_jax(self):
        self.assertEqual(self.open(JAX_STEP), [])
        text = self.hover(*find(JAX_STEP, '"stablehlo.dot_general"', 1))
        self.assertIn("for 4 ranks by data parallelism", text)
        self.assertIn('is split over "dp"', text)

    def test_hover_on_a_collective(self):
        self.assertEqual(self.open(PROGRAM), [])
        text = self.hover(*find(PROGRAM, "coll.all_reduce", 3))
        self.assertIn("4 ranks along \"x\" of @m", text)
        self.assertIn("each rank contributes 12 bytes, gets 12 bytes", text)
        self.assertIn("**Why**: the gradient", text)
        self.assertIn("**Source**: train.py:7:3", text)

    def test_definition_and_references(self):
        self.open(PROGRAM)
        places = self.client.at("definition", URI, *find(PROGRAM, "%sum : tensor", 1))
        line, character = find(PROGRAM, "%sum = ")
        self.assertIn({"line": line, "character": character},
                      [place["range"]["start"] for place in places])
        places = self.client.at("references", URI, line, character + 1,
                                context={"includeDeclaration": True})
        self.assertEqual(sorted(place["range"]["start"]["line"] for place in places), [2, 3])

    def test_symbols_and_completion(self):
        self.open(PROGRAM)
        symbols = self.client.request("textDocument/documentSymbol",
                                      {"textDocument": {"uri": URI}})["result"]
        self.assertEqual([symbol["name"] for symbol in symbols], ["m", "step"])
        self.client.change(URI, 2, {"text": PROGRAM.replace("coll.all_reduce sum", "coll.")})
        items = self.client.at("completion", URI, 2, len("  %sum = coll."))["items"]
        self.assertIn("all_reduce", {item["label"] for item in items})

    def test_incremental_change(self):
        # The comment's characters have one, two and four bytes; the last is two of UTF-16.
        text = "// ä 😀 " + PROGRAM
        line, character = find(text, "coll.mesh")
        self.assertEqual(line, 0)  # the mesh is part of the comment
        self.assertNotEqual(self.open(text), [])
        here = {"line": 0, "character": character}
        self.client.change(URI, 2, {"range": {"start": here, "end": here}, "text": "\n"})
        self.assertEqual(self.client.diagnostics(URI, 2), [])
        # Two changes in one message, the second in terms of the first.
        self.client.change(
            URI, 3,
            {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}},
             "text": ""},
            {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
             "text": 'coll.mesh @m ["x" = 8]\n'})
        self.assertEqual(self.client.diagnostics(URI, 3), [])
        self.assertIn("8 ranks", self.hover(0, 3))

    def test_every_kind_of_prefix_is_survived(self):
        for version, length in enumerate(range(0, len(PROGRAM), len(PROGRAM) // 10), 1):
            text = PROGRAM[:length]
            if version == 1:
                self.client.open(URI, text)
            else:
                self.client.change(URI, version, {"text": text})
            for diagnostic in self.client.diagnostics(URI, version):
                self.assertNotIn("crashed", diagnostic["message"])
        self.client.change(URI, 100, {"text": PROGRAM})
        self.assertEqual(self.client.diagnostics(URI, 100), [])

    def test_crash_of_the_parser_leaves_the_error(self):
        # MLIR 22's parser of this operation crashes behind its error message.
        text = """func.func @f(%a: tensor<4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = linalg.broadcast ins(%a : tensor<4xf32>) outs(%b : tensor<8x4xf32>) dimensions =
"""
        diagnostics = self.open(text)
        self.assertIn("expected '['", diagnostics[0]["message"])
        self.client.change(URI, 2, {"text": PROGRAM})
        self.assertEqual(self.client.diagnostics(URI, 2), [])

    def test_deep_nesting_is_a_diagnostic(self):
        diagnostics = self.open("\n" + "[" * 100000)
        self.assertIn("nest too deep", diagnostics[0]["message"])
        self.assertEqual(diagnostics[0]["range"]["start"]["line"], 1)
        self.assertIsNone(self.client.at("hover", URI, 1, 5))

    def test_garbage_between_messages(self):
        for body in (b"not json", b"[" * 100000, b"{}", b'{"jsonrpc":"2.0","id":7}', b"[1, 2]",
                     b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":[]}',
                     b'{"jsonrpc":"2.0","method":"textDocument/didOpen"}',
                     b'{"jsonrpc":"2.0","id":{},"method":"textDocument/hover","params":3}'):
            self.client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.client.send_bytes(b"Content-Length: 99999999999999\r\n\r\n")
        self.client.change("file:///absent.mlir", 1, {"text": ""})
        self.client.open(URI, PROGRAM)
        far = {"line": 10 ** 9, "character": 10 ** 9}
        self.client.change(URI, 2, {"range": {"start": far, "end": far}, "text": "// end"},
                           {"range": {"start": far, "end": {"line": -1, "character": -1}},
                            "text": "x"}, {"range": 3, "text": "x"}, {"text": 4})
        self.assertEqual(self.client.diagnostics(URI, 2), [])
        self.assertIsNone(self.client.at("hover", URI, 10 ** 9, 10 ** 9))
        self.assertIn("error", self.client.request("no/such/method", {}))

    def test_parts_of_a_file(self):
        text = PROGRAM + "// -----\n" + DEADLOCK
        diagnostics = self.open(text)
        self.assertTrue(diagnostics)
        self.assertGreater(diagnostics[0]["range"]["start"]["line"], PROGRAM.count("\n"))
        self.assertIn("**Why**", self.hover(*find(text, "coll.all_reduce")))


class LostEditorTest(unittest.TestCase):
    def test_end_of_input_ends_the_server(self):
        client = Client(SERVER)
        client.initialize()
        client.open(URI, STEP)
        self.assertEqual(client.leave(), 1)

    def test_garbage_instead_of_messages(self):
        for garbage in (b"\x00\xff" * 1000, b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 10\r\n\r\n{",
                        b"Content-Length: -1\r\n\r\n", b"\n" * 1000):
            client = Client(SERVER)
            client.send_bytes(garbage)
            self.assertEqual(client.leave(), 1)


if __name__ == "__main__":
    unittest.main()
