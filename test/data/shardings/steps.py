"""Small training steps that are sharded in JAX, one per pattern of sharding.

Each entry of STEPS gives the mesh, the step as a function (state, batch) -> (state, loss), the shapes and
shardings of its arguments, and what else is jitted into it. export.py writes them as text.
"""

import dataclasses
import typing

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

constrain = jax.lax.with_sharding_constraint
F32, I32 = jnp.float32, jnp.int32


@dataclasses.dataclass
class Step:
    mesh: dict                      # axis name -> size
    function: typing.Callable       # (state, batch) -> (state, loss)
    state: dict                     # name -> (shape, PartitionSpec)
    batch: dict                     # name -> (shape, element type, PartitionSpec)
    highest: int = 1                # integers of the batch lie in [0, highest)
    trips: int = 1                  # of its loops


def sgd(loss):
    def step(state, batch):
        value, gradients = jax.value_and_grad(loss)(state, batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, gradients), value
    return step


def adam(loss):
    """Adam without its counters: moments stand in the state under m_NAME and v_NAME."""
    def step(state, batch):
        params = {name: value for name, value in state.items() if name[:2] not in ("m_", "v_")}
        value, gradients = jax.value_and_grad(loss)(params, batch)
        new = {}
        for name, gradient in gradients.items():
            m = 0.9 * state["m_" + name] + 0.1 * gradient
            v = 0.99 * state["v_" + name] + 0.01 * gradient * gradient
            new["m_" + name], new["v_" + name] = m, v
            new[name] = params[name] - 0.01 * m / (jnp.sqrt(v) + 1e-6)
        return new, value
    return step


def clipped(loss):
    """SGD behind clipping by the global norm."""
    def step(state, batch):
        value, gradients = jax.value_and_grad(loss)(state, batch)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        scale = jnp.minimum(1.0, 1.0 / norm)
        return jax.tree.map(lambda p, g: p - 0.1 * scale * g, state, gradients), value
    return step


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def cross_entropy(logits, targets):
    logp = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, targets[..., None], -1))


# ---- look-ups ------------------------------------------------------------------------------

def embed_loss(state, batch):
    hidden = state["table"][batch["ids"]]
    return jnp.mean((hidden @ state["w"]) ** 2)


def xent_loss(state, batch):
    return cross_entropy(jnp.tanh(batch["x"]) @ state["w"], batch["y"])


def tied_loss(state, batch):
    hidden = jnp.tanh(state["table"][batch["ids"]] @ state["w"])
    return cross_entropy(hidden @ state["table"].T, batch["y"])


def argmax_step(state, batch):
    logits = batch["x"] @ state["w"]
    hits = jnp.mean((jnp.argmax(logits, -1) == batch["y"]).astype(F32))
    return state, hits


# ---- dense ---------------------------------------------------------------------------------

def mlp_loss(state, batch):
    hidden = jax.nn.relu(batch["x"] @ state["w1"] + state["b1"])
    return jnp.mean((hidden @ state["w2"] + state["b2"] - batch["y"]) ** 2)


def norm_mlp_loss(state, batch):
    hidden = layer_norm(batch["x"], state["scale"], state["bias"])
    return jnp.mean((jax.nn.relu(hidden @ state["w1"]) @ state["w2"] - batch["y"]) ** 2)


def pinned_loss(state, batch):
    """Constraints directly on products: partial sums that are scattered, and that are reduced."""
    hidden = constrain(batch["x"] @ state["w1"], P("dp", "tp"))
    out = constrain(jax.nn.relu(hidden) @ state["w2"], P("dp", None))
    return jnp.mean((out - batch["y"]) ** 2)


def pinned_split_loss(state, batch):
    """The first product's sum runs over a split dimension, and the result is split otherwise."""
    hidden = constrain(batch["x"] @ state["w1"], P("dp", "tp"))
    return jnp.mean(jax.nn.relu(hidden) ** 2)


def concat_loss(state, batch):
    both = jnp.concatenate([batch["x"], batch["z"]], 0)
    hidden = jax.nn.relu(both @ state["w1"])
    return jnp.mean((hidden @ state["w2"]) ** 2)


