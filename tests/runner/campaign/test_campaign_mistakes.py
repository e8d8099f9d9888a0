"""Mistakes in a campaign file, each named with its place and what may stand there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigError
from tests.runner.campaign.files import CAMPAIGN, campaign, spoiled


def error_of(text: str) -> str:
    with pytest.raises(ConfigError) as raised:
        campaign(text)
    return str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "corrupt:",
            "corupt:",
            "16:1: unknown key; found corupt; allowed: campaign, question, stack",
        ),
        ("stack: little\n", "", "1:1: the key stack is missing"),
        ("campaign: host-pool", "campaign: host pool", "1:11: campaign must be made of letters"),
        (
            "question: Is the host pool the cause?",
            "question: ''",
            "2:11: question must not be empty",
        ),
        ("question: Is the host pool the cause?", "question: 8", "2:11: question must be text"),
        ("[fp8, bf16]", "[]", "5:9: factors.keys must not be empty"),
        ("[fp8, bf16]", "fp8", "5:9: factors.keys must be a list; found fp8"),
        ("[fp8, bf16]", "[fp8, [bf16]]", "5:15: factors.keys.1 a level must be a word, a number"),
        ("[fp8, bf16]", "[fp8, .inf]", "5:15: factors.keys.1 a level must be a word, a number"),
        ("[fp8, bf16]", "[fp8, ~]", "5:15: factors.keys.1 a level must be a word, a number, true"),
        ("[fp8, bf16]", '[fp8, ""]', "5:15: factors.keys.1 a level must be a short printable word"),
        ("[fp8, bf16]", "[fp8, bf16, fp8]", "5:21: the level stands here for the second time"),
        (
            "[fp8, bf16]",
            "[bf16, 8, '8']",
            "5:19: the level stands here for the second time; found 8",
        ),
        ("{tag: FIXED}", "{tagg: FIXED}", "7:39: unknown key; found tagg; allowed: tag; did you"),
        ("{tag: FIXED}", "FIXED", "7:38: factors.pool.dtype-aware must be a mapping; found FIXED"),
        ("  concurrency: [1, 80]\n", "", "4:1: the factor concurrency is missing"),
        (
            "concurrency: [1, 80]",
            "concurrency: [1, 80, 0]",
            "8:24: a concurrency is a whole number",
        ),
        ("concurrency: [1, 80]", "concurrency: [1, 80, yes]", "8:24: a concurrency is a whole"),
        ("concurrency: [1, 80]", "concurrency: [1, 80, true]", "8:24: a concurrency is a whole"),
        ("concurrency: [1, 80]", "concurrency: [1, 80, 9]", "14:3: sessions for concurrency 9 are"),
        (
            "cache: off, pool",
            "cashe: off, pool",
            "10:6: unknown factor; found cashe; allowed: keys,",
        ),
        (
            "cache: off, pool",
            "cache: of, pool",
            "10:13: unknown level of cache; found of; allowed: off",
        ),
        ("cache: off, pool", "cache: false, pool", "10:13: unknown level of cache; found false"),
        ("  - {cache: off, pool: dtype-aware}", "  - {}", "10:5: exclude.0 must not be empty"),
        (
            "baseline: {keys: bf16",
            "baseline: {keys: fp16",
            "12:18: unknown level of keys; found fp16",
        ),
        (
            "baseline: {keys: bf16, ",
            "baseline: {",
            "12:1: a level of keys is missing; allowed: fp8, bf16",
        ),
        (
            "on, pool: fp8-sized, concurrency: 80}\nworkload",
            "off, pool: dtype-aware, concurrency: 80}\nworkload",
            "12:1: this arm is excluded in line 10",
        ),
        ("{1: 10, 80: 80}", "{1: 10}", "14:3: sessions for concurrency 80 are missing"),
        ("{1: 10, 80: 80}", "{1: 10, 80: 79}", "14:25: 80 sessions at a time need at least 80"),
        (
            "{1: 10, 80: 80}",
            "79",
            "14:13: 80 sessions at a time need at least 80 sessions; found 79",
        ),
        ("{1: 10, 80: 80}", "{1: 10, 80: 80, 8: 8}", "14:29: sessions are given for a concurrency"),
        (
            "{1: 10, 80: 80}",
            "{1: 10, 80: -80}",
            "14:25: workload.sessions.80 must be greater than 0",
        ),
        ("{1: 10, 80: 80}", "{one: 10}", "14:14: workload.sessions.one must be a whole number"),
        ("{1: 10, 80: 80}", '"80"', '14:13: workload.sessions must be a whole number; found "80"'),
        ("{1: 10, 80: 80}", "80\n  rounds: 1.5", "15:11: workload.rounds must be a whole number"),
        (
            "{1: 10, 80: 80}",
            "80\n  stream: yes",
            "15:11: workload.stream must be true or false; found",
        ),
        (
            "{1: 10, 80: 80}",
            "80\n  request: {model: m}",
            "15:12: workload.request cannot set model",
        ),
        (
            "{1: 10, 80: 80}",
            "80\n  request: {top: [.nan]}",
            "15:12: workload.request must be what JSON can say",
        ),
        (
            "{1: 10, 80: 80}",
            "80\n  tool_latency: 5",
            "15:17: workload.tool_latency must be a mapping",
        ),
        (
            "{1: 10, 80: 80}",
            "80\n  scenario: chat",
            "15:13: workload.scenario is not known here; found",
        ),
        (
            "{1: 10, 80: 80}",
            "80\n  deadlines: {session_s: .inf}",
            "15:26: workload.deadlines.session_s",
        ),
        ("blocks: 2", "blocks: 0", "15:20: schedule.blocks must be greater than 0; found 0"),
        (
            "order_seed: 7",
            "order_seed: -7",
            "15:35: schedule.order_seed must be at least 0; found -7",
        ),
        (
            "order_seed: 7",
            "restart: never",
            "15:32: schedule.restart is not known here; found never",
        ),
        ("[leak, no_tool]", "[leak, error]", "16:17: only an outcome that is corruption can count"),
        ("[leak, no_tool]", "[leak, leak]", "16:17: the outcome stands here for the second time"),
        ("[leak, no_tool]", "[]", "16:10: corrupt must not be empty"),
        (
            "versus: baseline",
            "versus: base",
            "21:13: hypotheses.0.versus is not known here; found base",
        ),
        (
            "wedges == 0",
            "wedgs == 0",
            "22:31: a criterion starts with the name of a count; found wedgs",
        ),
        (
            "dtype-aware, concurrency: 80}\n    versus",
            "fp8-sized, concurrency: 80}\n    versus",
            "20:5: the hypothesis compares an arm with itself",
        ),
        (
            "versus: baseline",
            "tolerate: 1",
            "21:15: hypotheses.0.tolerate must be less than 1; found 1",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(
    old: str, new: str, error: str
) -> None:
    assert error_of(spoiled(CAMPAIGN, old, new)).startswith(f"file.yaml:{error}")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("versus: baseline", "goal: reduce", "a claim to reduce says to which corrupt rate"),
        ("versus: baseline", "predicted_rate: 0.1", "only a claim with `goal: reduce` has"),
        ("versus: baseline", "goal: shrink", "found shrink; allowed: eliminate, reduce, cause"),
        (
            "workload:\n",
            "known_good: {keys: bf16, cache: on, pool: fp8-sized, concurrency: 80}\nworkload:\n",
            "the known-good arm is the yardstick, it cannot be asked",
        ),
        (
            "workload:\n",
            "known_good: {keys: fp8, cache: on, pool: dtype-aware, concurrency: 1}\nworkload:\n",
            "this arm is excluded in line 11",
        ),
        ("corrupt: [leak", "stop: two_looks\ncorrupt: [leak", "set schedule.blocks to 4; found 2"),
    ],
)
def test_a_claim_that_cannot_be_meant_is_refused_before_a_run(
    old: str, new: str, said: str
) -> None:
    assert said in error_of(spoiled(CAMPAIGN, old, new))


def test_a_hypothesis_against_the_baseline_needs_one() -> None:
    lines = [line for line in CAMPAIGN.splitlines() if not line.startswith("baseline:")]

    assert "20:5: the campaign has no baseline: add one" in error_of("\n".join(lines))


def test_two_hypotheses_cannot_share_an_id() -> None:
    text = CAMPAIGN + CAMPAIGN[CAMPAIGN.index("  - id: pool") :]

    assert error_of(text) == "file.yaml:23:9: two hypotheses have the same id; found pool"


def test_exclusions_must_leave_an_arm() -> None:
    text = "campaign: c\nquestion: q\nstack: s\nfactors: {a: [1], concurrency: [1]}\n"
    text += "exclude: [{a: 1}]\nworkload: {sessions: 1}\n"

    assert error_of(text) == "file.yaml:5:1: the exclusions leave no arm"


def test_a_matrix_too_large_to_be_meant_is_refused_before_it_is_built() -> None:
    factors = ", ".join(f"f{i}: [a, b, c, d, e, f, g, h, i, j]" for i in range(30))
    text = f"campaign: c\nquestion: q\nstack: s\nfactors: {{{factors}, concurrency: [1]}}\n"
    text += "workload: {sessions: 1}\n"

    assert "arms; 10,000 are the limit" in error_of(text)


def test_all_problems_of_a_file_are_reported_at_once_in_its_order() -> None:
    text = spoiled(CAMPAIGN, "cache: off, pool", "cashe: off, pool")
    text = spoiled(text, "80: 80", "80: 8")
    text = spoiled(text, "no_tool", "nothing")
    text = spoiled(text, "wedges ==", "wedges >")

    lines = error_of(text).splitlines()

    assert [line.split(" ")[0] for line in lines] == [
        "file.yaml:10:6:",
        "file.yaml:14:25:",
        "file.yaml:16:17:",
        "file.yaml:22:38:",
    ]


def test_a_key_with_a_line_break_is_told_on_one_line() -> None:
    (line,) = error_of(CAMPAIGN + '"key\\nof two lines": 1\n').splitlines()

    assert "unknown key; found key\\nof two lines" in line


def test_a_flood_of_problems_is_cut_short() -> None:
    text = CAMPAIGN + "".join(f"key{i}: 1\n" for i in range(30))

    lines = error_of(text).splitlines()

    assert len(lines) == 21
    assert lines[-1] == "file.yaml: and 10 more problems"


def test_a_request_field_that_cannot_be_sent_is_refused_where_it_stands() -> None:
    said = error_of(
        "campaign: c\nquestion: q\nstack: s\nfactors: {concurrency: [4]}\n"
        'workload: {sessions: 9, request: {stop: "half \\ud83d"}}\n'
    )

    assert "no half of a \\u pair" in said


def test_a_seed_that_the_store_cannot_keep_is_refused() -> None:
    said = error_of(
        "campaign: c\nquestion: q\nstack: s\nfactors: {concurrency: [4]}\n"
        "workload: {sessions: 9}\nschedule: {order_seed: 9223372036854775808}\n"
    )

    assert "schedule.order_seed must be at most 1e+18" in said


@given(st.data())
def test_a_campaign_with_any_line_or_character_spoiled_is_read_or_refused(
    data: st.DataObject,
) -> None:
    start = data.draw(st.integers(0, len(CAMPAIGN) - 1))
    end = data.draw(st.integers(start, min(len(CAMPAIGN), start + 30)))
    inserted = data.draw(st.text(alphabet=st.sampled_from("ab1 :,-[]{}&*\n'\"~.é"), max_size=6))
    text = CAMPAIGN[:start] + inserted + CAMPAIGN[end:]

    try:
        loaded = campaign(text)
    except ConfigError as error:
        assert all(line.startswith("file.yaml") for line in str(error).splitlines())
    else:
        assert loaded.name
