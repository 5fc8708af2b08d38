"""Tensors of other processes, read and written one-sided, and changes of sharding; in host memory."""

from __future__ import annotations

import numpy as np

from . import _coll
from ._arrays import CODES, NAMES, from_output, named_dtype, to_input
from ._executable import mesh_text


def _code(dtype):
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    if name not in CODES:
        raise TypeError(f"coll has no element type {name}")
    return name, CODES[name]


class TensorOwner:
    """Lets other processes read and write arrays of this process, which takes no part in it.

    ::

        owner = coll.TensorOwner()
        weights = owner.allocate((1024, 1024))      # a NumPy array
        handle = owner.publish(weights)             # bytes, which reach the other process by any means
        coll.RemoteTensor(handle).read()            # there

    A handle carries keys that cannot be guessed: every process that has it may read and write the
    array. Accesses are not ordered with those of the owner: the program has to do that.
    """

    def __init__(self, name: str = "owner", *, transport: str | None = None, interface: str | None = None,
                 secret: str | None = None, timeout: float | None = None):
        """Starts a thread that answers other processes.

        Args:
          name: for messages.
          transport: "tcp" or "verbs", for access from other machines; then `secret`, the same on both sides.
            None: only processes of this machine.
          interface: the network interface of the transport.
          timeout: the longest wait, in seconds; a minute by default.
        """
        self._owner = _coll.Owner(name, transport, interface, secret, int((timeout or 0) * 1e6))

    def allocate(self, shape: tuple, dtype="float32") -> np.ndarray:
        """Allocates zeros in memory that other processes of this machine can map."""
        name, code = _code(dtype)
        return from_output(self._owner.allocate(list(shape), code), named_dtype(name))

    def publish(self, array) -> bytes:
        """Publishes an array and returns its handle. Without a transport the array has to come from `allocate`."""
        return self._owner.publish(to_input(array))

    def withdraw(self, handle: bytes) -> None:
        """Withdraws the array: no access begins afterwards."""
        self._owner.withdraw(handle)


class RemoteTensor:
    """An array of another process, by the handle that its :class:`TensorOwner` has made."""

    def __init__(self, handle: bytes, *, transport: str | None = None, interface: str | None = None,
                 secret: str | None = None, timeout: float | None = None):
        """Opens it; options as of the owner. The first access connects."""
        self._remote = _coll.Remote(handle, transport, interface, secret, int((timeout or 0) * 1e6))
        shape, code = self._remote.describe()
        self.shape, self.dtype = tuple(shape), named_dtype(NAMES[code])

    def read(self, index=...) -> np.ndarray:
        """A copy of the array, or of a part: ``tensor.read((slice(0, 4), 2))``."""
        begin, extent, shape = self._part(index)
        return from_output(self._remote.read(begin, extent), self.dtype).reshape(shape)

    def write(self, array, index=...) -> None:
        """Writes the array, or a part of it."""
        begin, extent, shape = self._part(index)
        array = np.asarray(array, self.dtype)
        if array.shape != shape:
            raise ValueError(f"the part has shape {shape}, the array {array.shape}")
        self._remote.write(to_input(np.ascontiguousarray(array).reshape(extent)), begin)

    def _part(self, index):
        """Begin and extent in each dimension, and the shape that NumPy gives the part."""
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            at = index.index(Ellipsis)
            rest = len(self.shape) - len(index) + 1
            index = (*index[:at], *[slice(None)] * rest, *index[at + 1:])
        index += (slice(None),) * (len(self.shape) - len(index))
        if len(index) > len(self.shape):
            raise IndexError(f"the tensor has {len(self.shape)} dimensions, the index {len(index)}")
        begin, extent, shape = [], [], []
        for which, size in zip(index, self.shape):
            if isinstance(which, slice):
                first, last, step = which.indices(size)
                if step != 1:
                    raise IndexError("a slice of a remote tensor must have step 1")
                shape.append(max(last - first, 0))
            else:
                first = which + size if which < 0 else which
                if not 0 <= first < size:
                    raise IndexError(f"index {which} is outside of {size} elements")
                last = first + 1
            begin.append(first)
            extent.append(max(last - first, 0))
        return begin, extent, tuple(shape)


class Reshard:
    """The cheapest moves from one sharding of an array to another; made by :func:`coll.plan_reshard`."""

    def __init__(self, shape, dtype, source, target):
        name, code = _code(dtype)
        self._dtype = named_dtype(name)
        self._reshard = _coll.Reshard(list(shape), code, source, target)
        for field, value in self._reshard.describe().items():
            setattr(self, field, value)

    def run(self, blocks) -> list:
        """Moves the blocks of all ranks, which are in this process: a list of arrays, one a rank."""
        outputs = self._reshard.run([to_input(block) for block in blocks])
        return [from_output(output, self._dtype) for output in outputs]

    def __repr__(self):
        return (f"Reshard from {self.num_sources} to {self.num_targets} ranks: {self.num_transfers} transfers, "
                f"{self.bytes} bytes (any plan: {self.least_bytes} or more)")


def plan_reshard(shape: tuple, dtype, source: tuple, target: tuple) -> Reshard:
    """Plans a change of sharding.

    ::

        plan = coll.plan_reshard((8, 6), "float32", ({"dp": 4}, "[dp, -]"), ({"tp": 2}, "[-, tp]"))
        plan.bytes, plan.least_bytes            # bytes sent; the least that any plan sends
        columns = plan.run(rows)                # lists of blocks, one a rank

    Args:
      source, target: a mesh and a sharding: of each dimension the axes that split it, as "dp+tp", or "-".
        Rank r of both meshes is the same device. A block is padded at its end where the extent does not
        divide.
    """
    return Reshard(shape, dtype, *((mesh_text(mesh), sharding) for mesh, sharding in (source, target)))
