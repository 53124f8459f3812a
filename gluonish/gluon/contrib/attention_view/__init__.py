"""A view of the weights of attention, for notebooks and files."""

from gluonish.gluon.contrib.attention_view.view import AttentionView, view_attention

__all__ = ["AttentionView", "view_attention"]
