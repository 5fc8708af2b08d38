#!/usr/bin/env python3
"""From a deep step to verified rank programs: time and memory of coll-opt; appends to pipelines.jsonl.

usage: bench_stages.py [--tools=build-release/bin] [--rows=FILE] [--layers=126] [--stages=16] [--replicas=64]
                       [--tensor=8] [--micro-batches=16]

Needs JAX, which exports the step: a transformer with grouped attention, RMS norm, SwiGLU and Adam, whose
layers are not a loop. Only the number of operations matters, so shapes are small. The whole process counts, with parsing
and printing.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp

from bench_steps import machine

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEADS, GROUPS, HIDDEN, WORDS, LENGTH = 1024, 16, 8, 4096, 4096, 64


def shape(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


def layer_parameters():
    narrow = WIDTH * GROUPS // HEADS
    return {"query": shape(WIDTH, WIDTH), "key": shape(WIDTH, narrow), "value": shape(WIDTH, narrow),
            "out": shape(WIDTH, WIDTH), "gate": shape(WIDTH, HIDDEN), "up": shape(WIDTH, HIDDEN),
            "down": shape(HIDDEN, WIDTH), "norm1": shape(WIDTH), "norm2": shape(WIDTH)}


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def layer(p, x):
    rows, length, _ = x.shape
    size = WIDTH // HEADS
    h = norm(x, p["norm1"])
    query = (h @ p["query"]).reshape(rows, length, GROUPS, HEADS // GROUPS, size)
    key = (h @ p["key"]).reshape(rows, length, GROUPS, size)
    value = (h @ p["value"]).reshape(rows, length, GROUPS, size)
    scores = jnp.einsum("btkgd,bskd->bkgts", query, key) / size**0.5
    scores = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9), -1)
    x = x + jnp.einsum("bkgts,bskd->btkgd", scores, value).reshape(rows, length, WIDTH) @ p["out"]
    h = norm(x, p["norm2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def loss_of(parameters, x, y):
    h = jnp.take(parameters["embedding"], x, axis=0)
    for i, p in enumerate(parameters["layers"]):
        with jax.named_scope(f"layer_{i}"):
            h = layer(p, h)
    logits = norm(h, parameters["norm"]) @ parameters["head"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1))


def step(state, x, y):
    p, m, v, n = state
    loss, g = jax.value_and_grad(loss_of)(p, x, y)
    n = n + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
    a, b = 1 - 0.9**n, 1 - 0.95**n
    p = jax.tree.map(lambda p, m, v: p - 1e-4 * (m / a / (jnp.sqrt(v / b) + 1e-8) + 0.1 * p), p, m, v)
    return (p, m, v, n), loss


def export(layers, rows, path):
    """Writes the step and returns the number of its state arguments."""
    parameters = {"embedding": shape(WORDS, WIDTH), "head": shape(WIDTH, WORDS), "norm": shape(WIDTH),
                  "layers": [layer_parameters() for _ in range(layers)]}
    state = (parameters, parameters, parameters, shape())
    tokens = shape(rows, LENGTH, dtype=jnp.int32)
    module = jax.jit(step, keep_unused=True).lower(state, tokens, tokens).compiler_ir("stablehlo").operation
    path.write_text(module.get_asm(print_generic_op_form=True, enable_debug_info=True))
    return len(jax.tree.leaves(state))


def pipeline(words, state_args):
    """The passes of coll-run --stages up to the proof."""
    stages = f"stages={words.stages} micro-batches={words.micro_batches} schedule={words.schedule}"
    clean = ["canonicalize", "cse"]
    return ",".join([f"coll-import-stablehlo{{state-args={state_args}}}", *clean,
                     f"coll-insert-strategy{{mesh=dp={words.replicas},tp={words.tensor} strategy=data,tensor}}",
                     f"coll-insert-micro-batches{{count={words.micro_batches}}}", "coll-drop-empty", "coll-propagate",
                     "coll-insert-reshards", "coll-narrow-reshards", "coll-partition", *clean,
                     f"coll-split-stages{{{stages}}}", *clean, "coll-verify-ranks"])


def measure(command):
    """Seconds, seconds of processor and MB."""
    begin = time.perf_counter()
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    seconds = time.perf_counter() - begin
    if status:
        raise SystemExit(f"coll-opt ended with {status}")
    return round(seconds, 2), round(usage.ru_utime + usage.ru_stime, 2), round(usage.ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tools", type=pathlib.Path, default=HERE.parents[1] / "build-release/bin")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "pipelines.jsonl")
    for name, default in (("layers", 126), ("stages", 16), ("replicas", 64), ("tensor", 8), ("micro-batches", 16)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--schedule", default="1f1b")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "step.mlir"
        state_args = export(words.layers, words.replicas * words.micro_batches, path)
        seconds, cpu, megabytes = measure([
            words.tools / "coll-opt", path, "--allow-unregistered-dialect", "-o", os.devnull,
            f"--pass-pipeline=builtin.module({pipeline(words, state_args)})"])
    name = (f"step to proof, {words.layers} layers, {words.stages} stages x {words.replicas} replicas x "
            f"{words.tensor} tp, {words.micro_batches} micro-batches")
    row = {"machine": machine(), "date": datetime.date.today().isoformat(), "command": "bench_stages.py",
           "case": name, "size": f"{words.layers} layers", "metric": "s", "ours": seconds, "ours_cpu": cpu,
           "ours_mb": megabytes, "peer": None, "peer_name": None, "ratio": None, "target": 20, "target_mb": 2048}
    with words.rows.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{name}: {seconds} s ({cpu} s of processor), {megabytes} MB")


if __name__ == "__main__":
    main()
