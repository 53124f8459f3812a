"""generate and stream: text behind prompts, by a network with a cache."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.nn.rounding import BITS, largest_group, round_weights
from gluonish.gluon.nn.tensor import check_positive
from gluonish.model_zoo.generation.arguments import check_arguments
from gluonish.model_zoo.generation.cache import Cache
from gluonish.model_zoo.generation.options import (
    OF_SOME,
    GenerationOptions,
    check_tokens,
    options_of,
)
from gluonish.model_zoo.generation.processors import Processor
from gluonish.model_zoo.generation.runner import Runner, checked_prompts
from gluonish.model_zoo.generation.search import (
    Chooser,
    NewToken,
    Stops,
    beam_search,
    repeated,
    search,
)
from gluonish.model_zoo.generation.speculative import (
    GUESSES,
    Checker,
    Guess,
    guesser,
    speculate,
)
from gluonish.model_zoo.text.tokenizer import Tokenizer
from gluonish.ndarray import NDArray

_TOKENIZER = "tokenizer.json"
Callback = Callable[[int, int], object]


class Generates:
    """Base class of networks that generate text; see `CausalLM`.

    Attributes:
        generation_config: Options that calls of `generate` begin with, under the names of
            generation_config.json.
    """

    generation_config: Mapping[str, Any] = {}
    _tokenizer: Any = None
    _folder: str | None = None  # of the network's files
    _runner: Runner | None = None
    _checker: Checker | None = None
    _further_options: frozenset[str] = frozenset()  # of those that only some networks have

    @property
    def tokenizer(self) -> Any:
        """What makes tokens of text by ``encode(text)``, and text of tokens by ``decode(tokens)``.

        A network of `from_pretrained` reads that of its folder at the first use; None without one.
        """
        if self._tokenizer is None and self._folder is not None and self._has_file(_TOKENIZER):
            self.tokenizer = Tokenizer.from_pretrained(self._folder)
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: Any) -> None:
        check = getattr(tokenizer, "check_vocab_size", None)
        if check is not None:
            check(self.vocab_size, type(self).__name__)
        object.__setattr__(self, "_tokenizer", tokenizer)

    def _has_file(self, name: str) -> bool:
        """Return whether the network's folder has a file."""
        return self._folder is not None and (Path(self._folder) / name).exists()

    @property
    def runner(self) -> Runner:
        """What computes the next scores; it has the number of plans, ``num_plans``."""
        if self._runner is None:
            object.__setattr__(self, "_runner", Runner(self))
        assert self._runner is not None
        return self._runner

    @property
    def checker(self) -> Checker:
        """What computes the scores behind guesses."""
        if self._checker is None:
            object.__setattr__(self, "_checker", Checker(self))
        assert self._checker is not None
        return self._checker

    def new_cache(self, batch_size: int = 1, length: int = 1, dtype: Any = None) -> Cache:
        """Return an empty `Cache` for `generate`.

        Args:
            batch_size: Number of rows.
            length: Tokens of a row that there is room for at first; it grows. Layers with a
                window keep what is in their reach only.
            dtype: Element type; that of the parameters by default. ``"int8"`` rounds each row of
                keys and values to multiples of 1/127 of its greatest magnitude.
        """
        check_positive(f"{type(self).__name__}.new_cache", batch_size=batch_size, length=length)
        return self.runner.new_cache(batch_size, length, dtype)

    def quantize_weights(
        self, dtype: str = "int8", group: int = 128, exclude_layers: Sequence[str] = ()
    ) -> list[str]:
        """Round the weights of all dense layers to integers with scales, in place.

        A step of generation is bound by reading weights, those of the head among them, which take
        a quarter of the memory of float32, and an eighth with ``"int4"``, at some loss of accuracy.
        A tied head gets its own integers; the table of the
        embedding stays floating, as do norms and experts; exclude ``"head"`` for a
        head that stays tied. ``save_parameters`` saves the integers, and ``load_parameters`` loads
        them into a network that was quantized with the same arguments, whose parameters may have
        no values yet.

        Args:
            dtype: ``"int8"`` or ``"int4"``.
            group: Most elements of a row that share a scale. A layer takes the largest divisor of
                its input features up to that, a multiple of 32 if there is one.
            exclude_layers: Attribute paths of layers that stay, such as ``["head"]``.

        Returns:
            The attribute paths of the layers that changed.

        Raises:
            ArgumentError: An argument is not one of those listed, or no layer would change.
            ArgumentTypeError: ``group`` is not an int, or ``exclude_layers`` is a single name.
            ParameterError: A weight is not finite. In case of an error, no layer changes.
        """
        if not isinstance(dtype, str) or dtype not in BITS:
            raise ArgumentError(f"quantize_weights: expected dtype 'int8' or 'int4', got {dtype!r}")
        check_positive("quantize_weights", group=group)
        if isinstance(exclude_layers, str):
            raise ArgumentTypeError(
                f"quantize_weights: expected exclude_layers as a list, got {exclude_layers!r}"
            )
        network: Any = self
        made = round_weights(
            *("quantize_weights", network, lambda layer: largest_group(layer, group)),
            *(BITS[dtype], exclude_layers),
        )
        object.__setattr__(self, "_runner", None)
        return made

    def generate(
        self,
        prompts: Any,
        max_new_tokens: int | None = None,
        *,
        cache: Cache | None = None,
        callback: Callback | None = None,
        logits_processor: Sequence[Processor] = (),
        assistant_model: Any = None,
        prompt_lookup: bool = False,
        **options: Any,
    ) -> Any:
        """Return what follows prompts.

        Options are those of the network's ``generation_config``, and of this call in their place;
        see `GenerationOptions`.

        Args:
            prompts: A text, which needs a tokenizer, or a sequence of tokens; or several of them,
                of any lengths. Each row gets the tokens that it gets alone.
            max_new_tokens: Most tokens that follow a prompt.
            cache: See `new_cache`; the tokens that it has of a row are not computed again. It has
                those of prompts and texts afterwards, perhaps without the last token.
            callback: Called with row and token for each token that is chosen.
            logits_processor: Functions ``(scores, tokens) -> scores`` of one row, with scores
                (vocab_size,) in float32, after those of repetitions and before those of drawing.
            assistant_model: A smaller language model of the same vocabulary, which guesses tokens
                that this one checks several at a time. The text is that of the most probable
                tokens, which need more than the usual steps only where guesses are wrong.
            prompt_lookup: Whether guesses are what followed the last tokens earlier in the text,
                which serves for summaries and corrections.
            **options: See `GenerationOptions`.

        Returns:
            A list of new tokens, or a text for a prompt that is text; for several prompts, or with
            ``num_return_sequences`` above 1, a list of them, those of a prompt in a row. A text
            ends before its stop token, tokens with it.

        Raises:
            ArgumentError: An option is not known or out of range, or a prompt is empty, too long,
                or has tokens out of the vocabulary.
            ArgumentTypeError: A prompt or an option is of another type.
            NotSupportedError: ``generation_config`` asks for what there is not here.
        """
        check_arguments(
            "generate", cache, logits_processor, callback, assistant_model, prompt_lookup
        )
        given = self._options_of_call(max_new_tokens, options)
        rows, is_text, is_single = self._rows(prompts, given)
        if given.num_beams > 1:
            if callback is not None or assistant_model is not None or prompt_lookup:
                raise ArgumentError(
                    "generate: expected no callback, assistant_model and prompt_lookup with "
                    f"num_beams {given.num_beams}: beams change until the end"
                )
            made = self._beams(rows, given, logits_processor, cache)
        else:
            made = [[] for _ in range(len(rows) * given.num_return_sequences)]
            found_by = self._tokens(rows, given, logits_processor, cache)
            if assistant_model is not None or prompt_lookup:
                guess = guesser(self, assistant_model, prompt_lookup)
                found_by = self._guessed(rows, given, logits_processor, cache, guess)
            for new in found_by:
                made[new.row].append(new.token)
                if callback is not None:
                    callback(new.row, new.token)
        found: list[Any] = [self._text(tokens, given) for tokens in made] if is_text else made
        return found[0] if is_single and given.num_return_sequences == 1 else found

    def stream(
        self,
        prompt: Any,
        max_new_tokens: int | None = None,
        *,
        cache: Cache | None = None,
        logits_processor: Sequence[Processor] = (),
        on_token: Callable[[], object] | None = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Yield what follows one prompt as it is chosen: pieces of text, or tokens.

        Args:
            prompt: A text, which needs a tokenizer, or a sequence of tokens.
            max_new_tokens: See `generate`.
            cache: See `generate`.
            logits_processor: See `generate`.
            on_token: Called after each token; a piece of text may have several.
            **options: See `GenerationOptions`; no beams, and one text.

        Raises:
            ArgumentError: See `generate`.
        """
        check_arguments("stream", cache, logits_processor, on_token)
        given = self._options_of_call(max_new_tokens, options)
        if given.num_beams > 1 or given.num_return_sequences > 1:
            raise ArgumentError(
                "stream: expected num_beams and num_return_sequences of 1, got "
                f"{given.num_beams} and {given.num_return_sequences}; use generate"
            )
        rows, is_text, is_single = self._rows(prompt, given)
        if not is_single:
            raise ArgumentError(f"stream: expected one prompt, got {len(rows)}; use generate")
        tokens = _noted(self._tokens(rows, given, logits_processor, cache), on_token)
        return self._pieces(tokens, given) if is_text else (new.token for new in tokens)

    def _options_of_call(
        self, max_new_tokens: int | None, options: Mapping[str, Any]
    ) -> GenerationOptions:
        """Return the options of a call.

        Raises:
            ArgumentError: See `options_of`; or the network has no such option, or fewer words.
        """
        for name in OF_SOME - self._further_options:
            if options.get(name) is not None:
                raise ArgumentError(
                    f"generate: expected options of {type(self).__name__}, got {name!r}, which "
                    "only networks with an encoder, or of speech, have"
                )
        given = options_of(self.generation_config, {"max_new_tokens": max_new_tokens, **options})
        check_tokens(given, self.vocab_size)
        return given

    def _rows(self, prompts: Any, options: GenerationOptions) -> tuple[list[Any], bool, bool]:
        """Return what texts are generated for, whether it is text, and whether it is one.

        Raises:
            ArgumentError: See `generate`.
            ArgumentTypeError: They are no prompts.
        """
        return rows_of(self, prompts, options)

    def _started(
        self, rows: list[Any], options: GenerationOptions, cache: Cache | None
    ) -> tuple[list[list[int]], Cache]:
        """Return the tokens that texts follow, and a cache with room, without their last token."""
        new = max(self._room(row, options) for row in rows)
        return rows, self._ready(rows, new, cache, options.cache_dtype)

    def _tokens(
        self,
        rows: list[Any],
        options: GenerationOptions,
        further: Sequence[Processor],
        cache: Cache | None,
    ) -> Iterator[NewToken]:
        """Yield the tokens behind prompts; each prompt is computed once."""
        times, seed = options.num_return_sequences, self._seed(options)
        begins, ready = self._started(rows, options, cache)
        choosers = [
            Chooser(
                options, row, self._room(row, options), further, (seed, i), self._stops(options)
            )
            for i, row in enumerate(row for row in begins for _ in range(times))
        ]
        made = self.runner.read(ready, begins)
        each, made = repeated(ready, made, times)
        yield from search(self.runner, each, made, choosers)
        self.runner.put_aside(ready)

    def _guessed(
        self,
        rows: list[list[int]],
        options: GenerationOptions,
        further: Sequence[Processor],
        cache: Cache | None,
        guess: Guess,
    ) -> Iterator[NewToken]:
        """Yield the tokens behind one prompt after another, by guesses that are checked."""
        if options.samples or (cache is not None and len(rows) > 1):
            raise ArgumentError(
                "generate: expected assistant_model or prompt_lookup without do_sample, and with a "
                f"cache for one prompt only, got do_sample {options.do_sample} and {len(rows)} "
                "prompts"
            )
        for i, row in enumerate(rows):
            room = self._room(row, options)
            chooser = Chooser(options, row, room, further, (0, i), self._stops(options))
            ready = self._ready([row], room + GUESSES + 1, cache, options.cache_dtype)
            made = self.runner.read(ready, [row])
            most = len(row) + room
            for new in speculate(self.checker, ready, made, chooser, guess, most):
                yield new._replace(row=i)
            self.runner.put_aside(ready)

    def _beams(
        self,
        rows: list[Any],
        options: GenerationOptions,
        further: Sequence[Processor],
        cache: Cache | None,
    ) -> list[list[int]]:
        if cache is not None:
            raise ArgumentError("generate: expected no cache with num_beams above 1, got one")
        found: list[list[int]] = []
        for row in rows:
            begins, ready = self._started([row], options, None)
            made = self.runner.read(ready, begins)
            ready, made = repeated(ready, made, options.num_beams)
            rest = (options, further, self._room(begins[0], options), self._stops(options))
            found += beam_search(self.runner, ready, made, *rest)
        return found

    def _room(self, row: list[int], options: GenerationOptions) -> int:
        """Return the most tokens that follow a prompt; the network's positions limit them.

        Raises:
            ArgumentError: There is no room for one.
        """
        room = min(options.room(len(row)), self.max_length - len(row))
        if room < 1:
            raise ArgumentError(
                f"generate: expected a prompt that leaves room for a token, got {len(row)} tokens "
                f"with {self.max_length} positions and max_length {options.max_length}"
            )
        return room

    @property
    def max_length(self) -> int:
        """Largest number of positions of the network."""
        raise NotImplementedError

    @property
    def vocab_size(self) -> int:
        """Number of words of the network."""
        raise NotImplementedError

    @property
    def max_prompt_length(self) -> int:
        """Largest number of tokens of a prompt."""
        return self.max_length

    def _ready(
        self, rows: list[list[int]], new: int, cache: Cache | None, dtype: str | None
    ) -> Cache:
        """Return a cache with room, which has the beginnings of rows, but not their last token."""
        if cache is None:
            room = self.runner.room(rows, new, [0] * len(rows))
            return self.runner.spare_cache(len(rows), room, dtype)
        if dtype is not None and np.dtype(dtype) != cache.dtype:
            raise ArgumentError(
                f"generate: expected a cache of cache_dtype {dtype!r}, got one of "
                f"{cache.dtype.name}"
            )
        if cache.batch_size != len(rows):
            raise ArgumentError(
                f"generate: expected a cache of {len(rows)} rows, got one of {cache.batch_size}"
            )
        cache.keep_beginnings(rows)
        cache.grow(self.runner.room(rows, new, [len(held) for held in cache.tokens]))
        return cache

    def _seed(self, options: GenerationOptions) -> int:
        """Return the seed of the draws; without one it is drawn."""
        if options.seed is not None or not options.samples:
            return options.seed or 0
        return int(nd.random.randint(0, 1 << 31, shape=(1,), dtype="int64").asscalar())

    def _stops(self, options: GenerationOptions) -> Stops | None:
        """Return what says whether new tokens end with a stop text."""
        if options.stop_strings is None:
            return None
        tokenizer = _tokenizer(self, "stop_strings")
        texts = options.stop_strings
        strings = [texts] if isinstance(texts, str) else texts
        most = max(len(one) for one in strings) + 8

        def stops(new: list[int]) -> bool:
            text = tokenizer.decode(new[-most:])
            return any(one in text for one in strings)

        return stops

    def _text(self, tokens: list[int], options: GenerationOptions) -> str:
        """Return the text of tokens, without what ended it."""
        if tokens and tokens[-1] in options.stop_tokens:
            tokens = tokens[:-1]
        text: str = self.tokenizer.decode(tokens)
        texts = options.stop_strings or []
        for one in [texts] if isinstance(texts, str) else texts:
            text = text.partition(one)[0]
        return text

    def _pieces(self, tokens: Iterator[NewToken], options: GenerationOptions) -> Iterator[str]:
        """Yield pieces of a text; one that a further token may change waits for it."""
        found: list[int] = []
        shown = ""
        texts = options.stop_strings or []
        strings = [texts] if isinstance(texts, str) else list(texts)
        for new in tokens:
            found.append(new.token)
            text = self._text(found, options)
            safe = text
            if not new.is_last:
                if text.endswith("\ufffd"):  # the bytes of a character are not complete
                    continue
                safe = text[: len(text) - _held_back(text, strings)]
            if len(safe) > len(shown) and safe.startswith(shown):
                yield safe[len(shown) :]
                shown = safe


def _noted(tokens: Iterator[NewToken], on_token: Callable[[], object] | None) -> Iterator[NewToken]:
    for new in tokens:
        if on_token is not None:
            on_token()
        yield new


def _held_back(text: str, strings: Sequence[str]) -> int:
    """Return how many characters at the end of a text may be the beginning of a stop text."""
    for count in range(min(len(text), max(map(len, strings), default=1) - 1), 0, -1):
        if any(one.startswith(text[-count:]) for one in strings):
            return count
    return 0


def rows_of(
    net: Any, prompts: Any, options: GenerationOptions
) -> tuple[list[list[int]], bool, bool]:
    """Return prompts as lists of tokens, whether they are texts, and whether it is one.

    Raises:
        ArgumentTypeError: They are no prompts.
    """
    if isinstance(prompts, NDArray):
        prompts = prompts.asnumpy()
    if hasattr(prompts, "tolist"):
        prompts = prompts.tolist()
    if isinstance(prompts, str):
        return [_encoded(net, prompts, options)], True, True
    if not isinstance(prompts, list | tuple):
        raise ArgumentTypeError(
            f"generate: expected prompts as text, tokens, or a list of them, got {prompts!r:.60}"
        )
    if not prompts and options.bos_token_id is not None:
        return checked_prompts(net, [[options.bos_token_id]]), False, True
    if all(isinstance(one, str) for one in prompts) and prompts:
        return [_encoded(net, one, options) for one in prompts], True, False
    is_single = not any(isinstance(one, list | tuple) or hasattr(one, "tolist") for one in prompts)
    return checked_prompts(net, [prompts] if is_single else prompts), False, is_single


def _encoded(net: Any, text: str, options: GenerationOptions) -> list[int]:
    tokens = [int(token) for token in _tokenizer(net, "a prompt that is text").encode(text)]
    if not tokens and options.bos_token_id is not None:
        tokens = [options.bos_token_id]
    return checked_prompts(net, [tokens])[0]


def _tokenizer(net: Any, reason: str) -> Any:
    if net.tokenizer is None:
        raise ArgumentError(
            f"generate: expected a network with a tokenizer for {reason}, got none; set "
            "net.tokenizer, or pass tokens"
        )
    return net.tokenizer
