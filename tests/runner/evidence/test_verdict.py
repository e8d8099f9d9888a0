"""Verdicts refute what failed, and claim nothing else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.vocabulary import Availability, Direction, Elimination, Headline, Outcome, RunFlag, RunState
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.verdict import Verdict, reach_verdict
from runner.evidence.verdict_reasons import ReasonKind
from tests.runner.evidence.arms import arm, run

# clean / corrupt / silent / wedges of each run, after and before, with the elimination that a full
# analysis reaches; for every one of them this method may say less, and never something else.
CASES = {
    "the real case": ([(0, 5, 75, 168)], [(68, 12, 0, 0)], "refuted"),
    "the real case, three runs before": (
        [(0, 5, 75, 168)],
        [(68, 12, 0, 0), (49, 11, 0, 0), (70, 10, 0, 0)],
        "refuted",
    ),
    "three clean runs": ([(80, 0, 0, 0)] * 3, [(68, 12, 0, 0), (66, 14, 0, 0)], "confirmed"),
    "one clean run": ([(80, 0, 0, 0)], [(68, 12, 0, 0)], "inconclusive"),
    "improved": (
        [(77, 3, 0, 0), (78, 2, 0, 0), (76, 4, 0, 0)],
        [(68, 12, 0, 0), (66, 14, 0, 0), (69, 11, 0, 0)],
        "refuted",
    ),
    "worse": (
        [(66, 14, 0, 0), (68, 12, 0, 0), (64, 16, 0, 0)],
        [(76, 4, 0, 0), (75, 5, 0, 0), (77, 3, 0, 0)],
        "refuted",
    ),
    "not reproduced": ([(80, 0, 0, 0)] * 2, [(80, 0, 0, 0)] * 2, "confirmed"),
    "a quarter silent": ([(60, 0, 20, 0)] * 2, [(68, 12, 0, 0), (67, 13, 0, 0)], "inconclusive"),
    "all silent": ([(0, 0, 80, 9)], [(68, 12, 0, 0)], "refuted"),
}
FORBIDDEN = r"\b(fixed|eliminated|halved|no effect|same|proves|proven|improved|better|worse)\b"
OUTCOMES = st.dictionaries(st.sampled_from(Outcome), st.integers(0, 90), max_size=5)


def arm_of(counts: list[tuple[int, int, int, int]], *, name: str = "after") -> ArmEvidence:
    runs = [
        run({"done": clean, "leak": corrupt, "error": silent}, block=block, wedges=wedges)
        for block, (clean, corrupt, silent, wedges) in enumerate(counts, start=1)
    ]
    return arm(*runs, name=name)


def verdict(
    after: ArmEvidence,
    before: ArmEvidence | None = None,
    predict: str = "corrupt == 0 and wedges == 0",
) -> Verdict:
    before = before or arm_of([(68, 12, 0, 0)], name="before")
    return reach_verdict(parse_prediction(predict), arm=after, versus=before, tolerate=0.05)


def kinds(reached: Verdict) -> list[ReasonKind]:
    return [reason.kind for reason in reached.reasons]


@pytest.mark.parametrize("case", CASES)
def test_a_known_case_is_never_contradicted(case: str) -> None:
    after, before, elimination = CASES[case]

    reached = verdict(arm_of(after), arm_of(before, name="before"))

    refuted = elimination == "refuted"
    assert reached.headline is (Headline.REFUTED if refuted else Headline.INCONCLUSIVE)
    assert reached.elimination is (Elimination.REFUTED if refuted else Elimination.INCONCLUSIVE)
    assert reached.direction is Direction.UNCLEAR
    assert reached.availability is Availability.NOT_SHOWN_WORSE


def test_the_real_case_is_worded_without_a_claim_beyond_its_counts() -> None:
    after = arm(
        run({"leak": 5, "error": 75}, wedge_lines=168, wedge_requests=57), name="dtype-aware"
    )
    before = arm(run({"done": 68, "leak": 12}), name="fp8-sized")

    reached = verdict(after, before)

    assert reached.sentence.replace("\u2009", " ") == (
        'The prediction "corrupt == 0 and wedges == 0" failed: 5 corrupt seen. '
        "wedges == 0 could not be checked: wedges were not counted; 57 requests with "
        "WaitingForInput or abort events in 168 lines were seen. "
        "dtype-aware, 1 of 1 runs: 5 of 80 sessions corrupt, 5 of the 5 that gave evidence; "
        "the rate lies between 6.3 % and 100 %, as the 75 silent sessions were all clean or all "
        "corrupt. "
        "Compared with: fp8-sized, 1 of 1 runs: 12 of 80 sessions corrupt, 12 of the 80 that gave "
        "evidence, none silent. "
        "Whether corruption is rarer or more frequent than in the other arm is not claimed."
    )
    assert kinds(reached) == [
        ReasonKind.CRITERION_FAILED,
        ReasonKind.WEDGES_NOT_COUNTED,
        ReasonKind.SILENT_SESSIONS,
        ReasonKind.RATES_NOT_COMPARED,
    ]


def test_clean_runs_confirm_nothing() -> None:
    reached = verdict(arm_of([(80, 0, 0, 0)] * 3))

    assert reached.headline is Headline.INCONCLUSIVE
    assert reached.sentence.startswith(
        'No failure of the prediction "corrupt == 0 and wedges == 0" was seen, '
        "which does not confirm it. after, 3 of 3 runs: 0 of 240 sessions corrupt, 0 of the 240"
    )


def test_an_arm_without_a_run_says_nothing() -> None:
    reached = verdict(arm(blocks=3))

    assert reached.headline is Headline.INCONCLUSIVE
    assert reached.sentence.startswith("Nothing can be said of the prediction")
    assert "after, 0 of 3 runs: no sessions." in reached.sentence
    assert kinds(reached)[:2] == [ReasonKind.NO_RUN_DONE, ReasonKind.RUNS_MISSING]


def test_corrupt_sessions_of_a_run_that_does_not_count_refute_nothing() -> None:
    invalid = run(
        {"leak": 80}, block=2, label="r-9", state=RunState.INVALID, reason="arm not verified"
    )

    reached = verdict(arm(run({"done": 80}, wedges=0), invalid))

    assert reached.headline is Headline.INCONCLUSIVE
    assert "after: 1 of 2 runs missing (r-9 invalid: arm not verified)" in [
        reason.text for reason in reached.reasons
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState.STOPPED, "r-7 stopped"),
        (RunState.FAILED, "r-7 failed"),
        (RunState.DRIVING, "r-7 not finished"),
        (RunState.PLANNED, "r-7 planned"),
    ],
)
def test_a_missing_run_is_named(state: RunState, words: str) -> None:
    reached = verdict(arm(run({}, label="r-7", state=state), blocks=2))

    assert f"after: 2 of 2 runs missing ({words})" in [reason.text for reason in reached.reasons]


def test_every_doubt_of_the_record_is_a_reason() -> None:
    flags = (RunFlag.NOT_EXERCISED, RunFlag.CLIENT_SATURATED, RunFlag.SERVER_DIED)
    after = arm(run({"done": 70, "error": 5, "harness_error": 5}, wedges=0, flags=flags))

    reached = verdict(after, arm(run({"done": 80}), name="before"))

    assert kinds(reached) == [
        ReasonKind.SILENT_SESSIONS,
        ReasonKind.HARNESS_ERRORS,
        ReasonKind.NOT_EXERCISED,
        ReasonKind.CLIENT_SATURATED,
        ReasonKind.SERVER_DIED,
        ReasonKind.NOT_REPRODUCED,
        ReasonKind.RATES_NOT_COMPARED,
    ]


def test_a_failed_wedge_criterion_says_how_many() -> None:
    reached = verdict(arm_of([(0, 0, 80, 9)]))

    assert reached.sentence.startswith(
        'The prediction "corrupt == 0 and wedges == 0" failed: 9 wedges seen.'
    )
    assert reached.sentence.endswith("Nothing else is claimed.")


def test_the_inputs_are_kept_as_json() -> None:
    reached = verdict(arm(run({"leak": 5, "error": 75}, wedge_lines=168), name="after"))

    inputs = json.loads(json.dumps(reached.inputs))
    assert inputs["predict"] == "corrupt == 0 and wedges == 0"
    assert inputs["tolerate"] == 0.05
    assert inputs["arm"]["runs"][0]["counts"] == {"leak": 5, "error": 75}
    assert inputs["arm"]["runs"][0]["wedges"] is None
    assert inputs["versus"]["name"] == "before"


@given(
    st.lists(OUTCOMES, max_size=3),
    st.lists(OUTCOMES, max_size=3),
    st.sampled_from(["corrupt == 0", "corrupt <= 9 and silent < 5", "wedges == 0", "done == 80"]),
    st.one_of(st.none(), st.integers(0, 3)),
)
def test_no_counts_make_it_claim_more(
    after: list[dict[str, int]], before: list[dict[str, int]], predict: str, wedges: int | None
) -> None:
    reached = verdict(
        arm(*(run(each, block=block, wedges=wedges) for block, each in enumerate(after))),
        arm(*(run(each, block=block) for block, each in enumerate(before)), name="before"),
        predict,
    )

    assert reached.headline in (Headline.REFUTED, Headline.INCONCLUSIVE)
    assert (reached.headline is Headline.REFUTED) == (ReasonKind.CRITERION_FAILED in kinds(reached))
    assert not re.search(FORBIDDEN, reached.sentence)
    assert not any(re.search(FORBIDDEN, reason.text) for reason in reached.reasons)
