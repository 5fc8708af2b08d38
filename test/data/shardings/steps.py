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
    axes: str = "auto"              # or "explicit": types say how values are split
    text: str = "shardy"            # or "devices": XLA's text instead of Shardy's


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


def top1_loss(state, batch):
    """Each token goes to the expert of its largest gate, through a table of places per expert."""
    gates = jax.nn.softmax(batch["x"] @ state["gate"])
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), gates.shape[-1])
    place = jnp.cumsum(chosen, 0) * chosen
    capacity = 2 * batch["x"].shape[0] // gates.shape[-1]
    table = chosen[..., None] * jax.nn.one_hot(place.astype(I32) - 1, capacity)
    sent = constrain(jnp.einsum("bec,bd->ecd", table, batch["x"]), P("dp", None, None))
    out = jnp.einsum("ech,ehd->ecd", jax.nn.relu(jnp.einsum("ecd,edh->ech", sent, state["w1"])), state["w2"])
    mixed = jnp.einsum("bec,ecd,be->bd", table, out, gates)
    return jnp.mean((constrain(mixed, P("dp", None)) - batch["y"]) ** 2)


def logical(names, rules):
    """Logical axes to those of a mesh, as flax does it: the first rule of each name."""
    table = dict(rules)
    return P(*(table.get(name) for name in names))


MAXTEXT = [("batch", ("data", "fsdp")), ("embed", "fsdp"), ("heads", "tensor"), ("mlp", "tensor"), ("vocab", "tensor"),
           ("act_heads", "tensor"), ("act_mlp", "tensor")]
T5X = [("batch", "data"), ("heads", "model"), ("mlp", "model"), ("vocab", "model")]
T5X_2D = [("batch", "data"), ("embed", "data"), ("heads", "model"), ("mlp", "model"), ("vocab", "model"),
          ("act_embed", "model")]


def logical_loss(rules, heads=4):
    """A decoder layer and its loss, with activations and weights constrained by logical names."""
    def spec(*names):
        return logical(names, rules)

    def loss(state, batch):
        x = constrain(state["table"][batch["ids"]], spec("batch", None, "act_embed"))
        size, length, width = x.shape
        normed = layer_norm(x, state["s1"], 0.0)
        def split(w):
            return constrain((normed @ w).reshape(size, length, heads, width // heads),
                             spec("batch", None, "act_heads", None))
        q, k, v = split(state["wq"]), split(state["wk"]), split(state["wv"])
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length))) > 0, scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(size, length, width)
        x = constrain(x + mixed @ state["wo"], spec("batch", None, "act_embed"))
        hidden = constrain(jax.nn.silu(layer_norm(x, state["s2"], 0.0) @ state["w1"]), spec("batch", None, "act_mlp"))
        x = constrain(x + hidden @ state["w2"], spec("batch", None, "act_embed"))
        return cross_entropy(x @ state["table"].T, batch["y"])
    return loss


def logical_state(rules):
    def of(shape, *names):
        return (shape, logical(names, rules))
    return {"table": of((512, D), "vocab", "embed"), "wq": of((D, D), "embed", "heads"), "wk": of((D, D), "embed", "heads"),
            "wv": of((D, D), "embed", "heads"), "wo": of((D, D), "heads", "embed"), "w1": of((D, H), "embed", "mlp"),
            "w2": of((H, D), "mlp", "embed"), "s1": of((D,), "norm"), "s2": of((D,), "norm")}


# ---- attention in other shapes -----------------------------------------------------------------

def fused_loss(state, batch):
    """One product for queries, keys and values, which a reshape takes apart."""
    x = batch["x"]
    size, length, width = x.shape
    qkv = (x @ state["wqkv"]).reshape(size, length, 4, 3, width // 4)
    q, k, v = qkv[..., 0, :], qkv[..., 1, :], qkv[..., 2, :]
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(size, length, width)
    return jnp.mean((mixed @ state["wo"] - batch["y"]) ** 2)


def grouped_loss(state, batch):
    """Four heads of queries share two of keys and values."""
    x = batch["x"]
    size, length, width = x.shape
    q = (x @ state["wq"]).reshape(size, length, 2, 2, 16)
    k, v = ((x @ state[name]).reshape(size, length, 2, 16) for name in ("wk", "wv"))
    scores = jax.nn.softmax(jnp.einsum("bqghd,bkgd->bghqk", q, k))
    mixed = jnp.einsum("bghqk,bkgd->bqghd", scores, v).reshape(size, length, width)
    return jnp.mean((mixed @ state["wo"] - batch["y"]) ** 2)


def split_queries_loss(state, batch):
    """Queries are split along the sequence, and every rank has all keys and values."""
    q = constrain(batch["x"] @ state["wq"], P("dp", "sp", None))
    k, v = (constrain(batch["x"] @ state[name], P("dp", None, None)) for name in ("wk", "wv"))
    scores = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k))
    return jnp.mean((jnp.einsum("bqk,bkd->bqd", scores, v) @ state["wo"] - batch["y"]) ** 2)


