"""Search for reduction trees over devices by the links between them.

The link matrix has the number of direct links (NVLinks) between two devices. CPU devices share one
memory and count as linked once. For GPUs the matrix comes from ``nvidia-smi topo -m``; without it,
peers that can access each other's memory count as linked once.

A *tree* over n devices has ceil(log2 n) rounds. In each round disjoint pairs of devices work in
parallel: one sends its partial sum, and the other adds it. The last receiver is the *root*; in
reverse, the tree broadcasts the sum. A tree results from halving the devices recursively: the root
of a set receives the sum of the half without it from that half's root.

A tree's weight is the sum of the links that it uses. Each device is the root of one tree; links
that a tree uses weigh less in the next ones, so that all trees together use many links.
"""

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

from gluonish.core.context import Context
from gluonish.core.device import device_of
from gluonish.core.errors import ArgumentError

Links = tuple[tuple[float, ...], ...]

_TIMEOUT_S = 20.0
_ESCAPES = re.compile("\x1b\\[[0-9;]*m")


def uniform_links(count: int) -> Links:
    """Return the link matrix of ``count`` fully connected devices."""
    return tuple(tuple(float(i != j) for j in range(count)) for i in range(count))


def run_nvidia_smi(*arguments: str) -> str:
    """Return the output of ``nvidia-smi``; empty if it is missing or fails."""
    try:
        completed = subprocess.run(
            ["nvidia-smi", *arguments],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return completed.stdout


def links_between(contexts: Sequence[Context], run: Callable[..., str] = run_nvidia_smi) -> Links:
    """Return the link matrix of devices; ``run`` returns the output of ``nvidia-smi``."""
    if not all(context.is_gpu for context in contexts):
        return uniform_links(len(contexts))
    cupy = device_of(contexts[0]).xp
    found = _nvlinks(contexts, cupy, run)
    if found is None or not any(any(row) for row in found):
        found = _peers(contexts, cupy)
    return found if any(any(row) for row in found) else uniform_links(len(contexts))


def _nvlinks(contexts: Sequence[Context], cupy: Any, run: Callable[..., str]) -> Links | None:
    """Return the numbers of NVLinks; None if they are unknown."""
    listed = run("--query-gpu=pci.bus_id", "--format=csv,noheader").split()
    topology = run("topo", "-m")
    if not listed or not topology:
        return None
    # nvidia-smi numbers all GPUs of the machine, a process only the visible GPUs.
    numbers = {_bus(name): i for i, name in enumerate(listed)}
    try:
        rows = parse_topology(topology)
        indices = [numbers[_bus(cupy.cuda.Device(x.device_id).pci_bus_id)] for x in contexts]
        return tuple(tuple(rows[i][j] for j in indices) for i in indices)
    except (ArgumentError, KeyError, IndexError):
        return None


def _bus(name: str) -> str:
    """Return a normalized PCI address, as nvidia-smi writes more digits than CuPy."""
    domain, _, rest = name.strip().lower().partition(":")
    return f"{int(domain, 16):x}:{rest}"


def _peers(contexts: Sequence[Context], cupy: Any) -> Links:
    can = cupy.cuda.runtime.deviceCanAccessPeer
    numbers = [context.device_id for context in contexts]
    return tuple(tuple(float(i != j and bool(can(i, j))) for j in numbers) for i in numbers)


def parse_topology(text: str) -> Links:
    """Return the link matrix from the output of ``nvidia-smi topo -m``.

    Args:
        text: The output, with a row and a column for each GPU; ``NV2`` means two NVLinks.

    Raises:
        ArgumentError: The text does not contain such a table.
    """
    rows = [line.split() for line in _ESCAPES.sub("", text).splitlines()]
    gpus = [row for row in rows if row and re.fullmatch("GPU[0-9]+", row[0]) and "X" in row]
    if not gpus or any(len(row) <= len(gpus) for row in gpus):
        raise ArgumentError("parse_topology: expected the table of nvidia-smi topo -m, got none")
    return tuple(tuple(_count(entry) for entry in row[1 : len(gpus) + 1]) for row in gpus)


def _count(entry: str) -> float:
    found = re.fullmatch("NV([0-9]+)", entry)
    return float(found[1]) if found else 0.0


# With more devices, trying all halvings takes seconds.
EXHAUSTIVE_LIMIT = 8

Pair = tuple[int, int]
_Edges = tuple[tuple[int, Pair], ...]


class Tree(NamedTuple):
    """A reduction tree.

    Attributes:
        root: Index of the device that receives the sum.
        rounds: For each round its pairs (receiver, sender).
    """

    root: int
    rounds: tuple[tuple[Pair, ...], ...]

    def pairs(self) -> list[Pair]:
        """Return the pairs of all rounds."""
        return [pair for pairs in self.rounds for pair in pairs]


def weight(tree: Tree, links: Links) -> float:
    """Return the sum of the weights of the links that a tree uses."""
    return sum(links[receiver][sender] for receiver, sender in tree.pairs())


def find_trees(links: Links, *, exhaustive: bool, penalty: float) -> list[Tree]:
    """Return a tree for each device as root.

    Args:
        links: The link matrix.
        exhaustive: Whether to try all halvings of up to `EXHAUSTIVE_LIMIT` devices.
        penalty: Factor by which the weight of a link is multiplied once a tree uses it.
    """
    weights = [list(row) for row in links]
    found = []
    for root in range(len(links)):
        current = tuple(tuple(row) for row in weights)
        tree = backtrack(current, root) if exhaustive else bisect(current, root)
        if not exhaustive and _unlinked(tree, links) and len(links) <= EXHAUSTIVE_LIMIT:
            tree = backtrack(current, root)
        found.append(tree)
        for i, j in tree.pairs():
            weights[i][j] *= penalty
            weights[j][i] *= penalty
    return found


def _unlinked(tree: Tree, links: Links) -> int:
    return sum(not links[i][j] for i, j in tree.pairs())


def backtrack(links: Links, root: int) -> Tree:
    """Return the heaviest tree with the fewest unlinked pairs.

    All halvings and all roots of halves are tried, with memoization. More devices than
    `EXHAUSTIVE_LIMIT` are first halved by Kernighan-Lin bisection.
    """

    @cache
    def best(members: frozenset[int], top: int, depth: int) -> tuple[tuple[int, float], _Edges]:
        if len(members) == 1:
            return (0, 0.0), ()
        if len(members) > EXHAUSTIVE_LIMIT:
            options: Iterator[Pairing] = iter([_kernighan_lin(members, top, links)])
        else:
            options = _halvings(members, top)
        chosen: tuple[tuple[int, float], _Edges] | None = None
        for with_top, others in options:
            near = best(with_top, top, depth + 1)
            for other in sorted(others):
                far = best(others, other, depth + 1)
                link = links[top][other]
                score = (
                    near[0][0] + far[0][0] - (not link),
                    near[0][1] + far[0][1] + link,
                )
                if chosen is None or score > chosen[0]:
                    chosen = score, ((depth, (top, other)), *near[1], *far[1])
        assert chosen is not None
        return chosen

    return _tree(root, best(frozenset(range(len(links))), root, 0)[1])


def bisect(links: Links, root: int) -> Tree:
    """Return the tree of a Kernighan-Lin bisection that joins two halves by their best link."""

    def edges(members: frozenset[int], top: int, depth: int) -> _Edges:
        if len(members) == 1:
            return ()
        with_top, others = _kernighan_lin(members, top, links)
        other = max(sorted(others), key=lambda device: links[top][device])
        joined = (depth, (top, other))
        return (joined, *edges(with_top, top, depth + 1), *edges(others, other, depth + 1))

    return _tree(root, edges(frozenset(range(len(links))), root, 0))


Pairing = tuple[frozenset[int], frozenset[int]]


def _tree(root: int, edges: _Edges) -> Tree:
    """Group pairs into rounds: the outermost halves are summed last."""
    depths = sorted({depth for depth, _ in edges}, reverse=True)
    rounds = (tuple(pair for depth, pair in edges if depth == which) for which in depths)
    return Tree(root, tuple(rounds))


def _halvings(members: frozenset[int], top: int) -> Iterator[Pairing]:
    """Yield all halvings of a set, the half with ``top`` first; odd sets are halved both ways."""
    candidates = sorted(members - {top})
    sizes = {len(members) // 2, (len(members) + 1) // 2}
    for size in sorted(sizes):
        for chosen in combinations(candidates, size - 1):
            with_top = frozenset((top, *chosen))
            yield with_top, members - with_top


def _kernighan_lin(members: frozenset[int], top: int, links: Links) -> Pairing:
    """Halve a set so that few links are cut, by swapping pairs while a run of swaps gains.

    References:
        B. W. Kernighan, S. Lin: An efficient heuristic procedure for partitioning graphs, 1970.
    """
    ordered = sorted(members)
    middle = (len(ordered) + 1) // 2
    first, second = set(ordered[:middle]), set(ordered[middle:])
    while True:
        swaps = _best_swaps(first, second, lambda a, b: links[a][b])
        if not swaps:
            break
        for a, b in swaps:
            first.symmetric_difference_update((a, b))
            second.symmetric_difference_update((a, b))
    halves = (first, second) if top in first else (second, first)
    return frozenset(halves[0]), frozenset(halves[1])


def _best_swaps(
    first: set[int], second: set[int], link: Callable[[int, int], float]
) -> Sequence[Pair]:
    """Return the run of swaps with the largest gain; none if no run gains."""
    gains = {x: _external(x, first, second, link) for x in first | second}
    left, right = set(first), set(second)
    swaps: list[Pair] = []
    total, best, length = 0.0, 1e-9, 0
    while left and right:
        gain, a, b = max(
            (gains[a] + gains[b] - 2 * link(a, b), -a, -b) for a in left for b in right
        )
        a, b = -a, -b
        swaps.append((a, b))
        total += gain
        if total > best:
            best, length = total, len(swaps)
        left.remove(a)
        right.remove(b)
        for x in left:
            gains[x] += 2 * link(x, a) - 2 * link(x, b)
        for x in right:
            gains[x] += 2 * link(x, b) - 2 * link(x, a)
    return swaps[:length]


def _external(
    x: int, first: set[int], second: set[int], link: Callable[[int, int], float]
) -> float:
    """Return a device's number of links to the other half minus those to its own half."""
    half, other = (first, second) if x in first else (second, first)
    return sum(link(x, y) for y in other) - sum(link(x, y) for y in half if y != x)
