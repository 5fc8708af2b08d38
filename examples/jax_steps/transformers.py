"""Transformers in flax, as their tutorials write them: with every bias, under adaptive optimizers.

The gradient of a key's bias is zero but for rounding (a softmax does not see it), and Adam, LAMB and Lion
move such a parameter by the sign of the rounding error: a check has to measure that, not to guess it.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

from common import cross_entropy, images, next_token_loss, rng, tokens, train_step


class Block(nn.Module):
    heads: int = 4
    use_bias: bool = True
    dropout: float = 0.0
    dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x, mask=None, other=None, train=False):
        width = x.shape[-1]
        attend = dict(use_bias=self.use_bias, dtype=self.dtype)
        y = nn.LayerNorm(dtype=self.dtype)(x)
        y = nn.MultiHeadDotProductAttention(self.heads, **attend)(y, y, mask=mask)
        x = x + nn.Dropout(self.dropout, deterministic=not train)(y)
        if other is not None:
            y = nn.LayerNorm(dtype=self.dtype)(x)
            x = x + nn.MultiHeadDotProductAttention(self.heads, **attend)(y, other)
        y = nn.LayerNorm(dtype=self.dtype)(x)
        y = nn.Dense(width, dtype=self.dtype)(nn.gelu(nn.Dense(2 * width, dtype=self.dtype)(y)))
        return x + nn.Dropout(self.dropout, deterministic=not train)(y)


class Gpt(nn.Module):
    vocabulary: int = 32
    width: int = 16
    layers: int = 2
    use_bias: bool = True
    dropout: float = 0.0
    dtype: object = jnp.float32

    @nn.compact
    def __call__(self, x, train=False):
        mask = nn.make_causal_mask(x)
        embed = nn.Embed(self.vocabulary, self.width, dtype=self.dtype)
        place = self.param("place", nn.initializers.normal(0.02), (x.shape[1], self.width))
        x = embed(x) + place.astype(self.dtype)
        for _ in range(self.layers):
            x = Block(4, self.use_bias, self.dropout, self.dtype)(x, mask, train=train)
        return embed.attend(nn.LayerNorm(dtype=self.dtype)(x)).astype(jnp.float32)


def gpt(optimizer, batches=None, **options):
    batches = batches or tokens(12, 8, 32)
    model = Gpt(**options)
    params = model.init(jax.random.key(0), batches[0]["x"][:, :-1])["params"]
    return train_step(next_token_loss(model), optimizer), (params, optimizer.init(params)), batches


def gpt_key_bias_adamw():
    """GPT in flax with the biases of its keys, AdamW."""
    return gpt(optax.adamw(3e-3))


def gpt_no_key_bias_adam():
    """GPT in flax without biases in its attention, Adam, clipping by global norm."""
    return gpt(optax.chain(optax.clip_by_global_norm(1.0), optax.adam(3e-3)), use_bias=False)


def gpt_muon():
    """GPT trained by Muon: matrices orthogonalised by Newton-Schulz iterations, the rest by AdamW."""
    return gpt(optax.contrib.muon(0.01), layers=1)


def gpt_lion_key_bias():
    """GPT with the biases of its keys under Lion, which takes the sign of every gradient."""
    return gpt(optax.lion(1e-3), layers=1)


def gpt_schedule_free_adamw():
    """GPT under schedule-free AdamW: two sequences of parameters and their interpolation."""
    return gpt(optax.contrib.schedule_free_adamw(3e-3, warmup_steps=2), layers=1)


def gpt_multi_steps_adam():
    """Gradient accumulation by optax.MultiSteps: the parameters move at every second step."""
    return gpt(optax.MultiSteps(optax.adam(3e-3), every_k_schedule=2).gradient_transformation(), layers=1)


def gpt_bf16_adamw():
    """GPT computing in bfloat16 on float32 parameters, AdamW."""
    return gpt(optax.adamw(3e-3), layers=1, dtype=jnp.bfloat16)


def gpt_train_state_dropout():
    """Flax's TrainState with its Python number of steps, dropout by a key of jax.random.key, metrics in a dict."""
    model = Gpt(layers=1, dropout=0.1)
    batches = tokens(12, 8, 32)
    params = model.init(jax.random.key(0), batches[0]["x"][:, :-1])["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(3e-3))

    def step(everything, batch):
        state, key = everything
        key, mine = jax.random.split(key)

        def loss_of(params):
            x, y = batch["x"][:, :-1], batch["x"][:, 1:]
            logits = state.apply_fn({"params": params}, x, train=True, rngs={"dropout": mine})
            return cross_entropy(logits, y), (logits.argmax(-1) == y).mean()

        (loss, accuracy), gradient = jax.value_and_grad(loss_of, has_aux=True)(state.params)
        metrics = {"accuracy": accuracy, "loss": loss, "norm": optax.global_norm(gradient)}
        return (state.apply_gradients(grads=gradient), key), metrics

    return step, (state, jax.random.key(1)), batches


class Vit(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(16, (4, 4), strides=(4, 4))(x)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        token = self.param("token", nn.initializers.zeros, (1, 1, x.shape[-1]))
        x = jnp.concatenate([jnp.broadcast_to(token, (x.shape[0], 1, x.shape[-1])), x], axis=1)
        x = x + self.param("place", nn.initializers.normal(0.02), (1, *x.shape[1:]))
        for _ in range(2):
            x = Block()(x)
        return nn.Dense(10)(nn.LayerNorm()(x)[:, 0])


def vit_lamb():
    """Vision transformer with a class token and all biases, LAMB."""
    model, optimizer, batches = Vit(), optax.lamb(3e-3), images(12, 8, 3)
    params = model.init(jax.random.key(0), batches[0]["x"])["params"]

    def loss_of(params, batch):
        return cross_entropy(model.apply({"params": params}, batch["x"]), batch["y"])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


class Seq2Seq(nn.Module):
    """Encoder and decoder with RMS norms and biases by relative position, as T5 has them."""

    @nn.compact
    def __call__(self, source, target):
        embed = nn.Embed(32, 16)
        encoded = self.stack("encoder", embed(source), None, False)
        return embed.attend(self.stack("decoder", embed(target), encoded, True))

    def stack(self, name, x, other, is_causal):
        place = self.param(f"{name}_place", nn.initializers.normal(0.1), (8, 4))
        length = x.shape[1]
        distance = jnp.arange(length)[None] - jnp.arange(length)[:, None]
        bucket = jnp.clip(jnp.where(distance > 0, distance + 4, -distance), 0, 7)
        bias = place[bucket].transpose(2, 0, 1)[None]
        if is_causal:
            bias = jnp.where(distance > 0, -1e9, bias)
        for i in range(2):
            x = x + self.attention(f"{name}_{i}", nn.RMSNorm()(x), None, bias)
            if other is not None:
                x = x + self.attention(f"{name}_{i}_cross", nn.RMSNorm()(x), other, 0.0)
            y = nn.RMSNorm()(x)
            x = x + nn.Dense(16, use_bias=False)(nn.gelu(nn.Dense(32)(y)) * nn.Dense(32)(y))
        return nn.RMSNorm()(x)

    def attention(self, name, x, other, bias):
        other = x if other is None else other
        q = nn.DenseGeneral((4, 4), name=f"{name}_q", use_bias=False)(x)
        k = nn.DenseGeneral((4, 4), name=f"{name}_k", use_bias=False)(other)
        v = nn.DenseGeneral((4, 4), name=f"{name}_v", use_bias=False)(other)
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) + bias)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return nn.DenseGeneral(16, axis=(-2, -1), name=f"{name}_o", use_bias=False)(mixed)


