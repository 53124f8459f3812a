"""Loading weights from files: time and memory, beside a plain read, safetensors and NumPy.

    python -m benchmarks.cpu weight_files [--gigabytes 1] [--rounds 5] [--folder FOLDER]

Writes one network's parameters in each format, and then has new processes load them, in turns
(A B C A B C ..). Printed are medians: of the seconds until all arrays are there, of those until
each of their numbers was also used once, and of the largest resident memory above what the process
had before, private (a copy) and of files (pages that all processes share, of code as well). "To
train" is with gradients, of which there is as much memory as of the parameters, and its first
operators load kernels; "again" is into a network that was hybridized and called before, "again
(trained)" into one that a Trainer has updated, too. "A plain read" is one `readinto` of the whole
file into new memory, and "of plain" the median over the rounds of the seconds to load through those
of a plain read of the same file. The files were read before, so that none waits for the disk.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_SIDE = 1024  # an array has 4 MiB
_COLUMNS = ("load s", "and use s", "private MB", "of file MB", "of plain")
_PLAIN = "a plain read"
_LOAD = "gluonish load_parameters"


def _network(count: int, trained: bool) -> object:
    from gluonish import gluon

    net = gluon.nn.HybridSequential()
    for _ in range(count):
        net.add(gluon.nn.Dense(_SIDE, in_units=_SIDE, use_bias=False))
    net.collect_params().setattr("grad_req", "write" if trained else "null")
    return net


def _memory() -> tuple[float, float]:
    """Private memory and memory of files, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return tuple(int(found[name].split()[0]) / 1000 for name in ("RssAnon", "RssFile"))  # type: ignore[return-value]  # two


def _loader(who: str, path: str, count: int) -> tuple[object, object]:
    """Return a function that loads all arrays as a list, and one that gives NumPy's for each."""
    if who.startswith("gluonish"):
        from gluonish import nd

        nd.ones(1).wait_to_read()
        if who == "gluonish nd.load":
            return lambda: list(nd.load(path).values()), lambda x: x.handle
        if who == "gluonish nd.load(mmap=True)":
            return lambda: list(dict(nd.load(path, mmap=True)).values()), lambda x: x.handle
        net = _network(count, "train" in who)
        if "again" in who:
            _use(net, trained="trained" in who)

        def load() -> list[object]:
            net.load_parameters(path)  # type: ignore[attr-defined]
            nd.waitall()
            return [p.data() for p in net.collect_params().values()]  # type: ignore[attr-defined]

        return load, lambda x: x.handle
    if who == _PLAIN:
        return lambda: _plain_read(path), lambda x: x
    if who == "safetensors":
        import safetensors.numpy

        return lambda: list(safetensors.numpy.load_file(path).values()), lambda x: x

    def load_npz() -> list[object]:
        with np.load(path) as file:
            return [file[name] for name in file.files]

    return load_npz, lambda x: x


def _use(net: object, trained: bool) -> None:
    """Have a network that was called once, and perhaps trained for a step."""
    from gluonish import autograd, gluon, nd

    net.initialize()  # type: ignore[attr-defined]
    net.hybridize()  # type: ignore[attr-defined]
    with autograd.record(trained):
        out = net(nd.ones((1, _SIDE)))  # type: ignore[operator]
    if trained:
        trainer = gluon.Trainer(net.collect_params(), "sgd")  # type: ignore[attr-defined]
        out.backward()
        trainer.step(1)
        net.trainer = trainer  # type: ignore[attr-defined]  # lives as long
    nd.waitall()


def _plain_read(path: str) -> list[object]:
    with open(path, "rb") as file:
        raw = np.empty(Path(path).stat().st_size, np.uint8)
        file.readinto(raw.data)
    return [raw[: raw.size // 4 * 4]]


def _measure(who: str, path: str, count: int) -> None:
    """Load in this process and print what it took."""
    load, raw = _loader(who, path, count)
    before = _memory()
    start = time.perf_counter()
    arrays = load()  # type: ignore[operator]
    loaded = time.perf_counter() - start
    after_load = _memory()
    total = sum(float(raw(x).view(np.uint32).max()) for x in arrays)  # type: ignore[operator,attr-defined]
    used = time.perf_counter() - start
    assert len(arrays) == (1 if who == _PLAIN else count), "all arrays"
    assert total, "their values"
    after = _memory()
    private, of_file = (
        max(at_load, at_end) for at_load, at_end in zip(after_load, after, strict=True)
    )
    print(loaded, used, private - before[0], of_file - before[1])


def _cases(folder: Path) -> list[tuple[str, Path]]:
    safetensors, npz, params = (folder / f"w.{e}" for e in ("safetensors", "npz", "params"))
    loads = [_LOAD, f"{_LOAD} to train", f"{_LOAD} again", f"{_LOAD} again (trained)"]
    return [
        (_PLAIN, safetensors),
        ("gluonish nd.load", safetensors),
        ("gluonish nd.load(mmap=True)", safetensors),
        *((load, safetensors) for load in loads),
        ("safetensors", safetensors),
        (_PLAIN, npz),
        ("gluonish nd.load", npz),
        *((load, npz) for load in loads),
        ("numpy", npz),
        (_PLAIN, params),
        ("gluonish nd.load", params),
        *((load, params) for load in loads),
    ]


def _run(arguments: argparse.Namespace, folder: Path) -> None:
    from tqdm import tqdm

    count = max(1, int(arguments.gigabytes * 1e9 / (4 * _SIDE * _SIDE)))
    net = _network(count, False)
    net.initialize()  # type: ignore[attr-defined]
    for path in sorted({path for _, path in _cases(folder)}):
        net.save_parameters(path)  # type: ignore[attr-defined]
    samples: dict[tuple[str, Path], list[list[float]]] = {case: [] for case in _cases(folder)}
    for _ in tqdm(range(arguments.rounds), desc="rounds", disable=None):
        for who, path in samples:
            path.read_bytes()
            command = [sys.executable, __file__, "--measure", who, str(path), str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
            samples[who, path].append([float(word) for word in done.stdout.split()])
    print(f"{count} arrays of {_SIDE} x {_SIDE} float32, {count * 4 * _SIDE**2 / 1e9:.2f} GB")
    print(f"{'':48}" + "".join(f"{name:>12}" for name in _COLUMNS))
    for (who, path), rows in samples.items():
        medians = [statistics.median(column) for column in zip(*rows, strict=True)]
        plain = samples[_PLAIN, path]
        medians.append(statistics.median(a[0] / b[0] for a, b in zip(rows, plain, strict=True)))
        digits = (3, 3, 0, 0, 2)
        shown = "".join(f"{x:12.{n}f}" for x, n in zip(medians, digits, strict=True))
        print(f"{who + ' ' + path.suffix:48}" + shown)


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description="Loading weights from files, beside others.")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the files are written (default: a temporary one)")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        who, path, count = arguments.measure
        _measure(who, path, int(count))
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        _run(arguments, Path(folder))


if __name__ == "__main__":
    main()
