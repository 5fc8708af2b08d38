"""``coll.jit``: a JAX training step on N ranks."""

from __future__ import annotations

import functools
import inspect
import math
import types
from typing import Any, Callable, Sequence

import numpy as np

from . import _executable, _report


class State:
    """The state that the ranks hold between the steps of :func:`coll.jit`.

    A step takes and returns it in place of the user's tree; ``value`` is that tree, as
    JAX arrays. A state that was given to a step is donated: only the newest one can be used.
    """

    def __init__(self, session, version):
        self._session = session
        self._version = version

    @property
    def value(self) -> Any:
        """The tree of JAX arrays, fetched from the ranks."""
        return self._session.fetch(self._version)

    def report(self) -> _report.Report:
        """The :class:`coll.Report` of the steps so far on these ranks."""
        return self._session.report()


class _Session:
    """The ranks that run one lowered step, whose state is at `version`."""

    def __init__(self, lowered, state, running):
        self.lowered = lowered
        self.version = 0
        leaves = _to_ranks(state, lowered.state_kinds)
        self._training = lowered.executable.start(leaves, **running)

    def check_newest(self, version):
        if version != self.version:
            raise ValueError("this state was donated to a later step: use the one that it returned")

    def fetch(self, version):
        import jax

        self.check_newest(version)
        leaves = _from_ranks(self._training.state(), self.lowered.state_kinds)
        return jax.tree.unflatten(self.lowered.state_tree, leaves)

    def report(self):
        return self._training.report()

    def step(self, batch):
        import jax

        lowered = self.lowered
        outputs = self._training.step(*_to_ranks(batch, lowered.batch_kinds))
        self.version += 1
        state = State(self, self.version)
        if not lowered.returns_tuple:
            return state
        leaves = _from_ranks(outputs, lowered.output_kinds)
        return (state, *jax.tree.unflatten(lowered.output_tree, leaves))


class _Kind:
    """How a leaf of JAX is converted on its way to the ranks and back."""

    def __init__(self, aval):
        import jax

        self.dtype = aval.dtype
        self.is_key = jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)
        self.key_impl = aval.dtype._impl.name if self.is_key else None


def _to_ranks(leaves, kinds):
    """Leaves of JAX as arrays of the types that the step was lowered for."""
    return [leaf if not kind.is_key and getattr(leaf, "dtype", None) == kind.dtype else _to_rank(leaf, kind)
            for leaf, kind in zip(leaves, kinds)]


def _to_rank(leaf, kind):
    import jax

    if kind.is_key:
        return np.asarray(jax.random.key_data(leaf))
    return np.asarray(leaf).astype(kind.dtype)  # a Python number, or one of another width


@functools.cache
def _identity():
    """Small arrays become JAX's by one call of a compiled function, at a tenth of what jax.numpy.asarray takes."""
    import jax

    return jax.jit(lambda *arrays: arrays)


_SMALL_BYTES = 1 << 16


def _from_ranks(arrays, kinds):
    """Arrays of coll as JAX's; their bits are those of the kinds, whose types may be unsigned."""
    import jax

    arrays = [array.view(np.uint32 if kind.is_key else kind.dtype) if array.dtype != kind.dtype else array
              for array, kind in zip(arrays, kinds)]
    if sum(array.nbytes for array in arrays) <= _SMALL_BYTES:
        found = _identity()(*arrays)
    else:
        found = [jax.numpy.asarray(array) for array in arrays]
    return [jax.random.wrap_key_data(array, impl=kind.key_impl) if kind.is_key else array
            for array, kind in zip(found, kinds)]


