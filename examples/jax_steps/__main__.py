"""Exports the training steps that the tests run: different models, optimizers, precisions and
control flow, each with a reference run by JAX on one device.

    python examples/jax_steps [--out=FOLDER] [--seed=N] [NAME…]
                                     # FOLDER/NAME/{step.mlir,meta.json,reference.npz}
    python examples/jax_steps --list

FOLDER is test/data/jax if it is not given. The steps are small. They need jax, optax and flax, those of
libraries.py equinox, dm-haiku, distrax, diffrax and jmp, too.
"""

import argparse
import importlib
import inspect
import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "examples"))
from export_jax import export  # noqa: E402


MODULES = ("dense", "vision", "sequence", "indexed", "transformers", "recipes", "libraries")


def steps():
    """The functions that make a step, by name: those without arguments that have a docstring.

    A module whose packages are not installed is left out, with a note.
    """
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            print(f"{name}.py is left out: {error}", file=sys.stderr)
            continue
        for name, make in inspect.getmembers(module, inspect.isfunction):
            if make.__module__ == module.__name__ and not inspect.signature(make).parameters:
                yield name, make


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / "test/data/jax")
    parser.add_argument("--list", action="store_true", help="the names, and what each step is")
    parser.add_argument("--seed", type=int, default=7, help="of the data (default 7)")
    options = parser.parse_args()
    import common  # help needs no jax
    import jax
    import numpy as np

    known = dict(steps())
    if options.list:
        for name, make in known.items():
            print(f"{name}: {make.__doc__}")
        return
    if unknown := set(options.names) - set(known):
        parser.error(f"no such step: {', '.join(sorted(unknown))} (see --list)")
    jax.config.update("jax_default_matmul_precision", "highest")
    for name in options.names or known:
        common.rng.bit_generator.state = np.random.default_rng(options.seed).bit_generator.state
        jax.config.update("jax_enable_x64", name.endswith("_f64"))
        step, state, batches = known[name]()
        rtol = 1e-2 if any(word in name for word in ("f16", "fp8")) else None
        losses = export(options.out / name, known[name].__doc__, step, state, batches, rtol)
        print(name, losses, flush=True)


if __name__ == "__main__":
    main()
