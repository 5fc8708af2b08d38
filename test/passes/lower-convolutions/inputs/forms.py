"""Writes forms.mlir: convolutions of many forms with both gradients, as JAX writes them.

    python forms.py > forms.mlir
"""

import sys

import jax
import jax.numpy as jnp

sys.path.insert(0, "examples")
from export_jax import lower  # noqa: E402

NHWC = ("NHWC", "HWIO", "NHWC")
# Shapes of x and of the filter, and the options of the convolution.
FORMS = {
    "plain": ((2, 8, 8, 4), (3, 3, 4, 6), {"padding": "SAME"}),
    "strided": ((2, 9, 9, 4), (3, 3, 4, 6), {"window_strides": (2, 2), "padding": [(1, 1), (1, 1)]}),
    "one_sided": ((2, 8, 8, 4), (3, 3, 4, 6), {"window_strides": (2, 2), "padding": "SAME"}),
    "points": ((2, 8, 8, 4), (1, 1, 4, 6), {"window_strides": (2, 2), "padding": "VALID"}),
    "dilated": ((2, 9, 9, 4), (3, 3, 4, 6), {"rhs_dilation": (2, 2), "padding": "SAME"}),
    "transposed": ((2, 5, 5, 4), (3, 3, 4, 6), {"lhs_dilation": (2, 2), "padding": [(2, 2), (2, 2)]}),
    "groups": ((2, 8, 8, 6), (3, 3, 3, 4), {"feature_group_count": 2, "padding": "SAME"}),
    "depthwise": ((2, 8, 8, 4), (3, 3, 1, 8), {"feature_group_count": 4, "padding": "SAME"}),
    "channels_first": ((2, 4, 8, 8), (6, 4, 3, 3), {"padding": "SAME", "dimension_numbers": ("NCHW", "OIHW", "NCHW")}),
    "line": ((2, 12, 4), (5, 4, 6), {"window_strides": (2,), "padding": [(2, 2)], "dimension_numbers": ("NWC", "WIO", "NWC")}),
    "space": ((1, 5, 6, 5, 3), (3, 3, 3, 3, 4), {"padding": "SAME", "dimension_numbers": ("NDHWC", "DHWIO", "NDHWC")}),
    "cut": ((2, 8, 8, 4), (3, 3, 4, 6), {"padding": [(-1, 1), (1, -1)]}),
}


def convolve(x, w, options):
    options = {"window_strides": (1,) * (x.ndim - 2), "dimension_numbers": NHWC} | options
    return jax.lax.conv_general_dilated(x, w, **options)


def step(state, batch):
    results = {}
    for name, (_, _, options) in FORMS.items():
        y, back = jax.vjp(lambda x, w: convolve(x, w, options), *batch[name])
        results[name] = (y, *back(jnp.sin(y)))
    return state, results


def main():
    jax.config.update("jax_default_matmul_precision", "highest")
    batch = {name: (jnp.zeros(x), jnp.zeros(w)) for name, (x, w, _) in FORMS.items()}
    sys.stdout.write(lower(step, (), batch))


if __name__ == "__main__":
    main()
