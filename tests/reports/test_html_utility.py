"""The section of privacy and utility: every value in its column, shaded by its change."""

from __future__ import annotations

import dataclasses
import re

import pytest

from harness.reports.html.render import render
from harness.reports.page import Page, Utility
from harness.reports.tradeoff import Kept
from reports.pages import page, utility
from reports.test_html import Reader

pytestmark = pytest.mark.heavy


def page_with(shown: Utility | None) -> Page:
    made = page()
    assert made.results is not None
    return dataclasses.replace(made, results=dataclasses.replace(made.results, utility=shown))


def section(shown: Utility | None) -> str:
    html = render(page_with(shown))
    return html.partition('<section aria-labelledby="utility">')[2].partition("</section>")[0]


def cells(html: str, table: int) -> dict[str, list[tuple[str, str]]]:
    """Of each system the classes and the text of its cells."""
    body = html.split("<tbody>")[table].partition("</tbody>")[0]
    found = {}
    for row in body.split("<tr>")[1:]:
        (name,) = re.findall(r'<th scope="row"><bdi>([^<]*)', row)
        found[name] = [
            (shade, " ".join("".join(Reader(text).texts).split()))
            for shade, text in re.findall(r'<td(?: class="([^"]*)")?>(.*?)</td>', row, re.S)
        ]
    return found


def test_values_intervals_and_changes() -> None:
    html = section(utility())
    captions = re.findall(r"<caption[^>]*>([^<]*)", html)
    assert captions == ["Privacy and utility: dev", "Privacy and utility: test"]
    found = cells(html, 2)
    # 0.5 and 0.25 of ten shades; beyond 1 there is none stronger.
    assert found["B2"] == [
        ("n", "30.00 [24.00, 36.00] ecapa"),
        ("n change h5", "0.50"),
        ("n", "31.00 [27.00, 35.00]"),
        ("n change h2", "0.25"),
        ("n", "18.25"),
        ("n change h10", "1.15"),
        ("n", "-0.20"),
        ("", "yes"),
    ]
    assert found["orig"][1:4] == [
        ("n change h0", "0.00"),
        ("n", "8.00 [7.00, 9.25]"),
        ("n change h0", "0.00"),
    ]
    assert found["orig"][-1] == ("", "")
    # Of what was not measured the cells are empty.
    assert found["B3"][4:] == [("n", ""), ("n change", ""), ("n", ""), ("", "")]
    assert cells(html, 1) == found


def test_columns_say_what_they_are_of() -> None:
    head = section(utility()).split("<thead>")[1].partition("</thead>")[0]
    columns = [
        " ".join("".join(Reader(text).texts).split())
        for text in re.findall(r"<th [^>]*>(.*?)</th>", head)
    ]
    assert columns == [
        *("System", "EER % attacker", "Change EER", "WER libri, wer", "Change WER"),
        *("UAR emodb, emodb-emotion", "Change UAR", "Balance", "On the front"),
    ]


def test_the_scale_is_told_and_is_named_as_ours() -> None:
    text = " ".join("".join(Reader(section(utility())).texts).split())
    assert "on a scale of ours: 0 is as original speech, 1 is as if nothing were left" in text
    assert "(EER 50 %, WER 100 %, UAR 25 %)" in text
    assert "WER: word error rate, in percent; UAR: unweighted average recall of emotions" in text
    # Nothing is said of measures that are not there.
    assert "pitch" not in text
    assert "as Whisper is of asr-tts" in text
    assert "results/libri-mini/tradeoff.csv, results/libri-mini/utility.csv" in text


def test_the_same_measure_of_two_sets_has_two_columns() -> None:
    made = utility()
    one = made.tradeoffs[0]
    other = Kept("WER", "wer", "vctk", 12.5, None, None, 12.5, None)
    both = dataclasses.replace(one, kept=(*one.kept[:2], other))
    found = cells(section(dataclasses.replace(made, tradeoffs=(both,))), 1)
    # Original speech has nothing left: no change, and no shade.
    assert found["orig"][2:6] == [
        ("n", "8.00 [7.00, 9.25]"),
        ("n change h0", "0.00"),
        ("n", "12.50"),
        ("n change", ""),
    ]


def test_no_minus_before_nothing() -> None:
    made = utility()
    one = made.tradeoffs[0]
    slight = dataclasses.replace(one.kept[1], change=-0.004)
    better = dataclasses.replace(one.kept[2], change=-0.25)
    made = dataclasses.replace(
        made, tradeoffs=(dataclasses.replace(one, kept=(one.kept[0], slight, better)),)
    )
    found = cells(section(made), 1)["orig"]
    assert found[3] == ("n change h0", "0.00")
    assert found[5] == ("n change h0", "-0.25")


def test_no_section_without_tradeoffs() -> None:
    assert section(None) == ""
    assert 'href="#utility"' not in render(page_with(None))
    assert 'href="#utility"' in render(page_with(utility()))
