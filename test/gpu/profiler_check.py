#!/usr/bin/env python3
"""Checks the traces of profiler.sh with the decoder of test/profiler, which shares nothing with the plugin.

    profiler_check.py FOLDER                   traces *.pftrace, and *.json with the times of CUDA events
    profiler_check.py --own FOLDER             the same of compiled steps, each process with all of its ranks
    profiler_check.py --cost=FILE --plugins NAME… --rows=FILE   appends the rows of what plugins cost

In FOLDER: the ranks have the same collectives; each has a completion that a kernel or the proxy told;
by a channel's stamps one call follows the other, but for flagged ones; nothing was dropped; medians are within 5 % of CUDA events.
"""

import argparse
import collections
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "profiler"))
from perfetto_decode_test import Trace  # noqa: E402

WARM_UPS = 5  # of nccl_launch.cc and profiler_torch.py, for each size


def read(path):
    """Slices as (level's track, name, start, annotations), and how many events were dropped."""
    trace = Trace(path.read_bytes())
    slices, dropped = [], 0
    for uuid, events in trace.events.items():
        track = trace.tracks.get(uuid, ("", 0))[0]
        for ns, kind, name, notes in events:
            dropped += notes.get("dropped", 0)
            if kind == 1:
                slices.append((track, name, ns, notes))
    return slices, dropped


def check(path):
    """The collectives of one trace, as (communicator, seq, name); raises where something is wrong."""
    slices, dropped = read(path)
    assert dropped == 0, f"{path.name}: {dropped} events were dropped"
    colls = [notes | {"name": name} for track, name, _, notes in slices if track == "coll"]
    assert colls, f"{path.name} has no collective"
    ends = collections.Counter(coll["completion"] for coll in colls)
    captured = sum(notes.get("graph_captured", 0) for _, _, _, notes in slices)
    assert set(ends) <= {"kernel", "proxy", "enqueued"}, f"{path.name}: completions {dict(ends)}"
    assert ends["enqueued"] <= captured, f"{path.name}: {ends['enqueued']} without an end, {captured} captured"
    transfers = collections.Counter(notes["comm"] for track, _, _, notes in slices if track == "p2p")
    channels = collections.defaultdict(list)
    for track, _, _, notes in slices:
        if track.startswith("kernel_ch") and "flag" not in notes:
            channels[notes["comm"], track].append((notes["gpu_start_ns"], notes["gpu_end_ns"]))
    for (comm, track), stamps in channels.items():
        # A send and a recv of one group share a kernel; collectives do not.
        shared = len(stamps) - len(set(stamps))
        assert shared <= transfers[comm], f"{path.name}: {shared} calls share stamps of {track}"
        times = [ns for pair in sorted(set(stamps)) for ns in pair]
        assert times[0] > 0 and times == sorted(times), f"{path.name}: calls overlap by the stamps of {track}"
    flags = collections.Counter(notes["flag"] for _, _, _, notes in slices if "flag" in notes)
    print(f"{path.name}: {len(slices)} slices, {len(colls)} collectives, ends {dict(ends)}, flags {dict(flags)}")
    compare_times(path, colls)
    return collections.Counter((coll["comm"], coll["seq"], coll["name"]) for coll in colls)


