"""Puts faults into the rank programs of steps and tells which of them --check finds.

    campaign.py [--ranks=4] [--seed=0] [--most=N] [--match=REGEX] [--moved=SEED] FOLDER…
                                                             # with step.mlir, meta.json, reference.npz

For each step, the rank programs (level L6) are written by --dump-stages, one fault at a time is put into
their text, and the result runs with --check --against=step.mlir. A step has at most N faults, drawn by
the seed, of those whose name matches REGEX; the check draws its noise by the seed, too. With --moved the steps
begin with other values (moved_data.py; needs NumPy). Exits with 1 where a fault is not found, and where a fault
makes no program that runs.

A fault counts as equivalent
- where zeros in place of the sum are accepted as well: a sum that is zero but for rounding, as the gradient of a key's
  bias is, can be scaled without effect;
- where it changes no bit of any result, as a factor does where only the sign is used (Lion);
- where its whole effect is within the tolerance, without any noise, as a factor is where gradients are divided by their
  norm (LARS);
- where the results cannot be told from those of the right program: no tensor is off by more than twice its measured
  noise, or than twice what the right program is off, as a stale moment of a parameter without gradient.
More than a few are an error.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

MOST_EQUIVALENT = 0.05
ROW = re.compile(r"^  (\S.*?)  +(\S+)  +(\S+)  +(\S+)  +(\S+)  ok")
SUM = re.compile(r"^( *)(%\w+) = coll\.all_reduce sum (%\w+) over (\S+) (\{.*?\} )?: (tensor<\S*f32>)(.*)$")
BROADCAST = re.compile(r"^( *)(%\w+) = coll\.broadcast (%\w+) from 0 .*$")
# Names in a location may have brackets of their own.
LOCATION = re.compile(r' loc\((?:"[^"]*"|[^()"]|\((?:"[^"]*"|[^()"]|\((?:"[^"]*"|[^()"])*\))*\))*\)')
STEP = re.compile(r"^ *func\.func @step\(")
ARGUMENT = re.compile(r"(%\w+): (tensor<[^{]*?>) \{[^{}]*?coll\.role = \"(\w+)\"")
RETURN = re.compile(r"^( *return )(.*?)( : .*)$")


def rename(lines, start, old, new):
    """Replaces the uses of a value from line `start` to the end of its function."""
    use = re.compile(re.escape(old) + r"(?!\w)")
    for i in range(start, len(lines)):
        if STEP.match(lines[i]):
            break
        lines[i] = use.sub(new, lines[i])


def sum_faults(lines, at, ranks):
    """Faults of the reduction in line `at`: pairs of a name and the lines."""
    indent, result, operand, group, _, kind, _ = SUM.match(lines[at]).groups()
    whole = f"{indent}{result} = coll.all_reduce sum {operand} over {group} : {kind}"
    partial = f"{indent}%fault = coll.all_reduce sum {operand} over {group} : {kind}"

    def with_lines(*new):
        return lines[:at] + list(new) + lines[at + 1 :]

    yield "scaled by 2", with_lines(partial, f"{indent}{result} = arith.addf %fault, %fault : {kind}")
    factor = f"{indent}%factor = arith.constant dense<{(ranks - 1) / ranks!r}> : {kind}"
    scaled = f"{indent}{result} = arith.mulf %fault, %factor : {kind}"
    yield "wrong divisor", with_lines(partial, factor, scaled)
    again = f"{indent}{result} = coll.all_reduce sum %fault over {group} : {kind}"
    yield "reduced twice", with_lines(partial, again)
    yield "maximum instead of sum", with_lines(whole.replace("all_reduce sum", "all_reduce max"))
    skipped = with_lines()
    rename(skipped, at, result, operand)
    yield "not reduced", skipped
    half = ranks // 2
    groups = [list(range(half)), list(range(half, ranks))] if half else []
    if half and ranks % 2 == 0:
        yield "reduced in halves", with_lines(whole.replace(group, str(groups)))


def zeros_instead(text, result):
    """The program with zeros in place of the sum `result`."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if (match := SUM.match(line)) and match[2] == result)
    indent, _, _, _, _, kind, _ = SUM.match(lines[at]).groups()
    lines[at] = f"{indent}{result} = arith.constant dense<0.0> : {kind}"
    return "\n".join(lines)


