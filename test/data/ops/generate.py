"""Makes the tables of operations in this folder: each entry is one result of one step.

    python test/data/ops/generate.py [SET…]

Needs jax. A set is a folder with `step.mlir` and `reference.npz`; its step takes the batch
arguments `b` and gives, as new state, one tensor per (operation, element type), computed by
JAX. The old state is zeros that nothing reads. The leading extent of the batch is 7, which
neither 2 nor 3 ranks split evenly. An entry is named `operation/type`.
"""

import pathlib
import sys

import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "examples"))
from export_jax import lower  # noqa: E402

ROWS = 7
FLOATS = ["float32", "float64", "float16", "bfloat16"]
SMALL = ["float8_e4m3fn", "float8_e5m2"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]


def numbers(dtype, low, high, columns=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(low, high, size=(ROWS, columns)).astype(np.float64).astype(jnp.dtype(dtype))


def integers(dtype, columns=8, seed=0):
    rng, info = np.random.default_rng(seed), jnp.iinfo(dtype)
    values = rng.integers(int(info.min), int(info.max), (ROWS, columns), np.int64 if info.min else np.uint64, True)
    small = rng.integers(0 if info.min == 0 else -4, 5, (ROWS, columns))
    values = np.where(rng.random((ROWS, columns)) < 0.5, values, small.astype(values.dtype))
    values[0, :3] = [info.min, info.max, 0]
    return values.astype(jnp.dtype(dtype))


def specials(dtype):
    row = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5], np.float64)
    return np.broadcast_to(row, (ROWS, 8)).astype(jnp.dtype(dtype))


UNARY = {
    "abs": (lax.abs, -3, 3), "acos": (lax.acos, -1, 1), "acosh": (lax.acosh, 1, 9),
    "asin": (lax.asin, -1, 1), "asinh": (lax.asinh, -9, 9), "atan": (lax.atan, -9, 9),
    "atanh": (lax.atanh, -0.99, 0.99), "bessel_i0e": (lax.bessel_i0e, -12, 12),
    "bessel_i1e": (lax.bessel_i1e, -12, 12), "cbrt": (lax.cbrt, -9, 9), "ceil": (lax.ceil, -4, 4),
    "cos": (lax.cos, -9, 9), "cosh": (lax.cosh, -3, 3), "digamma": (lax.digamma, -3.9, 9),
    "erf": (lax.erf, -3, 3), "erf_inv": (lax.erf_inv, -0.999, 0.999), "erfc": (lax.erfc, -3, 3),
    "exp": (lax.exp, -4, 2), "exp2": (lax.exp2, -4, 2), "expm1": (lax.expm1, -4, 1),
    "floor": (lax.floor, -4, 4), "integer_pow": (lambda x: lax.integer_pow(x, -3), 0.5, 2),
    "is_finite": (lax.is_finite, -4, 4), "lgamma": (lax.lgamma, -3.9, 9), "log": (lax.log, 0.01, 9),
    "log1p": (lax.log1p, -0.9, 9), "logistic": (lax.logistic, -9, 9), "neg": (lax.neg, -3, 3),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 2), -9, 9),
    "round": (lax.round, -4, 4), "round_even": (lambda x: lax.round(x * 2, lax.RoundingMethod.TO_NEAREST_EVEN), -4, 4),
    "rsqrt": (lax.rsqrt, 0.1, 9), "sign": (lax.sign, -3, 3), "sin": (lax.sin, -9, 9),
    "sinh": (lax.sinh, -3, 3), "sqrt": (lax.sqrt, 0, 9), "square": (lax.square, -3, 3),
    "tan": (lax.tan, -1.5, 1.5), "tanh": (lax.tanh, -4, 4), "i0": (jax.scipy.special.i0, -3, 3),
    "gelu": (jax.nn.gelu, -4, 4), "softplus": (jax.nn.softplus, -9, 9), "mish": (jax.nn.mish, -4, 4),
    "nan_to_num": (lambda x: jnp.nan_to_num(x, posinf=3, neginf=-3), -3, 3),
}  # fmt: skip

BINARY = {
    "add": lax.add, "atan2": lax.atan2, "div": lax.div, "eq": lax.eq, "ge": lax.ge, "gt": lax.gt,
    "le": lax.le, "lt": lax.lt, "max": lax.max, "min": lax.min, "mul": lax.mul, "ne": lax.ne,
    "nextafter": lax.nextafter, "rem": lax.rem, "sub": lax.sub,
    "pow": lambda x, y: lax.pow(lax.abs(x), y), "clamp": lambda x, y: lax.clamp(lax.neg(y), x, y),
    "select": lambda x, y: lax.select(x > y, x, y), "floor_divide": jnp.floor_divide,
    "copysign": jnp.copysign, "hypot": jnp.hypot, "logaddexp": jnp.logaddexp,
}  # fmt: skip

