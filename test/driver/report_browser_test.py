#!/usr/bin/env python3
"""Reports of coll-run in a headless Chromium: what the browser makes of the page, in light and
dark, on a wide and a narrow screen. Exit code 77 where there is no Chromium.

usage: report_browser_test.py BIN
"""

import html.parser
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

BIN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin").absolute()
SOURCE = pathlib.Path(__file__).absolute().parents[2]
MLP = SOURCE / "test/data/jax/mlp_digits_momentum"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE, NARROW = 1280, 500  # a headless window is not narrower
PAPER = {"light": (255, 255, 255), "dark": (16, 21, 27)}
VOID = {"meta", "link", "br", "input", "img", "hr"}

# What the page's own script does for a user, tried out; the outcome is in the DOM.
PROBE = """<script>
(function () {
  const root = document.documentElement;
  root.dataset.overflow = root.scrollWidth - root.clientWidth;
  root.dataset.tiny = Array.from(document.querySelectorAll("main *")).filter(function (e) {
    return e.children.length === 0 && e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 10;
  }).length;
  const table = document.querySelector("table.operations");
  if (table) {
    table.querySelectorAll("thead button")[4].click();
    root.dataset.sorted = Array.from(table.tBodies[0].rows).map(function (r) { return r.cells[4].dataset.value; }).join(" ");
  }
  const plot = document.querySelector(".chart .plot");
  if (plot) {
    const box = plot.getBoundingClientRect();
    plot.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + 1, clientY: box.top + 5}));
    root.dataset.readout = plot.querySelector(".readout").textContent;
  }
})();
</script></body>"""


class Outline(html.parser.HTMLParser):
    """Counts elements; fails where they are not nested, or an id is there twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.counts, self.ids, self.links = [], {}, set(), []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), (tag, names)
        for name, value in attributes:
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value)
            if name in ("src", "href", "action", "data"):
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()


def first_pixel(png):
    """Colour at the top left; no filter of PNG changes the first pixel."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(data)[1:4])


@unittest.skipUnless((BIN / "coll-run").exists(), "coll-run was not built")
class ReportInBrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name, name)

    def report(self, *words, code=0):
        """The page of a run, as text."""
        page = self.path("report.html")
        done = subprocess.run([BIN / "coll-run", *map(str, words), f"--report={page}", "--quiet"],
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return page.read_text(encoding="utf-8")

    def browse(self, page, width, scheme, *words):
        """What Chromium prints; its console has to stay empty."""
        file = self.path("shown.html")
        file.write_text(page, encoding="utf-8")
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", f"--user-data-dir={self.path('profile')}",
             "--enable-logging=stderr", f"--window-size={width},900",
             f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", *words,
             file.as_uri()],
            capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "HOME": self.folder.name})
        self.assertEqual(done.returncode, 0, done.stderr)
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(console, [])
        return done.stdout

    def look_at(self, page, sections, width=WIDE, scheme="light"):
        """Common properties of every page; returns the data attributes of the probe."""
        outline = Outline(page)
        self.assertEqual(outline.links, [])  # nothing is loaded
        self.assertNotRegex(page, r"@import|url\(\s*['\"]?(?!#)")
        self.assertLessEqual(set(sections), outline.ids)
        dom = self.browse(page.replace("</body>", PROBE), width, scheme, "--dump-dom")
        seen = Outline(dom)
        for tag in ("section", "table", "tr", "td", "svg", "rect", "figure", "dl", "p"):
            # A browser repairs what is not valid, by moving or adding elements.
            self.assertEqual(seen.counts.get(tag, 0), outline.counts.get(tag, 0), tag)
        shown = dict(re.findall(r'data-(\w+)="([^"]*)"', re.search(r"<html[^>]*>", dom).group()))
        self.assertEqual(shown["overflow"], "0")
        self.assertEqual(shown["tiny"], "0")
        return shown

    def test_a_training_run(self):
        page = self.report(MLP / "step.mlir", "--ranks=4", "--state-args=8", "--combine=0",
                           f"--data={MLP / 'reference.npz'}", "--check")
        everything = ("outputs", "times", "timeline", "shape", "collectives", "memory", "checks",
                      "details")
        for width in (WIDE, NARROW):
            shown = self.look_at(page, everything, width)
            self.assertEqual(shown["sorted"], "32768 5120 512 40 4")
            self.assertRegex(shown["readout"], r"^step 1: \d")
        for svg in re.findall(r"<svg[^>]*>", page):
            self.assertRegex(svg, r'role="img" aria-label="[^"]+"')
        for width in (WIDE, NARROW):
            for scheme, colour in PAPER.items():
                with self.subTest(width=width, scheme=scheme):
                    shot = self.path("shot.png")
                    self.browse(page, width, scheme, f"--screenshot={shot}")
                    png = shot.read_bytes()
                    self.assertEqual(struct.unpack(">II", png[16:24]), (width, 900))
                    self.assertEqual(first_pixel(png), colour)
                    self.assertGreater(len(png), 20000)  # something is on it

    def test_long_labels_stay_on_the_page(self):
        page = self.report(MLP / "step.mlir", "--ranks=2", "--state-args=8",
                           f"--data={MLP / 'reference.npz'}")
        label = re.compile(r'(<span style="left:([\d.]+)%[^"]*">)[^<]*(?=</span>)')
        self.assertIn("100", [at for _, at in label.findall(page)])  # one is at the very end
        self.look_at(label.sub(r"\g<1>1,234.5 µs", page), ("timeline",), NARROW)

    def test_many_ranks_fold(self):
        ring = (SOURCE / "examples/02_ring.mlir").read_text(encoding="utf-8")
        pairs = ", ".join(f"[{i}, {(i + 1) % 64}]" for i in range(64))
        ring = ring.replace('"x" = 3', '"x" = 64').replace("tensor<3xi32>", "tensor<64xi32>")
        ring = ring.replace("[[0, 1], [1, 2], [2, 0]]", f"[{pairs}]")
        ring = ring.replace("constant 3 :", "constant 64 :").replace("constant 2 :", "constant 63 :")
        step = self.path("ring.mlir")
        step.write_text(ring, encoding="utf-8")
        self.look_at(self.report(step), ("timeline", "shape"), NARROW, "dark")

    def test_failures_and_names(self):
        page = self.report(SOURCE / "test/run/deadlock.mlir", "--no-verify", "--timeout=1", code=1)
        self.look_at(page, ("error", "shape", "collectives"))
        page = self.report(SOURCE / "test/run/inputs/pretty.mlir", code=1)
        self.look_at(page, ("error", "details"))
        page = self.report(SOURCE / "test/run/inputs/report_names.mlir", "--steps=5")
        self.look_at(page, ("outputs",), NARROW)


if __name__ == "__main__":
    if not CHROMIUM:
        print("SKIPPED: chromium is missing (package chromium)")
        sys.exit(77)
    unittest.main()
