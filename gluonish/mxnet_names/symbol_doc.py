"""Additions to docstrings of operators on Symbols: classes named ``<Op>Doc``."""

from collections.abc import Sequence

from gluonish.mxnet_names.ndarray_doc import _document
from gluonish.symbol import Symbol

__all__ = ["SymbolDoc"]


class SymbolDoc:
    """Base class of extra docstrings for operators, such as ``class DropoutDoc(SymbolDoc)``."""

    @staticmethod
    def get_output_shape(
        sym: Symbol, **input_shapes: tuple[int, ...]
    ) -> dict[str, tuple[int, ...]]:
        """Return the shape of each output, by name.

        Args:
            sym: The graph.
            **input_shapes: Shapes of the graph's arguments.
        """
        _, shapes, _ = sym.infer_shape(**input_shapes)
        return dict(zip(sym.list_outputs(), shapes, strict=True))


def _build_doc(
    func_name: str,
    desc: str,
    arg_names: Sequence[str],
    arg_types: Sequence[str],
    arg_desc: Sequence[str],
    key_var_num_args: str | None = None,
    ret_type: str | None = None,
) -> str:
    """Build a docstring: description, parameters, result, and the text of an ``<Op>Doc`` class.

    Args:
        func_name: The operator's name.
        desc: The description.
        arg_names: Names of the parameters.
        arg_types: Types of the parameters, as text.
        arg_desc: Descriptions of the parameters.
        key_var_num_args: The parameter with the number of inputs, which callers omit.
        ret_type: Type of the result; None for Symbol.
    """
    kind = ret_type or "Symbol"
    return _document(SymbolDoc, func_name, desc, arg_names, arg_types, arg_desc, kind)
