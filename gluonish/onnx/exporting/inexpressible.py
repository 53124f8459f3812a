"""Operators that stay out of ONNX files, each group with the reason."""

from collections.abc import Mapping

__all__ = ["REASONS"]

REASONS: Mapping[str, str] = {}
