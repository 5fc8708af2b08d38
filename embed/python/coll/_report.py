"""The report of a training, as a page that a notebook shows inline."""

from __future__ import annotations

import html
import statistics


def table(head, rows):
    """An HTML table of texts."""
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line("th", head) + "".join(line("td", row) for row in rows) + "</table>"


def curve(values, width=480, height=120):
    """An SVG of one series; empty if it has fewer than two finite values."""
    points = [(i, value) for i, value in enumerate(values) if abs(value) < float("inf")]
    if len(points) < 2:
        return ""
    low, high = min(v for _, v in points), max(v for _, v in points)
    scale = height / (high - low) if high > low else 0
    path = " ".join(f"{width * i / (len(values) - 1):.1f},{height - (v - low) * scale:.1f}" for i, v in points)
    return (f'<svg viewBox="-4 -4 {width + 8} {height + 8}" width="{width}" height="{height}">'
            f'<polyline fill="none" stroke="currentColor" points="{path}"/></svg>'
            f"<div>{values[0]:.6g} at the first of {len(values)} steps, {values[-1]:.6g} at the last</div>")


class Report:
    """The report of a :class:`coll.Training`: its loss, its times, memory, shardings and collectives.

    A notebook shows it inline; ``str`` is a short form, and ``save`` writes an HTML file that loads
    nothing else.
    """

    def __init__(self, executable, losses, seconds):
        self.executable = executable
        self.losses = list(losses)  #: the first scalar that each step returned
        self.seconds = list(seconds)  #: of each step

    def _facts(self):
        executable = self.executable
        proof = "proved: no mismatch, no deadlock" if executable.is_proved else "not proved"
        facts = [("mesh", executable.mesh or "one device"), ("ranks", executable.num_ranks), ("ranks are", proof),
                 ("steps", len(self.seconds))]
        if self.seconds:
            facts.append(("median step", f"{1e3 * statistics.median(self.seconds):.3g} ms"))
        return facts

    def __str__(self):
        return "\n".join(f"{name}: {value}" for name, value in self._facts())

    __repr__ = __str__

    def _repr_html_(self):
        executable = self.executable
        ranks = range(executable.num_ranks)
        memory = [executable.memory(rank) for rank in ranks]
        values = [("argument", v) for v in executable.args] + [("result", v) for v in executable.results]
        parts = [table(("", ""), self._facts())]
        if drawn := curve(self.losses):
            parts += ["<h4>Loss</h4>", drawn]
        parts += ["<h4>Collectives</h4>", executable.collectives._repr_html_(), "<h4>Memory of each rank, bytes</h4>",
                  table(("rank", *memory[0]), [(rank, *memory[rank].values()) for rank in ranks]),
                  "<h4>Shardings</h4>",
                  table(("", "name", "role", "type", "of a rank", "sharding"),
                        [(what, v.name, v.role, f"{v.dtype}{list(v.shape)}", list(v.local_shape), v.sharding)
                         for what, v in values])]
        return "<div>" + "".join(parts) + "</div>"

    def save(self, path) -> None:
        """Writes the report as an HTML file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"<!doctype html><meta charset='utf-8'><title>coll</title>{self._repr_html_()}\n")
