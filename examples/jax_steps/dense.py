"""Dense models, samplers and adversaries."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import cross_entropy, matrix, rng, train_step, vectors


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


def gan_two_optimizers():
    """Generator and critic with an optimizer each; spectral norm by power iteration in a loop."""
    make, judge = optax.adam(2e-3, b1=0.5), optax.rmsprop(2e-3)
    generator = {"w1": matrix(6, 16), "w2": matrix(16, 10)}
    critic = {"w1": matrix(10, 16), "w2": matrix(16, 1)}

    def spectral(w):
        def body(_, u):
            v = w.T @ (w @ u)
            return v / (jnp.linalg.norm(v) + 1e-6)

        u = jax.lax.stop_gradient(jax.lax.fori_loop(0, 4, body, jnp.ones((w.shape[1],)) / 4))
        return w / jnp.linalg.norm(w @ u)

    def score(critic, x):
        return (jax.nn.leaky_relu(x @ spectral(critic["w1"])) @ critic["w2"])[:, 0]

    def fake(generator, z):
        return jnp.tanh(jax.nn.relu(z @ generator["w1"]) @ generator["w2"])

    def step(state, batch):
        generator, critic, made, judged, key = state
        key, mine = jax.random.split(key)
        z = jax.random.uniform(mine, (batch["x"].shape[0], 6), minval=-1.0)

        def critic_loss(critic):
            real, forged = score(critic, batch["x"]), score(critic, fake(generator, z))
            return jnp.mean(jax.nn.relu(1 - real)) + jnp.mean(jax.nn.relu(1 + forged))

        loss, gradient = jax.value_and_grad(critic_loss)(critic)
        updates, judged = judge.update(gradient, judged, critic)
        critic = optax.apply_updates(critic, updates)
        gradient = jax.grad(lambda g: -jnp.mean(score(critic, fake(g, z))))(generator)
        updates, made = make.update(gradient, made, generator)
        return (optax.apply_updates(generator, updates), critic, made, judged, key), loss

    key = np.array([1, 2], np.uint32)
    state = (generator, critic, make.init(generator), judge.init(critic), key)
    return step, state, [{"x": batch["x"]} for batch in vectors(12, 10)]


def mlp_f16_loss_scaling():
    """Computes in float16 with float32 masters; dynamic loss scaling, the step skipped on overflow."""
    optimizer = optax.chain(optax.clip(1.0), optax.sgd(0.2, momentum=0.9))
    params = {"w1": matrix(24, 32), "b1": np.zeros((32,), np.float32), "w2": matrix(32, 10)}

    def loss_of(params, batch, scale):
        half = jax.tree.map(lambda p: p.astype(jnp.float16), params)
        h = jax.nn.relu(batch["x"].astype(jnp.float16) @ half["w1"] + half["b1"])
        logits = (h @ half["w2"]).astype(jnp.float32)
        return cross_entropy(logits, batch["y"]) * scale

    def step(state, batch):
        params, opt, scale, calm = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch, scale)
        gradient = jax.tree.map(lambda g: g / scale, gradient)
        finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(gradient)]))
        updates, tried = optimizer.update(gradient, opt, params)
        tried = (optax.apply_updates(params, updates), tried)
        params, opt = jax.tree.map(lambda a, b: jnp.where(finite, a, b), tried, (params, opt))
        calm = jnp.where(finite, calm + 1, 0)
        grown = jnp.where(calm >= 2, scale * 2, scale)
        return (params, opt, jnp.where(finite, grown, scale / 4), calm), loss / scale

    # The first scale overflows float16.
    state = (params, optimizer.init(params), np.float32(2.0**22), np.int32(0))
    return step, state, vectors(16, 24)


def ridge_cg_f64():
    """Float64: ridge regression on random features, its inner system by conjugate gradients."""
    w = rng.normal(size=(9, 14)) * 0.7

    def step(state, batch):
        gram, moment, seen = state
        features = jnp.cos(batch["x"] @ w) + jnp.expm1(-jnp.abs(batch["x"] @ w))
        gram = 0.9 * gram + features.T @ features
        moment = 0.9 * moment + features.T @ batch["y"]
        seen = seen + batch["x"].shape[0]

        def body(carry):
            x, r, p, k = carry
            ap = gram @ p + 0.1 * p
            alpha = (r @ r) / (p @ ap)
            following = r - alpha * ap
            p = following + (following @ following) / (r @ r) * p
            return x + alpha * p, following, p, k + 1

        zero = jnp.zeros_like(moment)
        x, *_ = jax.lax.while_loop(
            lambda c: (c[1] @ c[1] > 1e-6) & (c[3] < 40), body, (zero, moment, moment, 0)
        )
        return (gram, moment, seen), jnp.mean((features @ x - batch["y"]) ** 2)

    batches = [
        {"x": rng.normal(size=(10, 9)), "y": rng.normal(size=(10,))} for _ in range(4)
    ]
    return step, (np.eye(14), np.zeros((14,)), np.int64(0)), batches


def counts_lgamma_newton():
    """Negative binomial regression: log-gamma and digamma, gradients preconditioned by a Hessian."""
    optimizer = optax.chain(optax.scale_by_adam(), optax.add_decayed_weights(1e-3), optax.scale(-0.05))
    params = {"w": matrix(7, scale=0.3), "shape": np.float32(0.5)}

    def loss_of(params, batch):
        rate = jax.nn.softplus(batch["x"] @ params["w"]) + 0.1
        r, y = jnp.exp(params["shape"]), batch["y"]
        fit = jax.lax.lgamma(y + r) - jax.lax.lgamma(r) - jax.lax.lgamma(y + 1)
        return -jnp.mean(fit + r * jnp.log(r / (r + rate)) + jax.scipy.special.xlogy(y, rate / (r + rate)))

    def step(state, batch):
        params, opt = state
        loss, gradient = jax.value_and_grad(loss_of)(params, batch)
        curve = jax.hessian(lambda s: loss_of({**params, "shape": s}, batch))(params["shape"])
        gradient["shape"] = gradient["shape"] / jnp.maximum(jnp.abs(curve), 0.05)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt), loss

    batches = [
        {"x": batch["x"], "y": rng.poisson(2.0, size=(14,)).astype(np.float32)}
        for batch in vectors(14, 7)
    ]
    return step, (params, optimizer.init(params)), batches


def quantized_ste_adam():
    """Quantisation-aware: int8 products with int32 sums, straight-through gradients, custom VJP."""
    optimizer = optax.amsgrad(1e-2)
    params = {"w1": matrix(18, 24), "w2": matrix(24, 10)}

    def quantize(a):
        scale = jnp.max(jnp.abs(jax.lax.stop_gradient(a))) / 127 + 1e-8
        return jnp.round(a / scale).astype(jnp.int8), scale

    @jax.custom_vjp
    def product(x, w):
        (xq, xs), (wq, ws) = quantize(x), quantize(w)
        return jnp.matmul(xq, wq, preferred_element_type=jnp.int32).astype(jnp.float32) * (xs * ws)

    product.defvjp(lambda x, w: (product(x, w), (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))

    def loss_of(params, batch):
        return cross_entropy(product(jax.nn.relu6(product(batch["x"], params["w1"])), params["w2"]), batch["y"])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), vectors(16, 18)


def fp8_dense_adamw():
    """Dense layers whose operands are rounded to float8 (e4m3 forward, e5m2 backward)."""
    optimizer = optax.adamw(1e-2)
    params = {"w1": matrix(16, 24), "w2": matrix(24, 10)}

    def rounded(a, dtype):
        return a.astype(dtype).astype(jnp.float32)

    @jax.custom_vjp
    def dense(x, w):
        return rounded(x, jnp.float8_e4m3fn) @ rounded(w, jnp.float8_e4m3fn)

    def backward(kept, g):
        x, w = kept
        g = rounded(g * 1024, jnp.float8_e5m2) / 1024
        return g @ rounded(w, jnp.float8_e4m3fn).T, rounded(x, jnp.float8_e4m3fn).T @ g

    dense.defvjp(lambda x, w: (dense(x, w), (x, w)), backward)

    def loss_of(params, batch):
        return cross_entropy(dense(jax.nn.silu(dense(batch["x"], params["w1"])), params["w2"]), batch["y"])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), vectors(16, 16)


def maml_second_order():
    """Meta-learning: an inner gradient step per task under vmap, gradients through it, SGD."""
    optimizer = optax.sgd(0.05, nesterov=True, momentum=0.5)
    params = {"w1": matrix(1, 20, scale=0.7), "b1": matrix(20), "w2": matrix(20, 1, scale=0.7)}

    def fit(params, x, y):
        h = jnp.sin(x @ params["w1"] + params["b1"])
        return jnp.mean((h @ params["w2"] - y) ** 2)

    def task_loss(params, task):
        gradient = jax.grad(fit)(params, task["x"][:5], task["y"][:5])
        adapted = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)
        return fit(adapted, task["x"][5:], task["y"][5:])

    def loss_of(params, batch):
        return jnp.mean(jax.vmap(task_loss, (None, 0))(params, batch))

    batches = [
        {"x": rng.normal(size=(6, 11, 1)).astype(np.float32), "y": matrix(6, 11, 1, scale=1.0)}
        for _ in range(4)
    ]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches
