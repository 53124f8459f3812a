from gluonish.graph.clusters import Contraction


def test_path_through_a_third_group_is_found_until_that_is_joined() -> None:
    groups = Contraction()
    first = groups.add([])
    third = groups.add([first])
    last = groups.add([first, third])
    assert groups.has_detour(first, last)
    assert not groups.has_detour(first, groups.join(third, last))


def test_side_path_that_does_not_come_back_leads_nowhere() -> None:
    groups = Contraction()
    source = groups.add([])
    first = groups.add([source])
    groups.add([first])
    last = groups.add([first, source])
    assert not groups.has_detour(first, last)


def test_path_counts_as_found_after_the_limit() -> None:
    groups = Contraction()
    before, first = groups.add([]), groups.add([])
    after = first
    for _ in range(10):
        before, after = groups.add([before]), groups.add([after])
    last = groups.add([first, before])
    assert not groups.has_detour(first, last)
    assert groups.has_detour(first, last, 5)
