"""Simulated lists and scores, made once for the tests of a module."""

from __future__ import annotations

import pytest
from simulated import PROTOCOL, SYSTEMS, draw, result, simulated_list

from harness.submissions.explanations.explanation import Explainer
from harness.submissions.reference import Reference


@pytest.fixture(scope="module")
def reference():
    return Reference({listed.trials: simulated_list(listed) for listed in PROTOCOL.lists})


@pytest.fixture(scope="module")
def results(reference):
    return {
        (system, name): result(system, name, draw(system, name, one.target), one.target)
        for system in SYSTEMS
        for name, one in reference.lists.items()
    }


@pytest.fixture(scope="module")
def explainer(results, reference):
    return Explainer(results, reference, PROTOCOL)
