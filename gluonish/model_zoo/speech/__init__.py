"""Networks for speech."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = ["SpeechSeq2SeqLM", "Whisper"]

if TYPE_CHECKING:
    from gluonish.model_zoo.speech.speech_to_text import SpeechSeq2SeqLM
    from gluonish.model_zoo.speech.whisper import Whisper
else:
    __getattr__ = _attach(
        __name__,
        ("speech_to_text", "whisper"),
        {
            "SpeechSeq2SeqLM": "gluonish.model_zoo.speech.speech_to_text:SpeechSeq2SeqLM",
            "Whisper": "gluonish.model_zoo.speech.whisper:Whisper",
        },
    )
