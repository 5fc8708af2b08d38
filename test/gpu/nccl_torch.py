#!/usr/bin/env python3
"""A small PyTorch DDP job: with the net plugin, gradients are those of one process.

Run by torchrun, one process per GPU; rank 0 prints one line and exits 1 where a
parameter differs from the same training without a network.
"""

import argparse
import os
import sys

import torch
import torch.distributed as dist


def network():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(),
                               torch.nn.Linear(1024, 512), torch.nn.ReLU(),
                               torch.nn.Linear(512, 16))


def train(model, batches, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--label", default="nccl")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    rank = int(os.environ["RANK"])
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    torch.backends.cuda.matmul.allow_tf32 = False
    dist.init_process_group("nccl", device_id=device)
    ranks = dist.get_world_size()
    generator = torch.Generator().manual_seed(11)
    batches = [(torch.randn(64 * ranks, 512, generator=generator),
                torch.randn(64 * ranks, 16, generator=generator)) for _ in range(options.steps)]
    mine = [(x[rank::ranks], y[rank::ranks]) for x, y in batches]

    model = torch.nn.parallel.DistributedDataParallel(network().to(device), device_ids=[device])
    train(model, mine, device)
    alone = network().to(device)
    train(alone, batches, device)
    worst = max(((a - b).abs().max() / b.abs().max()).item()
                for a, b in zip(model.module.parameters(), alone.parameters()))
    version = ".".join(map(str, torch.cuda.nccl.version()))
    dist.destroy_process_group()
    good = worst < 1e-4
    if rank == 0:
        print(f"torch {torch.__version__}, NCCL {version}, {options.label}: {options.steps} steps "
              f"on {ranks} ranks, largest difference {worst:.1e}: {'ok' if good else 'WRONG'}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
