"""The ``gluonish`` command and what its subcommands do."""
