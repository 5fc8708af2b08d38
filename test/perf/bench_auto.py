#!/usr/bin/env python3
"""Times the search for a plan (--strategy=auto) for large steps, which JAX exports by their shapes alone.

usage: bench_auto.py [--tools=build/bin] [--append=FILE.jsonl] [NAME…]

Each row is a LLaMA-shaped training step with Adam, every layer written out, and a number of ranks. Needs JAX.
"""

import argparse
import pathlib
import re
import resource
import shlex
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp

from rows import begin_row, put_row

# Layers, width, inner width, heads, heads of keys, vocabulary, batch, length.
SHAPES = {"llama_8b": (32, 4096, 14336, 32, 8, 128256, 64, 128),
          "llama_8b_12_layers": (12, 4096, 14336, 32, 8, 128256, 64, 128),
          "llama_405b": (126, 16384, 53248, 128, 8, 128256, 256, 64)}
# Name -> shape, ranks, options.
ROWS = {"llama_8b": ("llama_8b", 64, []),
        "llama_8b_12_layers": ("llama_8b_12_layers", 64, []),
        "llama_8b_3d": ("llama_8b", 64, ["--mesh=dp=4,fsdp=4,tp=4"]),
        "llama_405b": ("llama_405b", 1024, [])}
TARGETS = {"llama_8b": 2, "llama_8b_3d": 5, "llama_405b": 20}  # seconds


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def rotate(x, angles):
    left, right = jnp.split(x, 2, -1)
    return jnp.concatenate([left * jnp.cos(angles) - right * jnp.sin(angles),
                            left * jnp.sin(angles) + right * jnp.cos(angles)], -1)


def make(layers, width, inner, heads, key_heads, vocabulary, batch, length):
    """The step and the shapes of its arguments."""
    size = width // heads
    shapes = {"table": (vocabulary, width), "norm": (width,), "head": (width, vocabulary)}
    for i in range(layers):
        shapes[f"layer_{i}"] = {
            "wq": (width, width), "wk": (width, key_heads * size), "wv": (width, key_heads * size), "wo": (width, width),
            "w1": (width, inner), "w2": (inner, width), "w3": (width, inner), "n1": (width,), "n2": (width,)}
    params = jax.tree.map(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32), shapes,
                          is_leaf=lambda leaf: isinstance(leaf, tuple))

    def layer(x, p, angles):
        h = rms_norm(x, p["n1"])
        q = rotate((h @ p["wq"]).reshape(batch, length, heads, size), angles)
        k = rotate((h @ p["wk"]).reshape(batch, length, key_heads, size), angles)
        v = (h @ p["wv"]).reshape(batch, length, key_heads, size)
        q = q.reshape(batch, length, key_heads, heads // key_heads, size)
        scores = jnp.einsum("bqkgd,bskd->bkgqs", q, k) / size ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        mixed = jnp.einsum("bkgqs,bskd->bqkgd", jax.nn.softmax(scores), v).reshape(batch, length, width)
        x = x + mixed @ p["wo"]
        h = rms_norm(x, p["n2"])
        return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]

    def loss(p, ids, targets):
        x = p["table"][ids]
        angles = (jnp.arange(length)[:, None] / 10000 ** (jnp.arange(size // 2) / (size // 2)))[:, None, :]
        for i in range(layers):
            x = layer(x, p[f"layer_{i}"], angles)
        logp = jax.nn.log_softmax(rms_norm(x, p["norm"]) @ p["head"])
        return -jnp.mean(jnp.take_along_axis(logp, targets[..., None], -1))

    def step(state, ids, targets):
        value, gradients = jax.value_and_grad(loss)(state["params"], ids, targets)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], gradients)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, state["v"], gradients)
        params = jax.tree.map(lambda p, m, v: p - 1e-4 * m / (jnp.sqrt(v) + 1e-8), state["params"], m, v)
        return {"params": params, "m": m, "v": v}, value

    ids = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    return step, ({"params": params, "m": params, "v": params}, ids, ids)


def export(name, path):
    step, arguments = make(*SHAPES[name])
    lowered = jax.jit(step, keep_unused=True).lower(*arguments)
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    path.write_text(text)
    return len(jax.tree.leaves(arguments[0]))


def run(tool, path, count, ranks, options):
    """What it prints, and the seconds it takes: of the clock and of processors."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([tool, path, f"--ranks={ranks}", f"--state-args={count}", "--plan-only", "--no-cache", *options],
                          capture_output=True, text=True)
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, folder, tool):
    """The search takes what --strategy=auto takes more than the plan that it finds."""
    shape, ranks, more = ROWS[name]
    path, count = folder / f"{shape}.mlir", folder / f"{shape}.count"
    if not path.exists():
        count.write_text(str(export(shape, path)))
    states = int(count.read_text())
    said, all_seconds, all_cpu = run(tool, path, states, ranks, [*more, "--strategy=auto"])
    found = re.search(r"chosen of (\d+) plans: (.*)", said)
    _, seconds, cpu = run(tool, path, states, ranks, shlex.split(found[2]))
    return {"case": name,
            "size": f"{ranks} ranks", "metric": "s to search", "ours": round(all_seconds - seconds, 2), "peer": None,
            "peer_name": None, "ratio": None, "target": TARGETS.get(name), "ours_cpu": round(all_cpu - cpu, 2),
            "plans": int(found[1]), "chosen": found[2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--append", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder of exported steps, which are used again")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp())
    for name in options.names or ROWS:
        put_row({**begin_row(f"bench_auto.py {name}"), **measure(name, folder, options.tools / "coll-run")}, options.append)


if __name__ == "__main__":
    main()