def batch_faults(lines, at, ranks, mesh):
    """Faults of what the ranks are given: lines that stand first in @step, which is at line `at`."""
    arguments = ARGUMENT.findall(lines[at])
    batch = [(name, kind) for name, kind, role in arguments if role == "batch"]
    for name, kind in batch:
        *extents, element = kind[len("tensor<") : -1].split("x")
        if not extents or element not in ("f32", "i32"):
            continue
        row = f"tensor<{'x'.join(['1', *extents[1:], element])}>"
        zero = "0.0" if element == "f32" else "0"
        new = [
            f"      %zero = arith.constant dense<{zero}> : {row}",
            f"      %fault = tensor.insert_slice %zero into {name}[{', '.join('0' for _ in extents)}] "
            f"[{', '.join(['1', *extents[1:]])}] [{', '.join('1' for _ in extents)}] : {row} into {kind}",
        ]
        dropped = list(lines)
        rename(dropped, at + 1, name, "%fault")
        yield f"row of {name} dropped", dropped[: at + 1] + new + dropped[at + 1 :]
        if len(batch) < 2:
            continue  # all rows of an example go together: another order of the examples
        pairs = [[rank, (rank + 1) % ranks] for rank in range(ranks)]
        swapped = list(lines)
        rename(swapped, at + 1, name, "%fault")
        ring = f"      %fault = coll.permute {name} pairs {pairs} over {mesh} : {kind}"
        yield f"shards of {name} swapped", swapped[: at + 1] + [ring] + swapped[at + 1 :]


class States:
    """What is known of a step's state arguments, by their positions."""

    def __init__(self, path):
        self.zero = set()  # begins with zeros, as every rank does by itself
        self.constant = set()  # ends as it began: the placeholders of Adafactor, which no step changes
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            for name in names:
                if match := re.fullmatch(r"state_in_(\d+)\.npy", name):
                    data = archive.read(name)
                    if not any(data[10 + int.from_bytes(data[8:10], "little") :]):
                        self.zero.add(int(match[1]))
                    last = f"state_out_{match[1]}.npy"
                    if last in names and archive.read(last) == data:
                        self.constant.add(int(match[1]))


def state_faults(lines, at, states):
    """Faults of the state: an update that is lost, and a start that one rank alone has."""
    state = [name for name, kind, role in ARGUMENT.findall(lines[at]) if role == "state" and "f32" in kind]
    order = [name for name, _, role in ARGUMENT.findall(lines[at]) if role == "state"]
    last = next(i for i in range(at, len(lines)) if RETURN.match(lines[i]))
    begin, values, end = RETURN.match(lines[last]).groups()
    for name in state:
        stale = values.split(", ")
        if stale[order.index(name)] == name or order.index(name) in states.constant:
            continue
        stale[order.index(name)] = name
        yield f"{name} stale", lines[:last] + [begin + ", ".join(stale) + end] + lines[last + 1 :]
    for i, line in enumerate(lines[:at]):
        if (match := BROADCAST.match(line)) and int(match[3][4:]) not in states.zero:
            alone = lines[:i] + lines[i + 1 :]
            rename(alone, i, match[2], match[3])
            yield f"{match[3]} not broadcast", alone


def faults(text, ranks, states):
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if STEP.match(line))
    sums = [i for i in range(at, len(lines)) if SUM.match(lines[i])]
    for i in sums:
        for name, new in sum_faults(lines, i, ranks):
            yield f"{SUM.match(lines[i])[2]} {name}", "\n".join(new)
    mesh = SUM.match(lines[sums[0]])[4] if sums else None
    for name, new in [*batch_faults(lines, at, ranks, mesh), *state_faults(lines, at, states)]:
        yield name, "\n".join(new)