def t5_adafactor():
    """T5: an encoder and a decoder, biases by relative position, padding masked in the loss, Adafactor."""
    model, optimizer = Seq2Seq(), optax.adafactor(1e-2, min_dim_size_to_factor=8)
    batches = [
        {"x": rng.integers(1, 32, size=(10, 7)).astype(np.int32),
         "y": (rng.integers(1, 32, size=(10, 7)) * (np.arange(7) < rng.integers(3, 8, size=(10, 1)))).astype(np.int32)}
        for _ in range(4)
    ]  # fmt: skip
    params = model.init(jax.random.key(0), batches[0]["x"], batches[0]["y"][:, :-1])["params"]

    def loss_of(params, batch):
        target = batch["y"][:, 1:]
        logits = model.apply({"params": params}, batch["x"], batch["y"][:, :-1])
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, target)
        return jnp.sum(jnp.where(target > 0, loss, 0.0)) / jnp.sum(target > 0)

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


class Clip(nn.Module):
    @nn.compact
    def __call__(self, image, text):
        x = nn.Conv(16, (4, 4), strides=(4, 4))(image).reshape(image.shape[0], -1, 16)
        x = nn.Dense(8, use_bias=False)(Block()(x).mean(1))
        y = nn.Embed(24, 16)(text)
        y = nn.Dense(8, use_bias=False)(Block()(y, nn.make_causal_mask(text))[:, -1])
        scale = self.param("scale", nn.initializers.constant(np.log(10)), ())
        x, y = (a / jnp.linalg.norm(a, axis=-1, keepdims=True) for a in (x, y))
        return jnp.exp(scale) * x @ y.T


