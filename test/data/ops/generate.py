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
jax.config.update("jax_num_cpu_devices", 4)
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


def conv(lhs, rhs, numbers, **options):
    options = {"window_strides": (1, 1), "padding": "SAME"} | options
    return lax.conv_general_dilated(lhs, rhs, dimension_numbers=numbers, **options)


def windows(table):
    """Convolutions and reductions over windows."""
    x = numbers("float32", -1, 1, 6 * 6 * 4).reshape(ROWS, 6, 6, 4)
    k = numbers("float32", -1, 1, 100)[:5, :96].reshape(-1)
    nhwc = ("NHWC", "HWIO", "NHWC")
    for name, kernel, order, options in [
        ("same", (3, 3, 4, 5), nhwc, {}),
        ("strided", (3, 2, 4, 5), nhwc, {"window_strides": (2, 3), "padding": ((1, 2), (0, -1))}),
        ("dilated", (2, 3, 4, 5), nhwc, {"rhs_dilation": (2, 2)}),
        ("transposed", (3, 3, 4, 5), nhwc, {"lhs_dilation": (2, 3), "padding": ((2, 1), (1, 3))}),
        ("depthwise", (3, 3, 1, 8), nhwc, {"feature_group_count": 4}),
        ("grouped", (3, 3, 2, 6), nhwc, {"feature_group_count": 2}),
        ("nchw", (5, 6, 3, 3), ("NCHW", "OIHW", "NCHW"), {}),
        ("gradient", (6, 6, 7, 2), ("CHWN", "HWIO", "NHWC"), {"padding": ((1, 1), (1, 1))}),
        ("whcn", (3, 3, 4, 5), ("NWHC", "HWIO", "CWNH"), {}),
    ]:
        size = int(np.prod(kernel))
        weights = np.resize(k, size).reshape(kernel) * np.float32(0.5)
        table.add(f"convolution_{name}", lambda x, w, n=order, o=options: conv(x, w, n, **o), x, weights)
    batch = np.concatenate([x, x[:1]])
    table.add("convolution_batch_groups", lambda x, w: conv(x, w, nhwc, batch_group_count=2), batch,
              np.resize(k, 3 * 3 * 4 * 6).reshape(3, 3, 4, 6))
    table.add("convolution_1d", lambda x, w: lax.conv_general_dilated(
        x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")), x[:, 0], np.resize(k, 60).reshape(3, 4, 5))
    half, octet = x.astype(jnp.bfloat16), x.astype(jnp.float8_e4m3fn)
    table.add("convolution_bfloat16", lambda x: conv(x, x[:3, :3, 0, :1].reshape(3, 3, 1, 1).repeat(4, 2), nhwc), half)
    table.add("convolution_int32", lambda x, w: conv(x, w, nhwc, preferred_element_type=jnp.int32),
              integers("int8", 6 * 6 * 4).reshape(x.shape), np.resize(integers("int8"), 180).reshape(3, 3, 4, 5))
    table.add("dot_float8", lambda x: lax.dot_general(
        x, x, (((1, 2), (1, 2)), ((0,), (0,))), preferred_element_type=jnp.float32), octet)
    table.add("dot_batched", lambda x: jnp.einsum("bhwc,bhvc->hbwv", x, x), x)
    table.add("dot_uint8", lambda x: lax.dot_general(
        x, x, (((1,), (1,)), ((), ())), preferred_element_type=jnp.uint32), integers("uint8"))
    table.add("ragged_dot", lambda x, w, g: lax.ragged_dot(x, w, g), x[:, 0, 0], np.resize(k, 24).reshape(2, 4, 3),
              np.array([3, 4], np.int32))

    def window(init, body, **options):
        options = {"window_dimensions": (1, 3, 2, 1), "window_strides": (1, 2, 1, 1), "padding": "SAME"} | options
        return lambda x: lax.reduce_window(x, np.asarray(init, x.dtype), body, **options)

    table.add("window_add", window(0, lax.add), x)
    table.add("window_max", window(-np.inf, lax.max, base_dilation=(1, 2, 1, 1), window_dilation=(1, 1, 2, 1)), x)
    table.add("window_min_rows", window(np.inf, lax.min, window_dimensions=(3, 1, 1, 1), window_strides=(2, 1, 1, 1)), x)
    table.add("window_mul", window(1, lax.mul, padding=((0, 0), (1, 0), (0, 2), (0, 0))), x)
    table.add("window_body", window(0.0, lambda a, b: lax.select(lax.abs(b) > np.float32(0.3), a + b * b, a)), x)
    table.add("window_pair", lambda x: lax.reduce_window(
        (x, -x), (jnp.float32(-9), jnp.float32(9)), lambda a, b: (jnp.maximum(a[0], b[0]), jnp.minimum(a[1], b[1])),
        (1, 2, 2, 1), (1, 2, 2, 1), "VALID")[1], x)
    table.add("cumsum", lambda x: jnp.cumsum(x, 0), x)
    table.add("cumprod", lambda x: jnp.cumprod(x, 2), x)
    table.add("cummax", lambda x: lax.cummax(x, 1, reverse=True), x)
    table.add("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1), x)
    table.add("max_pool_gradient", jax.grad(lambda x: jnp.sum(jnp.sin(window(-np.inf, lax.max)(x)))), x)
    table.add("min_pool_gradient", jax.grad(lambda x: jnp.sum(jnp.sin(
        window(np.inf, lax.min, window_dimensions=(2, 2, 2, 1), padding="VALID")(x)))), x)
    table.add("avg_pool_gradient", jax.grad(lambda x: jnp.sum(jnp.sin(window(0, lax.add)(x)))), x)
    for axis in (0, 1):
        table.add(f"argmax_{axis}", lambda x, a=axis: jnp.argmax(x, a), x)
        table.add(f"argmin_{axis}", lambda x, a=axis: jnp.argmin(x, a), integers("uint8"))
    table.add("reduce_body", lambda x: lax.reduce(
        x, np.float32(0.25), lambda a, b: lax.select(b > np.float32(0), a + b, a * np.float32(0.5)), (1,)), x)
    table.add("reduce_variadic", lambda x: lax.reduce(
        (x, x * x), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0, 3))[1], x)
    table.add("reduce_and_or", lambda x: jnp.all(x > -0.9, axis=(1, 2)) | jnp.any(x > 0.99, axis=0)[0, :1], x)
    table.add("reduce_xor", lambda x: lax.reduce(x, np.int32(5), lax.bitwise_xor, (0,)), integers("int32"))
    table.add("reduce_umax", lambda x: jnp.max(x, axis=0), integers("uint32"))


def moves(table):
    """Sorting, indexed access, control flow, random bits, bits and shapes."""
    x, y = numbers("float32", -3, 3), numbers("float32", -3, 3, seed=1)
    s, i, u = specials("float32"), integers("int32"), integers("uint16")
    wide = np.concatenate([x, s], axis=1)
    few = (i % 5).astype(np.int32)
    for axis in (0, 1):
        table.add(f"sort_{axis}", lambda x, a=axis: jnp.sort(x, a), wide)
        table.add(f"argsort_{axis}", lambda x, a=axis: jnp.argsort(x, a, descending=True), few)
    table.add("sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1)[1], few, x)
    table.add("sort_keys", lambda k, v: lax.sort((k, v, v * 2), num_keys=2)[2], few, x)
    table.add("sort_uint16", jnp.sort, u)
    table.add("sort_bfloat16", lambda x: jnp.sort(x, stable=False), wide.astype(jnp.bfloat16))
    table.add("sort_bool", jnp.sort, x > 0)
    table.add("median", lambda x: jnp.median(x, axis=1), x)
    table.add("quantile", lambda x: jnp.quantile(x, 0.3, axis=0), x)
    table.add("top_k", lambda x: lax.top_k(x, 3)[0], x)
    table.add("top_k_index", lambda x: lax.top_k(x, 5)[1], few)
    table.add("top_k_uint16", lambda x: lax.top_k(x, 8)[1], u)
    table.add("top_k_gradient", jax.grad(lambda x: jnp.sum(jnp.sin(lax.top_k(x, 3)[0]))), x)
    table.add("searchsorted", lambda x, y: jnp.searchsorted(jnp.sort(x[0]), y[:, 0]), x, y)
    table.add("unique", lambda x: jnp.unique(x, size=9, fill_value=77), few)
    table.add("nonzero", lambda x: jnp.nonzero(x > 0, size=20, fill_value=-1)[1], x)
    table.add("bincount", lambda x: jnp.bincount(x.reshape(-1) + 5, length=12), few)
    table.add("permutation", lambda x, k: jax.random.permutation(k, x, axis=1), x, np.array([1, 2], np.uint32))

    def key(implementation, words):
        return lambda bits: jax.random.wrap_key_data(bits, impl=implementation), np.array(words, np.uint32)

    for implementation, words in [("threefry2x32", [7, 9]), ("rbg", [7, 9, 11, 13]), ("unsafe_rbg", [7, 9, 4, 2])]:
        wrap, bits = key(implementation, words)
        draws = {
            "uniform": lambda k: jax.random.uniform(k, (7, 5)), "normal": lambda k: jax.random.normal(k, (7, 3)),
            "bits8": lambda k: jax.random.bits(k, (7, 3), np.uint8), "randint": lambda k: jax.random.randint(k, (7, 6), -9, 9),
            "bits64": lambda k: jax.random.bits(k, (7,), np.uint64), "split": lambda k: jax.random.key_data(jax.random.split(k, 3)),
            "fold_in": lambda k: jax.random.uniform(jax.random.fold_in(k, 5), (7,), np.float64),
            "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (7, 9)), "gumbel": lambda k: jax.random.gumbel(k, (7, 2)),
        }  # fmt: skip
        for name, draw in draws.items():
            table.add(f"{name}/{implementation}", lambda b, d=draw, w=wrap: d(w(b)), bits)
    wrap, bits = key("threefry2x32", [3, 4])
    table.add("gamma", lambda b: jax.random.gamma(wrap(b), 1.7, (7,)), bits)
    table.add("poisson", lambda b: jax.random.poisson(wrap(b), 3.0, (7,)), bits)
    table.add("truncated_normal", lambda b: jax.random.truncated_normal(wrap(b), -1, 2, (7, 3)), bits)
    table.add("categorical", lambda b, x: jax.random.categorical(wrap(b), x), bits, x)
    for algorithm in ["THREE_FRY", "PHILOX", "DEFAULT"]:
        state = np.array([0x123456789ABCDEF0, 0xFFFFFFFFFFFFFFFE], np.uint64)
        kind = getattr(lax.RandomAlgorithm, f"RNG_{algorithm}")
        for shape, dtype in [((7, 5), "uint32"), ((4, 3), "uint32"), ((), "uint32"), ((7, 3), "uint64"), ((7, 2), "uint16")]:
            table.add(f"rng_{len(shape)}_{shape[-1:]}/{algorithm}/{dtype}", lambda s, n=shape, d=dtype, a=kind:
                      lax.rng_bit_generator(s, n, jnp.dtype(d), algorithm=a)[1], state)
        table.add(f"rng_state/{algorithm}", lambda s, a=kind:
                  lax.rng_bit_generator(s, (7, 5), jnp.uint32, algorithm=a)[0], state)

    rows = np.array([[1], [5], [5], [0], [9], [-2], [3]], np.int32)
    for name, method in {"set": "set", "add": "add", "multiply": "mul", "max": "max", "min": "min"}.items():
        if name != "set":  # the order of equal positions is not defined
            table.add(f"scatter_{name}", lambda x, y, i, m=method: getattr(x.at[i[:, 0]], m)(y), x, y, rows)
        table.add(f"scatter_columns_{name}", lambda x, y, m=method: getattr(x.at[:, jnp.array([2, 0, 6])], m)(y[:, :3]), x, y)
    table.add("scatter_apply", lambda x, i: x.at[i[:, 0] % 7].apply(jnp.sin), x, np.arange(7, dtype=np.int32)[:, None])
    table.add("scatter_dropped", lambda x, y: x.at[jnp.arange(7) * 2].add(y, mode="drop"), x, y)
    table.add("scatter_uint16", lambda u: u.at[jnp.array([0, 3])].max(u[:2]), u)
    table.add("scatter_bfloat16", lambda x, y: x.at[jnp.array([2, 2, 4])].add(y[:3]), x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))
    table.add("segment_max", lambda x, i: jax.ops.segment_max(x, jnp.abs(i[:, 0]), 10, indices_are_sorted=False), x, rows)
    table.add("gather_batched", lambda x, i: jnp.take_along_axis(x, jnp.abs(i) % 8, axis=1), x, few)
    table.add("gather_fill", lambda x, i: x.at[i[:, 0]].get(mode="fill", fill_value=3), x, rows)
    table.add("gather_windows", lambda x: jax.vmap(lambda r, j: lax.dynamic_slice(r, (j,), (3,)))(x, jnp.arange(7)), x)
    table.add("gather_gradient", jax.grad(lambda x: jnp.sum(jnp.cos(x[jnp.array([1, 1, 4])]))), x)
    table.add("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[3, 0], i[1, 0]), (3, 8)), x, rows)
    table.add("dynamic_slice_unsigned", lambda x, u: lax.dynamic_slice(x, (u[0, 0], u[1, 1]), (7, 2)), x, u)
    table.add("dynamic_update", lambda x, y, i: lax.dynamic_update_slice(x, y[:3, :2], (i[4, 0], i[5, 0])), x, y, rows)
    table.add("dynamic_column", lambda x, y, i: lax.dynamic_update_slice(x, y[:, :2], (np.int32(0), i[6, 0])), x, y, rows)
    table.add("pad_negative", lambda x: lax.pad(x, np.float32(2), ((-1, 2, 0), (1, -3, 2))), x)
    table.add("pad_columns", lambda x: lax.pad(x, np.float32(2), ((0, 0, 0), (2, -3, 1))), x)
    table.add("reverse", lambda x: lax.rev(x, (0, 1)), x)
    table.add("transpose", lambda x: (x @ x.T).T[::2], x)
    table.add("concatenate", lambda x, y: jnp.concatenate([x[:2], y, x[:0], x[3:]], 0), x, y)
    table.add("triangle", lambda x: jnp.tril(x, 1) - jnp.triu(x, -1), x)
    table.add("while", lambda x: lax.while_loop(lambda c: jnp.sum(c) < 90, lambda c: jnp.abs(c) * 1.5 + 0.1, x), x)
    table.add("fori", lambda x: lax.fori_loop(0, 5, lambda k, c: jnp.sin(c) + k * x, x), x)
    table.add("scan", lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c), jnp.zeros(8), x)[1], x)
    table.add("switch", lambda x, i: lax.switch(i[0, 0], [jnp.sin, jnp.cos, lambda v: v * 2], x), x, rows)
    table.add("switch_beyond", lambda x, i: lax.switch(i[4, 0], [jnp.sin, jnp.cos, lambda v: v * 2], x), x, rows)
    table.add("cond", lambda x: lax.cond(x[0, 0] > 0, lambda v: v[::-1] + 1, lambda v: v - 1, x), x)
    table.add("remat", jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x))), x)
    table.add("custom_jvp", jax.grad(lambda x: jnp.sum(jax.nn.relu(x) * jax.nn.silu(x))), x)
    table.add("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x, axis=0), x)
    table.add("igamma", jax.scipy.special.gammainc, np.abs(x) + 0.5, np.abs(y) + 0.1)
    table.add("betainc", lambda x, y: jax.scipy.special.betainc(x, y, x / 5), np.abs(x) + 0.5, np.abs(y) + 0.1)
    table.add("zeta", jax.scipy.special.zeta, np.abs(x) + 1.5, np.abs(y) + 0.2)
    table.add("polygamma", lambda x: jax.scipy.special.polygamma(2, x), np.abs(x) + 0.5)
    table.add("polygamma64", lambda x: jax.scipy.special.polygamma(3, x), (np.abs(x) + 0.5).astype(np.float64))
    for source, target in [("float32", "uint32"), ("float32", "int16"), ("uint16", "bfloat16"), ("int64", "float32"),
                           ("float64", "uint8"), ("float8_e5m2", "int8")]:
        bits = integers(source) if "int" in source else numbers(source, -9, 9)
        table.add(f"bitcast/{source}/{target}", lambda x, t=target: lax.bitcast_convert_type(x, t), bits)
    table.add("bitcast_join", lambda x: lax.bitcast_convert_type(x.reshape(7, 4, 2), jnp.int32), u)


def write_sharded(directory, shardy):
    """A step of data and tensor parallelism whose shardings stand in the text."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_use_shardy_partitioner", shardy)
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
    spread = lambda *axes: NamedSharding(mesh, PartitionSpec(*axes))  # noqa: E731
    rng = np.random.default_rng(3)
    state = {
        "w1": rng.normal(size=(6, 10)).astype(np.float32),
        "w2": rng.normal(size=(10, 3)).astype(np.float32),
    }
    batches = [{"x": rng.normal(size=(10, 6)).astype(np.float32)} for _ in range(2)]
    shardings = {"w1": spread(None, "model"), "w2": spread("model")}

    def step(s, b):
        def loss_of(s):
            hidden = lax.with_sharding_constraint(jnp.tanh(b["x"] @ s["w1"]), spread("data", "model"))
            return jnp.mean((hidden @ s["w2"]) ** 2)

        loss, gradient = jax.value_and_grad(loss_of)(s)
        return jax.tree.map(lambda p, g: p - 0.3 * g, s, gradient), loss

    def jit(function):
        return jax.jit(
            function, in_shardings=(shardings, {"x": spread("data")}), out_shardings=(shardings, None), keep_unused=True
        )

    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    text = jit(step).lower(state, batches[0]).compiler_ir("stablehlo").operation.get_asm(
        print_generic_op_form=True, enable_debug_info=True)
    arrays = {f"state_in_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(state))}
    losses, current = [], state
    for k, batch in enumerate(batches):
        arrays[f"batch_{k}_0"] = batch["x"]
        current, loss = jax.jit(step)(current, batch)
        losses.append(float(loss))
    arrays |= {f"state_out_{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(current))}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "step.mlir").write_text(text)
    np.savez_compressed(directory / "reference.npz", losses=np.array(losses), **arrays)


SETS = {
    "float32": lambda t: floats(t, "float32"),
    "float64": lambda t: floats(t, "float64"),
    "float16": lambda t: floats(t, "float16"),
    "bfloat16": lambda t: floats(t, "bfloat16"),
    "integers": all_integers,
    "conversions": conversions,
    "windows": windows,
    "moves": moves,
}


def main(wanted):
    jax.config.update("jax_default_matmul_precision", "highest")
    for name, fill in SETS.items():
        if wanted and name not in wanted:
            continue
        table = Table()
        fill(table)
        print(name, table.write(HERE / name))
    for name, shardy in {"sharded_shardy": True, "sharded_devices": False}.items():
        if not wanted or name in wanted:
            write_sharded(HERE / name, shardy)
            print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
