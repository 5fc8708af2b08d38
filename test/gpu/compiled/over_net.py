"""Steps on a GPU whose ranks talk by backend net, on each path of GPU memory, beside backend threads.

    over_net.py FOLDER_FOR_FILES

Several ranks share the GPU and form sums in the same order whatever carries them, so that the scalar results
are those of backend threads, digit by digit. The tensors are compared with the CPU's.
"""

import pathlib
import re
import sys

from common import STEPS, finish, run, runtime_tool, side_by_side, start_ranks, tool

CASES = ["mlp_digits_momentum", "gpt_12layer_adamw"]
PATHS = {"kernel": {"COLL_NET_GPU_PATH": "kernel"},
         "unpack": {"COLL_NET_GPU_PATH": "unpack"},
         "unpack, scattered": {"COLL_NET_GPU_PATH": "unpack", "COLL_NET_SCATTER": 1},
         "pack": {"COLL_NET_GPU_PATH": "pack"},
         "pack, scattered": {"COLL_NET_GPU_PATH": "pack", "COLL_NET_SCATTER": 1},
         "kernel, compressed": {"COLL_NET_GPU_PATH": "kernel", "COLL_NET_GPU_COMPRESS": 1}}
LINE = re.compile(r"^step \d+(.*?)  [\d.]+ ms$", re.M)
PAGES = re.compile(r"(\d+) pages of (\d+) messages unpacked")


def compile_step(case):
    name, ranks, device, folder = case
    path = folder / f"{name}_{ranks}_{device}.so"
    command = [*tool("compile"), STEPS / name / "step.mlir", f"--ranks={ranks}", "-o", path]
    code, output = run(command + (["--device=gpu"] if device == "gpu" else []))
    if code:
        sys.exit(f"{name}: {output[-800:]}")


def scalars_of(output):
    return LINE.findall(output)


def main():
    folder = pathlib.Path(sys.argv[1])
    cases = [(name, ranks) for name in CASES for ranks in (2, 4)]
    list(side_by_side(compile_step, [(*case, device, folder) for case in cases for device in ("gpu", "cpu")]))
    failures = []
    for name, ranks in cases:
        step = folder / f"{name}_{ranks}_gpu.so"
        code, expected = run([*runtime_tool("exec"), step, "--steps=5", "--backend=threads"])
        if code or not scalars_of(expected):
            failures.append(f"{name}, {ranks} ranks, threads: {expected[-500:]}")
            continue
        for path, variables in PATHS.items():
            code, output = run([*runtime_tool("exec"), step, "--steps=5", "--backend=net"], 60,
                               COLL_LOG="info", COLL_NET_BOUNCE_BYTES=640 << 20, **variables)
            same = scalars_of(output) == scalars_of(expected)
            pages = sum(int(found[0]) for found in PAGES.findall(output))
            print(f"{name:24} {ranks} ranks, {path:20} exit code {code}, scalars "
                  f"{'equal' if same else 'DIFFER'}, {pages} pages unpacked", flush=True)
            if code or not same or (pages == 0) != ("kernel" in path):
                failures.append(f"{name}, {ranks} ranks, {path}: {output[-700:]}")
        for path in ("unpack", "kernel"):
            processes = start_ranks([*runtime_tool("exec"), step, "--steps=5", "--backend=net"], ranks, folder,
                                    COLL_LOG="info", COLL_NET_GPU_PATH=path, COLL_NET_BOUNCE_BYTES=256 << 20)
            codes = [process.wait() for process in processes]
            output = (folder / "rank_0.log").read_text()
            same = scalars_of(output) == scalars_of(expected)
            print(f"{name:24} {ranks} processes, {path:16} exit codes {codes}, scalars "
                  f"{'equal' if same else 'DIFFER'}", flush=True)
            if any(codes) or not same:
                failures.append(f"{name}, {ranks} processes, {path}: {output[-700:]}")
        code, output = run([*runtime_tool("exec"), step, "--steps=5", "--backend=net", "--rtol=2e-4",
                            f"--compare={folder / f'{name}_{ranks}_cpu.so'}"], 120, COLL_NET_GPU_PATH="unpack",
                           COLL_NET_BOUNCE_BYTES=640 << 20)
        print(f"{name:24} {ranks} ranks, beside the CPU: exit code {code}: {output.splitlines()[-1:]}", flush=True)
    finish(failures)


if __name__ == "__main__":
    main()
