from gluonish.ops import catalog


def test_names_and_aliases_are_found() -> None:
    assert catalog.has("broadcast_add")
    assert catalog.has("broadcast_plus")
    assert not catalog.has("no_such_operator")
