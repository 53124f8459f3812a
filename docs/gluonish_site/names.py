"""Directives: further names under which what a page describes can be found, and quick tables."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id

from gluonish_site.docstrings import SEPARATOR


class NamesDirective(SphinxDirective):
    """Add names of Python objects to the inventory and the search, at this place of the page.

    The content has a line ``KIND NAME`` for each, such as ``function mx.sym.softmax``.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the targets of the names."""
        domain = self.env.domains.python_domain
        found: list[nodes.Node] = []
        for line in self.content:
            kind, name = line.split()
            target = nodes.target("", "", ids=[make_id(self.env, self.state.document, "", name)])
            self.state.document.note_explicit_target(target)
            domain.note_object(name, kind, target["ids"][0], location=target)
            found.append(target)
        return found


class TableDirective(SphinxDirective):
    """A table whose cells are one line of text each: much faster than ``list-table``.

    The argument is the widths of the columns in percent. A line of the content is a row, with
    ``SEPARATOR`` between its cells; the first one is the head.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        head, *rows = [self._row(line) for line in self.content]
        widths = [int(width) for width in self.arguments[0].split()]
        group = nodes.tgroup(
            "",
            *(nodes.colspec(colwidth=width) for width in widths),
            nodes.thead("", head),
            nodes.tbody("", *rows),
            cols=len(widths),
        )
        return [nodes.table("", group, classes=["colwidths-given"])]

    def _row(self, line: str) -> nodes.row:
        cells = []
        for text in line.split(SEPARATOR):
            found, _ = self.parse_inline(text.strip(), lineno=self.lineno)
            cells.append(nodes.entry("", nodes.paragraph("", "", *found)))
        return nodes.row("", *cells)
