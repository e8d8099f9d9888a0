"""The recorded cases that came with the project, and how a file of cases is read."""

import json
from pathlib import Path
from typing import Any

import pytest

from db.read_times import ReadTimes
from runner.errors import RecordedCaseError
from runner.judge.record import TurnRecord
from runner.judge.recorded_cases import (
    RecordedCase,
    compare_cases,
    judge_case,
    read_cases,
    turn_of_case,
)
from runner.judge.turn_reading import judge_turn

CASES = Path(__file__).parents[2] / "data" / "cases"
LINES = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
OWN_LINES = (CASES / "real_stacks.jsonl").read_text(encoding="utf-8").splitlines()
STREAMS = [
    case for case in read_cases([*LINES, *OWN_LINES], source="streams") if case.kind == "sse"
]


def a_case(**fields: Any) -> str:
    case = {
        "id": "one",
        "kind": "sse",
        "input": 'data: {"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}\n\n',
        "context": {"tool_expected": False, "transport_end": "clean_eof", "http_status": 200},
        "expect": {"outcome": "done"},
    }
    return json.dumps(case | fields)


def test_all_sixty_five_streams_are_read_right() -> None:
    comparison = compare_cases(LINES, source="cases.jsonl")

    assert comparison.to_json() == {
        "sse": {"right": 65, "of": 65},
        "log": {"right": 0, "of": 0},
        "metrics": {"right": 0, "of": 0},
        "differ": [],
    }


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
def test_each_stream_has_its_outcome_its_flags_and_its_message(case: RecordedCase) -> None:
    turn = judge_case(case)

    expect: dict[str, Any] = dict(case.expect)
    assert turn.reading in [expect["outcome"], *expect["accept"]]
    assert turn.reading not in expect["never"]
    assert set(expect["flags"]) <= set(turn.flags)
    got: dict[str, Any] = dict(turn.message.to_json())
    got["tool_calls"] = [
        {"name": call.name, "arguments": call.arguments} for call in turn.message.tool_calls
    ]
    for name, value in expect.get("parsed", {}).items():
        assert got[name] == value
    assert len(got["tool_calls"]) == expect.get("n_calls", len(got["tool_calls"]))
    assert expect.get("must_not_contain", "\0") not in turn.message.content


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
def test_no_stream_depends_on_where_the_network_cut_it(case: RecordedCase) -> None:
    record, context = turn_of_case(case)
    whole = judge_turn(record, context)
    size = len(record.body)
    each_byte = ReadTimes.of((0.001 * place, place) for place in range(1, size + 1))
    cut = TurnRecord(
        stream=record.stream,
        http_status=record.http_status,
        content_type=record.content_type,
        transport_end=record.transport_end,
        body=record.body,
        reads=record.reads or each_byte,
        ended_s=record.ended_s,
    )

    turn = judge_turn(cut, context)

    assert (turn.reading, turn.outcome, turn.message) == (
        whole.reading,
        whole.outcome,
        whole.message,
    )


def test_a_case_that_reads_otherwise_is_listed_with_what_came() -> None:
    lines = [a_case(), "", a_case(id="two", expect={"outcome": "leak"})]

    comparison = compare_cases(lines, source="x.jsonl").to_json()

    assert comparison["sse"] == {"right": 1, "of": 2}
    assert comparison["differ"] == [{"id": "two", "got": "done", "expected": "leak"}]


def test_an_accepted_reading_is_right_unless_it_is_named_as_never_right() -> None:
    accepted = a_case(expect={"outcome": "error", "accept": ["done"]})
    forbidden = a_case(id="two", expect={"outcome": "done", "never": ["done"]})

    comparison = compare_cases([accepted, forbidden], source="x.jsonl").to_json()

    assert comparison["sse"] == {"right": 1, "of": 2}


@pytest.mark.parametrize(("expected", "right"), [("done", 1), ("maxrounds", 0)])
def test_the_session_outcome_counts_where_it_is_given(expected: str, right: int) -> None:
    case = a_case(expect={"outcome": "done", "session_outcome": expected})

    comparison = compare_cases([case], source="x.jsonl").to_json()

    assert comparison["sse"] == {"right": right, "of": 1}