def cond_loss(state, batch):
    x = batch["x"]
    hidden = jax.lax.cond(jnp.sum(state["flag"]) > 0,
                          lambda: constrain(x @ state["w1"], P("dp", "tp")),
                          lambda: constrain(x * 2.0 + state["b1"], P("dp", None)))
    return jnp.mean(jax.nn.relu(hidden) ** 2)


def scan_loss(state, batch):
    def layer(hidden, weights):
        w1, w2 = weights
        return hidden + jax.nn.relu(hidden @ w1) @ w2, None
    hidden, _ = jax.lax.scan(layer, batch["x"], (state["w1"], state["w2"]))
    return jnp.mean((hidden - batch["y"]) ** 2)


def cache_step(state, batch):
    """One position of a key cache is written, and all of them are read."""
    key = batch["x"] @ state["w"]
    cache = jax.lax.dynamic_update_slice(state["cache"], key[:, None, :], (0, batch["at"][0], 0))
    scores = jnp.einsum("bsd,bd->bs", cache, batch["x"])
    return {"w": state["w"], "cache": cache}, jnp.mean(scores)


# ---- transformers --------------------------------------------------------------------------

def attention(x, state, heads):
    batch, length, width = x.shape
    def split(w):
        return (x @ w).reshape(batch, length, heads, width // heads)
    q, k, v = split(state["wq"]), split(state["wk"]), split(state["wv"])
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(batch, length, width)
    return mixed @ state["wo"]


def block_loss(pin):
    def loss(state, batch):
        x = pin(batch["x"])
        x = pin(x + attention(layer_norm(x, state["s1"], state["c1"]), state, 4))
        hidden = jax.nn.gelu(layer_norm(x, state["s2"], state["c2"]) @ state["w1"])
        x = pin(x + hidden @ state["w2"])
        return jnp.mean((x - batch["y"]) ** 2)
    return loss


def moe_loss(state, batch):
    """Experts as one more dimension, each token weighted over all of them."""
    gates = jax.nn.softmax(batch["x"] @ state["gate"])
    hidden = constrain(jnp.einsum("bd,edh->beh", batch["x"], state["w1"]), P("dp", "ep", None))
    out = jnp.einsum("beh,ehd->bed", jax.nn.relu(hidden), state["w2"])
    return jnp.mean((jnp.einsum("bed,be->bd", out, gates) - batch["y"]) ** 2)


# ---- split images and sequences --------------------------------------------------------------

def conv(x, kernel, stride=1, padding="SAME"):
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), padding,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_loss(state, batch):
    hidden = jax.nn.relu(conv(batch["x"], state["k1"]))
    return jnp.mean(conv(hidden, state["k2"]) ** 2)


def strided_loss(state, batch):
    """The blocks of a ResNet: a strided convolution beside a strided projection."""
    hidden = jax.nn.relu(conv(batch["x"], state["k1"], 2))
    return jnp.mean((conv(hidden, state["k2"]) + conv(batch["x"], state["p"], 2)) ** 2)


