"""Which tables are shown row by row on narrow screens, and what their cells are given."""

from typing import Any

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs")

from gluonish_site import narrow_tables


def table(columns: int, last: str = "<p>text</p>") -> str:
    heads = "".join(f'<th class="head"><p>title {i}</p></th>' for i in range(columns))
    cells = "<td><p>text</p></td>" * (columns - 1) + f"<td>{last}</td>"
    return (
        f'<table class="docutils align-default"><thead><tr>{heads}</tr></thead>'
        f"<tbody><tr>{cells}</tr></tbody></table>"
    )


def changed(body: str) -> str:
    context: dict[str, Any] = {"body": body}
    narrow_tables.add_titles(None, "page", "page.html", context, None)  # type: ignore[arg-type]
    return str(context["body"])


@pytest.mark.parametrize("columns", [2, 3, 7])
def test_tables_of_few_and_of_many_columns_stay_tables(columns: int) -> None:
    assert changed(table(columns)) == table(columns)


@pytest.mark.parametrize("columns", [4, 6])
def test_each_cell_has_the_title_of_its_column(columns: int) -> None:
    body = changed(table(columns))
    assert '<table class="docutils by-row align-default">' in body
    assert body.index('<td data-title="title 0">') < body.index('<td data-title="title 3">')
    assert body.count("data-title") == columns


def test_a_cell_without_content_is_marked_as_empty() -> None:
    body = changed(table(4, last="<p></p>"))
    assert body.count("data-title") == 3
    assert "<td data-empty><p></p></td>" in body


def test_tables_whose_cells_span_columns_stay_tables() -> None:
    body = table(4).replace("<td><p>", '<td colspan="2"><p>', 1)
    assert changed(body) == body
