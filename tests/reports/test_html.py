"""The page as text: a stranger's stays text, nothing is fetched, every number has a file."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any, get_args

import pytest

from harness.ranking.model import Estimate, Status
from harness.reports.html.render import HERE, render
from harness.reports.page import Page
from reports.pages import SVG, page, sha256

pytestmark = pytest.mark.heavy

HOSTILE = {
    "script": "<script>window.pwned = 1</script>",
    "end of script": "</script></style></title><script>window.pwned = 1</script>",
    "attribute": "\"><img src=x onerror='window.pwned = 1'>",
    "single quotes": "' onfocus='window.pwned = 1' autofocus='",
    "comment": "<!-- --> <!-- <script> ]]> <![CDATA[",
    "template": "{{ 7 * 7 }}{% raise %}{# ${7*7} %s %(x)s",
    "entities": "&lt;b&gt; &amp; &#x202e;",
    "direction": "\u202egnp.exe\u2066\u200f",
    "control": "\x1b[31m\x00\r\n\x07\x85",
    "invisible": "a\u200bb\ufeff\u00adc",
    "half a character": "\udc80",
    "piled up": "e" + "\u0301" * 300,
    "scheme": "javascript:window.pwned=1",
    "separator": "../../etc/passwd,;\t\u2028",
}
STATUSES = get_args(Status)
VOID = {"meta", "link", "input", "img", "br"}


def everywhere(value: Any, change: Callable[[str], str]) -> Any:
    """The same data with each text changed, but for statuses and our own pictures."""
    if isinstance(value, str):
        return value if value in STATUSES or value == SVG else change(value)
    if isinstance(value, tuple):
        return tuple(everywhere(one, change) for one in value)
    if isinstance(value, dict):
        return {everywhere(k, change): everywhere(v, change) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return type(value)(**{name: everywhere(one, change) for name, one in fields.items()})
    return value


class Reader(HTMLParser):
    """What a parser sees: elements with their attributes, and pieces of text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.inside:
            self.inside[self.open[-1]].append(data)
        else:
            self.texts.append(data)

    def values(self, attribute: str) -> list[str]:
        return [attrs[attribute] or "" for _, attrs in self.elements if attribute in attrs]

    def structure(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(tag, tuple(attrs)) for tag, attrs in self.elements]


def test_every_element_is_closed() -> None:
    assert Reader(render(page())).open == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_changes_no_element(text: str) -> None:
    html = render(everywhere(page(), lambda one: one and one + text))
    read = Reader(html)
    assert read.structure() == Reader(render(page())).structure()
    assert all(c.isprintable() or c == "\n" for c in html)
    seen = "".join(read.texts)
    if text.isprintable():
        assert f"Team 001{text}" in seen
    assert "Team 001" in seen
    html.encode()


def test_characters_that_a_reader_cannot_see_are_named() -> None:
    seen = "".join(Reader(render(page(["x\u202egnp.exe\x1b[31m"]))).texts)
    assert r"x\u202egnp.exe\x1b[31m" in seen


def test_long_text_is_cut_and_says_so() -> None:
    read = Reader(render(page(["x" * 10_000])))
    assert not [text for text in read.texts + read.inside["script"] if "x" * 601 in text]
    assert not [label for label in read.values("aria-label") if "x" * 601 in label]
    assert f"{'x' * 600} … (of 10,000 characters)" in read.texts
    everything = "".join(Reader(render(everywhere(page(), lambda one: "y" * 10_000))).texts)
    assert 600 < max(map(len, re.findall("y+", everything))) <= 6000


def test_names_of_files_are_links_only_where_they_are_ours() -> None:
    team = "javascript:alert(1)//"
    links = Reader(render(page([team]), "results/libri-mini/report")).values("href")
    assert {link for link in links if link[0] != "#"} == {
        "data:,",
        "intervals.csv",
        "measures.csv",
        "plots/det-B2.svg",
        "../det.csv",
        "../tradeoff.csv",
        "../utility.csv",
        "../../../dvc.lock",
    }
    unplaced = Reader(render(page([team]))).values("href")
    assert {link for link in unplaced if link[0] != "#"} == {"data:,"}


def test_policy_allows_our_style_and_program_alone() -> None:
    read = Reader(render(page()))
    style, (data, program) = read.inside["style"], read.inside["script"]
    policy = next(a["content"] for _, a in read.elements if "http-equiv" in a)
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in ("".join(style), program)
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert data.startswith("[{")


