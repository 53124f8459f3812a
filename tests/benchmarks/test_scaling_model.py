"""The model of a step on many devices, where its answer is known otherwise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cpu.scaling_model import (
    Bucket,
    Compute,
    Link,
    Network,
    efficiency,
    ring_s,
    step_s,
    sum_s,
    tree_s,
)

LINK = Link(1e-3, 1e6)
FREE = Link(0.0, math.inf)
COMPUTE = Compute([Bucket(0.1, 2e4), Bucket(0.4, 1e4), Bucket(1.0, 5e4)], 0.25)
COUNTS = [2, 3, 4, 7, 64, 1024]

buckets = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1e7)), min_size=1, max_size=8).map(
    lambda found: [Bucket(*x) for x in sorted(found)]
)
networks = st.builds(
    Network,
    between=st.builds(Link, st.floats(0, 1e-2), st.floats(1e3, 1e9)),
    within=st.none() | st.builds(Link, st.floats(0, 1e-4), st.floats(1e6, 1e11)),
    per_host=st.integers(1, 9),
    algorithm=st.sampled_from(["ring", "tree"]),
    piece_nbytes=st.just(math.inf) | st.floats(1e4, 1e7),
    meeting_s=st.floats(0, 1e-2),
    meeting_rank_s=st.floats(0, 1e-4),
)


@pytest.mark.parametrize("devices", COUNTS)
def test_a_ring_takes_its_closed_form(devices: int) -> None:
    expected = 2 * (devices - 1) / devices * 3e6 / 1e6 + 2 * (devices - 1) * 1e-3
    assert ring_s(devices, 3e6, LINK) == pytest.approx(expected)


@pytest.mark.parametrize(("devices", "levels"), [(2, 1), (3, 2), (4, 2), (5, 3), (1024, 10)])
def test_a_tree_sends_all_bytes_up_and_down_each_level(devices: int, levels: int) -> None:
    assert tree_s(devices, 3e6, LINK) == pytest.approx(2 * levels * (1e-3 + 3.0))


@pytest.mark.parametrize("devices", [1, *COUNTS])
@pytest.mark.parametrize("algorithm", ["ring", "tree"])
def test_a_network_that_costs_nothing_scales_perfectly(devices: int, algorithm: str) -> None:
    network = Network(FREE, FREE, 8, algorithm)
    assert efficiency(COMPUTE, network, devices) == 1
    assert step_s(COMPUTE, network, devices) == 1.25


def test_sums_that_fit_between_gradients_cost_only_the_last_one() -> None:
    network = Network(Link(1e-6, 1e9))
    last_s = ring_s(16, 5e4, network.between)
    assert step_s(COMPUTE, network, 16) == pytest.approx(1.25 + last_s)


def test_gradients_that_come_all_at_the_end_hide_nothing() -> None:
    compute = Compute([Bucket(1.0, 2e4), Bucket(1.0, 3e4)], 0.25)
    network = Network(LINK)
    expected = 1.25 + ring_s(4, 2e4, LINK) + ring_s(4, 3e4, LINK)
    assert step_s(compute, network, 4) == pytest.approx(expected)


def test_a_network_that_is_the_bottleneck_sets_the_pace() -> None:
    network = Network(Link(0.0, 1e3))
    total_s = sum(ring_s(8, bucket.nbytes, network.between) for bucket in COMPUTE.buckets)
    assert step_s(COMPUTE, network, 8) == pytest.approx(0.1 + total_s + 0.25)


def test_a_host_is_summed_before_hosts_are() -> None:
    within = Link(1e-6, 1e10)
    network = Network(LINK, within, 8)
    assert sum_s(network, 8, 1e6) == pytest.approx(ring_s(8, 1e6, within))
    both = ring_s(8, 1e6, within) + ring_s(4, 1e6, LINK)
    assert sum_s(network, 32, 1e6) == pytest.approx(both)
    assert sum_s(network, 25, 1e6) == pytest.approx(both)  # the last host is not full
    tree = network._replace(algorithm="tree")
    expected = ring_s(8, 1e6, within) + tree_s(4, 1e6, LINK)
    assert sum_s(tree, 32, 1e6) == pytest.approx(expected)


def test_pieces_pay_the_latency_again_and_the_bytes_once() -> None:
    whole, cut = Network(LINK), Network(LINK, piece_nbytes=1e6)
    assert sum_s(cut, 4, 4e6) - sum_s(whole, 4, 4e6) == pytest.approx(3 * 6 * 1e-3)


def test_meetings_come_once_a_bucket_and_grow_with_the_ranks() -> None:
    network = Network(FREE, meeting_s=1e-2, meeting_rank_s=1e-3)
    assert [sum_s(network, n, 1.0) for n in (1, 2, 10)] == pytest.approx([0, 0.01, 0.018])


def test_a_faster_device_has_the_same_bytes_sooner() -> None:
    assert COMPUTE.faster(2) == ([(0.05, 2e4), (0.2, 1e4), (0.5, 5e4)], 0.125)


@given(buckets, networks, st.integers(2, 2000))
def test_a_step_lies_between_perfect_overlap_and_none(
    found: list[Bucket], network: Network, devices: int
) -> None:
    compute = Compute(found, 0.5)
    sums_s = sum(sum_s(network, devices, bucket.nbytes) for bucket in found)
    computed_s = found[-1].ready_s
    together_s = step_s(compute, network, devices) - 0.5
    slack = 1e-9 * (1 + sums_s + computed_s)
    assert max(computed_s, sums_s) - slack <= together_s <= computed_s + sums_s + slack
    assert 0 < efficiency(compute, network, devices) <= 1 + 1e-12


@given(buckets, networks, st.integers(1, 10))
def test_twice_the_hosts_are_never_more_efficient(
    found: list[Bucket], network: Network, power: int
) -> None:
    compute, devices = Compute(found, 0.5), network.per_host * 2**power
    fewer, more = (efficiency(compute, network, n) for n in (devices, 2 * devices))
    assert more <= fewer * (1 + 1e-9)
