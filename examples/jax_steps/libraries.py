"""Steps in equinox, haiku, distrax, diffrax and jmp, as their users write them."""

import diffrax
import distrax
import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import jmp
import numpy as np
import optax

from common import cross_entropy, matrix, rng, tokens, train_step, vectors


def equinox_step(model, optimizer, loss_of):
    """A step on the arrays of an equinox model; what else it holds is part of the step."""
    arrays, rest = eqx.partition(model, eqx.is_array)

    def on_arrays(arrays, batch):
        return loss_of(eqx.combine(arrays, rest), batch)

    return train_step(on_arrays, optimizer), (arrays, optimizer.init(arrays))


def equinox_mlp_adabelief():
    """Equinox: an MLP under vmap, AdaBelief."""
    model = eqx.nn.MLP(20, 10, 24, 2, activation=jax.nn.silu, key=jax.random.key(0))

    def loss_of(model, batch):
        return cross_entropy(jax.vmap(model)(batch["x"]), batch["y"])

    return *equinox_step(model, optax.adabelief(3e-3), loss_of), vectors(10, 20)


def equinox_attention_nadamw():
    """Equinox: multi-head attention and layer norm under vmap, NadamW."""
    keys = jax.random.split(jax.random.key(1), 3)
    model = {
        "embed": eqx.nn.Embedding(32, 16, key=keys[0]),
        "attend": eqx.nn.MultiheadAttention(4, 16, use_key_bias=True, use_query_bias=True, key=keys[1]),
        "norm": eqx.nn.LayerNorm(16),
        "out": eqx.nn.Linear(16, 32, key=keys[2]),
    }

    def one(model, tokens):
        x = jax.vmap(model["embed"])(tokens)
        y = jax.vmap(model["norm"])(x)
        x = x + model["attend"](y, y, y, mask=jnp.tril(jnp.ones((len(x), len(x)), bool)))
        return jax.vmap(model["out"])(x)

    def loss_of(model, batch):
        x = batch["x"]
        return cross_entropy(jax.vmap(one, (None, 0))(model, x[:, :-1]), x[:, 1:])

    return *equinox_step(model, optax.nadamw(3e-3), loss_of), tokens(9, 7, 32)


def haiku_lstm_rmsprop():
    """Haiku: an LSTM unrolled dynamically, layer norm, RMSProp with momentum."""

    def forward(x):
        core = hk.LSTM(20)
        outputs, _ = hk.dynamic_unroll(core, hk.Embed(24, 12)(x), core.initial_state(x.shape[0]), time_major=False)
        return hk.Linear(24)(hk.LayerNorm(-1, True, True)(outputs))

    model = hk.without_apply_rng(hk.transform(forward))
    optimizer, batches = optax.rmsprop(3e-3, momentum=0.9), tokens(9, 7, 24)
    params = model.init(jax.random.key(0), batches[0]["x"][:, :-1])

    def loss_of(params, batch):
        return cross_entropy(model.apply(params, batch["x"][:, :-1]), batch["x"][:, 1:])

    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def haiku_batchnorm_adam():
    """Haiku with state: dense layers with biases before batch norm, its moving averages, Adam."""

    def forward(x, is_training):
        for width in (24, 16):
            x = hk.Linear(width)(x)
            x = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(x, is_training))
        return hk.Linear(10)(x)

    model = hk.without_apply_rng(hk.transform_with_state(forward))
    optimizer, batches = optax.adam(3e-3), vectors(14, 20)
    params, averages = model.init(jax.random.key(0), batches[0]["x"], True)

    def step(state, batch):
        params, averages, opt = state

        def loss_of(params):
            logits, new = model.apply(params, averages, batch["x"], True)
            return cross_entropy(logits, batch["y"]), new

        (loss, averages), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        return (optax.apply_updates(params, updates), averages, opt), loss

    return step, (params, averages, optimizer.init(params)), batches


