"""SVG for pages: what a page refuses is gone, and the picture is the same."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from harness.reports.vector import inline, plain

# The shape of what Matplotlib writes.
WRITTEN = b"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"
  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="36pt" viewBox="0 0 72 36"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><x xmlns="http://example.org/"><date>2026-01-01</date></x></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1">
  <!-- a < b -->
  <path d="M 0.123456 216 \nL 10.0 2.5 \n" clip-path="url(#pdb6f)"
   style="fill: none; stroke: #112233; stroke-dashoffset: 0"/>
  <defs><path id="m49852" d="M 0 0 \nL 0 3.5 \n" style="stroke: #000000"/></defs>
  <use xlink:href="#m49852" x="51.04411" y="1" style="fill: #112233"/>
  <text style="font-size: 10px; font-family: 'DejaVu Sans'; text-anchor: end" x="1" y="2"
   transform="rotate(-0 1 2)">a &lt;b&gt; &amp; c</text>
  <text transform="rotate(-90 1 2)">#112233</text>
 </g>
 <defs><clipPath id="pdb6f"><rect x="0" y="0" width="1.005" height="2"/></clipPath></defs>
</svg>
"""
DRAWN = (
    '<svg width="72pt" height="36pt" viewBox="0 0 72 36" version="1.1" '
    'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" stroke-linejoin="round">'
    '<path d="M 0.12 216 L 10 2.5" clip-path="url(#i0)" fill="none" stroke="#112233" />'
    '<defs><path id="i1" d="M 0 0 L 0 3.5" stroke="#000000" /></defs>'
    '<use x="51.04" y="1" fill="#112233" href="#i1" />'
    '<text x="1" y="2" font-size="10px" text-anchor="end">a &lt;b&gt; &amp; c</text>'
    '<text transform="rotate(-90 1 2)">#112233</text>'
    '<defs><clipPath id="i0"><rect x="0" y="0" width="1" height="2" /></clipPath></defs>'
    "</svg>"
)


def test_plain() -> None:
    assert plain(WRITTEN) == DRAWN


def test_inline() -> None:
    text = inline(plain(WRITTEN), "b2/f.1", {"#112233": "--s1"})
    assert text == (
        '<svg viewBox="0 0 72 36" version="1.1" stroke-linejoin="round">'
        '<path d="M 0.12 216 L 10 2.5" clip-path="url(#b2/f.1-i0)" fill="none" '
        'stroke="var(--s1)" />'
        '<defs><path id="b2/f.1-i1" d="M 0 0 L 0 3.5" stroke="#000000" /></defs>'
        '<use x="51.04" y="1" fill="var(--s1)" href="#b2/f.1-i1" />'
        '<text x="1" y="2" font-size="10px" text-anchor="end">a &lt;b&gt; &amp; c</text>'
        '<text transform="rotate(-90 1 2)">#112233</text>'
        '<defs><clipPath id="b2/f.1-i0"><rect x="0" y="0" width="1" height="2" /></clipPath></defs>'
        "</svg>"
    )


@pytest.mark.parametrize("name", ["style", "metadata", "xlink", "2026"])
def test_what_is_left_out(name: str) -> None:
    assert name.encode() in WRITTEN
    assert name not in plain(WRITTEN)


def test_the_file_is_svg_again() -> None:
    root = ElementTree.fromstring(plain(WRITTEN))
    assert {element.tag.partition("}")[0] for element in root.iter()} == {
        "{http://www.w3.org/2000/svg"
    }