def test_nothing_is_fetched_and_no_attribute_is_code_or_style() -> None:
    html = render(page(), "results/libri-mini/report")
    read = Reader(html)
    attributes = Counter(name for _, attrs in read.elements for name in attrs)
    assert not [name for name in attributes if name.startswith("on")]
    assert not attributes.keys() & {"src", "srcset", "style", "action", "formaction", "data"}
    assert [attrs["href"] for tag, attrs in read.elements if tag == "link"] == ["data:,"]
    # The name of SVG's elements, which is fetched by nobody.
    assert set(re.findall(r"https?://[^\"\s]+", html)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in html
    assert "@import" not in html


def test_every_number_leads_to_its_file() -> None:
    made = page()
    read = Reader(render(made))
    seen = set(read.texts)
    assert made.ranking is not None
    assert made.results is not None
    for board in made.ranking.boards:
        for row in board.rows:
            for rate in row.rates:
                assert {rate.file, rate.sha256} <= seen
    for one in made.ranking.evidence:
        assert one.certificate is not None
        assert {one.sha256, one.certificate.file, one.certificate.sha256} <= seen
        assert {claim.file for claim in one.claims} <= seen
    assert {row.file for row in (*made.results.rows, *made.results.measures)} <= seen
    assert {figure.source for figure in made.results.figures} <= seen
    assert "dvc.lock" in seen


def test_anchors_are_single_and_links_find_them() -> None:
    read = Reader(render(page(["a", "a", "b"])))
    assert not [name for name, count in Counter(read.values("id")).items() if count > 1]
    inside = {link[1:] for link in read.values("href") if link[0] == "#"}
    labels = {name for value in read.values("aria-labelledby") for name in value.split()}
    assert inside | labels <= set(read.values("id"))


def sections(made: Page) -> list[str]:
    read = Reader(render(made))
    return [attrs["id"] or "" for tag, attrs in read.elements if tag == "h2"]


def test_sections_in_their_order_and_none_without_content() -> None:
    made = page()
    assert sections(made) == [
        *("reading", "results", "utility", "heat", "two-sided", "boards", "overall"),
        *("figures", "curves", "evidence", "measures", "provenance"),
    ]
    bare = dataclasses.replace(made, results=None, ranking=None, provenance=())
    assert sections(bare) == ["reading"]
    own = dataclasses.replace(made, ranking=None)
    assert sections(own) == ["reading", "results", "utility", "figures", "measures", "provenance"]
    theirs = dataclasses.replace(made, results=None)
    assert sections(theirs) == [
        *("reading", "heat", "two-sided", "boards", "overall", "curves", "evidence", "provenance"),
    ]


def test_equal_systems_share_a_place() -> None:
    made = page(4, ("B3", "B4", "T8-5", "B5"))
    assert made.ranking is not None
    assert made.ranking.two_sided is not None
    # Most private first; the second and the third are equal.
    percents = {"B3": 30.0, "B4": 25.5, "T8-5": 25.5, "B5": 20.0}
    privacy = {name: Estimate(percent) for name, percent in percents.items()}
    places = {"B3": 1, "B4": 2, "T8-5": 2, "B5": 4}
    two_sided = dataclasses.replace(made.ranking.two_sided, privacy=privacy, places=places)
    html = render(
        dataclasses.replace(made, ranking=dataclasses.replace(made.ranking, two_sided=two_sided))
    )
    table = html.partition('id="two-sided-table"')[2].partition("</table>")[0]
    assert re.findall(r'<tr><td class="n">(\d+)</td><th scope="row"><bdi>([^<]*)', table) == [
        ("1", "B3"),
        ("2", "B4"),
        ("2", "T8-5"),
        ("4", "B5"),
    ]


def test_rows_without_evidence_have_their_files_too() -> None:
    made = page(2, ("B3",))
    assert made.ranking is not None
    own = dataclasses.replace(made.ranking, evidence=(), overall=None, two_sided=None)
    read = Reader(render(dataclasses.replace(made, ranking=own)))
    assert sha256("Team 001/B3/libri_test_enrolls-libri_test_trials_f/scores") in read.texts
    assert "#entry-1" in read.values("href")


def test_the_same_page_is_the_same_text() -> None:
    assert render(page()) == render(page())


def luminance(colour: tuple[float, float, float]) -> float:
    """Relative luminance of sRGB, 0 to 1, as WCAG 2.2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))  # type: ignore[arg-type]
    return (high + 0.05) / (low + 0.05)


def colour(text: str) -> tuple[float, ...]:
    return tuple(int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))


def test_contrast_is_that_of_the_recommendation() -> None:
    assert contrast(colour("#000000"), colour("#ffffff")) == pytest.approx(21)
    assert contrast(colour("#767676"), colour("#ffffff")) == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_curves_stand_out(scheme: int) -> None:
    css = (HERE / "page.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", css)
    colours = {name: colour(pair[scheme]) for name, *pair in pairs}
    paper = colours["paper"]
    for name in ("ink", "quiet", "link"):
        assert contrast(colours[name], paper) >= 4.5, name
    for number in range(1, 9):
        assert contrast(colours[f"s{number}"], paper) >= 3, number
    mixes = re.findall(r"^\.h\d+ \{.* var\(--heat\) (\d+)%, var\(--paper\)\); \}", css, re.M)
    assert len(mixes) == 10
    for mix in mixes:
        share = int(mix) / 100
        shade = tuple(
            share * h + (1 - share) * p for h, p in zip(colours["heat"], paper, strict=True)
        )
        assert contrast(colours["ink"], shade) >= 4.5, mix
