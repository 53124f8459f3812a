"""The directive ``gluonish-names``: further names under which what a page describes can be found."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id


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
