"""Networks for speech."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach

__all__ = ["LogMel", "SpeechSeq2SeqLM", "Whisper"]

if TYPE_CHECKING:
    from gluonish.model_zoo.speech.log_mel import LogMel
    from gluonish.model_zoo.speech.speech_to_text import SpeechSeq2SeqLM
    from gluonish.model_zoo.speech.whisper import Whisper
else:
    __getattr__ = _attach(
        __name__,
        ("log_mel", "speech_to_text", "whisper"),
        {
            "LogMel": "gluonish.model_zoo.speech.log_mel:LogMel",
            "SpeechSeq2SeqLM": "gluonish.model_zoo.speech.speech_to_text:SpeechSeq2SeqLM",
            "Whisper": "gluonish.model_zoo.speech.whisper:Whisper",
        },
    )