def jmp_f16_loss_scale():
    """Haiku computing in float16 by jmp, with its dynamic loss scale; steps with infinities are skipped."""
    policy = jmp.get_policy("params=float32,compute=float16,output=float32")
    model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([24, 10])(x)))
    optimizer, batches = optax.sgd(0.1, momentum=0.9), vectors(12, 20)
    params = model.init(jax.random.key(0), batches[0]["x"])

    def step(state, batch):
        params, opt, scale = state

        def loss_of(params):
            half, x = policy.cast_to_compute((params, batch["x"]))
            logits = policy.cast_to_output(model.apply(half, x))
            loss = cross_entropy(logits, batch["y"])
            return scale.scale(loss), loss

        gradient, loss = jax.grad(loss_of, has_aux=True)(params)
        gradient = scale.unscale(policy.cast_to_param(gradient))
        finite = jmp.all_finite(gradient)
        updates, new_opt = optimizer.update(gradient, opt, params)
        moved = (optax.apply_updates(params, updates), new_opt)
        params, opt = jmp.select_tree(finite, moved, (params, opt))
        return (params, opt, scale.adjust(finite)), {"loss": loss, "finite": finite}

    scale = jmp.DynamicLossScale(jnp.float32(2.0**20), period=2)
    return step, (params, optimizer.init(params), scale), batches


def ppo_categorical_adam():
    """PPO: advantages by a reverse scan, clipped ratios, an entropy bonus (distrax), Adam with clipping."""
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-3, eps=1e-5))
    params = {"w": matrix(6, 16), "b": np.zeros(16, np.float32), "policy": matrix(16, 4), "value": matrix(16, 1)}

    def advantages(reward, value, done):
        def body(carry, at):
            reward, value, following, done = at
            delta = reward + 0.99 * following * (1 - done) - value
            carry = delta + 0.99 * 0.95 * (1 - done) * carry
            return carry, carry

        following = jnp.concatenate([value[1:], value[-1:]])
        return jax.lax.scan(body, jnp.zeros(()), (reward, value, following, done), reverse=True)[1]

    def loss_of(params, batch):
        h = jnp.tanh(batch["seen"] @ params["w"] + params["b"])
        policy, value = distrax.Categorical(h @ params["policy"]), (h @ params["value"])[..., 0]
        kept = jax.lax.stop_gradient(value)
        gain = jax.vmap(advantages)(batch["reward"], kept, batch["done"])
        target = gain + kept
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = jnp.exp(policy.log_prob(batch["action"]) - batch["before"])
        actor = -jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain).mean()
        return actor + 0.5 * jnp.square(target - value).mean() - 0.01 * policy.entropy().mean()

    batches = [
        {"seen": matrix(9, 8, 6, scale=1.0), "action": rng.integers(0, 4, size=(9, 8)).astype(np.int32),
         "before": np.full((9, 8), np.log(0.25), np.float32), "reward": matrix(9, 8, scale=1.0),
         "done": (rng.random(size=(9, 8)) < 0.1).astype(np.float32)}
        for _ in range(4)
    ]  # fmt: skip
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def sac_gaussian_adam():
    """Soft actor-critic: a squashed normal policy (distrax), a temperature of its own, three optimizers."""
    optimizer = optax.adam(3e-3)
    params = {"policy": {"w": matrix(5, 16), "mean": matrix(16, 2), "spread": matrix(16, 2)},
              "critic": {"w": matrix(7, 16), "out": matrix(16, 1)}, "heat": np.float32(0.1)}  # fmt: skip

    def value(critic, seen, action):
        return (jax.nn.relu(jnp.concatenate([seen, action], -1) @ critic["w"]) @ critic["out"])[:, 0]

    def act(policy, seen, key):
        h = jax.nn.relu(seen @ policy["w"])
        scale = jnp.exp(jnp.clip(h @ policy["spread"], -5, 2))
        chance = distrax.Transformed(
            distrax.MultivariateNormalDiag(h @ policy["mean"], scale), distrax.Block(distrax.Tanh(), 1)
        )
        return chance.sample_and_log_prob(seed=key)

    def step(state, batch):
        params, target, opt, key = state
        key, first, second = jax.random.split(key, 3)
        action, chance = act(params["policy"], batch["then"], first)
        aim = batch["reward"] + 0.9 * (value(target, batch["then"], action) - params["heat"] * chance)

        def loss_of(params):
            critic = jnp.square(value(params["critic"], batch["seen"], batch["action"]) - aim).mean()
            action, chance = act(params["policy"], batch["seen"], second)
            frozen = jax.lax.stop_gradient(params["critic"])
            heat = jax.lax.stop_gradient(params["heat"])
            actor = (heat * chance - value(frozen, batch["seen"], action)).mean()
            return critic + actor + params["heat"] * jax.lax.stop_gradient(2.0 - chance).mean(), critic

        gradient, critic = jax.grad(loss_of, has_aux=True)(params)
        updates, opt = optimizer.update(gradient, opt, params)
        params = optax.apply_updates(params, updates)
        target = optax.incremental_update(params["critic"], target, 0.05)
        return (params, target, opt, key), critic

    batches = [
        {"seen": matrix(10, 5, scale=1.0), "then": matrix(10, 5, scale=1.0),
         "action": np.tanh(matrix(10, 2, scale=1.0)), "reward": matrix(10, scale=1.0)}
        for _ in range(4)
    ]  # fmt: skip
    state = (params, params["critic"], optimizer.init(params), jax.random.key(3))
    return step, state, batches


