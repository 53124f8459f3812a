"""A navigation that is fast to render.

Sphinx copies the table of contents of every page for the sidebar of every page, and those of the
reference have thousands of names. The sidebar shows titles only, so it gets tables without names,
and the page itself gets the whole one beside its text. The pages of a folder of the reference share
a sidebar.
"""

import re
from functools import partial
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.adapters.toctree import document_toc, global_toctree_for_doc

_HERE = '<a class="current reference internal" href="#">'
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
    """Give a page its whole table of contents, and a page of the reference its folder's sidebar."""
    del template, doctree
    whole = _whole.get(name)
    if whole is None:
        return
    titles, app.env.tocs[name] = app.env.tocs[name], whole
    found = document_toc(app.env, name, app.tags)
    app.env.tocs[name] = titles
    context["toc"] = app.builder.render_partial(found)["fragment"]  # type: ignore[attr-defined]
    if not name.endswith("/index"):
        context["toctree"] = partial(_sidebar, app, name)


def show_contents(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Have the theme show a table of contents that it took for one of a title alone."""
    del app, template, doctree
    if name in _whole and _whole[name].next_node(nodes.bullet_list) is not None:
        context["furo_hide_toc"] = False


def _sidebar(app: Sphinx, name: str, **options: Any) -> str:
    """Return the sidebar of a page: that of its folder's index, with the page marked."""
    folder, _, page = name.rpartition("/")
    key = (folder, repr(sorted(options.items())))
    if key not in _sidebars:
        tree = global_toctree_for_doc(
            app.env, f"{folder}/index", app.builder, tags=app.tags, **options
        )
        text = app.builder.render_partial(tree)["fragment"]  # type: ignore[attr-defined]
        _sidebars[key] = text.replace(_HERE, '<a class="reference internal" href="index.html">')
    link = f'<a class="reference internal" href="{page}.html">'
    return re.sub(
        rf'<li class="(toctree-l\d)">{re.escape(link)}',
        rf'<li class="\1 current">{_HERE}',
        _sidebars[key],
    )


def _titles(table: nodes.bullet_list) -> nodes.bullet_list:
    """Return a table of contents without the entries of a page's own sections and names."""
    reduced = table.deepcopy()
    for item in reduced.children:
        for part in list(item.children)[1:]:
            if isinstance(part, nodes.bullet_list) and not any(part.findall(addnodes.toctree)):
                item.remove(part)
    return reduced
