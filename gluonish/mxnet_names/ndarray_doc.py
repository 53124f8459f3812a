"""Additions to docstrings of operators on arrays: classes named ``<Op>Doc``."""

from collections.abc import Sequence

from gluonish.mxnet_names.base import build_param_doc as _build_param_doc

__all__ = ["NDArrayDoc"]


class NDArrayDoc:
    """Base class of extra docstrings for operators, such as ``class ReshapeDoc(NDArrayDoc)``."""


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
        ret_type: Type of the result; None for NDArray.
    """
    return _document(NDArrayDoc, func_name, desc, arg_names, arg_types, arg_desc, ret_type)


def _document(
    base: type,
    func_name: str,
    desc: str,
    arg_names: Sequence[str],
    arg_types: Sequence[str],
    arg_desc: Sequence[str],
    ret_type: str | None,
) -> str:
    parameters = _build_param_doc(arg_names, arg_types, arg_desc)
    kind = ret_type or "NDArray or list of NDArrays"
    text = (
        f"{desc}\n\n{parameters}\nReturns\n-------\nout : {kind}\n    The output of this function."
    )
    class_name = f"{func_name}Doc"
    more: list[type] = base.__subclasses__()
    extra = [found.__doc__ for found in more if found.__name__ == class_name]
    return text + "".join(f"\n{added}" for added in extra if added)