def flow_realnvp_adam():
    """Normalizing flow: masked couplings (distrax), the likelihood of data, Adam."""
    optimizer = optax.adam(2e-3)
    params = [{"w": matrix(6, 16), "out": matrix(16, 12, scale=0.05)} for _ in range(3)]

    def flow(params):
        layers = []
        for i, p in enumerate(params):
            def condition(x, p=p):
                return jnp.split(jnp.tanh(x @ p["w"]) @ p["out"], 2, axis=-1)

            layers.append(distrax.MaskedCoupling(
                mask=np.arange(6) % 2 == i % 2, conditioner=condition,
                bijector=lambda split: distrax.ScalarAffine(shift=split[0], log_scale=jnp.tanh(split[1]))))  # fmt: skip
        return distrax.Transformed(
            distrax.MultivariateNormalDiag(jnp.zeros(6), jnp.ones(6)), distrax.Inverse(distrax.Chain(layers))
        )

    def loss_of(params, batch):
        return -flow(params).log_prob(batch["x"]).mean()

    batches = [{"x": batch["x"]} for batch in vectors(13, 6)]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches


def neural_ode_adam():
    """Neural ODE: diffrax's Heun steps of fixed size, gradients through the solver, Adam."""
    optimizer = optax.adam(3e-3)
    params = {"w1": matrix(4, 12, scale=0.5), "w2": matrix(12, 4, scale=0.5)}

    def field(t, y, params):
        return jnp.tanh(y @ params["w1"]) @ params["w2"] - 0.1 * y

    def loss_of(params, batch):
        def solve(y):
            return diffrax.diffeqsolve(
                diffrax.ODETerm(field), diffrax.Heun(), 0.0, 1.0, 0.1, y, params, max_steps=16, throw=False,
                saveat=diffrax.SaveAt(t1=True),
            ).ys[-1]  # fmt: skip

        return jnp.mean(jnp.square(jax.vmap(solve)(batch["x"]) - batch["y"]))

    batches = [{"x": matrix(10, 4, scale=1.0), "y": matrix(10, 4, scale=1.0)} for _ in range(4)]
    return train_step(loss_of, optimizer), (params, optimizer.init(params)), batches