def ulysses_loss(state, batch):
    """Sequences are split outside of attention, heads inside of it."""
    x = constrain(batch["x"], P("dp", "sp", None))
    size, length, width = x.shape
    def split(w):
        return constrain((x @ w).reshape(size, length, 4, width // 4), P("dp", None, "sp", None))
    q, k, v = split(state["wq"]), split(state["wk"]), split(state["wv"])
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
    mixed = constrain(jnp.einsum("bhqk,bkhd->bqhd", scores, v), P("dp", "sp", None, None))
    return jnp.mean((mixed.reshape(size, length, width) @ state["wo"] - batch["y"]) ** 2)


# ---- optimizers ----------------------------------------------------------------------------------

def lamb(loss):
    """Each parameter's step is as long as the parameter."""
    def step(state, batch):
        value, gradients = jax.value_and_grad(loss)(state, batch)
        def update(p, g):
            ratio = jnp.sqrt(jnp.sum(p * p)) / (jnp.sqrt(jnp.sum(g * g)) + 1e-6)
            return p - 0.01 * ratio * g
        return jax.tree.map(update, state, gradients), value
    return step


def adafactor(loss):
    """Second moments of matrices by rows and columns."""
    def step(state, batch):
        params = {name: state[name] for name in ("w1", "w2")}
        value, gradients = jax.value_and_grad(loss)(params, batch)
        new = {}
        for name, gradient in gradients.items():
            square = gradient * gradient
            rows = new["r_" + name] = 0.9 * state["r_" + name] + 0.1 * jnp.mean(square, 1)
            columns = new["c_" + name] = 0.9 * state["c_" + name] + 0.1 * jnp.mean(square, 0)
            scale = jnp.sqrt(rows[:, None] * columns[None, :] / (jnp.mean(rows) + 1e-6) + 1e-6)
            new[name] = params[name] - 0.01 * gradient / scale
        return new, value
    return step


def shampoo(loss):
    """A matrix of products of the gradient's rows is state."""
    def step(state, batch):
        value, gradient = jax.value_and_grad(lambda w: loss({"w1": w, "w2": state["w2"]}, batch))(state["w1"])
        left = 0.9 * state["left"] + 0.1 * gradient @ gradient.T
        return {"w1": state["w1"] - 0.01 * left @ gradient, "w2": state["w2"], "left": left}, value
    return step


def average(loss):
    """The mean of all parameters so far is state, too."""
    def step(state, batch):
        params = {name: value for name, value in state.items() if name[:2] != "a_"}
        value, gradients = jax.value_and_grad(loss)(params, batch)
        new = {name: 0.999 * params[name] - 0.1 * gradients[name] for name in params}
        return {**new, **{"a_" + name: 0.99 * state["a_" + name] + 0.01 * new[name] for name in params}}, value
    return step


def accumulated(loss, parts):
    """The batch in parts, one after the other."""
    def step(state, batch):
        def add(total, part):
            value, gradients = jax.value_and_grad(loss)(state, part)
            return jax.tree.map(jnp.add, total, gradients), value
        cut = {key: constrain(value.reshape(parts, -1, *value.shape[1:]), P(None, "dp")) for key, value in batch.items()}
        total, values = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, state), cut)
        return jax.tree.map(lambda p, g: p - 0.1 * g, state, total), jnp.mean(values)
    return step


# ---- other models ----------------------------------------------------------------------------------

def bare_loss(state, batch):
    return jnp.mean((jax.nn.relu(batch["x"] @ state["w1"]) @ state["w2"] - batch["y"]) ** 2)


def gathered_loss(state, batch):
    """Parameters are gathered before they are used, by a constraint on each."""
    whole = {name: constrain(value, P()) for name, value in state.items()}
    return bare_loss(whole, batch)


