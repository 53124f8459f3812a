"""A training step on 1 to 1,024 devices, by a model that runs of 1, 2 and 4 ranks are held against.

    python -m benchmarks.cpu scaling

1. Measured: a step of ResNet-18 (64 px) on one core, which says when gradients are ready and in
   which sums they go; and for each of some networks what a message and a meeting of two ranks take.
2. Predicted from that (`scaling_model.py`), and measured: a step of 1, 2 and 4 ranks over links
   that are slowed, where ranks wait for as long as they would compute, so that they need no core
   each; and a step of two ranks that do compute, from the pace of two that compute side by side
   without sums. The prediction's error stands beside each.
3. Predicted: the efficiency of up to 1,024 devices that are ``--speed`` times as fast as the core,
   ``--per-host`` of them in a host, over networks of the given latency and bandwidth.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.cpu.scaling_model import Bucket, Compute, Link, Network, efficiency, step_s

ROOT = Path(__file__).resolve().parents[2]
RANKS = (1, 2, 4)
DEVICES = tuple(2**i for i in range(11))
# Latency in seconds and bytes a second of the slowed links.
NETWORKS = ((2e-4, 1e9), (1e-3, 3e8), (5e-3, 2e8))
REAL = NETWORKS[:1]  # where two ranks really compute, too
_REPLAYS = [f"replay {n}" for n in RANKS]
PIECE_NBYTES = 1 << 20  # of which the store makes large sums
PROBE_NBYTES = PIECE_NBYTES // 2


def run(ranks: int, mode: str, network: tuple[float, float], **settings: Any) -> dict[str, Any]:
    """Run a job of some ranks, and return what rank 0 printed."""
    latency_s, bytes_per_s = network
    told = json.dumps(
        {"mode": mode, "latency_s": latency_s, "bytes_per_s": bytes_per_s, **settings}
    )
    words = [sys.executable, "-m", "gluonish", "launch", "--standalone", "--no-prefix"]
    words += ["-n", str(ranks), sys.executable, "-m", "benchmarks.cpu.scaling_rank", told]
    if ranks == 1:
        words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *words]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compute_of(found: dict[str, Any]) -> Compute:
    """Return a measured step as the model takes it."""
    return Compute([Bucket(*x) for x in found["buckets"]], found["update_s"])


def network_of(links: dict[str, float], message_s: float) -> Network:
    """Return a network as messages between two ranks show it."""
    latency_s = links["small_s"]
    bytes_per_s = PROBE_NBYTES / (links["piece_s"] - latency_s)
    return Network(
        Link(latency_s, bytes_per_s),
        piece_nbytes=PIECE_NBYTES,
        meeting_s=links["meeting_s"],
        meeting_rank_s=message_s,
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all there is to measure, round by round."""
    free = (0.0, 0.0)
    jobs = options.rounds * (len(NETWORKS) * (len(RANKS) + 1) + 2 * len(REAL))
    with tqdm(total=2 + jobs, disable=None) as bar:
        real = run(1, "real", free, steps=options.steps, batch_size=options.batch_size)
        bar.update()
        message_s = run(1, "links", free)["message_s"]
        bar.update()
        rows: list[dict[str, Any]] = [
            {"network": network, **{name: [] for name in ("links", "real", "beside", *_REPLAYS)}}
            for network in NETWORKS
        ]
        replayed = {"buckets": real["buckets"], "update_s": real["update_s"], "steps": 12}
        for _ in range(options.rounds):
            for row in rows:
                network = row["network"]
                row["links"].append(run(2, "links", network))
                bar.update()
                for ranks in RANKS:
                    row[f"replay {ranks}"].append(
                        run(ranks, "replay", network, **replayed)["step_s"]
                    )
                    bar.update()
                sides = (("beside", False), ("real", True)) if network in REAL else ()
                for name, sums in sides:
                    told = run(
                        2, "real", network, steps=9, batch_size=options.batch_size, sums=sums
                    )
                    row[name].append(told["step_s"])
                    bar.update()
    return {"batch_size": options.batch_size, "compute": real, "message_s": message_s, "rows": rows}


