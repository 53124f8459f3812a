import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gluonish.core.versions import Basis, Version, VersionedDict, reads

EDITS: dict[str, Callable[[dict[str, int]], object]] = {
    "setitem": lambda d: d.__setitem__("b", 2),
    "delitem": lambda d: d.__delitem__("a"),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: d.popitem(),
    "clear": lambda d: d.clear(),
    "update": lambda d: d.update(b=2),
    "setdefault": lambda d: d.setdefault("b", 2),
    "ior": lambda d: d.__ior__({"b": 2}),
}


def watched(**items: Any) -> tuple[Version, VersionedDict]:
    version = Version(observed=True)
    return version, VersionedDict(version, items)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_every_edit_of_a_dict_is_a_change(edit: Callable[[dict[str, int]], object]) -> None:
    version, edited = watched(a=1)
    expected = {"a": 1}
    edit(edited)
    edit(expected)
    assert edited == expected
    assert version.number == Version.newest > 0


def test_setting_what_is_there_is_no_change() -> None:
    version, edited = watched(a=1)
    edited["a"] = 1
    edited.setdefault("a", 3)
    assert version.number == 0


def test_a_dict_moves_and_pops_at_both_ends_as_an_ordered_dict() -> None:
    version, edited = watched(a=1, b=2, c=3)
    edited.move_to_end("a")
    edited.move_to_end("c", last=False)
    assert list(edited.items()) == [("c", 3), ("b", 2), ("a", 1)]
    before = version.number
    assert edited.popitem(last=False) == ("c", 3)
    assert version.number > before


def test_nothing_counts_before_the_first_trace() -> None:
    version, newest = Version(), Version.newest
    VersionedDict(version)["a"] = 1
    assert (version.number, Version.newest) == (0, newest)


def test_what_a_block_does_while_it_is_traced_is_no_change() -> None:
    version, edited = watched()
    token = reads.set({})
    edited["a"] = 1
    reads.reset(token)
    assert version.number == 0


@pytest.mark.parametrize("new", [1.0, True, (1, (2.0,)), [1], "1"])
def test_another_value_of_an_attribute_that_was_read_is_a_change(new: object) -> None:
    version = Version()
    token = reads.set({})
    version.read("rate")
    reads.reset(token)
    version.set("other", 1, new)
    assert version.number == 0
    version.set("rate", new, copy.deepcopy(new))
    assert (version.number == 0) == (not isinstance(new, list))
    version.set("rate", 1, new)
    assert version.number > 0


def test_a_basis_holds_until_one_of_its_versions_changes() -> None:
    one, other = Version(observed=True), Version(observed=True)
    basis = Basis({one: one.number}, Version.newest)
    other.change()
    assert basis.holds()
    assert basis.checked == Version.newest
    one.change()
    assert not basis.holds()
    assert not basis.holds()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_a_dict_tell_the_version_that_was_copied_with_them(
    copied: Callable[[Any], Any],
) -> None:
    version, edited = copied(watched(a=1))
    assert edited == {"a": 1}
    edited["a"] = 2
    assert version.number == Version.newest
