"""Faults of steps on a GPU: each has to end in an error that says what and where.

    faults.py FOLDER_FOR_FILES
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from common import STEPS, finish, meta_of, run, runtime_tool, start_ranks, tool

LOAD = re.compile(rb"(ld\.global\.b32 )\t(%r\d+,) \[(%rd\d+)\];")
# A product of 40,000 rows by 1,000,000 columns: 160 GB that nothing avoids.
HUGE = """
func.func @step(%w: tensor<40000x8xf32> {coll.role = "state"}, %x: tensor<8x1000000xf32>)
    -> (tensor<40000x8xf32>, tensor<40000xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40000x1000000xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<40000x1000000xf32>) -> tensor<40000x1000000xf32>
  %product = linalg.matmul ins(%w, %x : tensor<40000x8xf32>, tensor<8x1000000xf32>)
      outs(%init : tensor<40000x1000000xf32>) -> tensor<40000x1000000xf32> loc("train.py":12:3)
  %rows = tensor.empty() : tensor<40000xf32>
  %least = linalg.fill ins(%zero : f32) outs(%rows : tensor<40000xf32>) -> tensor<40000xf32>
  %largest = linalg.reduce { arith.maximumf } ins(%product : tensor<40000x1000000xf32>)
      outs(%least : tensor<40000xf32>) dimensions = [1]
  return %w, %largest : tensor<40000x8xf32>, tensor<40000xf32>
}
"""


def compile_mlp(folder, device="gpu", ranks=1):
    step = folder / f"mlp_{ranks}_{device.replace(':', '_')}.so"
    code, output = run([*tool("compile"), STEPS / "mlp_digits_momentum/step.mlir", f"--device={device}",
                        f"--ranks={ranks}", "-o", step])
    if code:
        sys.exit(output)
    return step


def break_load(step, broken):
    """A copy of the step one of whose kernels reads an address that no number can be at."""
    content = step.read_bytes()
    match = LOAD.search(content)
    access = b"%s%s[%s+1];" % match.groups()
    broken.write_bytes(content[:match.start()] + access + content[match.end():])
    return broken


def expect(name, code, output, wanted_code, pattern, failures):
    fits = code == wanted_code and re.search(pattern, output, re.S)
    print(f"{'ok    ' if fits else 'FAILED'} {name}: exit code {code}: "
          f"{(output.strip().splitlines() or [''])[-1][:500]}", flush=True)
    if not fits:
        failures.append(f"{name}: exit code {code}, expected {wanted_code} and {pattern!r}:\n{output[-1500:]}")


def interrupt(folder, extra, seconds=10):
    """SIGINT while a step runs again and again; the exit code, the output, and how long the end took."""
    meta = meta_of(STEPS / "gpt_tiny_adamw")
    command = [*tool("run"), str(STEPS / "gpt_tiny_adamw/step.mlir"), "--device=gpu", "--steps=1000000",
               f"--state-args={meta['state_args']}", *extra]
    with open(folder / "interrupted.log", "w+", encoding="utf-8") as log:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
        for _ in range(300):
            if "step 1" in pathlib.Path(log.name).read_text(encoding="utf-8", errors="replace"):
                break
            time.sleep(0.1)
        time.sleep(1)
        begin = time.monotonic()
        os.kill(running.pid, signal.SIGINT)
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            code = 124
        log.seek(0)
        return code, log.read() + f"ended after {time.monotonic() - begin:.2f} s\n"


def kill_one(folder, step):
    """Ends rank 1 of 3 in the middle of its steps; exit codes and outputs of the others."""
    processes = start_ranks([*runtime_tool("exec"), step, "--backend=net", "--steps=1000000"], 3, folder)
    for _ in range(300):
        if (folder / "rank_0.log").read_text().count("step") > 20:
            break
        time.sleep(0.1)
    processes[1].kill()
    begin = time.monotonic()
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(30))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(124)
    output = "".join((folder / f"rank_{rank}.log").read_text()[-600:] for rank in (0, 2))
    return max(codes[0], codes[2]), output + f"\nthe others ended after {time.monotonic() - begin:.2f} s\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    failures = []
    step = compile_mlp(folder)
    broken = break_load(step, folder / "broken.so")
    run_mlp = [*tool("run"), STEPS / "mlp_digits_momentum/step.mlir", "--device=gpu", "--state-args=8"]
    expect("an illegal access", *run([*tool("exec"), broken, "--steps=2"]), 1,
           r"failed in the step.*CUDA_ERROR.*COLL_GPU_SYNC=1 names the operation", failures)
    expect("an illegal access, named", *run([*tool("exec"), broken, "--steps=2"], COLL_GPU_SYNC=1), 1,
           r"kernel \"\w+\" at \S+\.py:\d+.*CUDA_ERROR", failures)
    expect("the step that is whole runs after it", *run([*tool("exec"), step, "--steps=4"]), 0, "median", failures)
    huge = folder / "huge.mlir"
    huge.write_text(HUGE)
    expect("too little memory", *run([*tool("run"), huge, "--device=gpu"], 120), 1,
           r"MiB.*free.*the largest is .*152588 MiB", failures)
    expect("no driver", *run(run_mlp, COLL_CUDA="none"), 1, r"compiled for GPUs.*COLL_CUDA", failures)
    expect("no cuBLASLt", *run(run_mlp, COLL_CUBLASLT="none"), 1, r"COLL_CUBLASLT", failures)
    expect("a library that is not there", *run(run_mlp, COLL_CUBLASLT="libnothing.so"), 1, r"libnothing\.so", failures)
    later = compile_mlp(folder, "gpu:sm_120")
    expect("another GPU's code", *run([*tool("exec"), later, "--steps=2"]), 1,
           r"compiled for other GPUs than sm_\d+|PTX", failures)
    expect("Ctrl-C", *interrupt(folder, []), 128 + signal.SIGINT, r"ended after [0-4]\.", failures)
    saved = folder / "stopped.npz"
    expect("Ctrl-C with --save", *interrupt(folder, [f"--save={saved}"]), 128 + signal.SIGINT,
           r"stopped by a signal.*saved in", failures)
    expect("a job goes on from there",
           *run([*tool("run"), STEPS / "gpt_tiny_adamw/step.mlir", "--device=gpu", "--steps=2",
                 f"--state-args={meta_of(STEPS / 'gpt_tiny_adamw')['state_args']}", f"--init={saved}"]), 0, "step", failures)
    three = compile_mlp(folder, ranks=3)
    expect("a killed rank", *kill_one(folder, three), 1, r"rank 1.*ended after [0-9]\.", failures)
    expect("a job after it", *run([*runtime_tool("exec"), three, "--steps=4", "--backend=net"]), 0, "median", failures)
    finish(failures)


if __name__ == "__main__":
    main()