def clip_contrastive_adamw():
    """CLIP: images against texts, each batch its own classes, a learned temperature, AdamW."""
    model, optimizer = Clip(), optax.adamw(1e-3)
    batches = [
        {"image": batch["x"], "text": rng.integers(0, 24, size=(12, 6)).astype(np.int32)}
        for batch in images(12, 8, 3)
    ]
    params = model.init(jax.random.key(0), batches[0]["image"], batches[0]["text"])["params"]

    def loss_of(params, batch):
        logits = model.apply({"params": params}, batch["image"], batch["text"])
        labels = jnp.arange(logits.shape[0])
        return (cross_entropy(logits, labels) + cross_entropy(logits.T, labels)) / 2

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def bert_masked_adam():
    """BERT: masked tokens chosen by a key of jax.random.key in the state, a batch of 10, Adam."""
    model = Bert()
    optimizer = optax.adam(3e-3)
    batches = tokens(10, 7, 32)
    params = model.init(jax.random.key(0), batches[0]["x"])["params"]

    def loss_of(params, batch, key):
        hidden = jax.random.bernoulli(key, 0.3, batch["x"].shape)
        logits = model.apply({"params": params}, jnp.where(hidden, 32, batch["x"]))
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch["x"])
        return jnp.sum(loss * hidden) / jnp.maximum(jnp.sum(hidden), 1)

    def step(state, batch):
        params, opt, key = state
        key, mine = jax.random.split(key)
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, mine)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, key), loss

    return step, (params, optimizer.init(params), jax.random.key(5)), batches


class Bert(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Embed(33, 16)(x)
        x = nn.LayerNorm()(x + self.param("place", nn.initializers.normal(0.02), x.shape[1:]))
        for _ in range(2):
            x = Block(2)(x)
        return nn.Dense(32)(x)


def lora_multi_transform():
    """Low-rank adapters beside frozen projections of a GPT block, by optax.multi_transform; donated arguments."""
    model = Lora()
    batches = tokens(8, 6, 24)
    params = model.init(jax.random.key(0), batches[0]["x"][:, :-1])["params"]
    labels = jax.tree_util.tree_map_with_path(
        lambda path, _: "train" if "lora" in jax.tree_util.keystr(path) else "freeze", params
    )
    optimizer = optax.multi_transform({"train": optax.adam(1e-2), "freeze": optax.set_to_zero()}, labels)
    step = jax.jit(train_step(next_token_loss(model), optimizer), donate_argnums=0)
    return step, (params, optimizer.init(params)), batches


class LoraDense(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        down = self.param("lora_down", nn.initializers.normal(0.1), (x.shape[-1], 2))
        up = self.param("lora_up", nn.initializers.zeros, (2, self.width))
        return nn.Dense(self.width)(x) + 4.0 * (x @ down @ up)


class Lora(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Embed(24, 16)(x)
        y = nn.LayerNorm()(x)
        q, k, v = (LoraDense(16)(y) for _ in range(3))
        scores = q @ k.swapaxes(1, 2) / 4.0
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, -1e9)
        x = x + LoraDense(16)(jax.nn.softmax(scores) @ v)
        return nn.Dense(24)(nn.LayerNorm()(x))
