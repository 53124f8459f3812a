"""A navigation that is fast to render: the lists of a page's own names stay out of the sidebar.

Sphinx copies the table of contents of every page for the sidebar of every page, and those of the
reference have thousands of names. The sidebar shows titles only, so it gets tables without names,
and the page itself gets the whole one beside its text.
"""

from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.adapters.toctree import document_toc

_whole: dict[str, nodes.bullet_list] = {}
_sidebars: dict[tuple[str, str], str] = {}


def keep_titles(app: Sphinx, env: BuildEnvironment) -> None:
    """Reduce the tables of contents to titles, once the environment with all of them is saved."""
    del app
    for name, table in list(env.tocs.items()):
        if name.startswith("reference/"):
            _whole[name] = table
            env.tocs[name] = _titles(table)


def add_contents(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give a page its whole table of contents; pages outside the tree share a sidebar."""
    del template, doctree
    whole = _whole.get(name)
    if whole is not None:
        titles, app.env.tocs[name] = app.env.tocs[name], whole
        found = document_toc(app.env, name, app.tags)
        app.env.tocs[name] = titles
        context["toc"] = app.builder.render_partial(found)["fragment"]  # type: ignore[attr-defined]
    render = context.get("toctree")
    if render is not None and "orphan" in app.env.metadata.get(name, ()):
        folder = str(PurePosixPath(name).parent)

        def toctree(**options: Any) -> str:
            key = (folder, repr(sorted(options.items())))
            if key not in _sidebars:
                _sidebars[key] = render(**options)
            return _sidebars[key]

        context["toctree"] = toctree


def show_contents(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Have the theme show a table of contents that it took for one of a title alone."""
    del app, template, doctree
    if name in _whole and _whole[name].next_node(nodes.bullet_list) is not None:
        context["furo_hide_toc"] = False


def _titles(table: nodes.bullet_list) -> nodes.bullet_list:
    """Return a table of contents without the entries of a page's own sections and names."""
    reduced = table.deepcopy()
    for item in reduced.children:
        for part in list(item.children)[1:]:
            if isinstance(part, nodes.bullet_list) and not any(part.findall(addnodes.toctree)):
                item.remove(part)
    return reduced
