"""Compiled steps, what the compiler decided about them, and steps that run."""

from __future__ import annotations

import collections
import dataclasses
import functools
import os
import time
from typing import Any, Sequence

import numpy as np

from . import _coll, _report
from ._arrays import NAMES, from_output, to_input


@dataclasses.dataclass(frozen=True)
class Value:
    """An argument or a result of a step."""

    name: str
    role: str  #: "state", "batch" or "output"
    dtype: str
    shape: tuple
    local_shape: tuple  #: of each rank's block
    sharding: str  #: "[{"dp"}, {}]": the mesh axes that split each dimension
    updates: int  #: of a result: the state argument that it replaces, or -1


@dataclasses.dataclass(frozen=True)
class Collective:
    """A collective that the compiler inserted."""

    kind: str  #: "all_reduce", …
    name: str  #: of the tensor that it serves; may be empty
    location: str  #: the Python line
    reason: str
    reduction: str  #: "sum", …; empty if nothing is reduced
    dtype: str
    is_init: bool  #: in the initialisation, not in each step
    rank_class: int
    group_size: int
    bytes: int  #: of each rank's larger side


class Table(list):
    """A list of records that prints as a table, in a notebook, too."""

    def __init__(self, records, columns):
        super().__init__(records)
        self._columns = columns

    def _cells(self):
        yield list(self._columns)
        for record in self:
            yield [str(getattr(record, column)) for column in self._columns]

    def __str__(self):
        rows = list(self._cells())
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in rows)

    __repr__ = __str__

    def _repr_html_(self):
        head, *body = self._cells()
        return _report.table(head, body)


class Executable:
    """A step compiled for its ranks; made by :func:`coll.compile`."""

    def __init__(self, handle):
        self._handle = handle
        for name, value in handle.describe().items():
            setattr(self, name, value)

    @functools.cached_property
    def args(self) -> list[Value]:
        """The step's arguments: a list of :class:`Value`."""
        return [self._value(self._handle.arg(i)) for i in range(self.num_args)]

    @functools.cached_property
    def results(self) -> list[Value]:
        """The step's results: a list of :class:`Value`."""
        return [self._value(self._handle.result(i)) for i in range(self.num_results)]

    @functools.cached_property
    def collectives(self) -> Table:
        """Each collective with the reason why it is there, as a :class:`Table`."""
        records = []
        for i in range(self.num_collectives):
            fields = self._handle.collective(i)
            fields["dtype"] = NAMES.get(fields["dtype"], "")
            records.append(Collective(**fields))
        return Table(records, ("kind", "name", "bytes", "group_size", "reason", "location"))

    @functools.cached_property
    def messages(self) -> list[tuple[str, str, str]]:
        """What the compiler said: a list of (severity, location, text)."""
        severities = ("note", "warning", "error", "remark")
        each = [self._handle.message(i) for i in range(self.num_messages)]
        return [(severities[m["severity"]], m["location"], m["text"]) for m in each]

    @functools.cached_property
    def stages(self) -> dict[str, str]:
        """The IR after each pass, by the pass's name; with ``keep_stages=True`` only."""
        each = [self._handle.stage(i) for i in range(self.num_stages)]
        return {stage["name"]: stage["text"] for stage in each}

    def memory(self, rank: int = 0) -> dict[str, int]:
        """Bytes of one rank: a dict of state, batch, outputs and temporaries (at their peak)."""
        return self._handle.memory(rank)

    def start(self, state: Sequence = (), *, backend: str | None = None, affinity: str | None = None,
              timeout: float | None = None, rank: int = 0, world_size: int = 0,
              bootstrap: str | None = None, secret: str | None = None) -> Training:
        """Starts the ranks, gives them the state, and returns a :class:`Training`.

        Args:
          state: the state arguments, in order; arrays of any framework.
          backend: "threads" (default): all ranks in this process. "plugin:PATH": a library of your
            own. "net": one process a rank; then also rank, world_size, bootstrap ("host:port" of rank 0) and secret.
          affinity: processors of the ranks' threads: "compact", "spread", "0,2,4-7".
          timeout: seconds that an operation waits for its peers; a minute by default.
        """
        instance = self._handle.instantiate(backend, affinity, int((timeout or 0) * 1e6), rank,
                                            world_size, bootstrap, secret)
        training = Training(self, instance)
        if self.num_state or state:
            training.set_state(state)
        return training

    def _value(self, fields):
        fields["dtype"] = NAMES[fields["dtype"]]
        return Value(**fields)

    def _repr_html_(self):
        return self.collectives._repr_html_()


