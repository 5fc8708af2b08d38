"""Steps of the size that one trains on GPUs, for measurements. They are exported without a reference:

    python examples/jax_steps/large.py OUT [NAME…]     # OUT/NAME/{step.mlir,meta.json}
"""

import argparse
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import cross_entropy, train_step

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from export_jax import export_text  # noqa: E402


def shapes(tree):
    """Zeros in the place of arrays: only shapes go into the exported step."""
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), tree)


# Blocks and width of each stage of ResNet-50; a block ends with four times its width.
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))


def convolve(x, kernel, stride=1):
    pad = [(size // 2, size // 2) for size in kernel.shape[:2]]
    return jax.lax.conv_general_dilated(
        x, kernel.astype(x.dtype), (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_norm(x, scale, bias):
    """By the statistics of the batch, which are formed in f32."""
    wide = x.astype(jnp.float32)
    mean = wide.mean((0, 1, 2))
    variance = jnp.maximum((wide * wide).mean((0, 1, 2)) - mean * mean, 0)
    factor = scale * jax.lax.rsqrt(variance + 1e-5)
    return (wide * factor + (bias - mean * factor)).astype(x.dtype)


def resnet_parameters():
    def normed(size, inputs, outputs):
        return {"kernel": jnp.zeros((size, size, inputs, outputs)), "scale": jnp.zeros(outputs), "bias": jnp.zeros(outputs)}

    blocks, inputs = [], 64
    for number, width in STAGES:
        for index in range(number):
            block = {"in": normed(1, inputs, width), "mid": normed(3, width, width), "out": normed(1, width, 4 * width)}
            if index == 0:
                block["skip"] = normed(1, inputs, 4 * width)
            blocks.append(block)
            inputs = 4 * width
    head = {"kernel": jnp.zeros((inputs, 1000)), "bias": jnp.zeros(1000)}
    return {"stem": normed(7, 3, 64), "blocks": blocks, "head": head}


def resnet(params, x):
    def normed(x, layer, stride=1):
        return batch_norm(convolve(x, layer["kernel"], stride), layer["scale"], layer["bias"])

    x = jax.nn.relu(normed(x, params["stem"], 2))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    for index, block in enumerate(params["blocks"]):
        stride = 2 if "skip" in block and index > 0 else 1
        y = jax.nn.relu(normed(x, block["in"]))
        y = jax.nn.relu(normed(y, block["mid"], stride))
        y = normed(y, block["out"])
        x = jax.nn.relu(y + (normed(x, block["skip"], stride) if "skip" in block else x))
    features = x.astype(jnp.float32).mean((1, 2))
    return features @ params["head"]["kernel"] + params["head"]["bias"]


def train_resnet(dtype, batch=64):
    optimizer = optax.sgd(0.1, momentum=0.9)
    params = shapes(resnet_parameters())

    def loss_of(params, batch):
        return cross_entropy(resnet(params, batch["x"].astype(dtype)), batch["y"])

    images = {"x": np.zeros((batch, 224, 224, 3), np.float32), "y": np.zeros(batch, np.int32)}
    return train_step(loss_of, optimizer), shapes((params, optimizer.init(params))), [images]


def resnet50_momentum():
    """ResNet-50 on 64 images of 224 x 224 pixels in f32, batch norm, SGD with momentum."""
    return train_resnet(jnp.float32)


def resnet50_bf16_momentum():
    """ResNet-50 on 64 images computing in bfloat16 on float32 parameters, SGD with momentum."""
    return train_resnet(jnp.bfloat16)


LAYERS, WIDTH, HEADS, EXPERTS, CHOSEN, VOCABULARY = 8, 768, 12, 8, 2, 32000


def moe_parameters():
    layer = {
        "norms": jnp.zeros((2, WIDTH)), "qkv": jnp.zeros((WIDTH, 3 * WIDTH)), "join": jnp.zeros((WIDTH, WIDTH)),
        "route": jnp.zeros((WIDTH, EXPERTS)), "in": jnp.zeros((EXPERTS, WIDTH, 4 * WIDTH)),
        "out": jnp.zeros((EXPERTS, 4 * WIDTH, WIDTH)),
    }  # fmt: skip
    return {"embed": jnp.zeros((VOCABULARY, WIDTH)), "norm": jnp.zeros(WIDTH), "layers": [layer] * LAYERS}


def rms_norm(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6) * scale).astype(x.dtype)


def attention(x, layer):
    batch, length, _ = x.shape
    q, k, v = jnp.split((x @ layer["qkv"].astype(x.dtype)).reshape(batch, length, 3 * HEADS, -1), 3, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
    return mixed.reshape(x.shape) @ layer["join"].astype(x.dtype)


def experts(x, layer):
    """Each token goes to the experts it scores highest with, in the order of tokens up to their capacity."""
    tokens = x.reshape(-1, WIDTH)
    capacity = tokens.shape[0] * CHOSEN // EXPERTS * 5 // 4
    odds = jax.nn.softmax((tokens @ layer["route"].astype(x.dtype)).astype(jnp.float32))
    weight, chosen = jax.lax.top_k(odds, CHOSEN)
    weight = weight / weight.sum(-1, keepdims=True)
    taken = jax.nn.one_hot(chosen.reshape(-1), EXPERTS, dtype=jnp.int32)
    place = ((jnp.cumsum(taken, 0) - 1) * taken).sum(-1)
    slot = jnp.where(place < capacity, chosen.reshape(-1) * capacity + place, EXPERTS * capacity)
    source = jnp.repeat(jnp.arange(tokens.shape[0]), CHOSEN)
    rows = jnp.zeros((EXPERTS * capacity, WIDTH), x.dtype).at[slot].set(tokens[source], mode="drop")
    hidden = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", rows.reshape(EXPERTS, capacity, WIDTH), layer["in"].astype(x.dtype)))
    made = jnp.einsum("ecf,efd->ecd", hidden, layer["out"].astype(x.dtype)).reshape(-1, WIDTH)
    back = made.at[slot].get(mode="fill", fill_value=0).reshape(-1, CHOSEN, WIDTH)
    mixed = (back.astype(jnp.float32) * weight[..., None]).sum(1).astype(x.dtype)
    balance = EXPERTS * jnp.sum(odds.mean(0) * taken.astype(jnp.float32).mean(0))
    return mixed.reshape(x.shape), balance


def moe_loss(params, batch, dtype):
    x = params["embed"][batch["x"][:, :-1]].astype(dtype)
    balance = 0.0
    for layer in params["layers"]:
        x = x + attention(rms_norm(x, layer["norms"][0]), layer)
        mixed, uneven = experts(rms_norm(x, layer["norms"][1]), layer)
        x, balance = x + mixed, balance + uneven
    logits = (rms_norm(x, params["norm"]) @ params["embed"].astype(dtype).T).astype(jnp.float32)
    return cross_entropy(logits, batch["x"][:, 1:]) + 0.01 * balance


def moe_gpt_bf16_adamw():
    """Transformer with 8 experts in each of 8 layers, 2 for each token, computing in bfloat16; AdamW."""
    optimizer = optax.adamw(3e-4)
    params = shapes(moe_parameters())
    tokens = {"x": np.zeros((8, 513), np.int32)}
    step = train_step(lambda params, batch: moe_loss(params, batch, jnp.bfloat16), optimizer)
    return step, shapes((params, optimizer.init(params))), [tokens]


STEPS = {make.__name__: make for make in (resnet50_momentum, resnet50_bf16_momentum, moe_gpt_bf16_adamw)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STEPS))
    options = parser.parse_args()
    if unknown := set(options.names) - set(STEPS):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    for name in options.names or STEPS:
        step, state, (batch,) = STEPS[name]()
        export_text(options.out / name, STEPS[name].__doc__, step, state, batch)


if __name__ == "__main__":
    main()
