"""The page in Chromium: silent, self-contained, and every control does what it says."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from reports.pages import large_page, page
from reports.test_html import HOSTILE, everywhere

from browser.conftest import Opened

pytestmark = [pytest.mark.browser, pytest.mark.heavy]

Open = Callable[..., Opened]
BOARD = ".board[data-system='1'] .sortable"


def ranks(one: Opened) -> list[str]:
    return [text.split()[0] if text else "" for text in one.texts(f"{BOARD} tbody td:first-child")]


def names(one: Opened) -> list[str]:
    return one.texts(f"{BOARD} tbody th")


def click_through(one: Opened) -> None:
    """All disclosures are opened, then all other controls clicked."""
    one.run("for (const summary of document.querySelectorAll('summary')) summary.click()")
    clicked = one.run(
        "const all = document.querySelectorAll('button, input[type=checkbox]');"
        "for (const control of all) control.click(); return all.length"
    )
    assert clicked > 30


@pytest.mark.parametrize("make", [page, large_page], ids=["small", "large"])
def test_console_is_empty_and_nothing_is_fetched(opened: Open, make: Callable[[], Any]) -> None:
    one = opened(make())
    click_through(one)
    assert one.console() == []
    assert one.requests() == [one.address]
    assert one.asked == ["/"]


def test_hostile_text_does_nothing(opened: Open) -> None:
    for text in HOSTILE.values():
        one = opened(everywhere(page(), lambda value, text=text: value and value + text))
        click_through(one)
        assert one.run("return window.pwned") is None
        assert one.console() == []
        assert set(one.asked) == {"/"}


def test_the_policy_stops_what_is_not_ours(opened: Open) -> None:
    one = opened(page())
    one.run("document.body.append(Object.assign(new Image(), {src: '/stolen'}))")
    one.run(
        "const s = document.createElement('script'); s.textContent = 'window.pwned = 1';"
        "document.body.append(s)"
    )
    assert one.run("return window.pwned") is None
    assert one.asked == ["/"]
    assert len([said for said in one.console() if "Content Security Policy" in said]) == 2


def test_sorting(opened: Open) -> None:
    one = opened(page())
    first = [f"Team 00{n}" for n in range(1, 4)]
    assert names(one)[:3] == first
    one.click(f"{BOARD} thead button", 2)
    head = one.all(f"{BOARD} thead th")[2]
    assert head.get_attribute("aria-sort") == "ascending"
    ranked = f"{BOARD} tbody:first-of-type td:nth-child(3)"
    ascending = [float(text) for text in one.texts(ranked)]
    assert ascending == sorted(ascending)
    one.click(f"{BOARD} thead button", 2)
    assert head.get_attribute("aria-sort") == "descending"
    descending = [float(text) for text in one.texts(ranked)]
    assert descending == ascending[::-1]
    # Who has no rank is last both ways.
    one.click(f"{BOARD} thead button", 0)
    assert ranks(one) == ["1", "2", "3", "4", "", "", ""]
    assert head.get_attribute("aria-sort") is None
    one.click(f"{BOARD} thead button", 0)
    assert ranks(one) == ["4", "3", "2", "1", "", "", ""]
    one.click(f"{BOARD} thead button", 1)
    # Published values stay below all others.
    attackers = [f"Team 00{n}" for n in range(1, 7)]
    assert names(one) == [*attackers, "baseline"]
    one.click(f"{BOARD} thead button", 1)
    assert names(one) == [*attackers[::-1], "baseline"]


def test_filter(opened: Open) -> None:
    one = opened(page())
    (attacker,) = one.all("#filter input")
    attacker.send_keys("team 002")
    assert names(one) == ["Team 002"]
    assert one.texts("#filter output") == ["3 of 27 rows"]
    assert one.texts(".entry h3") == ["Team 002.zip"]
    one.click("#filter button")
    assert one.texts("#filter output") == ["27 of 27 rows"]
    assert len(one.texts(".entry h3")) == 8
    one.click("#filter select[name=status] option[value='']")
    one.run("document.querySelector('#filter select[name=status]').value = 'late'")
    one.run("document.querySelector('#filter').dispatchEvent(new Event('input'))")
    assert names(one) == ["Team 005"]
    one.run("document.querySelector('#filter select[name=system]').value = '2'")
    one.run("document.querySelector('#filter').dispatchEvent(new Event('input'))")
    assert one.texts(".board h3 bdi") == ["B4", "Neural audio codec language modeling"]
    # A board of which no row is left is not shown.
    attacker.send_keys("nobody")
    assert one.texts(".board h3") == []
    one.click("#filter button")
    assert len(one.texts(".board h3")) == 3


def test_light_and_dark(opened: Open) -> None:
    one = opened(page())
    paper = "return getComputedStyle(document.body).backgroundColor"
    scheme = {"light": "rgb(253, 252, 249)", "dark": "rgb(22, 24, 27)"}
    for preferred, other in (("light", "dark"), ("dark", "light")):
        one.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": preferred}],
        )
        one.driver.refresh()
        assert one.run(paper) == scheme[preferred]
        assert one.texts("#scheme") == [other.title()]
        one.click("#scheme")
        assert one.run(paper) == scheme[other]
        assert one.texts("#scheme") == [preferred.title()]
        one.click("#scheme")
        assert one.run(paper) == scheme[preferred]


def test_an_attackers_name_leads_to_its_evidence(opened: Open) -> None:
    one = opened(page())
    message = "columns are separated by tabs (1,200 times)"
    assert one.texts("#entry-2 td") == []
    one.click(f"{BOARD} tbody th a", 1)
    assert message in one.texts("#entry-2 td")
    assert one.run(
        "const box = document.querySelector('#entry-2').getBoundingClientRect();"
        "return box.top >= 0 && box.top < innerHeight"
    )


def test_curves_are_chosen(opened: Open) -> None:
    one = opened(large_page())
    chart = ".chart:first-of-type"
    panels = one.all(f"{chart} .det")
    count = "return arguments[0].querySelectorAll('polyline').length"
    assert [one.run(count, panel) for panel in panels] == [10, 10]
    one.click(f"{chart} summary")
    boxes = one.all(f"{chart} fieldset input")
    # All but the refuted and the not checkable.
    assert len(boxes) == 98
    boxes[0].click()
    one.run("arguments[0].scrollIntoView()", boxes[42])
    boxes[42].click()
    assert [one.run(count, panel) for panel in panels] == [10, 10]
    legend = one.texts(f"{chart} .legend li")
    assert legend == [*(f"Team {n:03}" for n in range(2, 11)), "Team 043"]
    label = panels[0].get_attribute("aria-label")
    assert label.startswith("DET curves of B3 on libri_test_trials_f: Team 002 ")
    assert "Team 043 " in label


@pytest.mark.parametrize("text", ["", HOSTILE["piled up"], "x" * 10_000, "\u05e9\u05dc" * 99])
def test_a_phone_scrolls_down_only(opened: Open, text: str) -> None:
    one = opened(everywhere(page(), lambda value: value and value + text))
    for width in (360, 768):
        one.size(width)
        one.run("for (const one of document.querySelectorAll('details')) one.open = true")
        assert (
            one.run(
                "const { scrollWidth, clientWidth } = document.documentElement;"
                "return scrollWidth - clientWidth"
            )
            == 0
        )
        # What is wider scrolls in a place of its own, which a keyboard reaches.
        wide = one.run(
            "return [...document.querySelectorAll('main *')].filter(e => e.scrollWidth >"
            " e.clientWidth + 1 && getComputedStyle(e).overflowX === 'auto').map(e => e.tabIndex)"
        )
        assert set(wide) <= {0}
        if width == 360:
            assert wide


def test_a_phone_shows_eers_and_what_they_are_of(opened: Open) -> None:
    one = opened(page())
    one.size(360)
    ends = one.run(
        "return [...document.querySelectorAll('#results-table ~ tbody b')].map("
        "e => e.getBoundingClientRect().right)"
    )
    assert len(ends) == 8
    assert max(ends) <= 360
    first = one.texts("[aria-labelledby='results'] tbody th")[0]
    assert first.split() == ["orig", "ecapa,", "lazy-informed,", "dev"]
    # A row is as tall as what is to be seen in it.
    tallest = one.run(
        "return Math.max(...[...document.querySelectorAll('.standing')].map("
        "e => e.getBoundingClientRect().height))"
    )
    assert tallest < 55


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_on_paper_all_evidence_is_to_be_read(opened: Open, tmp_path: Path, scripts: bool) -> None:
    one = opened(page(), scripts=scripts)
    answer = one.command("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(answer["data"]))
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "page.pdf"), "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # Of each of eight submissions, the rules, and the last section.
    assert text.count("columns are separated by tabs (1,200 times)") == 8
    assert text.count("Claims beside what the scores give") == 8
    assert "Attackers are ranked separately for each anonymization system." in text
    assert "Provenance" in text
    for control in ("Show all", "Choose curves", "Skip to the content"):
        assert control not in text


def test_without_scripts_all_is_there_and_no_control_is_dead(opened: Open) -> None:
    one = opened(page(), scripts=False)
    assert one.all("button, input, select, .choose") == []
    assert len(one.driver.find_elements("css selector", ".board tbody tr")) == 27
    assert len(one.driver.find_elements("css selector", ".det polyline")) == 3 * 2 * 6
    one.click(".entry summary")
    assert "columns are separated by tabs (1,200 times)" in one.texts("#entry-1 td")


def test_a_keyboard_reaches_every_control(opened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    one = opened(page(2, ("B3",)))
    one.run("for (const one of document.querySelectorAll('details')) one.open = true")
    expected = one.run(
        "return [...document.querySelectorAll('a[href], button, input, select, summary')]"
        ".filter(e => e.checkVisibility()).length"
    )
    one.run(
        "window.reached = new Set(); addEventListener('focusin', e => {"
        " reached.add(e.target); const s = getComputedStyle(e.target);"
        " if (s.outlineStyle === 'none') window.unseen = e.target.outerHTML"
        "})"
    )
    active = one.driver.switch_to.active_element
    active.send_keys(Keys.TAB)
    assert one.driver.switch_to.active_element.text == "Skip to the content"
    for _ in range(2 * expected):
        one.driver.switch_to.active_element.send_keys(Keys.TAB)
        if one.run("return document.activeElement === document.body"):
            break
    reached = one.run(
        "return [...reached].filter(e => e.matches('a, button, input, select, summary')).length"
    )
    assert reached == expected
    assert one.run("return window.unseen") is None


def test_the_skip_link_skips(opened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    one = opened(page())
    one.driver.switch_to.active_element.send_keys(Keys.TAB)
    one.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert one.run("return document.activeElement.id") == "content"


def test_what_a_screen_reader_is_told(opened: Open) -> None:
    one = opened(page())
    one.run("for (const one of document.querySelectorAll('details')) one.open = true")
    one.command("Accessibility.enable")
    nodes = [
        node
        for node in one.command("Accessibility.getFullAXTree")["nodes"]
        if not node.get("ignored")
    ]

    def named(role: str) -> list[str]:
        found = [node for node in nodes if node["role"]["value"] == role]
        return [node.get("name", {}).get("value", "") for node in found]

    for role in (
        "button",
        "link",
        "searchbox",
        "combobox",
        "checkbox",
        "image",
        "table",
        "region",
        "navigation",
        "form",
    ):
        assert named(role), role
        assert all(named(role)), role
    assert len(named("main")) == len(named("banner")) == 1
    # Three systems, two lists each, and the figure.
    assert len(named("image")) == 7
    levels = one.run(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(e => Number(e.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    unruly = one.run(
        "return [...document.querySelectorAll('table')].filter(t => !t.caption || !t.tHead ||"
        " [...t.querySelectorAll('th')].some(h => !h.scope)).length"
    )
    assert unruly == 0
    assert one.run("return document.documentElement.lang") == "en"