INTEGER_UNARY = {
    "abs": jnp.abs, "clz": lax.clz, "popcnt": lax.population_count, "not": lax.bitwise_not, "sign": lax.sign,
    "neg": lax.neg, "power": lambda x: lax.integer_pow(x, 5),
}  # fmt: skip

INTEGER_BINARY = {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "rem": lax.rem, "max": lax.max,
    "min": lax.min, "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "eq": lax.eq,
    "ne": lax.ne, "lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge,
    "shift_left": lax.shift_left, "shift_right": lax.shift_right_logical,
    "shift_right_arithmetic": lax.shift_right_arithmetic, "clamp": lambda x, y: lax.clamp(y, x, lax.max(x, y)),
    "floor_divide": jnp.floor_divide, "mod": jnp.mod, "pow": jnp.power,
}  # fmt: skip


class Table:
    """Entries name -> (function, arguments)."""

    def __init__(self):
        self.entries = {}

    def add(self, name, function, *arguments):
        assert name not in self.entries, name
        self.entries[name] = (function, arguments)

    def write(self, directory):
        batch, names, index, known = [], list(self.entries), {}, {}
        for name, (_, arguments) in self.entries.items():
            index[name] = []
            for argument in arguments:
                key = (argument.tobytes(), argument.dtype, argument.shape)
                if key not in known:
                    known[key] = len(batch)
                    batch.append(argument)
                index[name].append(known[key])

        def step(state, batch):
            return {
                name: self.entries[name][0](*[batch[i] for i in index[name]]) for name in names
            }

        results = jax.jit(lambda batch: step(None, batch))(batch)
        results = {name: np.asarray(value) for name, value in results.items()}
        state = {name: np.zeros(value.shape, value.dtype) for name, value in results.items()}
        arrays = {f"state_in_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
        arrays |= {f"batch_0_{i}": leaf for i, leaf in enumerate(batch)}
        arrays |= {f"state_out_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(results))}
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "step.mlir").write_text(lower(step, state, batch))
        np.savez_compressed(directory / "reference.npz", **arrays)
        return len(names)


def floats(table, dtype):
    for name, (function, low, high) in UNARY.items():
        x = np.concatenate([numbers(dtype, low, high), specials(dtype)], axis=1)
        table.add(f"{name}/{dtype}", function, x)
    x = np.concatenate([numbers(dtype, -3, 3), specials(dtype), specials(dtype)], axis=1)
    y = np.concatenate([numbers(dtype, -3, 3, seed=1), specials(dtype), specials(dtype)[:, ::-1]], axis=1)
    for name, function in BINARY.items():
        table.add(f"{name}/{dtype}", function, x, y)


def all_integers(table):
    for dtype in SIGNED + UNSIGNED:
        x, y = integers(dtype), integers(dtype, seed=1)
        for name, function in INTEGER_UNARY.items():
            table.add(f"{name}/{dtype}", function, x)
        for name, function in INTEGER_BINARY.items():
            table.add(f"{name}/{dtype}", function, x, y)


def conversions(table):
    for source in FLOATS + SMALL + SIGNED + UNSIGNED + ["bool"]:
        if source == "bool":
            x = integers("int8") > 0
        elif source in FLOATS + SMALL:
            x = numbers(source, -200, 200)
            x[0] = specials(source)[0]
        else:
            x = integers(source)
        for target in FLOATS + SMALL + SIGNED + UNSIGNED + ["bool"]:
            if source != target:
                table.add(f"{source}/{target}", lambda x, t=target: lax.convert_element_type(x, t), x)


SETS = {
    "float32": lambda t: floats(t, "float32"),
    "float64": lambda t: floats(t, "float64"),
    "float16": lambda t: floats(t, "float16"),
    "bfloat16": lambda t: floats(t, "bfloat16"),
    "integers": all_integers,
    "conversions": conversions,
}


def main(wanted):
    jax.config.update("jax_default_matmul_precision", "highest")
    for name, fill in SETS.items():
        if wanted and name not in wanted:
            continue
        table = Table()
        fill(table)
        print(name, table.write(HERE / name))


if __name__ == "__main__":
    main(sys.argv[1:])
