"""What comes behind the imports of the package.

`mx.img`, `mx.mod`, `mx.mon` and `mx.viz` become short names of modules that load when used, and the
garbage collector no longer looks at the modules that are there.
"""

from gluonish.core.collection_pause import set_imports_aside
from gluonish.core.module_names import alias_modules

__all__: list[str] = []

alias_modules(
    {
        "gluonish.img": "gluonish.image",
        "gluonish.mod": "gluonish.module",
        "gluonish.mon": "gluonish.monitor",
        "gluonish.viz": "gluonish.visualization",
    }
)

set_imports_aside()
