"""Trees on the link matrices of machines with 4 and 8 GPUs, as their vendors publish them.

AWS p3.8xlarge and p3.16xlarge (the latter wired as NVIDIA's DGX-1 with V100): each GPU has six
NVLinks, one or two to some of the others.
"""

from math import ceil, log2

import pytest

from gluonish.kvstore.tree_search import (
    Links,
    Tree,
    backtrack,
    bisect,
    find_trees,
    uniform_links,
    weight,
)

P3_16XLARGE: Links = (
    (0, 1, 1, 2, 2, 0, 0, 0),
    (1, 0, 2, 1, 0, 2, 0, 0),
    (1, 2, 0, 2, 0, 0, 1, 0),
    (2, 1, 2, 0, 0, 0, 0, 1),
    (2, 0, 0, 0, 0, 1, 1, 2),
    (0, 2, 0, 0, 1, 0, 2, 1),
    (0, 0, 1, 0, 1, 2, 0, 2),
    (0, 0, 0, 1, 2, 1, 2, 0),
)
P3_8XLARGE: Links = tuple(row[:4] for row in P3_16XLARGE[:4])
MACHINES = {"p3.8xlarge": P3_8XLARGE, "p3.16xlarge": P3_16XLARGE}


def in_order(links: Links, root: int) -> Tree:
    """The tree that looks at no links: neighbours by number, counted from the root."""
    count = len(links)
    rounds = []
    step = 1
    while step < count:
        starts = range(0, count - step, 2 * step)
        rounds.append(tuple(((i + root) % count, (i + step + root) % count) for i in starts))
        step *= 2
    return Tree(root, tuple(rounds))


def check(tree: Tree, count: int) -> None:
    """Each device but the root sends once, after what it receives; a round's pairs are apart."""
    assert len(tree.rounds) == ceil(log2(count))
    has_sent = set[int]()
    for pairs in tree.rounds:
        busy = [device for pair in pairs for device in pair]
        assert len(set(busy)) == len(busy)
        assert not has_sent.intersection(busy)
        has_sent |= {sender for _, sender in pairs}
    assert has_sent == set(range(count)) - {tree.root}


def test_matrices_are_those_of_six_links_a_gpu() -> None:
    assert [sum(row) for row in P3_16XLARGE] == [6] * 8
    assert [list(column) for column in zip(*P3_16XLARGE, strict=True)] == [*map(list, P3_16XLARGE)]


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 11])
def test_trees_reach_all_in_the_fewest_rounds(count: int, exhaustive: bool) -> None:
    trees = find_trees(uniform_links(count), exhaustive=exhaustive, penalty=0.7)
    assert [tree.root for tree in trees] == list(range(count))
    for tree in trees:
        check(tree, count)


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_only_linked_gpus_are_paired(machine: str, exhaustive: bool) -> None:
    links = MACHINES[machine]
    for tree in find_trees(links, exhaustive=exhaustive, penalty=0.7):
        check(tree, len(links))
        assert all(links[i][j] for i, j in tree.pairs())


@pytest.mark.parametrize("machine", MACHINES)
def test_backtracking_is_at_least_as_heavy_as_halving_and_both_as_looking_at_nothing(
    machine: str,
) -> None:
    links = MACHINES[machine]
    for root in range(len(links)):
        best, quick = backtrack(links, root), bisect(links, root)
        assert weight(best, links) >= weight(quick, links) >= weight(in_order(links, root), links)
    assert weight(backtrack(links, 0), links) > weight(in_order(links, 0), links)


def test_best_tree_of_four_gpus_has_three_double_links_but_for_one_root() -> None:
    # The double links are 0-3, 1-2 and 2-3, a path: it is a tree of two rounds from its middle.
    assert [weight(backtrack(P3_8XLARGE, root), P3_8XLARGE) for root in range(4)] == [5, 5, 6, 6]


def test_penalty_spreads_the_trees_over_more_links() -> None:
    def most_used(penalty: float) -> int:
        trees = find_trees(P3_16XLARGE, exhaustive=True, penalty=penalty)
        pairs = [frozenset(pair) for tree in trees for pair in tree.pairs()]
        return len(set(pairs))

    assert most_used(0.7) > most_used(1.0)


def test_kernighan_and_lin_find_two_cliques_that_numbers_hide() -> None:
    links = tuple(
        tuple(float(i != j and (i - j) % 2 == 0) + 0.1 * (i != j) for j in range(8))
        for i in range(8)
    )
    tree = bisect(links, 3)
    (last,) = tree.rounds[-1]
    assert last[0] == 3
    assert last[1] % 2 == 0
    assert all((i - j) % 2 == 0 for pairs in tree.rounds[:-1] for i, j in pairs)
