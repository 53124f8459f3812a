"""Search for the tokens that follow prompts: greedy, drawn, and by beams."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

import gluonish.ndarray as nd
from gluonish.model_zoo.generation.arguments import check_choice, processed
from gluonish.model_zoo.generation.cache import Cache
from gluonish.model_zoo.generation.options import GenerationOptions
from gluonish.model_zoo.generation.processors import (
    Processor,
    log_probabilities,
    probabilities,
    processors_of,
)
from gluonish.model_zoo.generation.runner import Next, Runner

Stops = Callable[[list[int]], bool]  # whether new tokens end a text


class NewToken(NamedTuple):
    """A token that was chosen.

    Attributes:
        row: Which text it belongs to.
        token: The token.
        is_last: Whether the text ends with it.
    """

    row: int
    token: int
    is_last: bool


class Chooser:
    """Chooses the next token of one text.

    Args:
        options: The options.
        prompt: Tokens of the prompt.
        room: Most tokens that follow.
        further: Processors of the user.
        stream: Numbers that make the draws of this text its own.
        stops: Whether new tokens end the text, beside the stop tokens.
    """

    def __init__(
        self,
        options: GenerationOptions,
        prompt: Sequence[int],
        room: int,
        further: Sequence[Processor],
        stream: tuple[int, int],
        stops: Stops | None = None,
    ) -> None:
        self._options, self._room, self._stops = options, room, stops
        self._prompt = len(prompt)
        self._processors = processors_of(options, len(prompt), room, further)
        self._random = np.random.Generator(np.random.Philox(key=np.array(stream, np.uint64)))

    @property
    def takes_best(self) -> bool:
        """Whether the choice is the token with the greatest score, as the network gives it."""
        return not self._options.samples and not self._processors

    def choose(self, scores: np.ndarray, tokens: Sequence[int]) -> int:
        """Return the next token.

        Args:
            scores: (vocab_size,) in float32; may be changed.
            tokens: The text so far, prompt included.

        Raises:
            ArgumentError: A processor returns something else, or no token can be chosen.
        """
        scores = processed(self._processors, scores, tokens)
        check_choice(scores)
        if not self._options.samples:
            return int(scores.argmax())
        sums = np.cumsum(probabilities(scores))
        place = np.searchsorted(sums, self._random.random() * sums[-1], side="right")
        return int(min(place, len(sums) - 1))

    def ends_at(self, length: int) -> bool:
        """Return whether a text of some tokens, prompt included, has no room for more."""
        return length - self._prompt >= self._room

    def ends(self, tokens: list[int]) -> bool:
        """Return whether a text, prompt included, is complete."""
        new = tokens[self._prompt :]
        if self.ends_at(len(tokens)) or new[-1] in self._options.stop_tokens:
            return True
        return self._stops is not None and self._stops(new)


def next_tokens(
    made: Next,
    choosers: Sequence[Chooser],
    texts: Sequence[list[int]],
    rows: Sequence[int] | None = None,
) -> list[int]:
    """Return the next token of each text.

    Args:
        made: Scores of the rows.
        choosers: For each text.
        texts: Tokens so far.
        rows: The row of each text; None for 0, 1, ...
    """
    places = range(len(texts)) if rows is None else rows
    if all(chooser.takes_best for chooser in choosers):
        best = made.best.asnumpy()
        return [int(best[place]) for place in places]
    scores = made.scores.asnumpy()
    return [
        chooser.choose(scores[place].copy(), text)
        for chooser, text, place in zip(choosers, texts, places, strict=True)
    ]


def search(
    runner: Runner, cache: Cache, made: Next, choosers: Sequence[Chooser]
) -> Iterator[NewToken]:
    """Yield tokens as they are chosen, one of each row in turn.

    Args:
        runner: The network.
        cache: What it has computed of the rows; a text's tokens are added.
        made: The scores behind the cache.
        choosers: For each row of the cache.
    """
    rows = [list(tokens) for tokens in cache.tokens]
    ended = [False] * len(rows)
    best = all(chooser.takes_best for chooser in choosers)
    ahead = None
    for number in count():
        # The first step may have to be planned, which the first token does not wait for.
        if best and number and not any(ended) and not any(map(_ends_next, choosers, rows)):
            ahead = runner.step_ahead(cache, made)
        chosen = next_tokens(made, choosers, rows)
        for i, token in enumerate(chosen):
            if ended[i]:
                continue
            rows[i].append(token)
            ended[i] = choosers[i].ends(rows[i])
            yield NewToken(i, token, ended[i])
        if all(ended):
            return
        if ahead is not None:
            for held, token in zip(cache.tokens, chosen, strict=True):
                held.append(token)
            made, ahead = ahead, None
            continue
        # Rows that ended compute their last token again, so that the number of rows, and the plan,
        # stay.
        for held, row in zip(cache.tokens, rows, strict=True):
            del held[len(row) - 1 :]
        made = runner.step(cache, [row[-1] for row in rows])


def _ends_next(chooser: Chooser, row: Sequence[int]) -> bool:
    return chooser.ends_at(len(row) + 1)


class _Beam(NamedTuple):
    tokens: list[int]  # without the prompt
    score: float  # sum of log probabilities


class _Complete:
    """The best complete texts of one prompt."""

    def __init__(self, options: GenerationOptions, room: int) -> None:
        self._options, self._room = options, room
        self.texts: list[tuple[float, list[int]]] = []

    def _value(self, score: float, length: int) -> float:
        return float(score / length**self._options.length_penalty)

    def add(self, beam: _Beam) -> None:
        """Keep a text, if it is among the best."""
        self.texts.append((self._value(beam.score, len(beam.tokens)), beam.tokens))
        self.texts.sort(key=lambda text: -text[0])
        del self.texts[self._options.num_beams :]

    def is_done(self, best: float, length: int) -> bool:
        """Return whether no living beam can become better.

        Args:
            best: Greatest score of a living beam.
            length: Its number of tokens.
        """
        if len(self.texts) < self._options.num_beams:
            return False
        early = self._options.early_stopping
        if early is True:
            return True
        longest = early == "never" and self._options.length_penalty > 0
        reachable = self._value(best, self._room if longest else length)
        return self.texts[-1][0] >= reachable


def beam_search(
    runner: Runner,
    cache: Cache,
    made: Next,
    options: GenerationOptions,
    further: Sequence[Processor],
    room: int,
    stops: Stops | None,
) -> list[list[int]]:
    """Return the best texts behind one prompt, the best first.

    Args:
        runner: The network.
        cache: What it has computed of the prompt: ``num_beams`` equal rows.
        made: The scores behind the cache.
        options: The options.
        further: Processors of the user.
        room: Most tokens that follow.
        stops: Whether new tokens end a text, beside the stop tokens.
    """
    count, prompt = options.num_beams, list(cache.tokens[0])
    processors = processors_of(options, len(prompt), room, further)
    stop_tokens = options.stop_tokens
    beams = [_Beam([], 0.0), *(_Beam([], -1e9) for _ in range(count - 1))]
    complete = _Complete(options, room)
    length = 0
    while True:
        length += 1
        scores = log_probabilities(made.scores.asnumpy())
        for i, beam in enumerate(beams):
            row = processed(processors, scores[i].astype(np.float32), prompt + beam.tokens)
            scores[i] = row + beam.score
        words = scores.shape[1]
        wanted = max(2, 1 + len(stop_tokens)) * count
        flat = scores.reshape(-1)
        top = np.argpartition(-flat, min(wanted, flat.size - 1))[:wanted]
        top = top[np.lexsort((top, -flat[top]))]
        living: list[tuple[int, _Beam]] = []
        for rank, place in enumerate(top.tolist()):
            parent, token = divmod(place, words)
            beam = _Beam([*beams[parent].tokens, token], float(flat[place]))
            ends = token in stop_tokens or (stops is not None and stops(beam.tokens))
            if ends:
                if rank < count:
                    complete.add(beam)
            else:
                living.append((parent, beam))
            if len(living) == count:
                break
        is_done = complete.is_done(max(beam.score for _, beam in living), length)
        if is_done or length == room:
            break
        cache = cache.take([parent for parent, _ in living])
        beams = [beam for _, beam in living]
        made = runner.step(cache, [beam.tokens[-1] for beam in beams])
    if not is_done:
        for _, beam in living:
            complete.add(beam)
    return [tokens for _, tokens in complete.texts[: options.num_return_sequences]]


def repeated(cache: Cache, made: Next, times: int) -> tuple[Cache, Next]:
    """Return a cache, and the scores behind it, with each row several times."""
    if times == 1:
        return cache, made
    rows = [row for row in range(cache.batch_size) for _ in range(times)]
    index = nd.array(np.asarray(rows, np.int32), ctx=made.scores.context, dtype="int32")
    return cache.take(rows), Next(nd.take(made.scores, index), nd.take(made.best, index))
