"""Makes the small training steps in this folder whose notes say "generated".

    python test/data/jax/generate.py [NAME…]

Needs jax, optax and flax. The steps are small; together they cover what common
training code lowers to: random bits, normalisation, pooling, recurrence, branches,
and optimizers with unusual state.
"""

import pathlib
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "examples"))
from export_jax import export  # noqa: E402

STEPS = 4
rng = np.random.default_rng(7)


def images(batch, size, channels, classes=10):
    return [
        {
            "x": rng.normal(size=(batch, size, size, channels)).astype(np.float32),
            "y": rng.integers(0, classes, size=(batch,)).astype(np.int32),
        }
        for _ in range(STEPS)
    ]


def vectors(batch, width, classes=10):
    return [
        {
            "x": rng.normal(size=(batch, width)).astype(np.float32),
            "y": rng.integers(0, classes, size=(batch,)).astype(np.int32),
        }
        for _ in range(STEPS)
    ]


def tokens(batch, length, vocabulary):
    return [
        {"x": rng.integers(0, vocabulary, size=(batch, length + 1)).astype(np.int32)}
        for _ in range(STEPS)
    ]


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def train_step(loss_of, optimizer):
    """The usual step: state is (parameters, optimizer state)."""

    def step(state, batch):
        params, opt = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt), loss

    return step


def mlp_dropout_adamw():
    """Dropout by threefry from a key in the state, label smoothing, AdamW on a cosine schedule."""
    optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 20), weight_decay=0.01)
    params = {
        "w1": rng.normal(size=(24, 32)).astype(np.float32) * 0.2,
        "b1": np.zeros((32,), np.float32),
        "w2": rng.normal(size=(32, 10)).astype(np.float32) * 0.2,
    }

    def loss_of(params, batch, key):
        h = jax.nn.gelu(batch["x"] @ params["w1"] + params["b1"])
        h = jnp.where(jax.random.bernoulli(key, 0.8, h.shape), h / 0.8, 0.0)
        labels = optax.smooth_labels(jax.nn.one_hot(batch["y"], 10), 0.1)
        return optax.softmax_cross_entropy(h @ params["w2"], labels).mean()

    def step(state, batch):
        params, opt, key = state
        key, mine = jax.random.split(key)
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, mine)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, key), loss

    state = (params, optimizer.init(params), np.array([3, 5], np.uint32))
    return step, state, vectors(16, 24)


class ConvNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (3, 3), strides=(2, 2), use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        x = nn.Conv(16, (3, 3), feature_group_count=8)(x)
        x = nn.max_pool(nn.silu(x), (3, 3), strides=(2, 2), padding="SAME")
        x = nn.avg_pool(x, (2, 2), strides=(1, 1), padding="SAME")
        return nn.Dense(10)(x.reshape((x.shape[0], -1)))


def cnn_batchnorm_rmsprop():
    """Strided and depthwise convolution, batch norm, max and average pooling, RMSProp."""
    model, optimizer = ConvNet(), optax.rmsprop(2e-3, momentum=0.9, centered=True)
    batches = images(8, 12, 3)
    variables = model.init(jax.random.key(0), batches[0]["x"])
    params, statistics = variables["params"], variables["batch_stats"]

    def loss_of(params, statistics, batch):
        logits, mutated = model.apply(
            {"params": params, "batch_stats": statistics}, batch["x"], mutable=["batch_stats"]
        )
        return cross_entropy(logits, batch["y"]), mutated["batch_stats"]

    def step(state, batch):
        params, statistics, opt = state
        (loss, statistics), gradient = jax.value_and_grad(loss_of, has_aux=True)(
            params, statistics, batch
        )
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), statistics, opt), loss

    return step, (params, statistics, optimizer.init(params)), batches


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


def next_token_loss(model):
    def loss_of(params, batch):
        return cross_entropy(model.apply({"params": params}, batch["x"][:, :-1]), batch["x"][:, 1:])

    return loss_of


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


def accumulate_scan():
    """Gradients accumulated over microbatches by scan, then Nadam; a learning-rate switch."""
    optimizer = optax.scale_by_adam(nesterov=True)
    params = {
        "w1": rng.normal(size=(20, 32)).astype(np.float32) * 0.2,
        "w2": rng.normal(size=(32, 10)).astype(np.float32) * 0.2,
    }

    def loss_of(params, batch):
        return cross_entropy(jnp.tanh(batch["x"] @ params["w1"]) @ params["w2"], batch["y"])

    def step(state, batch):
        params, opt, count = state
        parts = jax.tree.map(lambda a: a.reshape((8, 4) + a.shape[1:]).swapaxes(0, 1), batch)

        def body(carry, part):
            loss, gradient = jax.value_and_grad(loss_of)(params, part)
            return jax.tree.map(jnp.add, carry, (loss, gradient)), None

        zero = (jnp.float32(0), jax.tree.map(jnp.zeros_like, params))
        (loss, gradient), _ = jax.lax.scan(body, zero, parts)
        loss, gradient = jax.tree.map(lambda a: a / 4, (loss, gradient))
        updates, opt = optimizer.update(gradient, opt, params)
        rate = jax.lax.switch(
            count % 3, [lambda c: 0.1 + 0.0 * c, lambda c: 0.01 * (c + 1), lambda c: 1.0 / (c + 5)],
            count.astype(jnp.float32),
        )
        params = jax.tree.map(lambda p, u: p - rate * u, params, updates)
        return (params, opt, count + 1), loss

    return step, (params, optimizer.init(params), np.int32(0)), vectors(32, 20)


