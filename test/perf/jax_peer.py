"""Times a JAX-exported step in JAX itself; prints one JSON object.

  python jax_peer.py STEP_FOLDER DEVICES STEPS

The exported StableHLO is called from a jitted function, so that XLA sees the very
program that coll-run gets. State is donated; with several devices (XLA's host
devices, threads of one process) the batch is split along dimension 0, state is
replicated, and XLA inserts the all-reduces.
"""

import json
import os
import pathlib
import sys
import time


def step_primitive(text):
    """A JAX primitive that calls @main of the StableHLO module `text`."""
    from jax.extend.core import Primitive
    from jax.interpreters import mlir
    from jax._src.interpreters.mlir import make_ir_context, merge_mlir_modules
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    def main_results(context):
        module = ir.Module.parse(text, context)
        main = next(op for op in module.body.operations
                    if ir.StringAttr(op.attributes["sym_name"]).value == "main")
        signature = ir.TypeAttr(main.attributes["function_type"]).value
        return module, list(ir.FunctionType(signature).results)

    primitive = Primitive("coll_step")
    primitive.multiple_results = True

    @primitive.def_abstract_eval
    def results(*_):
        import jax
        names = {"f32": "float32", "i32": "int32", "bf16": "bfloat16", "i1": "bool",
                 "ui32": "uint32"}
        with make_ir_context() as context, ir.Location.unknown():
            types = [ir.RankedTensorType(t) for t in main_results(context)[1]]
            return [jax.core.ShapedArray(tuple(t.shape), jax.numpy.dtype(names[str(t.element_type)]))
                    for t in types]

    def lower(ctx, *operands):
        module, types = main_results(ctx.module_context.context)
        name = merge_mlir_modules(ctx.module_context.module, "coll_step", module)
        return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands).results

    mlir.register_lowering(primitive, lower)
    return primitive


def measure(folder, devices, steps):
    import jax
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    meta = json.loads((folder / "meta.json").read_text())
    data = numpy.load(folder / "reference.npz")
    mesh = Mesh(numpy.array(jax.devices()[:devices]), ("dp",))
    whole, split = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("dp"))
    count = meta["state_args"]
    state = [jax.device_put(data[f"state_in_{i}"], whole) for i in range(count)]
    batch = [jax.device_put(data[f"batch_0_{j}"], split) for j in range(meta["batch_args"])]
    primitive = step_primitive((folder / "step.mlir").read_text())
    begin = time.perf_counter()
    step = jax.jit(lambda s, b: primitive.bind(*s, *b), donate_argnums=0).lower(state, batch).compile()
    compile_s = time.perf_counter() - begin
    times = []
    for _ in range(steps + 5):
        begin = time.perf_counter()
        results = jax.block_until_ready(step(state, batch))
        times.append(time.perf_counter() - begin)
        state = results[:count]
    times = sorted(times[5:])  # the first five warm up
    return {"ms_per_step": 1e3 * times[len(times) // 2], "compile_s": compile_s,
            "version": f"jax {jax.__version__}"}


if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={sys.argv[2]}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    print(json.dumps(measure(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
