"""BatchGenerator: texts that are computed together, although they begin and end apart."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import object_repr
from gluonish.gluon.nn.tensor import check_positive
from gluonish.model_zoo.generation.arguments import check_arguments
from gluonish.model_zoo.generation.options import options_of
from gluonish.model_zoo.generation.processors import Processor
from gluonish.model_zoo.generation.runner import Next, Runner, checked_prompts
from gluonish.model_zoo.generation.search import Chooser, NewToken, next_tokens

__all__ = ["BatchGenerator"]


class _Text:
    """A text that waits for a row, or has one.

    Attributes:
        number: What `BatchGenerator.insert` returned.
        tokens: Prompt and new tokens.
        chooser: Chooses its tokens.
    """

    def __init__(self, number: int, prompt: list[int], chooser: Chooser, room: int) -> None:
        self.number, self.tokens, self.chooser = number, prompt, chooser
        self.most = len(prompt) + room


class BatchGenerator:
    """Generates texts in the rows of one batch: a row whose text ends takes the next prompt.

    Each text has the tokens that it has alone. A step computes all rows by one plan; a prompt is
    computed by itself when it gets its row. The cache grows to twice its length where a text needs
    it, which makes a new plan.

    Args:
        net: A language model, such as `CausalLM`.
        max_batch: Number of rows.
        **options: Options of all texts; see `GenerationOptions`. No beams.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BatchGenerator, CausalLM, Llama
        >>> net = CausalLM(Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2))
        >>> net.initialize()
        >>> batch = BatchGenerator(net, max_batch=2, max_new_tokens=3)
        >>> numbers = [batch.insert(prompt) for prompt in ([1, 2, 3], [4], [5, 6])]
        >>> texts = {number: [] for number in numbers}
        >>> while batch.is_busy:
        ...     for number, token, is_last in batch.step():
        ...         texts[number].append(token)
        >>> [len(text) for text in texts.values()]
        [3, 3, 3]
    """

    def __init__(self, net: Any, max_batch: int = 8, **options: Any) -> None:
        check_positive("BatchGenerator", max_batch=max_batch)
        if not hasattr(net, "runner") or not hasattr(net, "generation_config"):
            raise ArgumentError(
                "BatchGenerator: expected a language model such as CausalLM, got "
                f"{type(net).__name__}"
            )
        self._net, self._options = net, options
        self._runner: Runner = net.runner
        self._waiting: deque[_Text] = deque()
        self._rows: list[_Text | None] = [None] * max_batch
        dtype = options_of(net.generation_config, options).cache_dtype
        self._cache = net.new_cache(max_batch, dtype=dtype)
        self._first: dict[int, Next] = {}  # scores of texts that have no token yet, by row
        self._count = 0

    def __repr__(self) -> str:
        running = sum(row is not None for row in self._rows)
        return object_repr(
            self, f"{running} running", f"{len(self._waiting)} waiting", max_batch=len(self._rows)
        )

    @property
    def is_busy(self) -> bool:
        """Whether a text is not complete."""
        return bool(self._waiting) or any(text is not None for text in self._rows)

    def insert(
        self, prompt: Sequence[int], logits_processor: Sequence[Processor] = (), **options: Any
    ) -> int:
        """Add a prompt, which gets a row in one of the next steps.

        Args:
            prompt: Tokens.
            logits_processor: See `CausalLM.generate`.
            **options: Options of this text, in place of those of all.

        Returns:
            The number of the text.

        Raises:
            ArgumentError: See `CausalLM.generate`.
        """
        if options.get("cache_dtype") is not None:
            raise ArgumentError(
                "BatchGenerator: expected cache_dtype in the constructor, for all texts, got "
                f"{options['cache_dtype']!r:.60} for one"
            )
        given = options_of(self._net.generation_config, {**self._options, **options})
        if given.num_beams > 1 or given.num_return_sequences > 1 or given.stop_strings:
            raise ArgumentError(
                "BatchGenerator: expected one text without beams and stop_strings, got "
                f"num_beams {given.num_beams}, num_return_sequences {given.num_return_sequences}, "
                f"stop_strings {given.stop_strings!r:.60}; use generate"
            )
        check_arguments("BatchGenerator.insert", None, logits_processor)
        (tokens,) = checked_prompts(self._net, [prompt])
        room = self._net._room(tokens, given)
        seed = self._net._seed(given)
        number, self._count = self._count, self._count + 1
        chooser = Chooser(given, tokens, room, logits_processor, (seed, 0))
        self._waiting.append(_Text(number, tokens, chooser, room))
        return number

    def step(self) -> list[NewToken]:
        """Give waiting prompts their rows, and return the next token of each text.

        Returns:
            Tokens with the numbers of their texts; none if nothing is to be done.
        """
        self._admit()
        chosen = {row: self._choose(made, [row])[0] for row, made in self._first.items()}
        others = [
            row
            for row, text in enumerate(self._rows)
            if text is not None and row not in self._first
        ]
        self._first = {}
        if others:
            made = self._compute()
            chosen.update(zip(others, self._choose(made, others), strict=True))
        return [self._take(row, token) for row, token in sorted(chosen.items())]

    def _admit(self) -> None:
        """Compute the prompts of waiting texts for which there are rows."""
        for row, held in enumerate(self._rows):
            if held is not None or not self._waiting:
                continue
            text = self._waiting.popleft()
            room = self._runner.room([text.tokens], 0, [0])
            self._cache.grow(max(text.most, room))
            own = self._net.new_cache(1, room, self._cache.dtype)
            self._first[row] = self._runner.read(own, [text.tokens])
            self._cache.write_row(row, own)
            self._rows[row] = text

    def _compute(self) -> Next:
        """Compute the last tokens of all rows; rows without one compute a token to no effect."""
        given = []
        for row, text in enumerate(self._rows):
            held = self._cache.tokens[row]
            if text is None:
                held.clear()
            else:
                del held[len(text.tokens) - 1 :]
            given.append(0 if text is None else text.tokens[-1])
        return self._runner.step(self._cache, given)

    def _choose(self, made: Next, rows: Sequence[int]) -> list[int]:
        """Return the next tokens of rows; scores of a prompt are one row."""
        texts = [text for row in rows if (text := self._rows[row]) is not None]
        places = [0] if made.scores.shape[0] == 1 else list(rows)
        return next_tokens(
            made, [text.chooser for text in texts], [text.tokens for text in texts], places
        )

    def _take(self, row: int, token: int) -> NewToken:
        """Add a token to the text of a row."""
        text = self._rows[row]
        assert text is not None
        text.tokens.append(token)
        is_last = text.chooser.ends(text.tokens)
        if is_last:
            self._rows[row] = None
        return NewToken(text.number, token, is_last)