def vae_normal_adamax():
    """Variational autoencoder: normal samples by the inverse error function, Adamax."""
    optimizer = optax.adamax(5e-3)
    params = {
        "encode": rng.normal(size=(30, 16)).astype(np.float32) * 0.2,
        "mean": rng.normal(size=(16, 4)).astype(np.float32) * 0.2,
        "spread": rng.normal(size=(16, 4)).astype(np.float32) * 0.2,
        "decode": rng.normal(size=(4, 30)).astype(np.float32) * 0.2,
    }

    def loss_of(params, batch, key):
        x = jax.nn.sigmoid(batch["x"])
        h = jax.nn.softplus(x @ params["encode"])
        mean, spread = h @ params["mean"], h @ params["spread"]
        z = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
        logits = z @ params["decode"]
        fit = optax.sigmoid_binary_cross_entropy(logits, x).sum(-1).mean()
        return fit + 0.5 * jnp.mean(jnp.sum(jnp.exp(spread) + mean**2 - 1 - spread, -1))

    def step(state, batch):
        params, opt, count = state
        key = jax.random.fold_in(jax.random.PRNGKey(11), count)
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, key)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, count + 1), loss

    batches = [{"x": batch["x"]} for batch in vectors(16, 30)]
    return step, (params, optimizer.init(params), np.int32(0)), batches


class AutoEncoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.elu(nn.Conv(12, (3, 3), strides=(2, 2), padding="VALID")(x))
        x = nn.GroupNorm(num_groups=3)(x)
        x = nn.leaky_relu(nn.Conv(8, (3, 3), kernel_dilation=(2, 2))(x))
        return nn.ConvTranspose(2, (3, 3), strides=(2, 2), padding="VALID")(x)


def conv_transpose_adagrad():
    """Dilated and transposed convolution, group norm, Huber loss, Adagrad with decayed weights."""
    model = AutoEncoder()
    optimizer = optax.chain(optax.add_decayed_weights(1e-3), optax.adagrad(5e-2))
    batches = [{"x": batch["x"]} for batch in images(8, 11, 2)]
    params = model.init(jax.random.key(4), batches[0]["x"])["params"]

    def loss_of(params, batch):
        x = batch["x"]
        return optax.huber_loss(model.apply({"params": params}, x), x).mean()

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def bag_of_words_momentum():
    """Segment sums, argmax, cumulative sums, gathers with clamped and dropped indices, momentum."""
    optimizer = optax.sgd(0.3, momentum=0.9)
    params = {
        "table": rng.normal(size=(50, 12)).astype(np.float32) * 0.5,
        "place": rng.normal(size=(9, 12)).astype(np.float32) * 0.5,
        "out": rng.normal(size=(12, 5)).astype(np.float32) * 0.5,
    }

    def loss_of(params, batch):
        x = batch["x"]
        words = params["table"].at[x].get(mode="clip")
        places = params["place"].at[jnp.cumsum(x % 3, axis=1)].get(mode="fill", fill_value=0.0)
        weights = jax.nn.softmax(jnp.cumsum(jnp.sum(words * places, -1), axis=1))
        segments = jax.vmap(lambda v, i: jax.ops.segment_sum(v, i, num_segments=4))(
            words * weights[..., None], x % 4
        )
        best = jnp.argmax(jnp.linalg.norm(segments, axis=-1), axis=1)
        chosen = jnp.take_along_axis(segments, best[:, None, None], axis=1)[:, 0]
        return cross_entropy((chosen + segments.max(1)) @ params["out"], x.sum(1) % 5)

    batches = [{"x": batch["x"]} for batch in tokens(16, 7, 50)]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


ALL = [
    mlp_dropout_adamw, cnn_batchnorm_rmsprop, attention_lion, lstm_adafactor, gru_cond_sgd,
    accumulate_scan, vae_normal_adamax, conv_transpose_adagrad, bag_of_words_momentum,
]  # fmt: skip


def main(wanted):
    jax.config.update("jax_default_matmul_precision", "highest")
    for make in ALL:
        rng.bit_generator.state = np.random.default_rng(7).bit_generator.state
        step, state, batches = make()
        if wanted and make.__name__ not in wanted:
            continue
        note = f"generated: {make.__doc__}"
        print(make.__name__, export(HERE / make.__name__, note, step, state, batches))


if __name__ == "__main__":
    main(sys.argv[1:])
