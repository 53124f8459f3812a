"""The ``gluonish`` command and its subcommands."""
