from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.submissions.shown import printable, printable_json


def test_a_terminal_obeys_nothing() -> None:
    assert printable("a\x1b[2J\tü\n") == "a\\x1b[2J\\tü\\n"
    assert printable("\x9b31m\u202eb\udcff") == "\\x9b31m\\u202eb\\udcff"


@given(st.text(st.characters()))
def test_json_stays_the_same(text: str) -> None:
    shown = printable_json(json.dumps({text: [text]}, indent=2, ensure_ascii=False))
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown) == {text: [text]}


def test_json_of_what_lies_beyond_16_bits() -> None:
    assert printable_json('"\U000e0001\x7f\x9b"\n') == '"\\udb40\\udc01\\u007f\\u009b"\n'