def jit(fun: Callable | None = None, *, mesh: dict[str, int] | str | None = None, ranks: int | None = None,
        strategy: str | None = None, shard: dict[str, str] | None = None, root: str | None = None,
        route: str | None = None, accumulate: int = 1, stages: int = 0, micro_batches: int = 1,
        schedule: str | None = None, stage: dict[str, int] | None = None,
        stage_mesh: dict[int, dict[str, int] | str] | None = None, staleness: int = 0,
        device: str | None = None, matmul_precision: str | None = None,
        static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None, backend: str | None = None,
        affinity: str | None = None, timeout: float | None = None,
        cache: str | None = None) -> Jitted | Callable[[Callable], Jitted]:
    """Runs a JAX training step on N ranks.

    ``fun(state, *batch)`` returns the new state, or a tuple that begins with it::

        @coll.jit(mesh={"dp": 4})
        def step(state, x, y):
            ...
            return new_state, loss

        for x, y in batches:
            state, loss = step(state, x, y)
        state = state.value                     # the tree of JAX arrays

    The state is given to the ranks at the first step and stays there: a step
    returns a :class:`coll.State`, which the next step takes. To start over, pass a tree instead.

    Args:
      fun: the step; without it a decorator is returned.
      mesh: {"dp": 4}; the product of the sizes is the number of ranks.
      ranks: the number of ranks, where no mesh is given.
      strategy, shard, root, route, accumulate, stages, micro_batches, schedule, stage,
        stage_mesh, staleness, device, matmul_precision: as for :func:`coll.compile`.
      static_argnums, static_argnames: as for ``jax.jit``; counted with the state as 0.
      backend, affinity, timeout: as for :meth:`coll.Executable.start`.
      cache: folder of compiled steps; None: each is compiled.

    Raises:
      coll.Error: the step was refused, with its Python line, or a rank failed.
    """
    if fun is None:
        return functools.partial(jit, mesh=mesh, ranks=ranks, strategy=strategy, shard=shard,
                                 root=root, route=route, accumulate=accumulate, stages=stages,
                                 micro_batches=micro_batches, schedule=schedule, stage=stage,
                                 stage_mesh=stage_mesh, staleness=staleness,
                                 device=device, matmul_precision=matmul_precision,
                                 static_argnums=static_argnums, static_argnames=static_argnames,
                                 backend=backend, affinity=affinity, timeout=timeout, cache=cache)
    if ranks is None:
        ranks = math.prod(mesh.values()) if isinstance(mesh, dict) else 0
    compiling = dict(mesh=mesh, ranks=ranks, strategy=strategy, shard=shard, root=root, route=route,
                     accumulate=accumulate, stages=stages, micro_batches=micro_batches,
                     schedule=schedule, stage=stage, stage_mesh=stage_mesh, staleness=staleness, device=device,
                     matmul_precision=matmul_precision, cache=cache)
    running = dict(backend=backend, affinity=affinity, timeout=timeout)
    return Jitted(fun, static_argnums, static_argnames, compiling, running)


class Jitted:
    """A step of :func:`coll.jit`."""

    def __init__(self, fun, static_argnums, static_argnames, compiling, running):
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._static = _positions(static_argnums)
        self._static_names = frozenset([static_argnames] if isinstance(static_argnames, str)
                                       else static_argnames or ())
        self._compiling, self._running = compiling, running
        self._lowered = {}  # key -> _Lowered

    def __call__(self, state, *batch, **static):
        session = self._session_of(state, batch, static)
        return session.step(_leaves(self._traced(batch)))

    def lower(self, state: Any, *batch: Any, **static: Any) -> _executable.Executable:
        """Compiles the step for these arguments without running it: a :class:`coll.Executable`."""
        state = state.value if isinstance(state, State) else state
        return self._lower(_signature(state), state, batch, static).executable

    def _session_of(self, state, batch, static):
        """The ranks that hold `state`. For batches of another shape: new ranks, to which the state moves."""
        if isinstance(state, State):
            session = state._session
            session.check_newest(state._version)
            if session.lowered.key == self._key(session.lowered.key[0], batch, static):
                return session
            state = state.value
        lowered = self._lower(_signature(state), state, batch, static)
        return _Session(lowered, _leaves(state), self._running)

    def _lower(self, state_key, state, batch, static):
        key = self._key(state_key, batch, static)
        if key not in self._lowered:
            if unknown := static.keys() - self._static_names:
                raise TypeError(f"{self._name} takes {', '.join(sorted(unknown))} by position; only "
                                "arguments of static_argnames may be given by name")
            self._lowered[key] = _Lowered(key, self._bind(batch, static), state,
                                          self._traced(batch), self._name, self._compiling)
        return self._lowered[key]

    def _traced(self, batch):
        """The arguments of the batch that are not static."""
        return [argument for i, argument in enumerate(batch, 1) if i not in self._static]

    def _bind(self, batch, static):
        """The step with its static arguments filled in: a function of the state and the others."""
        def bound(state, *traced):
            rest = iter(traced)
            arguments = (argument if i in self._static else next(rest)
                         for i, argument in enumerate(batch, 1))
            return self._fun(state, *arguments, **static)

        # JAX names the arguments by it.
        parameters = list(inspect.signature(self._fun).parameters.values())
        bound.__signature__ = inspect.Signature(
            [p for i, p in enumerate(parameters)
             if i not in self._static and p.name not in self._static_names])
        bound.__name__ = self._name
        return bound

    @property
    def _name(self):
        return getattr(self._fun, "__name__", "step")

    def _key(self, state_key, batch, static):
        arguments = tuple(argument if i in self._static else _signature(argument)
                          for i, argument in enumerate(batch, 1))
        return state_key, arguments, tuple(sorted(static.items()))


