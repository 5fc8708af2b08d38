"""coll: a training step written for one device, on N ranks.

    import coll

    @coll.jit(mesh={"dp": 4})
    def step(state, x, y): ...            # a JAX function: state and batch in, new state and loss out

    executable = coll.compile(text, ranks=4)      # MLIR text of any front end
    print(executable.collectives)                 # each with its reason, bytes and Python line
    training = executable.start(state)
    loss, = training.step(x, y)
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
import typing

if typing.TYPE_CHECKING:
    from ._coll import Error
    from ._exchange import RemoteTensor, Reshard, TensorOwner, plan_reshard
    from ._executable import Collective, Executable, Training, Value, compile, load
    from ._jit import State, jit
    from ._report import Report
    from .moe import MoeBuffer

# Where each name is; a module is loaded when one of its names is used, the library with the first of them.
_PLACES = {
    "._coll": ("Error",),
    "._exchange": ("RemoteTensor", "Reshard", "TensorOwner", "plan_reshard"),
    "._executable": ("Collective", "Executable", "Training", "Value", "compile", "load"),
    "._jit": ("State", "jit"),
    "._report": ("Report",),
    ".moe": ("MoeBuffer",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["Collective", "Error", "Executable", "MoeBuffer", "RemoteTensor", "Report", "Reshard", "State",
           "TensorOwner", "Training", "Value", "compile", "explain", "jit", "load", "memory", "plan_reshard", "verify"]
__version__ = "0.1.0"


@functools.cache
def _find_blas():
    """Matrix products by the OpenBLAS of package scipy-openblas32, unless COLL_BLAS names a library."""
    package = importlib.util.find_spec("scipy_openblas32")
    if package is None or package.origin is None or "COLL_BLAS" in os.environ:
        return
    library = pathlib.Path(package.origin).parent / "lib" / "libscipy_openblas.so"
    if library.exists():
        os.environ["COLL_BLAS"] = str(library)


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module 'coll' has no attribute '{name}'")
    _find_blas()
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def explain(text: str | bytes, **options):
    """The collectives of a step with their reasons, as a table; options as of :func:`compile`."""
    from ._executable import compile

    return compile(text, **options).collectives


def memory(text: str | bytes, **options) -> list[dict[str, int]]:
    """Bytes of each rank, before the step runs: a list of dicts; options as of :func:`compile`."""
    from ._executable import compile

    executable = compile(text, **options)
    return [executable.memory(rank) for rank in range(executable.num_ranks)]


def verify(text: str | bytes, **options) -> None:
    """Proves that the ranks of a step cannot mismatch or deadlock.

    Returns None. Raises :class:`Error` that shows the mismatch or the cyclic wait, rank by rank.
    """
    from ._executable import compile

    compile(text, **options, proof=True)
