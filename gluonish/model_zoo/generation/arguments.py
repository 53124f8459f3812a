"""Checks of the arguments of generate and stream that are objects."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.model_zoo.generation.cache import Cache
from gluonish.model_zoo.generation.processors import Processor

Scores = np.ndarray


def check_arguments(
    name: str,
    cache: object,
    logits_processor: object,
    callback: object = None,
    assistant_model: Any = None,
    prompt_lookup: object = False,
) -> None:
    """Refuse arguments of other types than those of `CausalLM.generate`.

    Args:
        name: Name of the method in messages.
        cache: See `CausalLM.generate`, like the others.
        logits_processor: A sequence of functions.
        callback: A function, or None.
        assistant_model: A network that generates, or None.
        prompt_lookup: A bool.

    Raises:
        ArgumentTypeError: The message says which.
    """
    found: list[tuple[str, str, object]] = []
    if cache is not None and not isinstance(cache, Cache):
        found.append(("cache", "as a Cache, such as net.new_cache()", cache))
    if not isinstance(logits_processor, list | tuple) or not all(map(callable, logits_processor)):
        found.append(("logits_processor", "as a list of functions", logits_processor))
    if callback is not None and not callable(callback):
        found.append(("callback", "as a function", callback))
    if assistant_model is not None and not hasattr(assistant_model, "vocab_size"):
        found.append(("assistant_model", "as a language model", assistant_model))
    if not isinstance(prompt_lookup, bool):
        found.append(("prompt_lookup", "as bool", prompt_lookup))
    for argument, kind, value in found:
        raise ArgumentTypeError(f"{name}: expected {argument} {kind}, got {value!r:.60}")


def processed(processors: Sequence[Processor], scores: Scores, tokens: Sequence[int]) -> Scores:
    """Return the scores of a row after processors.

    Args:
        processors: The processors, in their order.
        scores: (vocab_size,) in float32; may be changed.
        tokens: The row's tokens so far.

    Raises:
        ArgumentError: A processor returns something else than scores.
    """
    shape = scores.shape
    for process in processors:
        scores = np.asarray(process(scores, tokens))
        if scores.shape != shape or scores.dtype.kind not in "fiu":
            raise ArgumentError(
                f"generate: expected scores {shape} of a logits processor, got "
                f"{scores.dtype}{scores.shape}"
            )
    return scores


def check_choice(scores: Scores) -> None:
    """Refuse scores that hide all tokens, or are no numbers.

    Raises:
        ArgumentError: The message says what they are.
    """
    top = scores.max()
    if top == -np.inf:
        raise ArgumentError(
            "generate: expected a token that can be chosen, got none: options and processors hide "
            f"all {scores.size}"
        )
    if not np.isfinite(top):
        raise ArgumentError(f"generate: expected finite scores of tokens, got {top}")
