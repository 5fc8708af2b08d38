"""Trains a small model with each optimizer of optax, its parameters updated at roots, and prints as a table what
was formed, what was left out and why, and how far the results are from JAX's.

    optimizer_table.py [--only=NAME,…] [--root=balanced] [--route=ring] [--ranks=4] [--compare=FILE.md]

Needs jax and optax. Exits with 1 if a result is not JAX's. With --compare, the table has to be in that file,
except for differences.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from checked_run import COLL_RUN
from export_jax import export

STEPS = 3
FORMED = re.compile(r"remark: root=\w+: (\d+) parameters")
LEFT_OUT = re.compile(r"remark: (updates state argument|keeps no root|needs the whole gradient)(.*)")


def optimizers():
    import optax
    import optax.contrib as contrib

    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 10)
    rate = 1e-2
    return {
        "adabelief": optax.adabelief(rate),
        "adadelta": optax.adadelta(rate),
        "adafactor": optax.adafactor(rate, min_dim_size_to_factor=8),
        "adagrad": optax.adagrad(rate),
        "adam": optax.adam(rate),
        "adamax": optax.adamax(rate),
        "adamaxw": optax.adamaxw(rate),
        "adamw": optax.adamw(rate),
        "adamw, clipped, schedule": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule)),
        "adan": optax.adan(rate),
        "ademamix": contrib.ademamix(rate),
        "adopt": contrib.adopt(rate),
        "amsgrad": optax.amsgrad(rate),
        "apply_if_finite": optax.apply_if_finite(optax.adam(rate), 3),
        "dowg": contrib.dowg(),
        "fromage": optax.fromage(rate),
        "lamb": optax.lamb(rate),
        "lars": optax.lars(rate),
        "lion": optax.lion(1e-3),
        "madgrad": contrib.madgrad(rate),
        "MultiSteps": optax.MultiSteps(optax.adam(rate), 2).gradient_transformation(),
        "muon": contrib.muon(rate),
        "nadam": optax.nadam(rate),
        "nadamw": optax.nadamw(rate),
        "noisy_sgd": optax.noisy_sgd(rate, seed=1),
        "novograd": optax.novograd(rate),
        "optimistic_gradient_descent": optax.optimistic_gradient_descent(rate),
        "prodigy": contrib.prodigy(1.0),
        "radam": optax.radam(rate),
        "rmsprop": optax.rmsprop(rate),
        "rmsprop, momentum, centered": optax.rmsprop(rate, centered=True, momentum=0.9),
        "rprop": optax.rprop(rate),
        "schedule_free_adamw": contrib.schedule_free_adamw(rate, warmup_steps=2),
        "schedule_free_sgd": contrib.schedule_free_sgd(rate, warmup_steps=2),
        "sgd": optax.sgd(rate),
        "sgd, momentum": optax.sgd(rate, momentum=0.9),
        "sgd, nesterov": optax.sgd(rate, momentum=0.9, nesterov=True),
        "sign_sgd": optax.sign_sgd(1e-3),
        "sm3": optax.sm3(rate),
        "yogi": optax.yogi(rate),
    }


def make_step(optimizer):
    """Two layers with tanh; the target is a smooth function, so that no gradient is zero."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    rng = np.random.default_rng(5)

    def normal(*shape):
        return (rng.normal(size=shape) * 0.4).astype(np.float32)

    params = {"w1": normal(10, 16), "b1": normal(16), "w2": normal(16, 12), "b2": normal(12)}
    batches = []
    for _ in range(STEPS):
        x = normal(24, 10)
        batches.append({"x": x, "y": np.sin(x @ normal(10, 12))})

    def step(state, batch):
        params, opt = state

        def loss_of(p):
            hidden = jnp.tanh(batch["x"] @ p["w1"] + p["b1"])
            return jnp.mean((hidden @ p["w2"] + p["b2"] - batch["y"]) ** 2)

        loss, gradients = jax.value_and_grad(loss_of)(params)
        updates, opt = optimizer.update(gradients, opt, params)
        return (optax.apply_updates(params, updates), opt), loss

    params = jax.tree.map(jnp.asarray, params)
    return step, (params, optimizer.init(params)), batches


def measure(name, optimizer, options):
    """The cells of a row, and whether the results are JAX's."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        step, state, batches = make_step(optimizer)
        export(folder, name, step, state, batches)
        count = len(__import__("jax").tree.leaves(state))
        done = subprocess.run(
            [*COLL_RUN, folder / "step.mlir", f"--state-args={count}", f"--data={folder / 'reference.npz'}",
             f"--reference={folder / 'reference.npz'}", f"--ranks={options.ranks}", f"--root={options.root}",
             f"--route={options.route}"],
            check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    formed = sum(int(found) for found in FORMED.findall(done.stderr))
    reasons = sorted({re.sub(r" argument \d+", "", "".join(found)) for found in LEFT_OUT.findall(done.stderr)})
    worst = re.findall(r"(\d\.\d+e[+-]\d+)  (?:ok|FAIL)", done.stdout)
    outcome = max(map(float, worst), default=0.0)
    if done.returncode:
        reasons.append("FAILED: " + (done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
    return f"{formed}", "; ".join(reasons) or "–", f"{outcome:.1e}", done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--root", default="balanced")
    parser.add_argument("--route", default="ring")
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    import jax

    jax.config.update("jax_default_matmul_precision", "highest")
    rows, wrong = [], []
    print("| optimizer | updates at roots | left out, and why | largest difference to JAX |\n|---|---|---|---|")
    for name, optimizer in optimizers().items():
        if options.only and name not in options.only:
            continue
        *cells, is_right = measure(name, optimizer, options)
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
        if not is_right:
            wrong.append(rows[-1])
    if options.compare:
        known = {line.rsplit("|", 2)[0] for line in options.compare.read_text().splitlines() if line.startswith("|")}
        wrong += [f"not in {options.compare}: {row}" for row in rows if row.rsplit("|", 2)[0] not in known]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
