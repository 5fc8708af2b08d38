"""Recurrence and attention."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import matrix, next_token_loss, tokens, train_step


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x):
        # No biases on the keys: their gradient is zero but for rounding, and Lion takes its sign.
        x = nn.Embed(40, 16)(x)
        y = nn.LayerNorm()(x)
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
        x = x + nn.MultiHeadDotProductAttention(4, use_bias=False)(y, y, mask=mask)
        x = x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.RMSNorm()(x)), approximate=False))
        return nn.Dense(40)(nn.LayerNorm()(x))


def attention_lion():
    """Causal attention with LayerNorm and RMSNorm, exact GELU, rematerialised, Lion with clipping."""
    model = Attention()
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-3))
    batches = tokens(8, 12, 40)
    params = model.init(jax.random.key(1), batches[0]["x"][:, :-1])["params"]
    loss_of = jax.checkpoint(next_token_loss(model))
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


class Recurrent(nn.Module):
    cell: str

    @nn.compact
    def __call__(self, x):
        x = nn.Embed(32, 16)(x)
        cell = nn.LSTMCell(24) if self.cell == "lstm" else nn.GRUCell(24)
        return nn.Dense(32)(nn.RNN(cell)(x))


def lstm_adafactor():
    """LSTM by scan, Adafactor with factored second moments."""
    model = Recurrent("lstm")
    optimizer = optax.adafactor(1e-2, min_dim_size_to_factor=8)
    batches = tokens(8, 10, 32)
    params = model.init(jax.random.key(2), batches[0]["x"][:, :-1])["params"]
    return train_step(next_token_loss(model), optimizer), (params, optimizer.init(params)), batches


def gru_cond_sgd():
    """GRU by scan; a branch skips the update when a gradient is not finite or too large."""
    model, optimizer = Recurrent("gru"), optax.sgd(0.5, momentum=0.9)
    batches = tokens(8, 10, 32)
    params = model.init(jax.random.key(3), batches[0]["x"][:, :-1])["params"]
    loss_of = next_token_loss(model)

    def step(state, batch):
        params, opt, skipped = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch)
        norm = optax.global_norm(gradient)

        def update(operands):
            params, opt, skipped = operands
            updates, opt = optimizer.update(gradient, opt, params)
            return optax.apply_updates(params, updates), opt, skipped

        def skip(operands):
            return operands[0], operands[1], operands[2] + 1

        good = jnp.isfinite(norm) & (norm < 0.22)
        return jax.lax.cond(good, update, skip, (params, opt, skipped)), loss

    return step, (params, optimizer.init(params), np.int32(0)), batches


def rotary(x):
    """Rotary position embedding of x[batch, position, head, feature]."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 100.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def llama_scan_layers_adamw():
    """Rotary embeddings, grouped queries, SwiGLU; three layers by a scan over stacked parameters."""
    optimizer = optax.chain(
        optax.clip_by_global_norm(0.5), optax.adamw(3e-3, mask=lambda p: jax.tree.map(lambda a: a.ndim > 2, p))
    )
    params = {
        "embed": matrix(48, 16),
        "layers": {
            "norm1": np.ones((3, 16), np.float32), "norm2": np.ones((3, 16), np.float32),
            "q": matrix(3, 16, 4, 8), "k": matrix(3, 16, 2, 8), "v": matrix(3, 16, 2, 8),
            "o": matrix(3, 4, 8, 16), "gate": matrix(3, 16, 32), "up": matrix(3, 16, 32), "down": matrix(3, 32, 16),
        },
    }  # fmt: skip

    def norm(x, scale):
        return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5) * scale

    def layer(x, p):
        y = norm(x, p["norm1"])
        q = rotary(jnp.einsum("btd,dhf->bthf", y, p["q"]))
        k = rotary(jnp.einsum("btd,dhf->bthf", y, p["k"])).repeat(2, axis=2)
        v = jnp.einsum("btd,dhf->bthf", y, p["v"]).repeat(2, axis=2)
        scores = jnp.einsum("bthf,bshf->bhts", q, k) / 8**0.5
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
        mixed = jnp.einsum("bhts,bshf->bthf", jax.nn.softmax(scores), v)
        x = x + jnp.einsum("bthf,hfd->btd", mixed, p["o"])
        y = norm(x, p["norm2"])
        return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"], None

    def loss_of(params, batch):
        x, _ = jax.lax.scan(layer, params["embed"][batch["x"][:, :-1]], params["layers"])
        return optax.softmax_cross_entropy_with_integer_labels(
            x @ params["embed"].T, batch["x"][:, 1:]
        ).mean()

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(6, 10, 48)


