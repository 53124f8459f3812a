from gluonish.core.order import post_order

EDGES = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": [], "alone": []}


def test_each_comes_once_and_after_what_is_before_it() -> None:
    assert post_order(["d"], EDGES.__getitem__) == ["a", "b", "c", "d"]


def test_starts_keep_their_order() -> None:
    assert post_order(["c", "alone", "b"], EDGES.__getitem__) == ["a", "c", "alone", "b"]


def test_equal_objects_are_two() -> None:
    assert len(post_order([[1], [1]], lambda _: ())) == 2


def test_long_chain_needs_no_deep_stack() -> None:
    numbers = list(range(100_000))
    found = post_order([numbers[-1]], lambda n: [numbers[n - 1]] if n else [])
    assert found == numbers