def test_prior_messages_are_read_in_the_forms_that_occur() -> None:
    context = {
        "prior": [
            "a tool result",
            {"role": "user", "content": "and more"},
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        ],
        "prior_calls": [["g", "{}"]],
        "round": 2,
        "max_rounds": 6,
    }
    (case,) = read_cases([a_case(context=context)], source="x.jsonl")

    _, read = turn_of_case(case)

    assert [(item.role, item.text, item.calls) for item in read.prior] == [
        ("tool", "a tool result", ()),
        ("user", "and more", ()),
        ("assistant", "", (("f", "{}"),)),
        ("assistant", "", (("g", "{}"),)),
    ]
    assert (read.round_index, read.max_rounds) == (2, 6)


def test_an_input_may_be_base64() -> None:
    (case,) = read_cases([a_case(input="AP8=", input_encoding="base64")], source="x.jsonl")

    assert case.content == b"\x00\xff"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "x.jsonl:1: this line is no JSON; a case is one object a line"),
        ("[]", "x.jsonl:1: a case must be a JSON object"),
        (a_case(id=7), "x.jsonl:1: id must be a text, found 7"),
        (a_case(kind="trace"), "x.jsonl:1: unknown kind 'trace'; allowed: sse, log, metrics"),
        (a_case(input=None), "x.jsonl:1: input must be a text, found None"),
        (
            a_case(input_encoding="latin-1"),
            "x.jsonl:1: unknown input_encoding 'latin-1'; allowed: utf-8, base64",
        ),
        (a_case(context=[]), "x.jsonl:1: context must be an object, found []"),
        (
            a_case(expect={"outcome": "maybe"}),
            "x.jsonl:1: unknown outcome 'maybe'; allowed: tool, done, leak, no_tool, malformed,"
            " error, wedge",
        ),
        (
            a_case(expect={"outcome": "done", "accept": "x"}),
            "x.jsonl:1: accept must be a list of texts",
        ),
        (
            a_case(context={"transport_end": "lost"}),
            "x.jsonl:1: unknown transport_end 'lost', allowed: clean_eof, reset, client_deadline,"
            " connect_failed, in the case one",
        ),
        (
            a_case(context={"arrivals": [[1]]}),
            "x.jsonl:1: an arrival must be [seconds, bytes so far], found [1], in the case one",
        ),
        (
            a_case(context={"http_status": "200"}),
            "x.jsonl:1: http_status must be a whole number or null, found '200', in the case one",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_number(line: str, sentence: str) -> None:
    with pytest.raises(RecordedCaseError) as error:
        compare_cases([line], source="x.jsonl")

    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "context",
    [
        {"tools": 5},
        {"tools": [{"name": 3}]},
        {"tools": [{"name": "f", "properties": [], "required": []}]},
        {"user": 3},
        {"canary": 3},
        {"other_canaries": "x"},
        {"round": "first"},
        {"deadline_s": "soon"},
        {"prior_calls": "x"},
        {"arrivals": 3},
    ],
)
def test_a_context_that_cannot_be_meant_is_an_error_with_its_line(context: dict[str, Any]) -> None:
    with pytest.raises(RecordedCaseError, match=r"^x\.jsonl:2: .* in the case one$"):
        compare_cases(["", a_case(context=context)], source="x.jsonl")


def test_an_input_that_is_no_base64_is_an_error() -> None:
    with pytest.raises(RecordedCaseError, match=r"x\.jsonl:1: input is no base64"):
        read_cases([a_case(input="?", input_encoding="base64")], source="x.jsonl")


def test_two_cases_of_one_id_are_an_error() -> None:
    with pytest.raises(RecordedCaseError, match=r"x\.jsonl:2: the id one stands at x\.jsonl:1 too"):
        read_cases([a_case(), a_case()], source="x.jsonl")