def ssm_associative_scan_lion():
    """State-space layer: depthwise causal convolution, a gate, an associative scan; Lion."""
    optimizer = optax.lion(1e-3)
    params = {
        "embed": matrix(32, 12), "conv": matrix(4, 12), "gate": matrix(12, 12), "decay": matrix(12, 12),
        "out": matrix(12, 32),
    }  # fmt: skip

    def loss_of(params, batch):
        x = params["embed"][batch["x"][:, :-1]]
        padded = jnp.pad(x, ((0, 0), (3, 0), (0, 0)))
        x = sum(padded[:, k : k + x.shape[1]] * params["conv"][k] for k in range(4))
        decay = jnp.exp(-jax.nn.softplus(x @ params["decay"]))
        carried = jax.lax.associative_scan(
            lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (decay, (1 - decay) * x), axis=1
        )[1]
        logits = (carried * jax.nn.silu(x @ params["gate"])) @ params["out"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["x"][:, 1:]).mean()

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(7, 13, 32)


def crf_scan_radam():
    """Linear-chain CRF: log-sum-exp forward scan, the best path by max and argmax backwards, RAdam."""
    optimizer = optax.radam(2e-2)
    params = {"table": matrix(30, 5), "turn": matrix(5, 5)}

    def one(params, words, tags):
        scores = params["table"][words]

        def forward(carry, score):
            total, best = carry
            total = jax.nn.logsumexp(total[:, None] + params["turn"], 0) + score
            reach = best[:, None] + params["turn"]
            return (total, reach.max(0) + score), reach.argmax(0)

        (total, best), back = jax.lax.scan(forward, (scores[0], scores[0]), scores[1:])
        last = best.argmax()
        _, path = jax.lax.scan(lambda tag, row: (row[tag], row[tag]), last, back, reverse=True)
        gold = jnp.take_along_axis(scores, tags[:, None], 1).sum()
        gold = gold + params["turn"][tags[:-1], tags[1:]].sum()
        wrong = jnp.sum(jnp.append(path, last) != tags)
        return jax.nn.logsumexp(total) - gold, wrong

    def loss_of(params, batch):
        fit, wrong = jax.vmap(one, (None, 0, 0))(params, batch["x"], batch["x"] % 5)
        return fit.mean() + 0.0 * wrong.mean()

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(8, 8, 30)


def lora_frozen_adamw():
    """Low-rank adapters on a frozen attention block: a masked optimizer, partial gradients."""
    base = {name: matrix(20, 20, scale=0.3) for name in "qkvo"} | {"embed": matrix(25, 20, scale=0.5)}
    adapters = {name: {"a": matrix(20, 3), "b": np.zeros((3, 20), np.float32)} for name in "qv"}
    params = {"base": base, "adapters": adapters}
    frozen = jax.tree_util.tree_map_with_path(lambda path, _: path[0].key == "base", params)
    optimizer = optax.chain(
        optax.masked(optax.set_to_zero(), frozen),
        optax.masked(optax.adamw(1e-2), jax.tree.map(lambda f: not f, frozen)),
    )

    def loss_of(params, batch):
        base, x = params["base"], params["base"]["embed"][batch["x"][:, :-1]]

        def project(name):
            y = x @ base[name]
            if name in params["adapters"]:
                y = y + (x @ params["adapters"][name]["a"]) @ params["adapters"][name]["b"]
            return y

        scores = jnp.einsum("btd,bsd->bts", project("q"), project("k")) / 20**0.5
        mask = jnp.arange(scores.shape[1])[:, None] >= jnp.arange(scores.shape[2])
        x = x + (jax.nn.softmax(scores, where=mask) @ project("v")) @ base["o"]
        return optax.softmax_cross_entropy_with_integer_labels(x @ base["embed"].T, batch["x"][:, 1:]).mean()

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(8, 9, 25)
