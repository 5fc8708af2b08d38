"""Gathers, scatters, sorts and searches."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from common import cross_entropy, matrix, rng, tokens, train_step, vectors


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


def moe_top_k_momentum():
    """Mixture of experts: top-2 routing with capacity, one-hot dispatch, a balancing loss, momentum."""
    optimizer = optax.sgd(0.1, momentum=0.9)
    params = {
        "route": matrix(12, 4), "in": matrix(4, 12, 16), "out": matrix(4, 16, 12), "head": matrix(12, 10),
    }  # fmt: skip

    def loss_of(params, batch):
        x = batch["x"]
        odds = jax.nn.softmax(x @ params["route"])
        weight, chosen = jax.lax.top_k(odds, 2)
        weight = weight / weight.sum(-1, keepdims=True)
        taken = jax.nn.one_hot(chosen, 4)  # [token, choice, expert]
        place = jnp.cumsum(taken.reshape(-1, 4), 0).reshape(taken.shape) * taken - 1
        slot = jax.nn.one_hot(place.max(-1).astype(jnp.int32), 8) * (place.max(-1) < 8)[..., None]
        route = jnp.einsum("tke,tkc->tec", taken, slot)
        mixed = jnp.einsum("tk,tke,tkc->tec", weight, taken, slot)
        h = jax.nn.gelu(jnp.einsum("tec,td,edf->ecf", route, x, params["in"]))
        y = x + jnp.einsum("tec,ecf,efd->td", mixed, h, params["out"])
        balance = 4 * jnp.sum(odds.mean(0) * taken[:, 0].mean(0))
        return cross_entropy(y @ params["head"], batch["y"]) + 0.01 * balance

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), vectors(14, 12)


def rank_loss_sort_novograd():
    """Losses on order: sorted quantiles, argsort ranks, a trimmed mean and a median; NovoGrad."""
    optimizer = optax.novograd(1e-2)
    params = {"w1": matrix(9, 12), "w2": matrix(12, 6)}

    def loss_of(params, batch):
        out = jnp.tanh(batch["x"] @ params["w1"]) @ params["w2"]
        ordered = jnp.sort(out, axis=1)
        wanted = jnp.linspace(-1.0, 1.0, out.shape[1])
        order = jnp.argsort(batch["x"][:, :6], axis=1, descending=True)
        ranked = jnp.take_along_axis(out, order, axis=1)
        pairs = jax.nn.softplus(ranked[:, 1:] - ranked[:, :-1]).mean()
        hard = jnp.sort(jnp.sum((ordered - wanted) ** 2, 1))
        return hard[2:-2].mean() + 0.3 * pairs + jnp.median(jnp.abs(out)) ** 2

    batches = [{"x": batch["x"]} for batch in vectors(13, 9)]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def word2vec_negative_sampling():
    """Skip-grams: negatives by integer and categorical sampling, sparse updates by scatter-add."""
    params = {"in": matrix(40, 8, scale=0.4), "out": matrix(40, 8, scale=0.4)}

    def step(state, batch):
        params, key = state
        key, first, second = jax.random.split(key, 3)
        center, near = batch["x"][:, 0], batch["x"][:, 1]
        far = jax.random.randint(first, (center.shape[0], 3), 0, 40)
        common = jax.random.categorical(second, -jnp.log1p(jnp.arange(40.0)), shape=(center.shape[0], 2))
        far = jnp.concatenate([far, common], 1)

        def loss_of(rows):
            v, near, far = rows
            close = jax.nn.log_sigmoid(jnp.sum(v * near, -1))
            apart = jax.nn.log_sigmoid(-jnp.einsum("bd,bnd->bn", v, far)).sum(-1)
            return -jnp.mean(close + apart)

        rows = params["in"][center], params["out"][near], params["out"][far]
        loss, (dv, dnear, dfar) = jax.value_and_grad(loss_of)(rows)
        out = params["out"].at[near].add(-0.5 * dnear).at[far].add(-0.5 * dfar)
        return ({"in": params["in"].at[center].add(-0.5 * dv), "out": out}, key), loss

    return step, (params, np.array([7, 9], np.uint32)), tokens(15, 1, 40)


def graph_segments_yogi():
    """Message passing on a batch of graphs: segment sums and maxima over edges, set pooling, Yogi."""
    optimizer = optax.yogi(1e-2)
    params = {"embed": matrix(6, 10), "edge": matrix(20, 10), "node": matrix(20, 10), "out": matrix(10, 3)}

    def one(params, kinds, edges):
        h = params["embed"][kinds]
        for _ in range(2):
            sent = jax.nn.relu(jnp.concatenate([h[edges[:, 0]], h[edges[:, 1]]], -1) @ params["edge"])
            total = jax.ops.segment_sum(sent, edges[:, 1], num_segments=h.shape[0])
            peak = jnp.maximum(jax.ops.segment_max(sent, edges[:, 1], num_segments=h.shape[0]), 0.0)
            h = jnp.tanh(jnp.concatenate([total, peak], -1) @ params["node"]) + h
        return h.max(0) @ params["out"]

    def loss_of(params, batch):
        logits = jax.vmap(one, (None, 0, 0))(params, batch["kinds"], batch["edges"])
        return cross_entropy(logits, batch["kinds"].sum(1) % 3)

    batches = [
        {
            "kinds": rng.integers(0, 6, size=(7, 8)).astype(np.int32),
            "edges": rng.integers(0, 8, size=(7, 20, 2)).astype(np.int32),
        }
        for _ in range(4)
    ]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def double_q_polyak_adam():
    """Double Q-learning: argmax over actions, a target network by moving average, Huber, clipping."""
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))
    params = {"w1": matrix(6, 24), "b1": np.zeros((24,), np.float32), "value": matrix(24, 1), "gain": matrix(24, 4)}

    def values(params, x):
        h = jax.nn.relu(x @ params["w1"] + params["b1"])
        gain = h @ params["gain"]
        return h @ params["value"] + gain - gain.mean(-1, keepdims=True)

    def step(state, batch):
        params, target, opt, count = state
        best = jnp.argmax(values(params, batch["next"]), -1)
        bootstrap = jnp.take_along_axis(values(target, batch["next"]), best[:, None], 1)[:, 0]
        goal = batch["reward"] + 0.9 * jnp.where(batch["done"], 0.0, bootstrap)

        def loss_of(params):
            q = jnp.take_along_axis(values(params, batch["x"]), batch["action"][:, None], 1)[:, 0]
            return optax.huber_loss(q, jax.lax.stop_gradient(goal)).mean()

        loss, gradient = jax.value_and_grad(loss_of)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        params = optax.apply_updates(params, updates)
        target = jax.lax.cond(
            count % 2 == 1, lambda t: optax.incremental_update(params, t, 0.3), lambda t: t, target
        )
        return (params, target, opt, count + 1), loss

    batches = [
        {
            "x": batch["x"],
            "next": rng.normal(size=(11, 6)).astype(np.float32),
            "action": (batch["y"] % 4).astype(np.int32),
            "reward": rng.normal(size=(11,)).astype(np.float32),
            "done": rng.random(11) < 0.2,
        }
        for batch in vectors(11, 6)
    ]
    return step, (params, params, optimizer.init(params), np.int32(0)), batches


def dropout_rbg_sgd():
    """Random bits from the hardware generator's operation (rng_bit_generator), dropout, SGD."""
    optimizer = optax.sgd(0.1)
    params = {"w1": matrix(14, 20), "w2": matrix(20, 10)}

    def step(state, batch):
        params, opt, key = state
        mine = jax.random.wrap_key_data(key, impl="rbg")
        mine, following = jax.random.split(mine)

        def loss_of(params):
            h = jax.nn.relu(batch["x"] @ params["w1"])
            h = jnp.where(jax.random.bernoulli(mine, 0.7, h.shape), h / 0.7, 0.0)
            return cross_entropy(h @ params["w2"], batch["y"])

        loss, gradient = jax.value_and_grad(loss_of)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), opt, jax.random.key_data(following)), loss

    key = np.array([1, 2, 3, 4], np.uint32)
    return step, (params, optimizer.init(params), key), vectors(12, 14)
