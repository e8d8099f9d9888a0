"""Dialogues that both runs played, side by side: who changed class, and how many; pure."""

from collections.abc import Sequence

import pandas as pd

from db.vocabulary import Outcome, OutcomeClass

CLASSES = ("clean", "corrupt", "silent", "ours")


def class_words(outcome: str, corrupt_outcomes: Sequence[str]) -> str:
    """The class by the campaign's own list: what it does not call corrupt was evidence, clean."""
    if outcome in corrupt_outcomes:
        return "corrupt"
    found = Outcome(outcome).outcome_class
    return "clean" if found is OutcomeClass.CORRUPT else found.value


def with_classes(pairs: pd.DataFrame, corrupt_outcomes: Sequence[str]) -> pd.DataFrame:
    """Adds `a_class` and `b_class` to the pairs."""
    return pairs.assign(
        a_class=[class_words(word, corrupt_outcomes) for word in pairs["a_outcome"]],
        b_class=[class_words(word, corrupt_outcomes) for word in pairs["b_outcome"]],
    )


def crosstab(pairs: pd.DataFrame) -> pd.DataFrame:
    """Numbers of pairs: rows are classes in A, columns classes in B, both with their sums."""
    seen = [name for name in CLASSES if name in set(pairs["a_class"]) | set(pairs["b_class"])]
    rows = []
    for a_class in [*(name for name in seen if name in set(pairs["a_class"])), "all"]:
        row: dict[str, str] = {"": f"A {a_class}" if a_class != "all" else "all"}
        mine = pairs if a_class == "all" else pairs[pairs["a_class"] == a_class]
        for b_class in seen:
            row[f"B {b_class}"] = str(int((mine["b_class"] == b_class).sum()))
        row["all"] = str(len(mine))
        rows.append(row)
    return pd.DataFrame(rows)


def flips(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs whose class changed, corrupt ones first."""
    changed = pairs[pairs["a_class"] != pairs["b_class"]]
    has_corrupt = (changed["a_class"] == "corrupt") | (changed["b_class"] == "corrupt")
    return pd.concat([changed[has_corrupt], changed[~has_corrupt]])


def both_gave_evidence(pairs: pd.DataFrame) -> pd.DataFrame:
    telling = ["clean", "corrupt"]
    return pairs[pairs["a_class"].isin(telling) & pairs["b_class"].isin(telling)]
