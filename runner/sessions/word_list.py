"""The words that dialogues are made of, read from `words.json` beside this module."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WordList:
    """`fillers` carry no meaning and may repeat; `verbs` and `nouns` carry the errands."""

    fillers: tuple[str, ...]
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]


def read_word_list() -> WordList:
    stored = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
    return WordList(
        fillers=tuple(stored["fillers"]),
        verbs=tuple(stored["keywords"]),
        nouns=tuple(stored["nouns"]),
    )
