"""Makes `mx.img`, `mx.mon` and `mx.viz` short names of modules, which load at their first use."""

from gluonish.core.module_names import alias_modules

__all__: list[str] = []

alias_modules(
    {
        "gluonish.img": "gluonish.image",
        "gluonish.mon": "gluonish.monitor",
        "gluonish.viz": "gluonish.visualization",
    }
)
