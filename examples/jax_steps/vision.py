"""Convolutions and images."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import cross_entropy, images, train_step


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


class Residual(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width, stride in ((8, 1), (16, 2)):
            y = nn.relu(nn.BatchNorm(use_running_average=False)(x))
            y = nn.Conv(width, (3, 3), strides=stride, use_bias=False)(y)
            y = nn.relu(nn.BatchNorm(use_running_average=False)(y))
            y = nn.Conv(width, (3, 3), use_bias=False)(y)
            x = nn.Conv(width, (1, 1), strides=stride, use_bias=False)(x) + y
        return nn.Dense(10)(x.mean((1, 2)))


def resnet_remat_lamb():
    """Residual network with batch norm, its gradient rematerialised, LAMB, mixup of the batch."""
    model, optimizer = Residual(), optax.lamb(1e-2)
    batches = images(10, 8, 3)
    variables = model.init(jax.random.key(5), batches[0]["x"])
    params, statistics = variables["params"], variables["batch_stats"]

    @jax.checkpoint
    def loss_of(params, statistics, batch):
        x = 0.7 * batch["x"] + 0.3 * batch["x"][::-1]
        logits, mutated = model.apply(
            {"params": params, "batch_stats": statistics}, x, mutable=["batch_stats"]
        )
        mixed = 0.7 * cross_entropy(logits, batch["y"]) + 0.3 * cross_entropy(logits, batch["y"][::-1])
        return mixed, mutated["batch_stats"]

    def step(state, batch):
        params, statistics, opt = state
        (loss, statistics), gradient = jax.value_and_grad(loss_of, has_aux=True)(
            params, statistics, batch
        )
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), statistics, opt), loss

    return step, (params, statistics, optimizer.init(params)), batches


class Patches(nn.Module):
    # No biases: XLA sums their gradients in bfloat16, and the sum's order changes them by percents.
    @nn.compact
    def __call__(self, x):
        half = {"dtype": jnp.bfloat16, "use_bias": False}
        x = nn.Conv(24, (4, 4), strides=(4, 4), **half)(x)
        x = x.reshape((x.shape[0], -1, 24))
        x = x + self.param("place", nn.initializers.normal(0.02), (1, x.shape[1], 24)).astype(x.dtype)
        y = nn.LayerNorm(**half)(x)
        x = x + nn.MultiHeadDotProductAttention(3, **half)(y, y)
        y = nn.Dense(48, **half)(nn.LayerNorm(**half)(x))
        x = x + nn.Dense(24, **half)(nn.gelu(y))
        return nn.Dense(10)(x.mean(1).astype(jnp.float32))


def vit_bf16_sgd():
    """Vision transformer computing in bfloat16 on float32 parameters, SGD on a schedule."""
    model = Patches()
    optimizer = optax.sgd(optax.polynomial_schedule(0.1, 0.01, 2, 10))
    batches = images(9, 12, 3)
    params = model.init(jax.random.key(6), batches[0]["x"])["params"]

    def loss_of(params, batch):
        return cross_entropy(model.apply({"params": params}, batch["x"]), batch["y"])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


class Denoiser(nn.Module):
    @nn.compact
    def __call__(self, x, time):
        angles = time[:, None] * jnp.exp(-jnp.arange(4) * 1.5)
        mark = nn.Dense(8)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
        wide = nn.silu(nn.Conv(8, (3, 3))(x) + mark[:, None, None])
        deep = nn.silu(nn.Conv(12, (3, 3), strides=(2, 2))(wide))
        back = jax.image.resize(deep, wide.shape[:3] + (12,), "nearest")
        return nn.Conv(2, (3, 3))(jnp.concatenate([wide, back], -1))


def diffusion_unet_ema():
    """Denoising diffusion: a small U-net with skips and resizing, moving average of parameters."""
    model, optimizer = Denoiser(), optax.adam(2e-3)
    batches = [{"x": batch["x"]} for batch in images(6, 8, 2)]
    params = model.init(jax.random.key(7), batches[0]["x"], jnp.ones((6,)))["params"]

    def loss_of(params, x, key):
        first, second = jax.random.split(key)
        time = jax.random.uniform(first, (x.shape[0],))
        noise = jax.random.normal(second, x.shape)
        keep = jnp.cos(time * jnp.pi / 2)[:, None, None, None]
        noisy = keep * x + jnp.sqrt(1 - keep**2) * noise
        return jnp.mean((model.apply({"params": params}, noisy, time) - noise) ** 2)

    def step(state, batch):
        params, average, opt, key = state
        key, mine = jax.random.split(key)
        loss, gradient = jax.value_and_grad(loss_of)(params, batch["x"], mine)
        updates, opt = optimizer.update(gradient, opt, params)
        params = optax.apply_updates(params, updates)
        return (params, optax.incremental_update(params, average, 0.1), opt, key), loss

    key = np.array([4, 4], np.uint32)
    return step, (params, params, optimizer.init(params), key), batches