def dilated_loss(state, batch):
    out = jax.lax.conv_general_dilated(batch["x"], state["k1"], (1, 1), "SAME", rhs_dilation=(2, 2),
                                       dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.mean(out ** 2)


def pool(x, init, combine, size, stride):
    return jax.lax.reduce_window(x, init, combine, (1, size, size, 1), (1, stride, stride, 1), "SAME")


def mean_pool_loss(state, batch):
    hidden = pool(conv(batch["x"], state["k1"]), 0.0, jax.lax.add, 3, 1)
    return jnp.mean(hidden ** 2)


def max_pool_loss(state, batch):
    hidden = pool(conv(batch["x"], state["k1"]), -jnp.inf, jax.lax.max, 2, 2)
    return jnp.mean(hidden ** 2)


def roll_step(state, batch):
    return {"x": 0.9 * jnp.roll(state["x"], 1, 0) + 0.1 * jnp.roll(state["x"], -2, 0)}, jnp.mean(batch["y"])


def shift_loss(state, batch):
    """Each position sees the one before it, as in a token shift, and the difference to the next."""
    before = jnp.pad(batch["x"][:, :-1], ((0, 0), (1, 0), (0, 0)))
    mixed = batch["x"] * state["a"] + before * state["b"]
    return jnp.mean((mixed[:, 1:] - mixed[:, :-1]) ** 2)


def same(names, spec, shapes):
    return {name: (shape, spec) for name, shape in zip(names, shapes)}


def moments(params):
    """The state of Adam: parameters as given, moments by the second sharding of each."""
    state = {name: (shape, spec) for name, (shape, spec, _) in params.items()}
    for name, (shape, _, spec) in params.items():
        state["m_" + name] = state["v_" + name] = (shape, spec)
    return state


D, H = 64, 256
BLOCK = ["wq", "wk", "wv", "wo", "w1", "w2", "s1", "c1", "s2", "c2"]
BLOCK_SHAPES = [(D, D)] * 4 + [(D, H), (H, D)] + [(D,)] * 4
COLUMN, ROW = P(None, "tp"), P("tp", None)
MEGATRON = dict(zip(BLOCK, zip(BLOCK_SHAPES, [COLUMN] * 3 + [ROW, COLUMN, ROW] + [P()] * 4)))
FSDP = dict(zip(BLOCK, zip(BLOCK_SHAPES, [P("dp", None)] * 6 + [P("dp")] * 4)))
BLOCK_BATCH = {"x": ((16, 32, D), F32, P("dp")), "y": ((16, 32, D), F32, P("dp"))}
DENSE = {"w1": (D, H), "b1": (H,), "w2": (H, D), "b2": (D,)}
DENSE_BATCH = {"x": ((64, D), F32, P("dp")), "y": ((64, D), F32, P("dp"))}
DP4_TP2, DP8, DP2_SP4 = {"dp": 4, "tp": 2}, {"dp": 8}, {"dp": 2, "sp": 4}
IMAGES = {"x": ((4, 32, 16, 4), F32, P("dp", "sp", None, None))}


def dense(specs):
    return {name: (shape, specs[name]) for name, shape in DENSE.items()}


def kernels(**shapes):
    return {name: (shape, P()) for name, shape in shapes.items()}


FSDP_DENSE = dense({"w1": P("dp", None), "b1": P("dp"), "w2": P("dp", None), "b2": P("dp")})
IDS = {"ids": ((16, 32), I32, P("dp"))}

STEPS = {
    "data_mlp": Step(DP8, sgd(mlp_loss), dense(dict.fromkeys(DENSE, P())), DENSE_BATCH),
    "megatron_mlp": Step(DP4_TP2, sgd(mlp_loss), dense(
        {"w1": COLUMN, "b1": P("tp"), "w2": ROW, "b2": P()}), DENSE_BATCH),
    "fsdp_mlp": Step(DP8, sgd(mlp_loss), FSDP_DENSE, DENSE_BATCH),
    "fsdp_clipped": Step(DP8, clipped(mlp_loss), FSDP_DENSE, DENSE_BATCH),
    "zero1_adam": Step(DP8, adam(mlp_loss), moments({
        "w1": ((D, H), P(), P("dp", None)), "b1": ((H,), P(), P("dp")),
        "w2": ((H, D), P(), P("dp", None)), "b2": ((D,), P(), P("dp"))}), DENSE_BATCH),
    "norm_1d": Step(DP8, sgd(norm_mlp_loss), {
        "scale": ((D,), P("dp")), "bias": ((D,), P("dp")),
        "w1": ((D, H), P()), "w2": ((H, D), P())}, DENSE_BATCH),
    "embed_vocabulary": Step(DP4_TP2, sgd(embed_loss), {
        "table": ((512, D), ROW), "w": ((D, 32), P())}, IDS, 512),
    "embed_fsdp": Step(DP8, sgd(embed_loss), {
        "table": ((512, D), P("dp", None)), "w": ((D, 32), P("dp", None))}, IDS, 512),
    "xent_vocabulary": Step(DP4_TP2, sgd(xent_loss), {"w": ((D, 512), COLUMN)}, {
        "x": ((64, D), F32, P("dp")), "y": ((64,), I32, P("dp"))}, 512),
    "tied_vocabulary": Step(DP4_TP2, sgd(tied_loss), {
        "table": ((512, D), ROW), "w": ((D, D), P())},
        {**IDS, "y": ((16, 32), I32, P("dp"))}, 512),
    "argmax_split": Step(DP4_TP2, argmax_step, {"w": ((D, 512), COLUMN)}, {
        "x": ((64, D), F32, P("dp")), "y": ((64,), I32, P("dp"))}, 512),
    "pinned_products": Step(DP4_TP2, sgd(pinned_loss), {
        "w1": ((D, H), P()), "w2": ((H, D), P())}, DENSE_BATCH),
    "pinned_scatter": Step(DP4_TP2, sgd(pinned_split_loss), {"w1": ((D, H), ROW)},
                           {"x": ((64, D), F32, P("dp", "tp"))}),
    "concat_batch": Step(DP8, sgd(concat_loss), {"w1": ((D, H), P()), "w2": ((H, D), P())}, {
        "x": ((64, D), F32, P("dp")), "z": ((64, D), F32, P("dp"))}),
    "cond_prefix": Step(DP4_TP2, sgd(cond_loss), {
        "w1": ((D, D), P()), "b1": ((D,), P()), "flag": ((2,), P())},
        {"x": ((64, D), F32, P("dp"))}),
    "scan_fsdp": Step(DP8, sgd(scan_loss), {
        "w1": ((4, D, H), P(None, "dp", None)), "w2": ((4, H, D), P(None, "dp", None))}, DENSE_BATCH, trips=4),
    "scan_megatron": Step(DP4_TP2, sgd(scan_loss), {
        "w1": ((4, D, H), P(None, None, "tp")), "w2": ((4, H, D), P(None, "tp", None))}, DENSE_BATCH, trips=4),
    "cache_update": Step(DP4_TP2, cache_step, {
        "w": ((D, D), P()), "cache": ((16, 128, D), P("dp", "tp", None))},
        {"x": ((16, D), F32, P("dp")), "at": ((1,), I32, P())}, 128),
    "spatial_conv": Step(DP2_SP4, sgd(conv_loss), kernels(k1=(3, 3, 4, 8), k2=(3, 3, 8, 4)), IMAGES),
    "spatial_strided": Step(DP2_SP4, sgd(strided_loss), kernels(
        k1=(3, 3, 4, 8), k2=(3, 3, 8, 8), p=(1, 1, 4, 8)), IMAGES),
    "spatial_dilated": Step(DP2_SP4, sgd(dilated_loss), kernels(k1=(3, 3, 4, 8)), IMAGES),
    "spatial_mean_pool": Step(DP2_SP4, sgd(mean_pool_loss), kernels(k1=(3, 3, 4, 8)), IMAGES),
    "spatial_max_pool": Step(DP2_SP4, sgd(max_pool_loss), kernels(k1=(3, 3, 4, 8)), IMAGES),
    "roll_split": Step(DP8, roll_step, {"x": ((64, 16), P("dp", None))}, {"y": ((8,), F32, P("dp"))}),
    "shift_split": Step(DP2_SP4, sgd(shift_loss), {"a": ((16,), P()), "b": ((16,), P())},
                        {"x": ((4, 32, 16), F32, P("dp", "sp", None))}),
    "megatron_block": Step(DP4_TP2, sgd(block_loss(lambda x: x)), MEGATRON, BLOCK_BATCH),
    "sequence_block": Step(DP4_TP2, sgd(block_loss(lambda x: constrain(x, P("dp", "tp", None)))),
                           MEGATRON, BLOCK_BATCH),
    "fsdp_block": Step(DP8, sgd(block_loss(lambda x: x)), FSDP, BLOCK_BATCH),
    "experts": Step({"dp": 2, "ep": 4}, sgd(moe_loss), {
        "gate": ((D, 8), P()), "w1": ((8, D, H), P("ep")), "w2": ((8, H, D), P("ep"))},
        DENSE_BATCH),
}