def compare_times(path, colls):
    """Calls that follow each other between two events take what the stamps say, from the first to the last. Events
    around one call also have its launch, and what NCCL does before its first stamp, as long for any size: what it
    takes with half as many bytes, by the same kernel, is taken off."""
    times = path.with_suffix(".json")
    measured = json.loads(times.read_text()) if times.exists() else {}
    outside = {}
    for size, events in sorted((int(size), events) for size, events in measured.items()):
        calls = sorted((coll for coll in colls if coll["bytes"] == size), key=lambda coll: coll["seq"])[WARM_UPS:]
        assert len(calls) >= 2 * len(events["each"]), f"{path.name}: {len(calls)} all-reduces of {size} bytes"
        each, rest = calls[:len(events["each"])], calls[len(events["each"]):]
        count = len(each) // len(events["together"])
        spans = [(rest[i + count - 1]["gpu_end_ns"] - rest[i]["gpu_start_ns"]) / 1e6
                 for i in range(0, len(each), count)]
        ratio = statistics.median(span / event for span, event in zip(spans, events["together"]))
        own = [(coll["gpu_end_ns"] - coll["gpu_start_ns"]) / 1e6 for coll in each]
        kernel = size, *(each[0][key] for key in ("algorithm", "protocol", "channels"))
        outside[kernel] = statistics.median(event - ms for event, ms in zip(events["each"], own))
        print(f"  {size} bytes: {statistics.median(own):.4f} ms in the trace, {statistics.median(events['each']):.4f} by "
              f"events, {outside[kernel]:.4f} outside of stamps; {count} calls: {ratio - 1:+.1%}")
        assert abs(ratio - 1) < 0.05, "more than 5 % apart"
        if 2 * size in map(int, measured):
            continue  # for the launch alone
        apart = (outside.get((size // 2, *kernel[1:]), 0) - outside[kernel]) / statistics.median(own)
        print(f"  {size} bytes: {apart:+.1%} without what is outside of stamps with half of them")
        assert abs(apart) < 0.05, "more than 5 % apart"


def check_folder(folder):
    ranks = [check(path) for path in sorted(folder.glob("*.pftrace"))]
    assert len(ranks) >= 2, "fewer traces than ranks"
    assert all(rank == ranks[0] for rank in ranks), "the ranks have different collectives"


def check_own(folder):
    """Traces of compiled steps through our host of plugins: one process for all ranks."""
    paths = sorted(folder.glob("*.pftrace"))
    assert paths, "no trace"
    for path in paths:
        slices, dropped = read(path)
        levels = collections.Counter(track.split()[0] for track, _, _, _ in slices)
        flags = collections.Counter(notes["flag"] for _, _, _, notes in slices if "flag" in notes)
        print(f"{path.name}: {dict(levels)}, flags {dict(flags)}")
        assert dropped == 0, f"{path.name}: {dropped} events were dropped"
        assert levels["coll"] and levels["kernel_ch"], f"{path.name} has no collective with the GPU's stamps"
        assert not flags, f"{path.name}: flags"


def read_turns(path):
    """Of "turn case 1048576 bytes: 13.5 us a call": microseconds by case, one for each turn."""
    times = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        words = line.split()
        if words[3:4] == ["bytes:"]:
            times[int(words[1])].append(float(words[4]))
    return times


def interval(values):
    """The median, and the order statistics around it that hold it in 95 % of samples."""
    values, half = sorted(values), 0.98 * len(values) ** 0.5
    low, high = int(len(values) / 2 - half), int(len(values) / 2 + half)
    return statistics.median(values), values[max(0, low)], values[min(len(values) - 1, high)]


def gpus():
    lines = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines()
    return f"{lines[0].split(': ')[1].split(' (')[0]}, {len(lines)} GPUs"


def cost(path, links, names, rows):
    """A row for each plugin: its loop beside that of the empty plugin, and of none, of the same turn."""
    times = read_turns(path)
    assert len(times) == 2 + len(names), f"{path.name}: {len(times)} cases"
    for case, name in enumerate(["a plugin that records nothing", *names], start=1):
        against_none = interval([own / none for own, none in zip(times[case], times[0])])
        against_empty = interval([own / empty for own, empty in zip(times[case], times[1])])
        row = {"machine": gpus(), "date": str(datetime.date.today()), "command": "./dev gpu-test --only=profiler",
               "case": f"all_reduce of stock NCCL, 2 ranks over {links}, all events: {name}", "size": "1 MiB",
               "metric": "us", "ours": round(statistics.median(times[case]), 2),
               "peer": round(statistics.median(times[1]), 2), "peer_name": "a plugin that records nothing",
               "ratio": round(1 / against_empty[0], 4), "turns": len(times[case]),
               "without_a_plugin": round(statistics.median(times[0]), 2),
               "of_empty": [round(value, 4) for value in against_empty],
               "of_none": [round(value, 4) for value in against_none]}
        print(json.dumps(row))
        with open(rows, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--own", action="store_true", help="FOLDER is of compiled steps")
    parser.add_argument("--cost", type=pathlib.Path)
    parser.add_argument("--links", default="sockets")
    parser.add_argument("--plugins", nargs="*", default=[], help="what the third case and the next ones are")
    parser.add_argument("--rows")
    options = parser.parse_args()
    if options.cost:
        cost(options.cost, options.links, options.plugins, options.rows)
    else:
        (check_own if options.own else check_folder)(options.folder)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"WRONG: {error}")
