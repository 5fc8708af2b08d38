"""Trains a GPT of 10 million parameters on this repository's own text, in JAX and by coll on the GPU.

    train_gpt.py FOLDER_FOR_FILES [--steps=400]

Both start from the same parameters and see the same batches. Prints both loss curves; they have to
halve the loss, and to end within one percent of each other. Needs jax with CUDA.
"""

import argparse
import json
import os
import pathlib
import sys

from common import ROOT, finish, run, tool

sys.path.insert(0, str(ROOT / "examples"))
LAYERS, WIDTH, HEADS, LENGTH, BATCH, BYTES = 8, 320, 8, 128, 32, 128
RATE, FIRST, SECOND, TINY = 6e-4, 0.9, 0.99, 1e-8


def text():
    """The documents and sources in order, as bytes below 128."""
    import numpy
    files = sorted(path for kind in ("*.md", "*.cc", "*.h", "*.py")
                   for folder in ("docs", "dialect", "passes", "runtime", "driver", "plan", "examples")
                   for path in (ROOT / folder).rglob(kind))
    joined = b"".join(path.read_bytes() for path in files)
    return numpy.frombuffer(joined, numpy.uint8) % BYTES


def parameters():
    import numpy
    random = numpy.random.default_rng(0)

    def normal(*shape):
        return (0.02 * random.standard_normal(shape)).astype(numpy.float32)

    def layer():
        return {"qkv": normal(WIDTH, 3 * WIDTH), "out": normal(WIDTH, WIDTH), "up": normal(WIDTH, 4 * WIDTH),
                "down": normal(4 * WIDTH, WIDTH), "scale1": numpy.ones(WIDTH, numpy.float32),
                "scale2": numpy.ones(WIDTH, numpy.float32), "bias": numpy.zeros(4 * WIDTH, numpy.float32)}

    return {"embed": normal(BYTES, WIDTH), "place": normal(LENGTH, WIDTH),
            "scale": numpy.ones(WIDTH, numpy.float32), "layers": [layer() for _ in range(LAYERS)]}


def make_step():
    import jax
    import jax.numpy as jnp

    def norm(x, scale):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale

    def attend(x, layer):
        heads = (x @ layer["qkv"]).reshape(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = (heads[:, :, i] for i in range(3))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (WIDTH // HEADS) ** 0.5
        causal = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), -1)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(BATCH, LENGTH, WIDTH) @ layer["out"]

    def loss_of(params, tokens):
        x = params["embed"][tokens[:, :-1]] + params["place"]
        for layer in params["layers"]:
            x = x + attend(norm(x, layer["scale1"]), layer)
            x = x + jax.nn.gelu(norm(x, layer["scale2"]) @ layer["up"] + layer["bias"]) @ layer["down"]
        logits = norm(x, params["scale"]) @ params["embed"].T
        wanted = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - wanted).mean()

    def step(state, batch):
        loss, gradients = jax.value_and_grad(loss_of)(state["params"], batch["tokens"])
        count = state["count"] + 1
        mean = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, state["mean"], gradients)
        square = jax.tree.map(lambda s, g: SECOND * s + (1 - SECOND) * g * g, state["square"], gradients)
        by_mean, by_square = 1 / (1 - FIRST ** count), 1 / (1 - SECOND ** count)
        params = jax.tree.map(
            lambda p, m, s: p - RATE * m * by_mean / (jnp.sqrt(s * by_square) + TINY), state["params"], mean, square)
        return {"params": params, "mean": mean, "square": square, "count": count}, {"loss": loss}

    return step


def train_in_jax(step, state, batches):
    import jax
    jitted = jax.jit(step, donate_argnums=0)
    state, losses = jax.device_put(state), []
    for tokens in batches:
        state, outputs = jitted(state, {"tokens": tokens})
        losses.append(outputs["loss"])
    return [float(loss) for loss in losses]


def export(folder, step, state, batches):
    import jax
    import numpy
    text_of_step = jax.jit(step, keep_unused=True).lower(state, {"tokens": batches[0]}).compiler_ir(
        "stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    (folder / "gpt.mlir").write_text(text_of_step)
    arrays = {f"state_in_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    arrays |= {f"batch_{i}_0": tokens for i, tokens in enumerate(batches)}
    numpy.savez(folder / "gpt.npz", **arrays)
    return len(jax.tree.leaves(state))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--curve", type=pathlib.Path)
    parser.add_argument("--device", default="gpu")
    options = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the two share the GPU
    try:
        import jax
        import numpy
    except ImportError:
        print("jax is not installed")
        sys.exit(77)
    jax.config.update("jax_default_matmul_precision", "highest")
    bytes_of_text, random = text(), numpy.random.default_rng(1)
    starts = random.integers(0, len(bytes_of_text) - LENGTH - 1, (options.steps, BATCH))
    batches = [bytes_of_text[row[:, None] + numpy.arange(LENGTH + 1)].astype(numpy.int32) for row in starts]
    params = parameters()
    zeros = jax.tree.map(numpy.zeros_like, params)
    state = {"params": params, "mean": zeros, "square": jax.tree.map(numpy.copy, zeros), "count": numpy.float32(0)}
    count = sum(leaf.size for leaf in jax.tree.leaves(params))
    step = make_step()
    state_args = export(options.folder, step, state, batches)
    theirs = train_in_jax(step, state, batches)
    saved = options.folder / "trained.npz"
    code, output = run([*tool("run"), options.folder / "gpt.mlir", f"--device={options.device}", "--quiet",
                        f"--state-args={state_args}", f"--data={options.folder / 'gpt.npz'}", f"--save={saved}"], 400)
    if code:  # where it was, if it was a kernel
        code, again = run([*tool("run"), options.folder / "gpt.mlir", f"--device={options.device}", "--quiet", "--steps=1",
                           f"--state-args={state_args}", f"--data={options.folder / 'gpt.npz'}"], 200, COLL_GPU_SYNC=1,
                          COLL_LOG="info")
        finish([output[-2000:] + f"\nwith COLL_GPU_SYNC=1, exit code {code}: {again[-2000:]}"])
    ours = numpy.load(saved)["losses"]
    print(f"{count} parameters, {len(bytes_of_text)} bytes of text, jax {jax.__version__} on {jax.devices()[0].device_kind}")
    print("  step      coll       jax")
    for i in sorted({*range(0, options.steps, max(1, options.steps // 12)), options.steps - 1}):
        print(f"{i + 1:6} {ours[i]:9.4f} {theirs[i]:9.4f}")
    tail = max(1, options.steps // 15)
    ends = [sum(curve[-tail:]) / tail for curve in (ours, theirs)]
    print(f"the last {tail} steps: {ends[0]:.4f} and {ends[1]:.4f}; the largest difference of a step: "
          f"{max(abs(a - b) for a, b in zip(ours, theirs)):.2e}")
    if options.curve:
        options.curve.write_text(json.dumps({"coll": [float(x) for x in ours], "jax": theirs}))
    failures = [] if abs(ends[0] - ends[1]) <= 0.01 * ends[1] else ["the curves end apart"]
    finish(failures + ([] if ends[0] < 0.5 * ours[0] or options.steps < 100 else ["the loss was not halved"]))


if __name__ == "__main__":
    main()
