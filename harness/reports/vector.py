"""Matplotlib's SVG as a page can take it: small, without style sheets, in the colours of the page.

Pages with a strict policy refuse `style`, so properties become attributes of their own. Everything
here was written by this package: it is not for the SVG of strangers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_NAMESPACE = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Attributes that may refer to an id, as `#id` or `url(#id)`.
_REFERRING = ("href", "clip-path")
_ID = re.compile(r"(?<=#)[^()]+")
_NUMERIC = ("d", "x", "y", "width", "height", "transform")
_NUMBER = re.compile(r"-?\d+\.\d+")


def plain(data: bytes) -> str:
    """The same picture as one line of text, in its own colours and size.

    What nobody reads is left out: metadata, the day, ids that nothing refers to, groups that say
    nothing, digits below a hundredth of a point. Ids are numbered in their order, since Matplotlib
    draws them anew each time.
    """
    root = ElementTree.fromstring(data)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{_NAMESPACE}}}metadata", f"{{{_NAMESPACE}}}style"):
                parent.remove(child)
    for element in root.iter():
        _properties(element)
        _short(element)
    root.set("xmlns", _NAMESPACE)
    # What holds for all, and the one rule of the style sheet that is not everybody's default.
    root.set("font-family", "sans-serif")
    root.set("stroke-linejoin", "round")
    _number_ids(root)
    _flatten(root)
    return ElementTree.tostring(root, encoding="unicode")


def inline(text: str, prefix: str, variables: Mapping[str, str]) -> str:
    """The text of `plain` as a part of a page, in the page's colours, size and type.

    prefix: begins every id, so that those of two pictures on one page differ; without white space,
    quotes and brackets. variables: CSS variables by the colour that they stand for.
    """
    root = ElementTree.fromstring(text)
    for name in ("font-family", "width", "height"):
        del root.attrib[name]
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, f"{prefix}-{value}")
            elif name in _REFERRING:
                element.set(name, _ID.sub(lambda m: f"{prefix}-{m[0]}", value))
            elif value in variables:
                element.set(name, f"var({variables[value]})")
    return ElementTree.tostring(root, encoding="unicode")


def _properties(element: Element) -> None:
    """Names without namespaces, and those properties as attributes that are not the default."""
    element.tag = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
    for part in filter(None, element.attrib.pop("style", "").split(";")):
        name, _, value = part.partition(":")
        element.set(name.strip(), value.strip())
    if _LINK in element.attrib:
        element.set("href", element.attrib.pop(_LINK))
    element.attrib.pop("font-family", None)
    if element.get("stroke-dashoffset") == "0":
        del element.attrib["stroke-dashoffset"]


def _short(element: Element) -> None:
    """No white space between elements, short numbers, no turn by 0 degrees."""
    if element.tag != "text":
        element.text = None
    element.tail = None
    if element.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del element.attrib["transform"]
    for name in _NUMERIC:
        if name in element.attrib:
            value = " ".join(element.attrib[name].split())
            element.set(name, _NUMBER.sub(lambda m: f"{round(float(m[0]), 2):g}", value))


def _number_ids(root: Element) -> None:
    referred = [
        name
        for element in root.iter()
        for attribute in _REFERRING
        for name in _ID.findall(element.get(attribute, ""))
    ]
    numbers = {name: f"i{number}" for number, name in enumerate(dict.fromkeys(referred))}
    for element in root.iter():
        if element.attrib.get("id") in numbers:
            element.set("id", numbers[element.attrib["id"]])
        else:
            element.attrib.pop("id", None)
        for attribute in _REFERRING:
            if attribute in element.attrib:
                element.set(attribute, _ID.sub(lambda m: numbers[m[0]], element.attrib[attribute]))


def _flatten(element: Element) -> None:
    """Put the children of groups without attributes in the groups' places; drop empty `defs`."""
    children: list[Element] = []
    for child in element:
        _flatten(child)
        bare = child.tag in ("g", "defs") and not child.attrib
        children.extend(child if bare and (child.tag == "g" or not len(child)) else [child])
    element[:] = children
