"""What holds for every verdict, whatever the counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.vocabulary import Direction, Elimination, Headline
from runner.evidence.arm_comparison import compare_arms
from runner.evidence.campaign_verdict import judge_campaign
from runner.evidence.claim_guard import unlicensed_claims
from runner.evidence.clean_surplus import compare_without_surplus
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.lower_rate import method_for
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.verdict_text import verdict_lines
from tests.runner.evidence.verdicts import Run, arm_of, question_of, verdict_of

SIZES = st.sampled_from([20, 40, 80])


@st.composite
def runs(draw: st.DrawFn, *, most: int = 3) -> list[Run]:
    """Runs of up to 80 sessions, some silent, from spotless to hopeless."""
    made = []
    for _ in range(draw(st.integers(1, most))):
        size = draw(SIZES)
        silent = draw(st.sampled_from([0, 0, 0, 1, 2, size // 4, size]))
        corrupt = draw(st.integers(0, min(size - silent, draw(st.sampled_from([0, 3, 15, size])))))
        made.append((size - silent - corrupt, corrupt, silent))
    return made


def launches(counts: list[Run]) -> list[LaunchCounts]:
    return [LaunchCounts(*each) for each in counts]


@settings(deadline=None, max_examples=25)
@given(runs(), runs())
def test_swapping_the_arms_swaps_lower_and_higher(after: list[Run], before: list[Run]) -> None:
    one = compare_arms(launches(after), launches(before), rule=DecisionRule(), wedges=0)
    other = compare_arms(launches(before), launches(after), rule=DecisionRule(), wedges=0)

    assert (one.p_lower, one.p_higher) == pytest.approx((other.p_higher, other.p_lower))
    assert (one.icc, one.rho) == pytest.approx((other.icc, other.rho))


@settings(deadline=None, max_examples=25)
@given(runs(), runs(), st.sampled_from([0, 0, 1, None]))
def test_a_corrupt_session_or_a_wedge_never_confirms_what_was_predicted_to_be_zero(
    after: list[Run], before: list[Run], wedges: int | None
) -> None:
    verdict = verdict_of(arm_of(after, wedges=wedges), before)

    corrupt = sum(k for _, k, _ in after)
    if corrupt or wedges or wedges is None:
        assert verdict.headline is not Headline.CONFIRMED
    if corrupt or wedges:
        assert verdict.elimination is Elimination.REFUTED
    if not sum(k for _, k, _ in before):
        assert verdict.headline in (Headline.INCONCLUSIVE, Headline.REFUTED, Headline.WORSE)


rules = st.builds(
    DecisionRule,
    is_registered=st.booleans(),
    ending=st.sampled_from(Ending),
    claim=st.sampled_from(ClaimKind),
    predicted_rate=st.sampled_from([None, 0.01, 0.2]),
    p_max=st.sampled_from([0.0, 0.01, 0.05, 0.2, 1.0]),
    background=st.sampled_from([0.0, 0.0, 0.05]),
)


@settings(deadline=None, max_examples=40)
@given(
    runs(),
    runs(),
    st.sampled_from([0, 0, 2, None]),
    rules,
    st.sampled_from(["corrupt == 0 and wedges == 0", "corrupt <= 40", "wedges == 0", "leak == 3"]),
    st.sampled_from([1, 3]),
    st.booleans(),
)
def test_no_line_of_any_verdict_claims_what_its_answers_do_not_license(
    after: list[Run],
    before: list[Run],
    wedges: int | None,
    rule: DecisionRule,
    predict: str,
    hypotheses: int,
    ended_by_rule: bool,
) -> None:
    question = question_of(
        arm_of(after, wedges=wedges),
        before,
        predict=predict,
        rule=rule,
        setting=ComparisonSetting(ended_by_rule=ended_by_rule, scope="C=80"),
    )
    verdict = judge_campaign({str(i): question for i in range(hypotheses)})["0"]

    for line in verdict_lines(verdict):
        claims = unlicensed_claims(
            line,
            headline=verdict.headline,
            direction=verdict.direction,
            availability=verdict.availability,
        )
        assert claims == (), line


@settings(deadline=None, max_examples=30)
@given(runs(most=1), runs(most=1), st.data())
def test_a_direction_shown_by_single_runs_holds_for_every_completion_of_the_silent(
    after: list[Run], before: list[Run], data: st.DataObject
) -> None:
    verdict = verdict_of(after, before)

    def completed(counts: list[Run]) -> list[Run]:
        clean, corrupt, silent = counts[0]
        turned = data.draw(st.integers(0, silent))
        return [(clean + silent - turned, corrupt + turned, 0)]

    if verdict.direction is not Direction.UNCLEAR:
        known = verdict_of(completed(after), completed(before))
        assert known.direction is verdict.direction


@st.composite
def confirmed_arms(draw: st.DrawFn) -> tuple[list[Run], list[Run]]:
    size = st.sampled_from([40, 60, 80, 81, 120])
    after: list[Run] = [(draw(size), 0, 0) for _ in range(draw(st.integers(1, 4)))]
    before: list[Run] = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(size)
        corrupt = draw(st.integers(0, n // 3))
        before.append((n - corrupt, corrupt, 0))
    return after, before


@settings(deadline=None, max_examples=25)
@given(confirmed_arms(), st.integers(1, 400), st.integers(0, 4))
def test_more_clean_sessions_never_weaken_a_confirmation(
    arms: tuple[list[Run], list[Run]], more: int, where: int
) -> None:
    after, before = arms
    rule = DecisionRule()

    def confirms(counts: list[Run]) -> bool:
        comparison = compare_without_surplus(
            launches(counts), launches(before), rule=rule, wedges=0
        )
        return comparison.limits.used <= rule.p_max and comparison.p_lower <= rule.alpha

    longer = list(after)
    if where < len(after):
        longer[where] = (after[where][0] + more, 0, 0)
    else:
        longer.append((more, 0, 0))

    assert confirms(longer) or not confirms(after)


def early_wedge(rng: np.random.Generator, *, rate: float, sessions: int = 80) -> Run:
    """Sessions of 8 to 20 rounds with a constant hazard; a wedge before the first clean end.

    All that still runs at the wedge falls silent, as in the case the tool was built around.
    """
    rounds = rng.integers(8, 21, sessions)
    hazard = 1 - (1 - rate) ** (1 / 14)
    corrupt_at = rng.geometric(hazard, sessions)
    wedge_at = rng.integers(1, rounds.min() + 1)
    corrupt = int(((corrupt_at <= wedge_at) & (corrupt_at <= rounds)).sum())
    return 0, corrupt, sessions - corrupt


@pytest.mark.parametrize("runs_after", [1, 3])
def test_an_unchanged_fault_behind_an_early_wedge_is_never_read_as_improved_or_confirmed(
    runs_after: int,
) -> None:
    rng = np.random.default_rng(80)
    for _ in range(15):
        after = [early_wedge(rng, rate=0.15) for _ in range(runs_after)]
        before = [(80 - int(k), int(k), 0) for k in rng.binomial(80, 0.15, 3)]
        verdict = verdict_of(after, before)
        assert verdict.headline in (Headline.REFUTED, Headline.INCONCLUSIVE)
        assert verdict.direction is Direction.UNCLEAR


def test_the_method_follows_the_runs_of_the_smaller_arm() -> None:
    methods = [method_for(a, b).value for a, b in ((0, 3), (1, 6), (2, 6), (6, 6))]

    assert methods == [
        "nothing_to_test",
        "correlated_sessions",
        "sessions_and_runs",
        "run_rates",
    ]
