from runner.evidence.pair_words import exposure_sentence, paired_sentence
from runner.evidence.paired_sessions import PairedSessions
from runner.evidence.round_exposure import RoundExposure


def test_flipped_dialogues_are_counted_both_ways() -> None:
    sentence = paired_sentence(PairedSessions(60, 2, 1, 9, 8))

    assert sentence == (
        "Of 72 dialogues with evidence in both runs 1 were corrupt in the first only, 9 in the "
        "second only and 2 in both; 8 more were silent in one of them (exact McNemar p = 0.021 if "
        "sessions were independent)."
    )


def test_runs_without_common_evidence_say_so() -> None:
    assert paired_sentence(PairedSessions(0, 0, 0, 0, 5)).startswith("No dialogue")


def test_exposure_is_per_thousand_rounds_with_its_limits() -> None:
    sentence = exposure_sentence(RoundExposure(5, 300), RoundExposure(12, 1100))

    assert "16.67 [5.41 to 38.89] (5 of 300 rounds)" in sentence
    assert "p = 0.58 if sessions were independent" in sentence


def test_a_run_without_rounds_has_no_exposure() -> None:
    assert "has none" in exposure_sentence(RoundExposure(0, 0), RoundExposure(12, 1100))
