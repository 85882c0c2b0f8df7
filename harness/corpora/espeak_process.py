"""One utterance by espeak-ng, said by a process of its own; run as a script, never imported.

espeak-ng's output depends on what its process said before, so each utterance gets a fresh
interpreter. It is a bare one (`python -I -S`), which starts in ten milliseconds; so nothing but the
standard library may be imported here.

Runs in a folder that holds `espeak-ng-data`. Standard input: a JSON object with library (path),
voice, text, pitch and pitch_range (0-100), rate (words a minute), sample_rate (Hz, expected).
Standard output: mono 16-bit samples in the machine's byte order. Exit status 0, or 1 and one line
on standard error.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

# Constants of espeak-ng's speak_lib.h, API revision 12.
AUDIO_OUTPUT_SYNCHRONOUS = 2
INITIALIZE_DONT_EXIT = 0x8000
CHARS_UTF8 = 1
PARAMETER_RATE = 1
PARAMETER_PITCH = 3
PARAMETER_RANGE = 4
SAMPLE_BYTES = 2


def say(request: dict[str, Any]) -> bytes:
    """The samples of the request. Raises ValueError when espeak-ng refuses a step."""
    library = ctypes.CDLL(request["library"])
    rate = library.espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, b".", INITIALIZE_DONT_EXIT)
    if rate != request["sample_rate"]:
        raise ValueError(f"espeak_Initialize gave {rate}, not {request['sample_rate']} Hz")
    # Initialisation seeds the generator of aspiration noise from the clock.
    library.espeak_ng_SetRandSeed(ctypes.c_long(1))

    pieces: list[bytes] = []

    def collect(samples: int | None, count: int, events: int | None) -> int:
        if samples and count > 0:
            pieces.append(ctypes.string_at(samples, count * SAMPLE_BYTES))
        return 0

    callback_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    # The name keeps the callback alive as long as the library may call it.
    callback = callback_type(collect)
    library.espeak_SetSynthCallback(callback)

    def demand(step: str, status: int) -> None:
        if status != 0:
            raise ValueError(f"{step} gave {status}")

    voice = request["voice"]
    demand(f"espeak_SetVoiceByName({voice})", library.espeak_SetVoiceByName(voice.encode()))
    for parameter, value in (
        (PARAMETER_RATE, request["rate"]),
        (PARAMETER_PITCH, request["pitch"]),
        (PARAMETER_RANGE, request["pitch_range"]),
    ):
        demand(
            f"espeak_SetParameter({parameter})", library.espeak_SetParameter(parameter, value, 0)
        )
    text = request["text"].encode()
    size = ctypes.c_size_t(len(text) + 1)
    demand("espeak_Synth", library.espeak_Synth(text, size, 0, 0, 0, CHARS_UTF8, None, None))
    demand("espeak_Synchronize", library.espeak_Synchronize())
    return b"".join(pieces)


def main() -> int:
    """Answer the one request; return the exit status."""
    try:
        samples = say(json.loads(sys.stdin.buffer.read()))
    except (OSError, AttributeError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.buffer.write(samples)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
