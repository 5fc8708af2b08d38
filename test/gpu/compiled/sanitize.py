"""compute-sanitizer over small steps: memcheck, racecheck, initcheck.

    sanitize.py FOLDER_FOR_FILES [TOOL …]
"""

import pathlib
import re
import shutil
import sys

from common import SMALL, STEPS, finish, run, side_by_side, tool

CASES = [*SMALL, "moe_top_k_momentum", "rank_loss_sort_novograd", "cnn_batchnorm_rmsprop", "vit_bf16_sgd",
         "conv_transpose_adagrad", "resnet_remat_lamb", "diffusion_unet_ema", "gpt_tiny_bf16_adam", "gpt_bf16_adamw",
         "llama_scan_layers_adamw", "lora_frozen_adamw"]
SUMMARY = re.compile(r"(ERROR|RACECHECK) SUMMARY: .*")


def compile_step(case):
    name, ranks, folder = case
    return run([*tool("compile"), STEPS / name / "step.mlir", "--device=gpu", f"--ranks={ranks}", "-o",
                folder / f"{name}_{ranks}.so"])


def sanitize(case):
    program, checker, name, ranks, folder = case
    # The third step is captured by a graph, the fourth replays it.
    return run([program, f"--tool={checker}", "--error-exitcode=9", *tool("exec"),
                folder / f"{name}_{ranks}.so", "--steps=4"], 200)


def main():
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not pathlib.Path(program).exists():
        print("compute-sanitizer is not installed")
        sys.exit(77)
    folder, checkers = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["memcheck", "racecheck", "initcheck"]
    steps = [(name, 1) for name in CASES] + [("gpt_tiny_adamw", 2)]
    failures = []
    for (name, ranks), (code, output) in zip(steps, side_by_side(compile_step, [(*step, folder) for step in steps])):
        if code:
            failures.append(f"{name}: {output[-500:]}")
    cases = [(program, checker, *step, folder) for checker in checkers for step in steps]
    for case, (code, output) in zip(cases, side_by_side(sanitize, cases, 6)):
        summary = SUMMARY.search(output)
        print(f"{case[1]:10} {case[2]:26} {case[3]} ranks: exit code {code}: {summary and summary.group(0)}", flush=True)
        if code or not summary:
            failures.append(f"{case[1]} {case[2]}:\n" + "\n".join(output.splitlines()[:40])[-3000:])
    finish(failures)


if __name__ == "__main__":
    main()
