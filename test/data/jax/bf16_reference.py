"""Makes gpt_tiny_bf16_adam/reference_f32_sums.npz, and shows how far JAX is from itself.

    python test/data/jax/bf16_reference.py

Needs jax. XLA's CPU compiler adds up bfloat16 values in bfloat16, rounding after every
addition, and leaves out the rounding of f32 -> bf16 -> f32 where it may. Both are allowed
and neither is what a program says that sums in f32 and rounds where it converts. This
script has XLA run the same step with bf16 sums formed in f32 and every conversion carried
out, and prints the distances between its variants: the step with a batch's rows in another
order has the same gradients but for rounding.
"""

import pathlib

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

STEP = pathlib.Path(__file__).parent / "gpt_tiny_bf16_adam"


def operations(op):
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from operations(inner.operation)


def widen_sums(module):
    """bf16 reductions (all of them sums) become f32 reductions, rounded once."""
    f32 = ir.F32Type.get()
    scalar = ir.RankedTensorType.get([], f32)
    for op in list(operations(module.operation)):
        if op.name != "stablehlo.reduce" or len(op.results) != 1:
            continue
        result = ir.RankedTensorType(op.results[0].type)
        if str(result.element_type) != "bf16":
            continue
        with ir.InsertionPoint(op), op.location:
            shape = ir.RankedTensorType(op.operands[0].type).shape
            values = stablehlo.convert(ir.RankedTensorType.get(shape, f32), op.operands[0])
            start = stablehlo.convert(scalar, op.operands[1])
            wide = stablehlo.ReduceOp(
                [ir.RankedTensorType.get(result.shape, f32)],
                [values],
                [start],
                op.attributes["dimensions"],
            )
            body = wide.body.blocks.append(scalar, scalar)
            with ir.InsertionPoint(body):
                stablehlo.return_([stablehlo.add(*body.arguments)])
            rounded = stablehlo.convert(result, wide.results[0])
        op.results[0].replace_all_uses_with(rounded)
        op.erase()


def run(data, f32_sums, all_conversions):
    """State and losses after all steps in `data`."""
    client = xla_bridge.get_backend("cpu")
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse((STEP / "step.mlir").read_text())
        if f32_sums:
            widen_sums(module)
        code = jax_mlir.module_to_bytecode(module)
    options = xla_client.CompileOptions()
    options.env_option_overrides = [("xla_allow_excess_precision", not all_conversions)]
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    program = client.compile_and_load(code, devices, options)
    state = [data[f"state_in_{i}"] for i in range(sum(n.startswith("state_in_") for n in data))]
    losses = []
    for k in range(len(data["losses"])):
        arguments = [jax.device_put(a) for a in [*state, data[f"batch_{k}_0"], data[f"batch_{k}_1"]]]
        results = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        *state, loss = [np.asarray(shards[0]) for shards in results]
        losses.append(float(loss))
    return state, losses


def reordered(data):
    """The same batches with their rows in another order."""
    order = np.random.default_rng(1).permutation(len(data["batch_0_0"]))
    return {n: a[order] if n.startswith("batch_") else a for n, a in data.items()}


def distance(got, want):
    """The worst tensor by the largest and by the root-mean-square difference."""
    largest = rms = 0.0
    for a, b in zip(got, want):
        delta, scale = np.abs(a.astype(np.float64) - b), np.abs(b).max()
        if scale:
            largest = max(largest, delta.max() / scale)
            rms = max(rms, np.sqrt(np.mean(delta**2)) / scale)
    return f"largest {largest:.1e}, root mean square {rms:.1e}"


def main():
    data = dict(np.load(STEP / "reference.npz"))
    stored = [data[f"state_out_{i}"] for i in range(sum(n.startswith("state_out_") for n in data))]
    usual, _ = run(data, False, False)
    other, _ = run(reordered(data), False, False)
    exact, losses = run(data, True, True)
    other_exact, _ = run(reordered(data), True, True)
    print("JAX", jax.__version__, "of each tensor's largest value, the worst tensor:")
    print("  reference.npz, made on another machine:", distance(usual, stored))
    print("  rows in another order:                 ", distance(other, usual))
    print("  sums in f32, conversions carried out:  ", distance(exact, usual))
    print("  both, rows in another order:           ", distance(other_exact, exact))
    arrays = {f"state_out_{i}": a for i, a in enumerate(exact)}
    np.savez_compressed(STEP / "reference_f32_sums.npz", losses=np.array(losses), **arrays)


if __name__ == "__main__":
    main()
