"""Cases as JUnit XML, as job servers read it: suites, cases, and why one did not pass.

There is no standard; this keeps to what Jenkins, GitLab and GitHub's readers have in common. The
schema of Jenkins knows `skipped` of a suite, not of all suites.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from runner.report.gate_cases import CaseResult, GateCase
from runner.report.visible_text import one_line, visible

_ELEMENT = {
    CaseResult.FAILED: "failure",
    CaseResult.ERROR: "error",
    CaseResult.SKIPPED: "skipped",
}
_SECOND_US = 1_000_000


def junit_xml(
    name: str, cases: Sequence[GateCase], *, began_at_us: int, redact: Callable[[str], str] = str
) -> bytes:
    """UTF-8. `began_at_us` is of the store, so that the same record gives the same bytes."""
    began = f"{datetime.fromtimestamp(began_at_us // _SECOND_US, UTC):%Y-%m-%dT%H:%M:%S}"
    totals = {k: number for k, number in _totals(cases).items() if k != "skipped"}
    root = Element("testsuites", {"name": one_line(name), **totals})
    for suite in dict.fromkeys(case.suite for case in cases):
        own = [case for case in cases if case.suite == suite]
        told = {"name": suite, **_totals(own), "timestamp": began}
        element = SubElement(root, "testsuite", told)
        for case in own:
            _add(element, case, redact)
    indent(root)
    text = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _totals(cases: Sequence[GateCase]) -> dict[str, str]:
    def number(result: CaseResult) -> str:
        return str(sum(case.result is result for case in cases))

    return {
        "tests": str(len(cases)),
        "failures": number(CaseResult.FAILED),
        "errors": number(CaseResult.ERROR),
        "skipped": number(CaseResult.SKIPPED),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _add(suite: Element, case: GateCase, redact: Callable[[str], str]) -> None:
    text = visible(redact(case.text))
    told = {
        "classname": one_line(case.group),
        "name": one_line(case.name),
        "time": f"{case.seconds:.3f}",
    }
    element = SubElement(suite, "testcase", told)
    if case.result is not CaseResult.PASSED:
        why = {"type": one_line(case.kind), "message": one_line(redact(case.said))}
        SubElement(element, _ELEMENT[case.result], why).text = text
    elif text:
        SubElement(element, "system-out").text = text
