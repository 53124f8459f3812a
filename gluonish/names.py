"""Makes `mx.img`, `mx.mod`, `mx.mon` and `mx.viz` short names of modules that load when used."""

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
