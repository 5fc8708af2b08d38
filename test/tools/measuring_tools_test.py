#!/usr/bin/env python3
"""What coll-perf and coll-info promise on their command lines; never how fast anything is.

usage: measuring_tools_test.py BIN
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

BIN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin")
QUICK = ["--seconds=0.01", "--repeat=1"]
SECRET = "a secret of this test"
FAKE_GPU = BIN.parent / "lib" / "libcoll-fake-gpu.so"


def run(tool, *words, **environment):
    return subprocess.run([BIN / tool, *words], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})


def can_make_namespaces():
    if not shutil.which("ip") or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--net", "true"], stderr=subprocess.DEVNULL).returncode == 0


def children_of(parent):
    """In the order of their start. Not every kernel has /proc/PID/task/PID/children.

    Starts are counted in hundredths of a second; after the highest number of a process comes the lowest."""
    highest = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    children = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) == parent:
            pid = int(stat.parent.name)
            children.append((int(fields[19]), (pid - parent) % highest, pid))
    return [pid for _, _, pid in sorted(children)]


def ranks_of(process, count):
    """The processes of its ranks, when all have been started."""
    end = time.monotonic() + 60
    while len(children := children_of(process.pid)) < count and time.monotonic() < end:
        time.sleep(0.01)
    assert len(children) == count, children
    return children


@unittest.skipUnless((BIN / "coll-perf").exists(), "coll-perf was not built")
class CollPerfTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def begin(self, operation, *words, **environment):
        """A coll-perf that has printed its head, and would run for hours."""
        process = subprocess.Popen([BIN / "coll-perf", operation, *words], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **environment})
        # Backwards: it is killed before anyone waits for it.
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        if operation != "net":
            self.assertIn(operation, process.stdout.readline() + process.stdout.readline())
        return process

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

    def test_rows_are_written_as_they_come(self):
        rows_file = self.path("rows.jsonl")
        self.begin("net", "--sizes=1..4M", "--repeat=1", "--seconds=0.1", f"--json={rows_file}")
        end = time.monotonic() + 60
        while not (rows_file.exists() and rows_file.read_text().endswith("\n")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        self.assertLess(rows_file.read_text().count("\n"), 23)  # of one mode alone

    def test_many_connections_and_remote_memory(self):
        for words in (["--connections=16", "--inflight=8", "--sizes=128K"],
                      ["--op=write", "--sizes=1,64K"], ["--op=read", "--sizes=1,64K"]):
            done = run("coll-perf", "net", *words, *QUICK)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(can_make_namespaces(), "no network namespaces here")
    def test_several_devices_in_one_connection(self):
        rows_file = self.path("rows.jsonl")
        script = ("ip link set lo up && for i in 0 1; do ip link add c$i type veth peer name d$i && "
                  "ip addr add 10.7$i.0.1/24 dev c$i && ip link set c$i up; ip link set d$i up; done "
                  '&& exec "$@"')
        done = subprocess.run(["unshare", "--net", "sh", "-c", script, "sh", BIN / "coll-perf", "net",
                               "--iface=c0,c1", "--sizes=1M", "--sockets=2", f"--json={rows_file}",
                               *QUICK], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "COLL_NET_RAILS": "2"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tcp over c0+c1", done.stdout)
        for line in rows_file.read_text().splitlines():
            self.assertIn("over 2 devices", json.loads(line)["case"])
            self.assertEqual(json.loads(line)["peer_name"],
                             "raw sockets, 4 a connection over 2 devices")

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

    def test_operations_side_by_side(self):
        rows_file, plot = self.path("rows.jsonl"), self.path("plot.svg")
        done = run("coll-perf", "all_reduce", "-b4", "-e64K", "-f16384", "-n3", "-w1", "--ranks=3",
                   "--backend=threads,net", "--in-place=both", "--timing=eager,latency",
                   f"--json={rows_file}", f"--plot={plot}")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()[3:]]
        self.assertEqual(len(lines), 2 * 2 * 2 * 2)
        for line in lines:
            self.assertEqual(line[11], "0", line)  # wrong
        rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
        self.assertEqual(len(rows), 2 * 2 * 2)
        for row in rows:
            self.assertEqual(row["peer_name"], "net")
            # 2 (n - 1) / n of the bytes
            self.assertAlmostEqual(row["busbw"], row["algbw"] * 4 / 3, delta=0.01 * row["busbw"])
        curves = xml.dom.minidom.parse(str(plot)).getElementsByTagName("polyline")
        self.assertEqual(len(curves), 2 * 2 * 4)

    def test_all_operations_and_types(self):
        for op in ("all_gather", "reduce_scatter", "broadcast", "reduce", "gather", "scatter",
                   "all_to_all", "send_recv"):
            done = run("coll-perf", op, "-b1K", "-e100K", "-f100", "-n2", "--ranks=3",
                       "--backend=threads,auto:threads", "--root=1" if op != "send_recv" else "-w0")
            self.assertEqual(done.returncode, 0, done.stderr)
        for words in (["-dbf16"], ["-di8", "-oprod"], ["-df64", "-omax"], ["-df8e5m2"],
                      ["-di64", "-oavg"], ["-du8", "-oavg"], ["-dbool"], ["--order=rank"]):
            done = run("coll-perf", "all_reduce", "-b64", "-e64", "-n2", "--backend=threads", *words)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(FAKE_GPU.exists(), "libcoll-fake-gpu.so was not built")
    def test_nccl_over_a_fake(self):
        fake = {"COLL_CUDA": str(FAKE_GPU), "COLL_NCCL": str(FAKE_GPU)}
        for op in ("all_reduce", "all_gather", "send_recv"):
            done = run("coll-perf", op, "-b64", "-e64K", "-f32", "-n3", "-w1", "--ranks=4",
                       "--backend=nccl:threads,nccl:threads:registered,nccl:threads:user,threads",
                       "--timing=eager,latency" + ("" if op == "send_recv" else ",graph"), **fake)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("registered", done.stdout)
            self.assertIn("nccl:threads:user", done.stdout)
        done = run("coll-perf", "all_reduce", "-b64", "-e64", "--backend=nccl:threads",
                   "--scale=0.25", **fake)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2.28.9, symmetric windows: yes", run("coll-info", **fake).stdout)

    def test_what_cannot_be_written_is_said_at_once(self):
        absent = self.path("absent") / "rows"
        for words in (["all_reduce", f"--json={absent}"], ["all_reduce", f"--plot={absent}"],
                      ["tune", f"--out={absent}"], ["net", f"--json={absent}"],
                      ["reshard", f"--json={self.folder.name}"]):
            done = run("coll-perf", *words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("cannot write", done.stderr)
            self.assertEqual(done.stdout, "")
        quick = ["all_reduce", "-b8", "-e8", "-n1", "--backend=threads"]
        with open("/dev/full", "w") as full:
            done = subprocess.run([BIN / "coll-perf", *quick], stdout=full, stderr=subprocess.PIPE,
                                  timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"No space left", done.stderr)

    def test_closed_streams(self):
        for words in (["all_reduce", "-b8", "-e8", "-n1", "--backend=threads"],
                      ["net", "--sizes=8", *QUICK], ["reshard", "--shape=8x8", "-n1"]):
            done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
                                   BIN / "coll-perf", *words], timeout=60)
            self.assertEqual(done.returncode, 0, words)

    def test_a_pipe_without_a_reader_is_an_error(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        quick = ["-b8", "-e8", "-n1", "-g2", "--backend=threads"]
        for words in (["all_reduce", f"--json={pipe}"], ["tune", "--ops=all_reduce", f"--out={pipe}"]):
            done = run("coll-perf", *words, *quick)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("the reader of this pipe has closed it", done.stderr)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
        while done.returncode == 2:  # until the reader is there
            done = run("coll-perf", "all_reduce", f"--json={pipe}", *quick)
        self.assertEqual(json.loads(reader.communicate(timeout=60)[0])["size"], "8 B")
        done = run("coll-perf", "tune", "--ops=all_reduce", "--out=/dev/stdout", *quick)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nothing_measured_is_skipped(self):
        for words in (["all_reduce", "--timing=graph", "-b8", "-e8", "--backend=threads"],
                      ["all_reduce", "-b8", "-e8", "--backend=nccl"],
                      ["tune", "--paths", f"--out={self.path('routes.json')}"]):
            done = run("coll-perf", *words, COLL_CUDA="none")
            self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
            self.assertIn("SKIPPED", done.stdout)
        self.assertIn("paths of GPU memory over tcp: none can be measured here", done.stdout)
        self.assertFalse(self.path("routes.json").exists())

    @unittest.skipUnless(shutil.which("rsvg-convert"), "there is no rsvg-convert")
    def test_curves_as_png(self):
        plot = self.path("it's a plot.png")
        done = run("coll-perf", "all_reduce", "-b8", "-e64", "-n1", "--backend=threads",
                   f"--plot={plot}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(plot.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_sizes_are_told_once(self):
        done = run("coll-perf", "reduce_scatter", "-b8", "-e64", "-df64", "-g3", "-n1",
                   "--backend=threads")
        sizes = [line.split()[0] for line in done.stdout.splitlines()[3:]]
        self.assertEqual(sizes, ["24", "48"])

    def test_words_of_nccl_tests(self):
        """Each line of theirs is measured as one of ours."""
        ours = ["all_reduce", "-b64", "-e256", "-n1", "-w1", "--ranks=2", "--backend=threads"]
        theirs = ["all_reduce", "-n1", "-w1", "-g2", "--backend=threads"]
        for words, same in ((["--minbytes=64", "--maxbytes=256", "--stepfactor=2", "-t1"], []),
                            (["-b64", "-e256", "--stepbytes=192"], ["-i192"]),
                            (["-b64", "-e256", "-dbfloat16", "-oprod", "-c1"], ["-dbf16", "-oprod"]),
                            (["-b64", "-e256", "--datatype", "uint8", "-o", "max"], ["-du8", "-omax"]),
                            (["-b64", "-e256", "-d", "uint32", "-o", "max"], ["-di32", "-oumax"]),
                            (["-b64", "-e256", "-dfp8_e4m3"], ["-df8e4m3fn"]),
                            (["-b64", "-e256", "-z1", "-T", "20"], ["--timing=latency"]),
                            (["-b64", "-e256", "-c0", "-z0", "-G0"], ["--no-check"])):
            tables = [run("coll-perf", *line) for line in (theirs + words, ours + same)]
            for done in tables:
                self.assertEqual(done.returncode, 0, done.stderr)
            # All but the times.
            heads, rows = zip(*((done.stdout.splitlines()[1],
                                 [[line.split()[i] for i in (0, 1, 2, 3, 11)]
                                  for line in done.stdout.splitlines()[3:]]) for done in tables))
            self.assertEqual(heads[0], heads[1])
            self.assertEqual(rows[0], rows[1])
        done = run("coll-perf", "broadcast", "-b8", "-e8", "-n1", "-t2", "-g2", "-r3",
                   "--backend=threads")
        self.assertIn(" 4 ranks", done.stdout, done.stderr)
        done = run("coll-perf", "all_reduce", "-b8", "-e8", "-n1", "-G1", "--backend=threads")
        self.assertIn("SKIPPED: threads, graph", done.stdout)
        for words, complaint in ((["-G4"], "--repeat=4"), (["-z2"], "-z has to be"), (["-g0"], "--ranks"),
                                 (["-g10000", "-t10000"], "--ranks"), (["-g2", "--ranks=2"], "excludes"),
                                 (["-c0", "--no-check"], "excludes"), (["-duint32", "-oavg"], "only u8 averages"), (["-dall", "--plot=a.svg"], "--plot")):
            done = run("coll-perf", "all_reduce", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(complaint, done.stderr)

    def test_all_types_and_reductions(self):
        quick = ["-b64", "-e64", "-n1", "-w0", "-g2", "--backend=threads"]
        done = run("coll-perf", "all_reduce", *quick, "-dall")
        self.assertEqual(done.returncode, 0, done.stderr)
        for type_ in ("f32", "bf16", "f8e5m2", "i64", "u8", "bool"):
            self.assertIn(f"all_reduce of {type_}, 2 ranks", done.stdout)
        # No reduction matters where nothing is reduced.
        for operation, count in (("all_reduce", 10), ("all_gather", 1)):
            done = run("coll-perf", operation, *quick, "-di32", "-oall")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count(f"{operation} of i32"), count)

    def test_a_small_factor_goes_on(self):
        done = run("coll-perf", "all_reduce", "-b8", "-e12", "-f1.05", "-di8", "-g2", "-n1",
                   "--backend=threads")
        sizes = [line.split()[0] for line in done.stdout.splitlines()[3:]]
        self.assertEqual(sizes, ["8", "9", "10", "11", "12"])

    def test_bytes_that_are_no_text(self):
        table = os.fsencode(self.folder.name) + b"/\xff.json"
        done = subprocess.run([os.fsencode(BIN / "coll-perf"), "tune", "--backend=threads", "-b8",
                               "-e8", "-n1", "--ops=all_reduce", b"--out=" + table],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(table) as file:
            self.assertIn("--out=", json.load(file)["made_by"])
        done = subprocess.run([BIN / "coll-perf", "all_reduce", "-b8", "-e8", "-n1", "-g2",
                               "--backend=net"], capture_output=True, timeout=60,
                              env={**os.environ, "COLL_NET_TRANSPORT": os.fsdecode(b"a\xff")})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("no transport is called \"a\ufffd\"".encode(), done.stderr)

    def test_a_deadline_that_never_comes(self):
        done = run("coll-perf", "net", "--sizes=8", "--modes=latency", "--no-peer", *QUICK,
                   COLL_TIMEOUT_US="9223372036854775807")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("COLL_TIMEOUT_US=9223372036854775807: expected", done.stderr)

    def test_reshards_are_checked(self):
        rows_file = self.path("rows.jsonl")
        quick = ["--iterations=1", "--warmup=0", "--repeat=1"]
        for words in (["--shape=65x33x7", "--senders=3", "--receivers=2", "--to=2", "--dtype=i16"],
                      ["--shape=100x90", "--senders=2", "--receivers=3", "--same", "--from=-1"],
                      ["--shape=100x90", "--senders=2", "--receivers=3", "--memory=shm"]):
            done = run("coll-perf", "reshard", *words, *quick, f"--json={rows_file}")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
        self.assertEqual(len(rows), 3 * 4)
        self.assertEqual(sum("shared memory" in row["case"] for row in rows), 4)
        for row in rows:
            self.assertGreater(row["ours"], 0)
            self.assertLessEqual(row["least_wire_bytes"], row["wire_bytes"])
        done = run("coll-perf", "reshard", "--nodes=2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--nodes is for GPU memory", done.stderr)
        done = run("coll-perf", "reshard", "--memory=gpu", COLL_CUDA="none")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("SKIPPED", done.stdout)

    def test_reshards_of_several_shapes_have_curves_and_certificates(self):
        rows_file, plot = self.path("rows.jsonl"), self.path("curves.svg")
        done = run("coll-perf", "reshard", "--shape=8x8,64x64,96x32", "--same", "--certificate", "-n1", "-w0",
                   "--repeat=1", "--direction=push", f"--json={rows_file}", f"--plot={plot}")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        rows = [json.loads(line) for line in rows_file.read_text().splitlines()]
        self.assertEqual([row["size"] for row in rows], [s for s in ("256 B", "16 KiB", "12 KiB") for _ in "rg"])
        # Each rank gets one of 2 x 2 quarters; gathered, a half.
        self.assertEqual([(row["link_bytes"], row["least_link_bytes"]) for row in rows[:2]], [(64, 64), (128, 64)])
        picture = xml.dom.minidom.parse(str(plot))
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2 * 2)
        self.assertEqual(len(picture.getElementsByTagName("circle")), 2 * 2 * 3)
        for text in ("plan routed\n  rank 1 -> rank 0: 64 bytes\n  into rank 0: 64 bytes, at least 64\n",
                     "meets the bound of every way", "plan gather\n  rank 1 -> rank 0: 128 bytes\n",
                     "is above the bound"):
            self.assertIn(text, done.stdout)
        for words, text in ((["--shape=8x8,"], '"" is not of the form'), (["--shape=8x8,9x"], "9x"),
                            (["--shape=8x8,8", "--to=1"], "--to"), (["--plot=curves.pdf"], ".svg or .png")):
            done = run("coll-perf", "reshard", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)

    def test_moe_draws_what_it_has_measured_only(self):
        done = run("coll-perf", "moe", "--plot=curves.pdf")
        self.assertEqual(done.returncode, 2)
        self.assertIn(".svg or .png", done.stderr)
        plot = self.path("curves.svg")
        done = run("coll-perf", "moe", "--ranks=2", f"--plot={plot}", COLL_CUDA="none")
        self.assertEqual((done.returncode, plot.exists()), (77, False), done.stderr + done.stdout)

    # Between nodes there are engines alone: the fake driver runs no kernels.
    NODES = ["reshard", "--memory=gpu", "--nodes=2", "--engine=copies", "--peers=none",
             "--direction=push"]

    @unittest.skipUnless(FAKE_GPU.exists(), "libcoll-fake-gpu.so was not built")
    def test_reshards_between_nodes_are_checked(self):
        for words in (["--shape=1001x777", "--senders=3", "--receivers=2"],
                      ["--shape=700x1200", "--senders=4", "--receivers=4", "--same"]):
            done = run("coll-perf", *self.NODES, *words, "-n1", "-w0", "--repeat=1",
                       COLL_CUDA=str(FAKE_GPU))
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertIn("on 2 nodes, over tcp", done.stdout)

    @unittest.skipUnless(FAKE_GPU.exists(), "libcoll-fake-gpu.so was not built")
    def test_a_killed_rank_ends_a_reshard_between_nodes(self):
        process = self.begin(*self.NODES, "--shape=2048x2048", "--no-check", "-n1000000",
                             "--timeout=30", COLL_CUDA=str(FAKE_GPU))
        ranks = ranks_of(process, 4)
        time.sleep(0.5)  # into the operations
        os.kill(ranks[1], signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        self.assertRegex(errors, "rank 1 (is gone|was ended)")

    def test_root_updates_are_of_gpus(self):
        for words, why in ((["--backend=threads"], "root_update has to be direct"),
                           (["--backend=direct", "--dtype=f64"], "f32 or bf16"),
                           (["--backend=direct", "--optimizer=adagrad"], 'rmsprop, not "adagrad"'),
                           (["--backend=direct", "--in-place=yes"], "root_update has two buffers")):
            done = run("coll-perf", "root_update", "-b64", "-e64", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)
        done = run("coll-perf", "all_reduce", "-b64", "-e64", "--backend=nccl:sharded")
        self.assertIn("nccl:sharded is for root_update", done.stderr)
        done = run("coll-perf", "root_update", "--backend=direct,nccl,nccl:sharded", COLL_CUDA="none")
        self.assertEqual(done.returncode, 77, done.stderr)

    def test_what_is_not_here_is_skipped(self):
        done = run("coll-perf", "all_reduce", "--backend=nccl", COLL_CUDA="none")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("SKIPPED: nccl: no CUDA here: COLL_CUDA is none", done.stdout)
        done = run("coll-perf", "all_reduce", "--backend=direct:registered", COLL_CUDA="none")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("SKIPPED: direct:registered: no CUDA here", done.stdout)
        self.assertIn("memory of other GPUs", run("coll-info", COLL_CUDA="none").stdout)
        done = run("coll-perf", "all_reduce", "-b8", "-e8", "-n1", "--backend=threads",
                   "--timing=graph")
        self.assertIn("SKIPPED: threads, graph", done.stdout)

    def test_a_killed_rank_ends_the_run(self):
        process = self.begin("all_reduce", "--backend=net", "--ranks=3", "-b1M", "-e1M",
                             "-n100000000", "--timeout=50")
        ranks = ranks_of(process, 3)
        time.sleep(0.5)  # into the operations
        os.kill(ranks[1], signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        self.assertRegex(errors, "rank 1.* was ended by signal 9")

    # As one that is caught in the GPU's driver when another ends: it is not waited for until its deadline.
    def test_a_rank_that_hangs_when_another_is_killed_is_ended(self):
        process = self.begin("all_reduce", "--backend=net", "--ranks=2", "-b1M", "-e1M",
                             "-n100000000", "--timeout=100")
        ranks = ranks_of(process, 2)
        time.sleep(0.5)
        os.kill(ranks[0], signal.SIGSTOP)
        os.kill(ranks[1], signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        self.assertRegex(errors, "rank 1.* was ended by signal 9")

    # As one whose GPU never answers: no deadline of the backend's ends it.
    def test_a_rank_that_hangs_ends_the_run(self):
        process = self.begin("all_reduce", "--backend=threads", "--ranks=2", "-b1M", "-e1M",
                             "-n100000000", "--timeout=5")
        ranks = ranks_of(process, 1)
        time.sleep(0.5)
        os.kill(ranks[0], signal.SIGSTOP)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        # How far it gets by then is the machine's affair.
        self.assertRegex(errors, "threads, the process of all ranks, last seen at its "
                         "(check|warm-up|eager operations): its process does not answer")

    def test_a_killed_rank_ends_a_reshard(self):
        process = self.begin("reshard", "--shape=2048x2048", "--no-check", "-n1000000",
                             "--timeout=30", "--strategy=routed")
        ranks = ranks_of(process, 4)
        time.sleep(0.5)
        os.kill(ranks[1], signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        self.assertIn("rank 1 was ended by signal 9", errors)

    def test_tuned_routes_are_read(self):
        table = self.path("routes.json")
        done = run("coll-perf", "tune", "--ranks=2", "-b64", "-e64K", "-f32", "-n3", "-w1", "-dbf16",
                   "--backend=net,threads", "--ops=all_reduce,all_gather", f"--out={table}")
        self.assertEqual(done.returncode, 0, done.stderr)
        routes = json.loads(table.read_text())["routes"]
        self.assertEqual({route["op"] for route in routes}, {"all_reduce", "all_gather"})
        self.assertNotIn("max_bytes", routes[-1])
        for route in routes:
            self.assertEqual((route["dtype"], route["group"], route["captured"]), ("bf16", "all", False))
        shown = run("coll-info", COLL_ROUTES=str(table)).stdout
        self.assertIn("all_gather of bf16, host memory, 2 ranks, the group of all, not in graphs", shown)
        done = run("coll-perf", "all_reduce", "-b64", "-e64", "-n2", "--backend=auto:threads,auto",
                   COLL_ROUTES=str(table))
        self.assertEqual(done.returncode, 0, done.stderr)
        table.write_text('{"format": "coll routes",\n')
        done = run("coll-perf", "all_reduce", "--backend=auto", COLL_ROUTES=str(table))
        self.assertEqual(done.returncode, 2)
        self.assertIn("routes.json:2:1: not JSON", done.stderr)

    def test_a_table_is_of_one_machine(self):
        table = self.path("routes.json")
        words = ["tune", "-b64", "-e64", "-n1", "-w0", "--ranks=2", "--backend=threads",
                 "--ops=broadcast", f"--out={table}"]
        self.assertEqual(run("coll-perf", *words).returncode, 0)
        text = json.loads(table.read_text())
        text["paths"] = [{"kind": "tcp", "path": "host"}]
        for machine, stays in ((text["machine"], True), ("another", False)):
            text["machine"] = machine
            table.write_text(json.dumps(text))
            done = run("coll-perf", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("paths" in json.loads(table.read_text()), stays)
            self.assertEqual("the paths of another are left out" in done.stdout, not stays)
        table.write_text(json.dumps(text))
        done = run("coll-perf", "tune", "--paths", f"--out={table}")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{table}: made on another, but this is ", done.stderr)
        self.assertEqual(json.loads(table.read_text()), text)

    def test_wrong_options_are_errors(self):
        for words, complaint in (
                (["all_reduce", "-b7Q"], "7Q"), (["all_reduce", "-b2M", "-e1M"], "-b and -e"),
                (["all_reduce", "-f1"], "-f"), (["all_reduce", "-b1", "-e64G", "-i1"], "10000 sizes"),
                (["all_reduce", "-fnan"], "-f"), (["all_reduce", "-n2147483647"], "-n"),
                (["all_reduce", "--timeout=9e12"], "--timeout"),
                (["all_reduce", "--timeout=nan"], "--timeout"),
                (["all_reduce", "--ranks=0"], "--ranks"),
                (["all_reduce", "--backend=mail"], "mail"), (["all_reduce", "-oxor"], "xor"),
                (["all_reduce", "--backend=net,net"], "twice"),
                (["all_reduce", "--backend=threads:gpu"], "gpu"),
                (["all_reduce", "--dtype=f3"], "f3"), (["all_reduce", "--timing=slow"], "slow"),
                (["broadcast", "--root=4"], "--root"), (["all_reduce", "-n0"], "-n"),
                (["all_gather", "-e64G", "--ranks=256", "--backend=threads,net"], "host memory together"),
                (["send_recv", "--in-place=yes"], "two buffers"), (["tune"], "--out"),
                (["tune", "--out=x", "--backend=auto"], "auto"),
                (["tune", "--out=x", "--ops=send_recv"], "send_recv"),
                (["tune", "--out=x", "--paths", "--ops=all_reduce"], "excludes"),
                (["tune", "--out=x", "--paths", "-e8K"], "16 KiB to 2 MiB"),

                (["reshard", "--shape=4y4"], "4y4"), (["reshard", "--to=2"], "--to"),
                (["reshard", "--senders=0"], "--senders"), (["reshard", "--peers=mpi"], "mpi"),
                (["reshard", "--peers=nccl"], "GPU memory only"), (["reshard", "-df3"], "f3"),
                (["reshard", "--strategy=fast"], "fast"), (["reshard", "--memory=disk"], "disk"),
                (["reshard", "--engine=steam"], "steam"),
                (["reshard", "--streams=2"], "GPU memory only"),
                (["reshard", "--shape=999999999999999x1152", "-df64"], "more bytes together"),
                (["reshard", "--shape=999999999999999x1152", "-df64", "--to=-1",
                  "--strategy=routed"], "more bytes together"),
                (["reshard", "--shape=999999999999999x9223"], "too large"),
                (["moe", "--ranks=9"], "--ranks"), (["moe", "--hidden=20"], "--hidden"),
                (["moe", "--experts=7"], "--experts"), (["moe", "--experts=2000000000"], "--experts"),
                (["moe", "--timeout=9e12"], "--timeout"), (["moe", "-n", "2147483647"], "-n"),
                (["moe", "--topk=0"], "--topk"),
                (["moe", "--sms=3"], "numSms is 3"), (["moe", "--nodes=3"], "--nodes"), (["moe", "-n", "0"], "-n"),
                (["moe", "--low-latency", "--nodes=3"], "--nodes"), (["moe", "--low-latency", "--sms=500"], "--sms"),
                (["moe", "--low-latency", "--tokens=2000"], "2000"), (["moe", "--low-latency", "--hidden=160"], "160"),
                (["moe", "--low-latency", "--calls=combine"], "--calls"),

                ([], "subcommand"), (["nets"], "nets"), (["net", "--bogus"], "--bogus"),
                (["--bogus"], "--bogus"), (["net", "--bogus"], "coll-perf net --help"),
                (["all_reduce", "--plot=a.bmp"], "a.bmp"), (["net", "--plot=a.pdf"], "a.pdf"),
                (["net", "--sizes=7Q"], "7Q"), (["net", "--sizes=0"], "1 byte or more"),
                (["net", "--sizes=1M..4K"], "1M..4K"), (["net", "--modes=fast"], "fast"),
                (["net", "--op=take"], "take"), (["net", "--connections=0"], "--connections"),
                (["net", "--connections=x"], "--connections"), (["net", "--transport=mail"], "mail"),
                (["net", "--connections=1024", "--sizes=1G"], "buffers"),
                (["net", "--listen=:0", "--connect=a:1"], "excludes"),
                (["net", "--rails=9"], "--rails"), (["net", "--rails=2"], "fewer than 2 devices"),
                (["net", "--iface=none0"], "none0"), (["net", "--threads=-1"], "--threads")):
            done = run("coll-perf", *words)
            self.assertIn(complaint, done.stderr + done.stdout, words)
            self.assertIn(done.returncode, (1, 2), words)
        done = run("coll-perf", "net", "--connect=127.0.0.1:1", COLL_SECRET="short")
        self.assertIn("COLL_SECRET", done.stderr)

    def test_help(self):
        text = run("coll-perf", "--help").stdout
        for command in ("all_reduce", "send_recv", "tune", "net", "moe"):
            self.assertIn(command, text)
        text = run("coll-perf", "all_reduce", "--help").stdout
        for flag in ("-b", "-e", "-f", "-n", "-w", "--backend", "--timing", "--in-place", "--plot"):
            self.assertIn(flag, text)
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
        for part in ("backends", "transports", "GPUs", "NCCL", "fakes only", "the defaults",
                     "default for host memory in one process"):
            self.assertIn(part, done.stdout)

    def test_says_what_cannot_be_used_here_and_why(self):
        text = run("coll-info", COLL_CUDA="none").stdout
        why = "not available here: no CUDA here: COLL_CUDA is none"
        for backend in ("direct", "nccl"):
            self.assertRegex(text, f"  {backend} +{why}")
        self.assertRegex(text, "-> nccl.*\n +not available here, see backends")
        self.assertIn(why, text.partition("paths of GPU memory")[2])
        self.assertNotRegex(text, "  threads +not")

    def test_a_table_that_is_no_file_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            for path, why in ((pipe, "is not a regular file"), (folder, "is not a regular file"),
                              ("/dev/zero", "is not a regular file"),
                              (pathlib.Path(folder, "none"), "No such file")):
                done = run("coll-info", COLL_ROUTES=str(path))
                self.assertEqual(done.returncode, 1)
                # Lines are wrapped.
                self.assertIn(why, " ".join(done.stdout.split()))

    def test_topology_of_this_machine(self):
        done = run("coll-info", "--topology")
        self.assertEqual(done.returncode, 0, done.stderr)
        topology = json.loads(done.stdout)
        self.assertEqual(topology["version"], 1)
        self.assertGreater(topology["hosts"][0]["gflop_per_s"], 0)
        for field in ("memory_gb_per_s", "cache_gb_per_s", "kernel_us", "matrix_us", "row_us"):
            self.assertGreater(topology["hosts"][0][field], 0, field)
        (host,), (link,) = topology["hosts"], topology["links"]
        self.assertGreaterEqual(host["ranks"], 1)
        self.assertEqual(link["between"], [host["name"], host["name"]])
        self.assertGreater(link["bandwidth_gb_per_s"], 0)
        self.assertGreater(link["latency_us"], 0)
        more = json.loads(run("coll-info", "--topology=3").stdout)
        self.assertEqual(more["hosts"][0]["ranks"], 3)
        for bad in ("--topology=", "--topology=0", "--topology=1025", "--topology=2x"):
            self.assertEqual(run("coll-info", bad).returncode, 2)

    def test_options(self):
        self.assertEqual(run("coll-info", "--help").returncode, 0)
        self.assertRegex(run("coll-info", "--version").stdout, r"^coll-info \d")
        self.assertEqual(run("coll-info", "--bogus").returncode, 2)


if __name__ == "__main__":
    unittest.main()
