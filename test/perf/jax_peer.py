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

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16",
          "i8": "int8", "i32": "int32", "i64": "int64", "ui32": "uint32", "i1": "bool"}


class Step:
    """The module's @main, callable from jitted code."""

    def __init__(self, text):
        from jax.extend.core import Primitive
        from jax.interpreters import mlir
        from jax._src.interpreters.mlir import make_ir_context
        from jaxlib.mlir import ir

        self.text = text
        with make_ir_context() as context, ir.Location.unknown():
            signature = self._signature(context)[1]
            self.inputs = [self._aval(t) for t in signature.inputs]
            self.results = [self._aval(t) for t in signature.results]
        self.primitive = Primitive("coll_step")
        self.primitive.multiple_results = True
        self.primitive.def_abstract_eval(lambda *_: self.results)
        mlir.register_lowering(self.primitive, self._lower)

    def _signature(self, context):
        from jaxlib.mlir import ir
        module = ir.Module.parse(self.text, context)
        main = next(op for op in module.body.operations
                    if ir.StringAttr(op.attributes["sym_name"]).value == "main")
        return module, ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)

    def _aval(self, value_type):
        import jax
        from jaxlib.mlir import ir
        tensor = ir.RankedTensorType(value_type)
        name = DTYPES[str(tensor.element_type)]
        return jax.core.ShapedArray(tuple(tensor.shape), jax.numpy.dtype(name))

    def _lower(self, ctx, *operands):
        from jax._src.interpreters.mlir import merge_mlir_modules
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import func
        module, signature = self._signature(ctx.module_context.context)
        name = merge_mlir_modules(ctx.module_context.module, "coll_step", module)
        return func.CallOp(list(signature.results), ir.FlatSymbolRefAttr.get(name), operands).results

    def __call__(self, state, batch):
        return self.primitive.bind(*state, *batch)


def arguments(folder, meta, step):
    """State and first batch, zeros where the folder has no reference data."""
    import numpy
    count = meta["state_args"]
    if not (folder / "reference.npz").exists():
        values = [numpy.zeros(a.shape, a.dtype) for a in step.inputs]
        return values[:count], values[count:]
    data = numpy.load(folder / "reference.npz")
    return ([data[f"state_in_{i}"] for i in range(count)],
            [data[f"batch_0_{j}"] for j in range(meta["batch_args"])])


def measure(folder, devices, steps):
    import jax
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    meta = json.loads((folder / "meta.json").read_text())
    mesh = Mesh(numpy.array(jax.devices()[:devices]), ("dp",))
    whole, split = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("dp"))
    begin = time.perf_counter()
    step = Step((folder / "step.mlir").read_text())
    state, batch = arguments(folder, meta, step)
    state = [jax.device_put(x, whole) for x in state]
    batch = [jax.device_put(x, split) for x in batch]
    compiled = jax.jit(step, donate_argnums=0).lower(state, batch).compile()
    state = jax.block_until_ready(compiled(state, batch))[:len(state)]
    first_step_s = time.perf_counter() - begin
    warm_up = min(5, steps)
    for count in range(warm_up + steps):
        if count == warm_up:
            begin = time.perf_counter()
        # Each step's results are waited for, as coll-run does.
        state = jax.block_until_ready(compiled(state, batch))[:len(state)]
    seconds = time.perf_counter() - begin
    return {"ms_per_step": 1e3 * seconds / steps if steps else None,
            "first_step_s": first_step_s, "version": f"jax {jax.__version__}"}


if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={sys.argv[2]}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    print(json.dumps(measure(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