def run(step, work, name, text, command):
    """The outcome of one faulty program: found, refused, MISSED or INVALID, and what was said."""
    path = pathlib.Path(work) / f"{re.sub(r'[^a-z0-9]+', '_', name)}.mlir"
    path.write_text(text)
    done = subprocess.run([*command, path, f"--against={step}", "--check", "--quiet"], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = done.stderr + done.stdout
    if done.returncode == 0:
        return "MISSED", said
    if "the check failed" in said:
        return "found", said
    return ("refused" if "error: distributing the step" in said else "INVALID"), said


def outcome_of(work, text, command):
    """Every array that the program leaves behind, as bytes."""
    path, saved = pathlib.Path(work) / "saved.mlir", pathlib.Path(work) / "saved.npz"
    path.write_text(text)
    subprocess.run([*command, path, f"--save={saved}", "--quiet"], stdin=subprocess.DEVNULL, check=True,
                   capture_output=True)
    with zipfile.ZipFile(saved) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def is_below_tolerance(step, work, text, command):
    """Whether the check accepts the program even without looking at the noise."""
    path = pathlib.Path(work) / "strict.mlir"
    path.write_text(text)
    return subprocess.run([*command, path, f"--against={step}", "--check", "--strict", "--quiet"], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False).returncode == 0


def differences(step, work, name, text, command):
    """{tensor: (how far it is off, its noise)} as the table of the check says."""
    path = pathlib.Path(work) / f"{name}.mlir"
    path.write_text(text)
    done = subprocess.run([*command, path, f"--against={step}", "--check"], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=True)
    rows = [match for line in done.stdout.splitlines() if (match := ROW.match(line))]
    return {match[1]: (float(match[2]), float(match[5])) for match in rows}


def cannot_be_told(step, work, right, faulty, command):
    """Whether each tensor is about as near to one device as another run of the right program would be."""
    expected = differences(step, work, "right", right, command)
    found = differences(step, work, "told", faulty, command)
    return bool(found) and all(off <= 2 * max(noise, expected.get(name, (0,))[0]) for name, (off, noise) in found.items())


def data_of(folder, work, seed):
    """The file of the step's state and batches; with a seed, of other ones."""
    if seed is None:
        return folder / "reference.npz"
    import moved_data  # needs NumPy

    return moved_data.write(folder, pathlib.Path(work) / "moved.npz", seed)


def try_step(folder, options, seed):
    meta = json.loads((folder / "meta.json").read_text())
    step = folder / "step.mlir"
    with tempfile.TemporaryDirectory() as work:
        plain = ["coll-run", f"--state-args={meta['state_args']}", f"--data={data_of(folder, work, options.moved)}"]
        command = [*plain, f"--seed={seed}", *([f"--rtol={meta['rtol']}"] if "rtol" in meta else [])]
        os.environ["COLL_CACHE_DIR"] = str(pathlib.Path(work) / "cache")  # for the step on one rank
        subprocess.run([*plain, step, f"--ranks={options.ranks}", "--quiet", "--steps=1", "--combine=0",
                        f"--dump-stages={work}/stages"], check=True)
        (programs,) = pathlib.Path(work, "stages").glob("*-split-ranks.mlir")
        # Without locations: lines are matched, and messages point into the text.
        text = LOCATION.sub("", programs.read_text())
        text = re.sub(r"\{loc = #loc\d*, ", "{", text)  # in what an operation says of its cause
        text = "\n".join(line for line in text.split("\n") if not line.startswith("#loc"))
        outcome, said = run(step, work, "right", text, command)
        assert outcome == "MISSED", f"{folder}: fails without a fault: {said}"
        chosen = [fault for fault in faults(text, options.ranks, States(folder / "reference.npz"))
                  if re.search(options.match, fault[0])]
        if options.most and len(chosen) > options.most:
            chosen = random.Random(f"{seed} {folder.name}").sample(chosen, options.most)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda fault: run(step, work, *fault, command), chosen))
        for i, (name, faulty) in enumerate(chosen):
            if outcomes[i][0] != "MISSED":
                continue
            is_zero = re.search("scaled|divisor|twice|maximum", name) and run(
                step, work, "zeros", zeros_instead(text, name.split()[0]), command)[0] == "MISSED"
            if (is_zero or is_below_tolerance(step, work, faulty, command)
                    or outcome_of(work, faulty, plain) == outcome_of(work, text, plain)
                    or cannot_be_told(step, work, text, faulty, command)):
                outcomes[i] = ("equivalent", "")
        return [(name, *outcome) for (name, _), outcome in zip(chosen, outcomes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=0, help="faults per step (default: all)")
    parser.add_argument("--match", default="", help="faults by their names, as ' stale$' (default: all)")
    parser.add_argument("--moved", type=int, help="seed of other values")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    counts = {}
    for folder in options.folders:
        for name, outcome, said in try_step(folder, options, options.seed):
            counts[outcome] = counts.get(outcome, 0) + 1
            if outcome == "equivalent":
                print(f"equivalent: {folder.name}: {name}", flush=True)
            if outcome.isupper():
                print(f"{outcome}: {folder.name}: {name}\n{said}", flush=True)
    print(f"{sum(counts.values())} faults, seed {options.seed}: "
          + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    too_many = counts.get("equivalent", 0) > MOST_EQUIVALENT * sum(counts.values())
    sys.exit(too_many or any(outcome.isupper() for outcome in counts))


if __name__ == "__main__":
    main()
