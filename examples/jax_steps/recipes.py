"""Training recipes: batch norm, dropout, narrow types, contrastive losses, unusual optimizers."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import cross_entropy, images, matrix, rng, tokens, train_step, vectors


def flax_step(model, optimizer, batches, loss_of):
    params = model.init(jax.random.key(0), batches[0]["x"])["params"]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def classify(model):
    def loss_of(params, batch):
        return cross_entropy(model.apply({"params": params}, batch["x"]), batch["y"])

    return loss_of


class BatchNormNet(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        for width in (8, 12):
            x = nn.Conv(width, (3, 3), strides=(2, 2))(x)  # its bias is lost in the batch norm
            x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.9)(x))
        return nn.Dense(10)(x.mean((1, 2)))


def cnn_bias_batchnorm_adam():
    """Flax: convolutions whose biases batch norm removes, moving averages in the state, Adam."""
    model, optimizer, batches = BatchNormNet(), optax.adam(3e-3), images(12, 8, 3)
    start = model.init(jax.random.key(0), batches[0]["x"])

    def step(state, batch):
        params, averages, opt = state

        def loss_of(params):
            logits, new = model.apply(
                {"params": params, "batch_stats": averages}, batch["x"], mutable="batch_stats")
            return cross_entropy(logits, batch["y"]), new["batch_stats"]

        (loss, averages), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), averages, opt), loss

    return step, (start["params"], start["batch_stats"], optimizer.init(start["params"])), batches


class Unet(nn.Module):
    @nn.compact
    def __call__(self, x):
        a = nn.relu(nn.GroupNorm(2)(nn.Conv(8, (3, 3))(x)))
        b = nn.relu(nn.GroupNorm(4)(nn.Conv(16, (3, 3))(nn.max_pool(a, (2, 2), (2, 2)))))
        up = nn.ConvTranspose(8, (2, 2), strides=(2, 2))(b)
        return nn.Conv(3, (1, 1))(nn.relu(nn.Conv(8, (3, 3))(jnp.concatenate([a, up], -1))))


def unet_segmentation_adamw():
    """U-Net: a class for each pixel, group norm, transposed convolution, AdamW."""
    batches = [
        {"x": batch["x"], "y": rng.integers(0, 3, size=(6, 8, 8)).astype(np.int32)}
        for batch in images(6, 8, 1)
    ]
    model = Unet()
    return flax_step(model, optax.adamw(3e-3), batches, classify(model))


class ConvNext(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(12, (2, 2), strides=(2, 2))(x)
        for _ in range(2):
            y = nn.LayerNorm()(nn.Conv(12, (3, 3), feature_group_count=12)(x))
            y = nn.Dense(12)(nn.gelu(nn.Dense(24)(y)))
            x = x + self.param(f"scale_{_}", nn.initializers.constant(0.1), (12,)) * y
        return nn.Dense(10)(nn.LayerNorm()(x.mean((1, 2))))


def convnext_sgd_ema():
    """ConvNeXt: depthwise convolutions, layer scale, SGD with momentum, a moving average of the parameters."""
    model, batches = ConvNext(), images(9, 8, 3)
    optimizer = optax.chain(optax.trace(0.9), optax.scale(-0.05), optax.ema(0.99))
    return flax_step(model, optimizer, batches, classify(model))


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(12, (4, 4), strides=(4, 4))(x).reshape(x.shape[0], 4, 12)
        for _ in range(2):
            y = nn.LayerNorm()(x).swapaxes(1, 2)
            x = x + nn.Dense(4)(nn.gelu(nn.Dense(8)(y))).swapaxes(1, 2)
            x = x + nn.Dense(12)(nn.gelu(nn.Dense(24)(nn.LayerNorm()(x))))
        return nn.Dense(10)(x.mean(1))


def mixer_prodigy():
    """MLP-Mixer under Prodigy, which estimates its own learning rate from dot products over all parameters."""
    model, batches = Mixer(), images(10, 8, 3)
    return flax_step(model, optax.contrib.prodigy(0.1), batches, classify(model))


def mlp_bf16_dropout_adam():
    """Parameters, Adam's moments and computing in bfloat16; dropout from a counter."""
    optimizer = optax.adam(1e-2)
    params = {"w1": jnp.asarray(matrix(20, 24), jnp.bfloat16), "w2": jnp.asarray(matrix(24, 10), jnp.bfloat16)}

    def loss_of(params, batch, key):
        h = jax.nn.relu(batch["x"].astype(jnp.bfloat16) @ params["w1"])
        h = jnp.where(jax.random.bernoulli(key, 0.9, h.shape), h / 0.9, 0).astype(jnp.bfloat16)
        return cross_entropy((h @ params["w2"]).astype(jnp.float32), batch["y"])

    def step(state, batch):
        params, opt, count = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, jax.random.fold_in(jax.random.key(2), count))
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, count + 1), loss

    return step, (params, optimizer.init(params), 0), vectors(12, 20)