def explicit_loss(state, batch):
    """Each product says how its result is split."""
    hidden = jnp.einsum("bd,dh->bh", batch["x"], state["w1"], out_sharding=P("dp", "tp"))
    out = jnp.einsum("bh,hd->bd", jax.nn.relu(hidden), state["w2"], out_sharding=P("dp", None))
    return jnp.mean((out - batch["y"]) ** 2)


def open_loss(state, batch):
    """A constraint that leaves the batch open."""
    hidden = constrain(batch["x"] @ state["w1"], P(P.UNCONSTRAINED, "tp"))
    return jnp.mean((jax.nn.relu(hidden) @ state["w2"] - batch["y"]) ** 2)


def recommender_loss(state, batch):
    """Tables that are split by rows, and a dense part that is not split."""
    looked = [state[name][batch[name]] for name in ("t1", "t2")]
    both = jnp.concatenate([batch["x"], *looked], -1)
    return jnp.mean((jax.nn.relu(both @ state["w1"]) @ state["w2"])[:, 0] ** 2)


def stages_loss(state, batch):
    """Stages as one more dimension, through which activations are shifted."""
    def run(carried, x):
        entered = jnp.concatenate([x[None], carried[:-1]], 0)
        left = constrain(jax.nn.relu(jnp.einsum("sbd,sde->sbe", entered, state["w"])), P("pp", "dp", None))
        return left, left[-1]
    start = constrain(jnp.zeros((4, *batch["x"].shape[1:])), P("pp", "dp", None))
    _, out = jax.lax.scan(run, start, batch["x"])
    return jnp.mean(out ** 2)


def batch_norm_loss(state, batch):
    hidden = batch["x"] @ state["w1"]
    mean, variance = jnp.mean(hidden, 0), jnp.var(hidden, 0)
    normed = (hidden - mean) * jax.lax.rsqrt(variance + 1e-5) * state["scale"] + state["bias"]
    return jnp.mean((jax.nn.relu(normed) @ state["w2"] - batch["y"]) ** 2)


def rnn_loss(state, batch):
    def cell(hidden, x):
        hidden = jnp.tanh(hidden @ state["w"] + x @ state["u"])
        return hidden, hidden
    start = jnp.zeros((batch["x"].shape[0], D))
    _, out = jax.lax.scan(cell, start, jnp.swapaxes(batch["x"], 0, 1))
    return jnp.mean((jnp.swapaxes(out, 0, 1) - batch["y"]) ** 2)