class _Leaves:
    """The leaves of a tree under the names that they have in it, as a node of JAX's trees.

    JAX rebuilds the trees of arguments and results around objects that are not arrays. Some classes
    of users do not accept these; this one does.
    """

    def __init__(self, leaves, names):
        self.leaves, self.names = leaves, names

    @classmethod
    def of(cls, tree):
        import jax

        _register_leaves()
        paths = jax.tree_util.tree_leaves_with_path(tree)
        return cls([leaf for _, leaf in paths],
                   tuple(jax.tree_util.keystr(path) for path, _ in paths))


@functools.cache
def _register_leaves():
    import jax

    jax.tree_util.register_pytree_with_keys(
        _Leaves, lambda node: (tuple(zip(node.names, node.leaves)), node.names),
        lambda names, leaves: _Leaves(list(leaves), names))


class _Lowered:
    """A step lowered for the types of its arguments, and compiled."""

    def __init__(self, key, fun, state, batch, name, compiling):
        import jax

        self.key = key
        self.state_tree = jax.tree.structure(state)
        traced, result_tree = _lower_on_leaves(fun, state, batch)
        (state_avals, *batch_avals), _ = traced.in_avals
        self.state_avals = jax.tree.leaves(state_avals)
        self.state_kinds = [_Kind(aval) for aval in self.state_avals]
        self.batch_kinds = [_Kind(aval) for aval in jax.tree.leaves(batch_avals)]
        self._take_results(name, result_tree, jax.tree.leaves(traced.out_info))
        text = traced.compiler_ir("stablehlo").operation.get_asm(
            binary=True, print_generic_op_form=True, enable_debug_info=True)
        self.executable = _executable.compile(text, name=name, state_args=len(self.state_avals),
                                              **compiling)

    def _take_results(self, name, tree, avals):
        import jax

        self.returns_tuple = tree != self.state_tree and tree.node_data() == (tuple, None)
        state, *outputs = tree.children() if self.returns_tuple else [tree]
        if state != self.state_tree:
            raise TypeError(f"{name} has to return its new state first, as the tree that it takes, "
                            f"{self.state_tree}; it returns {tree}")
        for old, new in zip(self.state_avals, avals):
            if (old.shape, old.dtype) != (new.shape, new.dtype):
                raise TypeError(f"{name} takes a state of {old.dtype}{list(old.shape)} and returns "
                                f"{new.dtype}{list(new.shape)} in its place; they have to agree")
        self.output_tree = jax.tree_util.treedef_tuple(outputs)
        self.output_kinds = [_Kind(aval) for aval in avals[len(self.state_avals):]]


def _lower_on_leaves(fun, state, batch):
    """The step lowered as a function of leaves, and the tree of what it returns."""
    import jax

    structures = [jax.tree.structure(argument) for argument in (state, *batch)]
    result_trees = []

    def on_leaves(*arguments):
        result = fun(*(structure.unflatten(argument.leaves)
                       for structure, argument in zip(structures, arguments)))
        result_trees.append(jax.tree.structure(result))
        return _Leaves.of(result)

    on_leaves.__signature__, on_leaves.__name__ = fun.__signature__, fun.__name__
    traced = jax.jit(on_leaves, keep_unused=True).lower(_Leaves.of(state), *map(_Leaves.of, batch))
    return traced, result_trees[-1]


def _positions(static_argnums):
    if static_argnums is None:
        return frozenset()
    return frozenset([static_argnums] if isinstance(static_argnums, int) else static_argnums)


def _leaves(tree):
    import jax

    return jax.tree.leaves(list(tree) if isinstance(tree, types.GeneratorType) else tree)


def _signature(tree):
    """What the compiled program depends on: structure, shapes and element types."""
    import jax

    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((np.shape(leaf), getattr(leaf, "dtype", type(leaf))) for leaf in leaves)