def mamba_selective_scan_lion():
    """Mamba: a selective state-space scan over time, depthwise causal convolution, gates; Lion."""
    optimizer = optax.lion(1e-3)
    width, inner, states, rank = 8, 16, 4, 2
    params = {
        "embed": matrix(24, width), "in": matrix(width, 2 * inner), "conv": matrix(3, inner), "bias": matrix(inner),
        "select": matrix(inner, rank + 2 * states), "rate": matrix(rank, inner), "rate_bias": matrix(inner),
        "decay": np.log(np.tile(np.arange(1, states + 1, dtype=np.float32), (inner, 1))),
        "skip": np.ones(inner, np.float32), "out": matrix(inner, width), "norm": np.ones(width, np.float32),
    }  # fmt: skip

    def mix(p, x):
        x, gate = jnp.split(x @ p["in"], 2, axis=-1)
        late = jnp.pad(x, ((0, 0), (2, 0), (0, 0)))
        x = jax.nn.silu(sum(late[:, i : i + x.shape[1]] * p["conv"][i] for i in range(3)) + p["bias"])
        rate, b, c = jnp.split(x @ p["select"], (rank, rank + states), axis=-1)
        rate = jax.nn.softplus(rate @ p["rate"] + p["rate_bias"])
        keep = jnp.exp(-rate[..., None] * jnp.exp(p["decay"]))
        feed = (rate * x)[..., None] * b[:, :, None, :]

        def body(h, at):
            keep, feed, c = at
            h = keep * h + feed
            return h, jnp.einsum("bdn,bn->bd", h, c)

        over_time = jax.tree.map(lambda a: a.swapaxes(0, 1), (keep, feed, c))
        start = jnp.zeros((x.shape[0], inner, states))
        y = jax.lax.scan(body, start, over_time)[1].swapaxes(0, 1)
        return ((y + p["skip"] * x) * jax.nn.silu(gate)) @ p["out"]

    def loss_of(p, batch):
        x = p["embed"][batch["x"][:, :-1]]
        y = x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5) * p["norm"]
        return cross_entropy((x + mix(p, y)) @ p["embed"].T, batch["x"][:, 1:])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(9, 8, 24)


def simclr_lars():
    """SimCLR: two noisy views of each example, all others of the batch as negatives, LARS."""
    optimizer = optax.lars(0.1, weight_decay=1e-4)
    params = {"w1": matrix(20, 24), "b1": np.zeros(24, np.float32), "w2": matrix(24, 8)}

    def loss_of(params, batch, key):
        noise = jax.random.normal(key, (2, *batch["x"].shape)) * 0.1
        z = jax.nn.relu((batch["x"] + noise) @ params["w1"] + params["b1"]) @ params["w2"]
        z = (z / jnp.linalg.norm(z, axis=-1, keepdims=True)).reshape(-1, z.shape[-1])
        count = batch["x"].shape[0]
        logits = jnp.where(jnp.eye(2 * count, dtype=bool), -1e9, z @ z.T / 0.5)
        return cross_entropy(logits, jnp.roll(jnp.arange(2 * count), count))

    def step(state, batch):
        params, opt, key = state
        key, mine = jax.random.split(key)
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, mine)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, key), loss

    batches = [{"x": batch["x"]} for batch in vectors(9, 20)]
    return step, (params, optimizer.init(params), jax.random.key(4)), batches


def sam_momentum():
    """Sharpness-aware minimisation: the gradient at the worst point nearby, SGD with momentum."""
    optimizer = optax.sgd(0.05, momentum=0.9)
    params = {"w1": matrix(20, 24), "b1": np.zeros(24, np.float32), "w2": matrix(24, 10)}

    def loss_of(params, batch):
        return cross_entropy(jnp.tanh(batch["x"] @ params["w1"] + params["b1"]) @ params["w2"], batch["y"])

    def step(state, batch):
        params, opt = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch)
        reach = 0.05 / (optax.global_norm(gradient) + 1e-12)
        worst = jax.tree.map(lambda p, g: p + reach * g, params, gradient)
        updates, opt = optimizer.update(jax.grad(loss_of)(worst, batch), opt, params)
        return (optax.apply_updates(params, updates), opt), loss

    return step, (params, optimizer.init(params)), vectors(11, 20)


