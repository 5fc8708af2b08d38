"""A step on arrays of PyTorch: they go to the ranks and come back by DLPack, without a copy.

    python examples/08_torch.py        # needs the package coll (pip install .) and torch
"""

import json
import pathlib

import numpy as np
import torch

import coll

STEP = pathlib.Path(__file__).resolve().parents[1] / "test/data/jax/mlp_digits_momentum"


def main():
    meta = json.loads((STEP / "meta.json").read_text())
    with np.load(STEP / "reference.npz") as reference:
        arrays = {name: torch.from_numpy(reference[name]) for name in reference.files}
    state = [arrays[f"state_in_{i}"] for i in range(meta["state_args"])]

    executable = coll.compile((STEP / "step.mlir").read_text(), ranks=4,
                              state_args=meta["state_args"])
    print(executable.collectives)
    training = executable.start(state)
    for k, expected in enumerate(meta["losses"]):
        batch = [arrays[f"batch_{k}_{j}"] for j in range(meta["batch_args"])]
        (loss,) = map(torch.from_dlpack, training.step(*batch))
        print(f"step {k + 1}: loss {loss:.6f}, by JAX {expected:.6f}")
        torch.testing.assert_close(float(loss), expected, rtol=1e-4, atol=1e-5)

    # The tensor shares the memory of the array that comes back.
    returned = training.state()
    weights = [torch.from_dlpack(array) for array in returned]
    assert all(w.data_ptr() == a.ctypes.data for w, a in zip(weights, returned))
    for name, weight, i in zip(meta["state_names"], weights, range(len(weights))):
        torch.testing.assert_close(weight, arrays[f"state_out_{i}"], rtol=1e-4, atol=1e-5)
        print(f"{name}: {tuple(weight.shape)}, norm {weight.norm():.4f}")


if __name__ == "__main__":
    main()
