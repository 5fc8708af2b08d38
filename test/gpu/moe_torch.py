#!/usr/bin/env python3
"""coll.moe with PyTorch: a layer of experts on several ranks gives what one rank computes.

Run by torchrun, one process per GPU, with the folder of libcoll-moe.so in COLL_LIB. Rank 0 prints a
line per mode; exit code 1 where a value is wrong.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "embed" / "python" / "coll"))
import moe as coll_moe  # noqa: E402

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

TOKENS, HIDDEN, TOPK, EXPERTS_PER_RANK = 200, 2048, 4, 8


class Layer:
    """Tokens of one rank, and what the experts do: each multiplies by a vector of its own."""

    def __init__(self, rank, ranks, device):
        self.rank, self.ranks, self.experts = rank, ranks, ranks * EXPERTS_PER_RANK
        shared, own = (torch.Generator().manual_seed(seed) for seed in (5, 100 + rank))
        self.factors = (0.5 + torch.rand(self.experts, HIDDEN, generator=shared)).to(device)
        self.x = torch.randn(TOKENS, HIDDEN, generator=own).to(device, torch.bfloat16)
        scores = torch.rand(TOKENS, self.experts, generator=own).to(device)
        weights, self.topk = scores.topk(TOPK)
        self.weights = (weights / weights.sum(1, keepdim=True)).contiguous()

    def expected(self):
        mixed = (self.weights.unsqueeze(2) * self.factors[self.topk]).sum(1)
        return self.x.float() * mixed


def normal(buffer, layer):
    device, stream = layer.x.device, torch.cuda.current_stream().cuda_stream
    layout = (torch.empty(layer.ranks, dtype=torch.int32, device=device), None,
              torch.empty(layer.experts, dtype=torch.int32, device=device),
              torch.empty(TOKENS, layer.ranks, dtype=torch.uint8, device=device))
    buffer.dispatch_layout(layer.topk, layout, layer.experts, stream=stream)
    memory = torch.empty(coll_moe.handle_bytes(TOKENS, layer.ranks, 16), dtype=torch.uint8, device=device)
    received = buffer.dispatch(layer.x, layer.topk, layout, memory, layer.experts,
                               topk_weights=layer.weights, num_sms=16, stream=stream)
    rows, places, weights = (torch.from_dlpack(part) for part in
                             (received.x, received.topk_idx, received.topk_weights))
    # Places of other ranks' experts are -1.
    here = (weights * (places >= 0)).unsqueeze(2)
    factors = layer.factors[layer.rank * EXPERTS_PER_RANK:][places.clamp(min=0)]
    y = (rows.float() * (here * factors).sum(1)).to(torch.bfloat16)
    out = torch.empty_like(layer.x)
    buffer.combine(y, received, out, num_sms=16, stream=stream)
    return out


def low_latency(buffer, layer):
    device, stream = layer.x.device, torch.cuda.current_stream().cuda_stream
    room = layer.ranks * TOKENS

    def made(dtype, *shape):
        return torch.zeros(*shape, dtype=dtype, device=device)

    rows = (made(torch.bfloat16, EXPERTS_PER_RANK, room, HIDDEN), None,
            made(torch.int32, EXPERTS_PER_RANK), made(torch.uint64, EXPERTS_PER_RANK, layer.ranks),
            made(torch.uint32, EXPERTS_PER_RANK, room))
    hook = buffer.low_latency_dispatch(layer.x, layer.topk, rows, layer.experts, hook=True, stream=stream)
    buffer.low_latency_receive(hook, stream=stream)
    own = layer.factors[layer.rank * EXPERTS_PER_RANK:][:EXPERTS_PER_RANK]
    y = (rows[0].float() * own.unsqueeze(1)).to(torch.bfloat16)
    out = torch.empty_like(layer.x)
    buffer.low_latency_combine(y, layer.topk, layer.weights, rows, out, layer.experts, stream=stream)
    return out


def main():
    coll_moe.load(pathlib.Path(os.environ["COLL_LIB"]) / "libcoll-moe.so")
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    gpu = rank % torch.cuda.device_count()
    torch.cuda.set_device(gpu)
    dist.init_process_group("gloo")
    layer = Layer(rank, ranks, torch.device("cuda", gpu))
    buffer = coll_moe.MoeBuffer(rank, ranks, nvl_bytes=256 << 20, device=gpu,
                                low_latency=(TOKENS, HIDDEN, TOPK, layer.experts))
    cards = [None] * ranks
    dist.all_gather_object(cards, buffer.card())
    buffer.sync(cards)
    failed = False
    for play in (normal, low_latency):
        for _ in range(20):
            out = play(buffer, layer)
        torch.cuda.synchronize()
        buffer.check()
        expected = layer.expected()
        worst = torch.tensor([(out.float() - expected).abs().max() / expected.abs().max()])
        dist.all_reduce(worst.nan_to_num_(nan=float("inf")), dist.ReduceOp.MAX)
        good = worst.item() < 0.01  # rows and sums are rounded to 8 bits
        failed |= not good
        if rank == 0:
            print(f"torch {torch.__version__}, {play.__name__}: {TOKENS} tokens x {HIDDEN} on {ranks} ranks, "
                  f"largest difference {worst.item():.1e}: {'ok' if good else 'WRONG'}")
    dist.barrier()  # no rank frees memory that others still use
    buffer.destroy()
    dist.destroy_process_group()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