def residual_conv_loss(state, batch):
    """A residual block with batch norm over split images."""
    def normed(x):
        mean = jnp.mean(x, (0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(jnp.var(x, (0, 1, 2)) + 1e-5)
    hidden = jax.nn.relu(normed(conv(batch["x"], state["k1"])))
    return jnp.mean((batch["x"] + normed(conv(hidden, state["k2"]))) ** 2)


def channels_loss(state, batch):
    """Channels are split, as in tensor parallel convolutions."""
    hidden = constrain(jax.nn.relu(conv(batch["x"], state["k1"])), P("dp", None, None, "tp"))
    return jnp.mean(conv(hidden, state["k2"]) ** 2)


def depthwise_loss(state, batch):
    out = jax.lax.conv_general_dilated(batch["x"], state["k1"], (1, 1), "SAME", feature_group_count=4,
                                       dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.mean(out ** 2)


def smoothed_loss(state, batch):
    """Label smoothing and a loss on the normalizer, over a split vocabulary."""
    logits = batch["x"] @ state["w"]
    normalizer = jax.nn.logsumexp(logits, -1)
    right = jnp.sum(jax.nn.one_hot(batch["y"], 512) * logits, -1)
    return jnp.mean(normalizer - 0.9 * right - 0.1 * jnp.mean(logits, -1) + 1e-4 * normalizer ** 2)


def contrast_loss(state, batch):
    """Every example is compared with every other one of the batch."""
    a, b = batch["x"] @ state["w1"], batch["y"] @ state["w1"]
    scores = a @ b.T
    return -jnp.mean(jnp.diagonal(jax.nn.log_softmax(scores)))


def moved_loss(state, batch):
    """A value is needed split by rows, then by columns."""
    hidden = constrain(jax.nn.relu(batch["x"] @ state["w1"]), P("x", None))
    turned = constrain(hidden * 2.0, P(None, "x"))
    return jnp.mean(jnp.tanh(turned) @ state["w2"])


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

DATA_FSDP_TENSOR = {"data": 2, "fsdp": 2, "tensor": 2}
THREE_BATCH = {name: ((64, D), F32, P(("data", "fsdp"))) for name in ("x", "y")}
WIDE_FSDP = {"w1": ((D, H), P("dp", None)), "w2": ((H, D), P("dp", None))}
WHOLE_ATTENTION = same(("wq", "wk", "wv", "wo"), P(), [(D, D)] * 4)
SEQUENCE_BATCH = {name: ((4, 32, D), F32, P("dp", "sp")) for name in ("x", "y")}

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
    "zero3_adam": Step(DP8, adam(mlp_loss), moments({
        name: (shape, P("dp"), P("dp")) for name, shape in DENSE.items()}), DENSE_BATCH),
    "zero1_clipped": Step(DP8, clipped(mlp_loss), dense(dict.fromkeys(DENSE, P())), DENSE_BATCH),
    "fsdp_gathered": Step(DP8, sgd(gathered_loss), WIDE_FSDP, DENSE_BATCH),
    "fsdp_average": Step(DP8, average(bare_loss), {
        **WIDE_FSDP, **{"a_" + name: entry for name, entry in WIDE_FSDP.items()}}, DENSE_BATCH),
    "fsdp_lamb": Step(DP8, lamb(bare_loss), WIDE_FSDP, DENSE_BATCH),
    "fsdp_columns": Step(DP8, sgd(bare_loss), {
        "w1": ((D, H), P(None, "dp")), "w2": ((H, D), P(None, "dp"))}, DENSE_BATCH),
    "fsdp_tensor": Step(DATA_FSDP_TENSOR, sgd(bare_loss), {
        "w1": ((D, H), P("fsdp", "tensor")), "w2": ((H, D), P("tensor", "fsdp"))}, THREE_BATCH),
    "hybrid_fsdp": Step({"dp": 2, "fsdp": 4}, clipped(bare_loss), {
        "w1": ((D, H), P("fsdp")), "w2": ((H, D), P("fsdp"))}, {
        name: ((64, D), F32, P(("dp", "fsdp"))) for name in ("x", "y")}),
    "adafactor_fsdp": Step(DP8, adafactor(bare_loss), {
        **WIDE_FSDP, "r_w1": ((D,), P("dp")), "c_w1": ((H,), P()), "r_w2": ((H,), P("dp")), "c_w2": ((D,), P())},
        DENSE_BATCH),
    "shampoo_split": Step(DP8, shampoo(bare_loss), {
        "w1": ((D, H), P("dp")), "w2": ((H, D), P("dp")), "left": ((D, D), P("dp"))}, DENSE_BATCH),
    "accumulated_mlp": Step(DP8, accumulated(bare_loss, 4), {
        "w1": ((D, H), P()), "w2": ((H, D), P())}, DENSE_BATCH, trips=4),
    "accumulated_fsdp": Step(DP8, accumulated(bare_loss, 4), WIDE_FSDP, DENSE_BATCH, trips=4),
    "maxtext_layer": Step(DATA_FSDP_TENSOR, sgd(logical_loss(MAXTEXT)), logical_state(MAXTEXT), {
        name: ((8, 16), I32, P(("data", "fsdp"))) for name in ("ids", "y")}, 512),
    "t5x_layer": Step({"data": 4, "model": 2}, sgd(logical_loss(T5X)), logical_state(T5X), {
        name: ((8, 16), I32, P("data")) for name in ("ids", "y")}, 512),
    "t5x_two_axes": Step({"data": 4, "model": 2}, sgd(logical_loss(T5X_2D)), logical_state(T5X_2D), {
        name: ((8, 16), I32, P("data")) for name in ("ids", "y")}, 512),
    "megatron_clipped": Step(DP4_TP2, clipped(bare_loss), {
        "w1": ((D, H), COLUMN), "w2": ((H, D), ROW)}, DENSE_BATCH),
    "megatron_adam": Step(DP4_TP2, adam(bare_loss), moments({
        "w1": ((D, H), COLUMN, P("dp", "tp")), "w2": ((H, D), ROW, P("tp", "dp"))}), DENSE_BATCH),
    "megatron_open": Step(DP4_TP2, sgd(open_loss), {
        "w1": ((D, H), COLUMN), "w2": ((H, D), ROW)}, DENSE_BATCH),
    "explicit_megatron": Step(DP4_TP2, sgd(explicit_loss), {
        "w1": ((D, H), COLUMN), "w2": ((H, D), ROW)}, DENSE_BATCH, axes="explicit"),
    "devices_megatron": Step(DP4_TP2, sgd(mlp_loss), dense(
        {"w1": COLUMN, "b1": P("tp"), "w2": ROW, "b2": P()}), DENSE_BATCH, text="devices"),
    "devices_open": Step(DP4_TP2, sgd(open_loss), {
        "w1": ((D, H), COLUMN), "w2": ((H, D), ROW)}, DENSE_BATCH, text="devices"),
    "fused_attention": Step(DP4_TP2, sgd(fused_loss), {
        "wqkv": ((D, 3 * D), COLUMN), "wo": ((D, D), ROW)}, BLOCK_BATCH),
    "grouped_attention": Step(DP4_TP2, sgd(grouped_loss), {
        "wq": ((D, D), COLUMN), "wk": ((D, 32), COLUMN), "wv": ((D, 32), COLUMN), "wo": ((D, D), ROW)}, BLOCK_BATCH),
    "split_queries": Step(DP2_SP4, sgd(split_queries_loss), WHOLE_ATTENTION, SEQUENCE_BATCH),
    "ulysses": Step(DP2_SP4, sgd(ulysses_loss), WHOLE_ATTENTION, SEQUENCE_BATCH),
    "sequence_mlp": Step(DP2_SP4, sgd(norm_mlp_loss), {
        "scale": ((D,), P()), "bias": ((D,), P()), "w1": ((D, H), P()), "w2": ((H, D), P())}, SEQUENCE_BATCH),
    "experts_chosen": Step(DP8, sgd(top1_loss), {
        "gate": ((D, 8), P()), "w1": ((8, D, H), P("dp")), "w2": ((8, H, D), P("dp"))}, DENSE_BATCH),
    "recommender": Step(DP8, sgd(recommender_loss), {
        "t1": ((512, 16), P("dp")), "t2": ((256, 16), P("dp")), "w1": ((D + 32, H), P()), "w2": ((H, 1), P())}, {
        "x": ((64, D), F32, P("dp")), "t1": ((64,), I32, P("dp")), "t2": ((64,), I32, P("dp"))}, 256),
    "batch_norm": Step(DP8, sgd(batch_norm_loss), {
        "w1": ((D, H), P()), "w2": ((H, D), P()), "scale": ((H,), P()), "bias": ((H,), P())}, DENSE_BATCH),
    "rnn_data": Step(DP8, sgd(rnn_loss), {"w": ((D, D), P()), "u": ((D, D), P())}, BLOCK_BATCH, trips=32),
    "rnn_tensor": Step(DP4_TP2, sgd(rnn_loss), {"w": ((D, D), COLUMN), "u": ((D, D), COLUMN)}, BLOCK_BATCH, trips=32),
    "stages_shifted": Step({"pp": 4, "dp": 2}, sgd(stages_loss), {"w": ((4, D, D), P("pp"))}, {
        "x": ((6, 8, D), F32, P(None, "dp"))}, trips=6),
    "spatial_residual": Step(DP2_SP4, sgd(residual_conv_loss), kernels(k1=(3, 3, 4, 8), k2=(3, 3, 8, 4)), IMAGES),
    "spatial_depthwise": Step(DP2_SP4, sgd(depthwise_loss), kernels(k1=(3, 3, 1, 4)), IMAGES),
    "tensor_conv": Step(DP4_TP2, sgd(channels_loss), {
        "k1": ((3, 3, 4, 8), P(None, None, None, "tp")), "k2": ((3, 3, 8, 4), P(None, None, "tp", None))}, {
        "x": ((8, 16, 16, 4), F32, P("dp"))}),
    "smoothed_vocabulary": Step(DP4_TP2, sgd(smoothed_loss), {"w": ((D, 512), COLUMN)}, {
        "x": ((64, D), F32, P("dp")), "y": ((64,), I32, P("dp"))}, 512),
    "contrast": Step(DP8, sgd(contrast_loss), {"w1": ((D, 32), P())}, DENSE_BATCH),
    "moved_split": Step({"x": 8}, sgd(moved_loss), {"w1": ((D, H), P()), "w2": ((H, D), P())}, {
        "x": ((64, D), F32, P("x"))}),
}
