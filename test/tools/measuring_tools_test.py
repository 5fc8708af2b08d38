#!/usr/bin/env python3
"""What coll-perf and coll-info promise on their command lines; never how fast anything is.

usage: measuring_tools_test.py BIN
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

BIN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin")
QUICK = ["--seconds=0.01", "--repeat=1"]
SECRET = "a secret of this test"


def run(tool, *words, **environment):
    return subprocess.run([BIN / tool, *words], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})


@unittest.skipUnless((BIN / "coll-perf").exists(), "coll-perf was not built")
class CollPerfTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def test_rows_and_curves(self):
        rows_file, plot = self.path("rows.jsonl"), self.path("plot.svg")
        for _ in range(2):  # rows are appended
            done = run("coll-perf", "net", "--sizes=8,70000,1M", f"--json={rows_file}",
                       f"--plot={plot}", *QUICK)
            self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
        self.assertEqual(len(rows), 2 * 3 * 3)
        for row in rows:
            self.assertGreater(row["ours"], 0)
            higher = row["metric"].startswith("GB/s")
            ratio = row["ours"] / row["peer"] if higher else row["peer"] / row["ours"]
            self.assertAlmostEqual(row["ratio"], ratio, delta=0.01 * ratio)
            self.assertLessEqual({"machine", "date", "command", "case", "size", "peer_name"},
                                 set(row))
        self.assertEqual({row["size"] for row in rows}, {"8 B", "70000 B", "1 MiB"})
        curves = xml.dom.minidom.parse(str(plot)).getElementsByTagName("polyline")
        self.assertEqual(len(curves), 3 * 2)

    def test_many_connections_and_remote_memory(self):
        for words in (["--connections=16", "--inflight=8", "--sizes=128K"],
                      ["--op=write", "--sizes=1,64K"], ["--op=read", "--sizes=1,64K"]):
            done = run("coll-perf", "net", *words, *QUICK)
            self.assertEqual(done.returncode, 0, done.stderr)

    def listen(self, *words):
        """A listening coll-perf, and where it listens."""
        process = subprocess.Popen([BIN / "coll-perf", "net", "--listen=127.0.0.1:0", "--iface=lo",
                                    "--sizes=1K", "--modes=one-way", *QUICK, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "COLL_SECRET": SECRET})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process, process.stdout.readline().strip().rpartition("--connect=")[2]

    def test_listen_and_connect(self):
        process, address = self.listen()
        done = run("coll-perf", "net", f"--connect={address}", "--iface=lo", COLL_SECRET=SECRET)
        self.assertEqual(done.returncode, 0, done.stderr)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("one way", output)

    def test_a_wrong_secret_is_refused(self):
        process, address = self.listen()
        done = run("coll-perf", "net", f"--connect={address}", COLL_SECRET=SECRET + "?")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("secrets (COLL_SECRET) differ", done.stderr)
        self.assertIsNone(process.poll())  # it still waits for its peer

    def test_wrong_options_are_errors(self):
        for words, complaint in (
                ([], "subcommand"), (["nets"], "nets"), (["net", "--bogus"], "--bogus"),
                (["net", "--sizes=7Q"], "7Q"), (["net", "--sizes=0"], "1 byte or more"),
                (["net", "--sizes=1M..4K"], "1M..4K"), (["net", "--modes=fast"], "fast"),
                (["net", "--op=take"], "take"), (["net", "--connections=0"], "--connections"),
                (["net", "--connections=x"], "--connections"), (["net", "--transport=mail"], "mail"),
                (["net", "--connections=1024", "--sizes=1G"], "buffers"),
                (["net", "--listen=:0", "--connect=a:1"], "excludes"),
                (["net", "--iface=none0"], "none0"), (["net", "--threads=-1"], "--threads")):
            done = run("coll-perf", *words)
            self.assertIn(complaint, done.stderr + done.stdout, words)
            self.assertIn(done.returncode, (1, 2), words)
        done = run("coll-perf", "net", "--connect=127.0.0.1:1", COLL_SECRET="short")
        self.assertIn("COLL_SECRET", done.stderr)

    def test_help(self):
        self.assertIn("net", run("coll-perf", "--help").stdout)
        text = run("coll-perf", "net", "--help").stdout
        for flag in ("--sizes", "--connections", "--inflight", "--listen", "--json", "--plot"):
            self.assertIn(flag, text)


@unittest.skipUnless((BIN / "coll-info").exists(), "coll-info was not built")
class CollInfoTest(unittest.TestCase):
    def test_says_what_is_there(self):
        done = run("coll-info", COLL_SECRET=SECRET, COLL_LOG="error")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("COLL_LOG = warn; set to error", done.stdout)
        self.assertIn("COLL_SECRET = (none); set", done.stdout)
        self.assertNotIn(SECRET, done.stdout)
        for part in ("backends", "transports", "GPUs", "NCCL", "fakes only"):
            self.assertIn(part, done.stdout)

    def test_options(self):
        self.assertEqual(run("coll-info", "--help").returncode, 0)
        self.assertRegex(run("coll-info", "--version").stdout, r"^coll-info \d")
        self.assertEqual(run("coll-info", "--bogus").returncode, 2)


if __name__ == "__main__":
    unittest.main()
