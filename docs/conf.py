"""Settings of the documentation site, which ``gluonish docs`` builds."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import gluonish

project = "gluonish"
author = copyright = "the contributors of gluonish"  # noqa: A001  # Sphinx's name
version = release = gluonish.__version__

extensions = ["myst_nb", "sphinx_copybutton", "gluonish_site"]
root_doc = "index"
exclude_patterns = ["notebooks/*"]  # to be downloaded
nitpicky = True
# Nothing is fetched and nothing is computed while the site is built.
nb_execution_mode = "off"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

python_maximum_signature_line_length = 120
add_module_names = True
toc_object_entries_show_parents = "hide"
pygments_style = "default"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = f"gluonish {version}"
html_static_path = ["_static"]
html_css_files = ["gluonish.css"]
html_use_index = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