def compared(found: dict[str, Any]) -> list[tuple[str, str, float, float]]:
    """Return each network, what ran on it, and its step in seconds, measured and predicted."""
    compute, lines = compute_of(found["compute"]), []
    for row in found["rows"]:
        latency_s, bytes_per_s = row["network"]
        name = f"{latency_s * 1e3:g} ms, {bytes_per_s / 1e6:g} MB/s"
        medians = {
            key: statistics.median(x[key] for x in row["links"])
            for key in ("small_s", "piece_s", "meeting_s")
        }
        network = network_of(medians, found["message_s"])
        for ranks in RANKS:
            measured = statistics.median(row[f"replay {ranks}"])
            what = f"{ranks} rank{'s' * (ranks > 1)}"
            lines.append((name, what, measured, step_s(compute, network, ranks)))
        if not row["real"]:
            continue
        # Two cores that both compute are slower than one alone.
        beside = compute.faster(found["compute"]["step_s"] / statistics.median(row["beside"]))
        measured = statistics.median(row["real"])
        lines.append((name, "2 ranks that compute", measured, step_s(beside, network, 2)))
    return lines


def table(found: dict[str, Any]) -> str:
    """Return the comparison as text."""
    buckets = found["compute"]["buckets"]
    lines = [
        f"a step of ResNet-18 at 64 px, batches of {found['batch_size']}, on one core: "
        f"{found['compute']['step_s'] * 1e3:.0f} ms, {sum(n for _, n in buckets) / 1e6:.1f} MB in "
        f"{len(buckets)} sums",
        "",
        f"{'links slowed to':20s}{'':22s}{'measured':>12s}{'predicted':>12s}{'error':>9s}",
    ]
    errors = []
    for name, what, measured, predicted in compared(found):
        error = predicted / measured - 1
        errors.append(abs(error))
        lines.append(
            f"{name:20s}{what:22s}{measured * 1e3:9.1f} ms{predicted * 1e3:9.1f} ms{error:+9.1%}"
        )
    lines += ["", f"errors: median {statistics.median(errors):.1%}, largest {max(errors):.1%}"]
    return "\n".join(lines)


def networks(options: argparse.Namespace, message_s: float) -> dict[str, Network]:
    """Return the networks of the prediction, by name."""
    within = Link(options.within_latency_us / 1e6, options.within_gigabytes * 1e9)
    found = {}
    for gigabits in options.gigabits:
        for algorithm in ("ring", "tree"):
            link = Link(options.latency_us / 1e6, gigabits * 1e9 / 8)
            network = Network(link, within, options.per_host, algorithm)
            meeting = {"meeting_s": 2 * link.latency_s + 2 * message_s, "meeting_rank_s": message_s}
            found[f"{gigabits:g} Gbit/s, {algorithm}"] = network._replace(**meeting)
    return found


def predicted(found: dict[str, Any], options: argparse.Namespace) -> str:
    """Return the efficiency over devices as text, in percent of as many single devices."""
    compute = compute_of(found["compute"]).faster(options.speed)
    step_ms = step_s(compute, next(iter(networks(options, 0.0).values())), 1) * 1e3
    lines = [
        f"predicted efficiency, %: {options.per_host} devices a host, {step_ms:.0f} ms of compute "
        f"a step, {options.latency_us:g} us between hosts",
        f"{'devices':20s}" + "".join(f"{n:>7,}" for n in DEVICES),
    ]
    for name, network in networks(options, found["message_s"]).items():
        values = (100 * efficiency(compute, network, n) for n in DEVICES)
        lines.append(f"{name:20s}" + "".join(f"{value:7.1f}" for value in values))
    return "\n".join(lines)


def numbers(text: str) -> Sequence[float]:
    """Return numbers with commas between."""
    return [float(part) for part in text.split(",")]


def main() -> None:
    """Measure, compare, and predict."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=16, help="of the measured compute")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--speed", type=float, default=10.0, help="of a device, in such cores")
    parser.add_argument("--per-host", type=int, default=8, help="devices of a host")
    parser.add_argument("--latency-us", type=float, default=10.0, help="between hosts")
    parser.add_argument("--gigabits", type=numbers, default=[10, 25, 100, 400])
    parser.add_argument("--within-latency-us", type=float, default=3.0)
    parser.add_argument("--within-gigabytes", type=float, default=100.0, help="a second, in a host")
    options = parser.parse_args()
    found = measure(options)
    print(f"{table(found)}\n\n{predicted(found, options)}")
