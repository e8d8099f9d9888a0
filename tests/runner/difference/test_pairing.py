"""Paired dialogues: who changed class between two runs."""

import pandas as pd

from runner.difference.pairing import both_gave_evidence, class_words, crosstab, flips, with_classes
from tests.app.values import CORRUPT


def pairs(*outcomes: tuple[str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(outcomes, columns=["a_outcome", "b_outcome"])
    return with_classes(frame, CORRUPT)


def test_the_crosstab_adds_up() -> None:
    table = crosstab(pairs(("done", "leak"), ("done", "error"), ("leak", "leak")))

    assert table.to_dict("records") == [
        {"": "A clean", "B clean": "0", "B corrupt": "1", "B silent": "1", "all": "2"},
        {"": "A corrupt", "B clean": "0", "B corrupt": "1", "B silent": "0", "all": "1"},
        {"": "all", "B clean": "0", "B corrupt": "2", "B silent": "1", "all": "3"},
    ]


def test_a_change_inside_a_class_is_no_flip() -> None:
    assert flips(pairs(("leak", "malformed"), ("done", "maxrounds"))).empty


def test_flips_with_a_corrupt_side_come_first() -> None:
    changed = flips(pairs(("done", "error"), ("done", "leak")))

    assert changed["b_outcome"].tolist() == ["leak", "error"]


def test_silent_pairs_say_nothing_about_corruption() -> None:
    telling = both_gave_evidence(pairs(("done", "leak"), ("done", "error"), ("leak", "done")))

    assert len(telling) == 2


def test_what_the_campaign_does_not_call_corrupt_is_clean() -> None:
    assert class_words("no_tool", ["leak"]) == "clean"
    assert class_words("no_tool", CORRUPT) == "corrupt"