class Training:
    """The ranks of a step, which hold its state; made by :meth:`Executable.start`."""

    _REMEMBERED = 100_000  # steps

    def __init__(self, executable, instance):
        self.executable = executable
        self._instance = instance
        self._seconds = collections.deque(maxlen=self._REMEMBERED)
        self._losses = collections.deque(maxlen=self._REMEMBERED)

    def set_state(self, state: Sequence) -> None:
        """Gives all state arguments, to start over."""
        self._instance.set_state([to_input(leaf) for leaf in state])

    def step(self, *batch: Any) -> list[np.ndarray]:
        """Runs one step. Returns the results that update no state, as a list of NumPy arrays."""
        begin = time.perf_counter()
        outputs = self._instance.step([to_input(leaf) for leaf in batch],
                                      self.executable.num_outputs)
        self._seconds.append(time.perf_counter() - begin)
        results = [from_output(output) for output in outputs]
        for result in results:
            if result.ndim == 0:
                self._losses.append(result)
                break
        return results

    def report(self) -> _report.Report:
        """A :class:`coll.Report`: loss, times, memory and collectives; a notebook shows it inline."""
        return _report.Report(self.executable, map(float, self._losses), self._seconds)

    def state(self) -> list[np.ndarray]:
        """The state arguments' current values, as a list of NumPy arrays."""
        return [from_output(self._instance.state(i)) for i in range(self.executable.num_state)]

    def cancel(self) -> None:
        """Ends the running step with an error, and the ranks. Any thread may call it."""
        self._instance.cancel()


def mesh_text(mesh):
    """{"dp": 4, "tp": 2} as "dp=4,tp=2"; a text or None as it is."""
    return ",".join(f"{axis}={size}" for axis, size in mesh.items()) if isinstance(mesh, dict) else mesh


@functools.lru_cache(maxsize=None)
def _context(cache):
    return _coll.Context(cache)


def compile(text: str | bytes, *, ranks: int = 0, mesh: dict[str, int] | str | None = None,
            strategy: str | None = None, shard: dict[str, str] | None = None, root: str | None = None,
            route: str | None = None, accumulate: int = 1, stages: int = 0,
            micro_batches: int = 1, schedule: str | None = None, stage: dict[str, int] | None = None,
            stage_mesh: dict[int, dict[str, int] | str] | None = None, staleness: int = 0,
            device: str | None = None, matmul_precision: str | None = None,
            state_args: int | None = None, name: str = "step", proof: bool = True,
            keep_stages: bool = False, cache: str | None = None, untrusted: bool = False,
            parser: str | None = None, parser_timeout: float | None = None,
            parser_memory: int | None = None) -> Executable:
    """Compiles a step and returns an :class:`Executable`.

    Args:
      text: StableHLO in MLIR's generic form, MLIR of any level of coll, or MLIR's bytecode.
      ranks: how many ranks; 0: as the mesh or the step says, else one.
      mesh: {"dp": 4, "tp": 2} or "dp=4,tp=2".
      strategy: as for ``coll-run --strategy``: "fsdp", "tensor", "fsdp,tensor:tp", "none", …; by
        default the batch is split if there is more than one rank.
      shard: shardings of arguments by name: {"*kernel": "[-, tp]"}.
      root: "hash", "balanced" or "shard": each parameter is updated at one rank, its root, which
        alone stores its optimizer state.
      route: "direct" (default) or "ring": how gradients go to the roots and parameters back.
      accumulate: micro-batches that each rank's batch is cut into.
      stages: the number of pipeline stages; each runs on the ranks with its coordinate on the mesh's first axis, "pp".
      micro_batches: parts of the batch that go through the pipeline.
      schedule: of the pipeline: "1f1b" (default), "gpipe", "zb-h1", …, or the path of a table.
      stage: which parameters or scopes begin which stage: {"layer_1*": 1, "scope:Block_1": 1}; by
        default stages are cut by cost.
      stage_mesh: the meshes of single stages, joined from axes of the mesh: {0: {"dp": 4}}.
      staleness: the number of steps that gradients are applied late, 0 to 64.
      device: "cpu" (default), "gpu", or a kind of GPU, "gpu:sm_90"; the ranks share
        the GPUs of the machine. State, batches and results stay arrays of the host.
      matmul_precision: what products on GPUs may round f32 factors to: "highest" (default), "tf32", "bf16".
      state_args: how many leading arguments are state; by default their roles or types decide.
      proof: False skips the proof that the ranks cannot mismatch or deadlock.
      keep_stages: keeps the IR after each pass in ``stages``.
      cache: folder of compiled steps; None: each is compiled.
      untrusted: True parses the text in a process of its own, which may crash without harm, and
        has parser_timeout seconds (60) and parser_memory bytes (4 GiB).
      parser: the program of that process; by default the package's.

    Raises:
      coll.Error: the step was refused; location and notes say where and why.
    """
    mesh = mesh_text(mesh)
    shards = [f"{pattern}: {sharding}" for pattern, sharding in (shard or {}).items()]
    placed = [f"{pattern}: {number}" for pattern, number in (stage or {}).items()]
    meshes = [f"{number}: {mesh_text(own)}" for number, own in (stage_mesh or {}).items()]
    data = text.encode() if isinstance(text, str) else bytes(text)
    handle = _context(cache).compile(
        data, name, ranks, -1 if state_args is None else state_args, mesh, strategy, shards, root,
        route, accumulate, stages, micro_batches, schedule, placed, meshes, staleness, proof, keep_stages,
        untrusted, parser, int((parser_timeout or 0) * 1e6), parser_memory or 0, device, matmul_precision)
    return Executable(handle)


def load(path: str | os.PathLike) -> Executable:
    """Loads a step that ``coll-compile`` wrote, as an :class:`Executable`.

    The file becomes code of this process: load only files that you trust as much as a program.
    """
    return Executable(_context(None).load(os.fspath(path)))