def dp_sgd_clipped():
    """Differentially private SGD: each example's gradient clipped by itself under vmap, then noise."""
    params = {"w1": matrix(16, 16), "w2": matrix(16, 10)}

    def loss_of(params, x, y):
        return cross_entropy(jnp.tanh(x @ params["w1"]) @ params["w2"], y)

    def step(state, batch):
        params, key = state
        key, mine = jax.random.split(key)
        losses, gradients = jax.vmap(jax.value_and_grad(loss_of), (None, 0, 0))(params, batch["x"], batch["y"])
        norms = jax.vmap(optax.global_norm)(gradients)
        factor = jnp.minimum(1.0, 0.5 / norms)
        total = jax.tree.map(lambda g: jnp.einsum("b...,b->...", g, factor), gradients)
        leaves, structure = jax.tree.flatten(total)
        noisy = [g + 0.05 * jax.random.normal(k, g.shape) for g, k in zip(leaves, jax.random.split(mine, len(leaves)))]
        mean = jax.tree.map(lambda g: g / len(norms), structure.unflatten(noisy))
        return (jax.tree.map(lambda p, g: p - 0.2 * g, params, mean), key), losses.mean()

    return step, (params, jax.random.key(6)), vectors(11, 16)


def ctc_speech_adam():
    """Speech: the CTC loss of optax over padded labels, a convolution over time, Adam."""
    optimizer = optax.adam(3e-3)
    params = {"w": matrix(3, 6, 16), "out": matrix(16, 8)}

    def loss_of(params, batch):
        x = jnp.pad(batch["x"], ((0, 0), (1, 1), (0, 0)))
        h = jax.nn.relu(sum(x[:, i : i + 10] @ params["w"][i] for i in range(3)))
        return optax.ctc_loss(h @ params["out"], jnp.zeros((8, 10)), batch["y"], batch["pad"]).mean()

    batches = [
        {"x": matrix(8, 10, 6, scale=1.0), "y": rng.integers(1, 8, size=(8, 4)).astype(np.int32),
         "pad": (np.arange(4) >= rng.integers(2, 5, size=(8, 1))).astype(np.float32)}
        for _ in range(4)
    ]  # fmt: skip
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def distill_teacher_adamw():
    """Distillation: a frozen teacher in the state, soft labels at a temperature, AdamW."""
    optimizer = optax.adamw(3e-3)
    teacher = {"w1": matrix(20, 32), "w2": matrix(32, 10)}
    params = {"w1": matrix(20, 12), "w2": matrix(12, 10)}

    def logits(p, x):
        return jax.nn.relu(x @ p["w1"]) @ p["w2"]

    def step(state, batch):
        teacher, params, opt = state
        soft = jax.nn.softmax(logits(teacher, batch["x"]) / 2.0)

        def loss_of(params):
            mine = logits(params, batch["x"])
            kept = optax.softmax_cross_entropy(mine / 2.0, soft).mean() * 4.0
            return 0.7 * kept + 0.3 * cross_entropy(mine, batch["y"]), mine

        (loss, mine), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        outputs = {"agree": (mine.argmax(-1) == soft.argmax(-1)).mean(), "loss": loss}
        return (teacher, optax.apply_updates(params, updates), opt), outputs

    return step, (teacher, params, optimizer.init(params)), vectors(11, 20)


def rwkv_linear_attention_adamw():
    """RWKV: attention as a recurrence with a running maximum, token shift, AdamW."""
    optimizer = optax.adamw(3e-3)
    params = {
        "embed": matrix(24, 12), "mix": np.full((3, 12), 0.5, np.float32), "r": matrix(12, 12), "k": matrix(12, 12),
        "v": matrix(12, 12), "o": matrix(12, 12), "decay": np.linspace(-1, 1, 12).astype(np.float32),
        "bonus": matrix(12),
    }  # fmt: skip

    def loss_of(p, batch):
        x = p["embed"][batch["x"][:, :-1]]
        before = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        r, k, v = ((x * m + before * (1 - m)) @ p[n] for m, n in zip(p["mix"], "rkv"))
        decay = -jnp.exp(p["decay"])

        def body(carry, at):
            top, over, under = carry
            k, v = at
            new = jnp.maximum(top, k + p["bonus"])
            old, now = jnp.exp(top - new), jnp.exp(k + p["bonus"] - new)
            out = (over * old + v * now) / (under * old + now)
            new = jnp.maximum(top + decay, k)
            old, now = jnp.exp(top + decay - new), jnp.exp(k - new)
            return (new, over * old + v * now, under * old + now), out

        zero = jnp.zeros((x.shape[0], 12))
        over_time = (k.swapaxes(0, 1), v.swapaxes(0, 1))
        y = jax.lax.scan(body, (zero - 1e9, zero, zero), over_time)[1].swapaxes(0, 1)
        return cross_entropy((x + (jax.nn.sigmoid(r) * y) @ p["o"]) @ p["embed"].T, batch["x"][:, 1:])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), tokens(9, 8, 24)
