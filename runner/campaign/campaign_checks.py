"""Whether the names in a campaign file refer to what the file declares; knows no stack."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from db.vocabulary import CORRUPT_OUTCOMES, ClaimKind
from runner.campaign.campaign import CONCURRENCY, Levels, StopRule
from runner.campaign.campaign_shape import CampaignShape, HypothesisShape
from runner.campaign.config_problems import Place, Problem, shown
from runner.campaign.file_shape import LevelValue, level_text
from runner.campaign.matrix import (
    MAX_CHOICES,
    completed_levels,
    kept_choices,
    matches,
    number_of_choices,
)
from runner.campaign.prediction import PredictionError, parse_prediction
from runner.campaign.yaml_source import YamlSource
from runner.campaign.yaml_values import KeyPath

BLOCKS_OF_TWO_LOOKS = 4


def reference_problems(shape: CampaignShape, source: YamlSource) -> list[Problem]:
    check = _ReferenceCheck(shape, source)
    problems = [
        *check.misspelt_factors(),
        *check.factors(),
        *check.exclusions(),
        *check.sessions(),
        *check.corrupt_list(),
        *check.baseline(),
        *check.known_good(),
        *check.looks(),
        *check.longest_pause(),
        *check.hypotheses(),
    ]
    return problems or list(check.matrix())


class _ReferenceCheck:
    def __init__(self, shape: CampaignShape, source: YamlSource) -> None:
        self._shape = shape
        self._source = source
        self._factors = {name: tuple(levels) for name, levels in shape.factors.items()}
        self._meant = _misspelt(self._factors, _names_in(shape))

    def misspelt_factors(self) -> Iterator[Problem]:
        for elsewhere, declared in self._meant.items():
            place = self._source.place_of_key(("factors", declared))
            what = "all other lines of the file call this factor otherwise"
            yield Problem(place, what, declared, (elsewhere,))

    def factors(self) -> Iterator[Problem]:
        if CONCURRENCY not in self._factors:
            place = self._source.place_of_key(("factors",))
            yield Problem(place, "the factor concurrency is missing, for example [1, 80]")
        for name, levels in self._factors.items():
            texts = [level_text(level) for level in levels]
            for index, level in enumerate(levels):
                place = place_of_level(self._source, name, level)
                if texts.index(texts[index]) < index:
                    yield Problem(place, "the level stands here for the second time", texts[index])
                if name == CONCURRENCY and not _is_count(level):
                    what = "a concurrency is a whole number from 1"
                    yield Problem(place, what, shown(level))

    def exclusions(self) -> Iterator[Problem]:
        for index, partial in enumerate(self._shape.exclude):
            yield from self._unknown_names(partial, ("exclude", str(index)))

    def sessions(self) -> Iterator[Problem]:
        path = ("workload", "sessions")
        sessions = self._shape.workload.sessions
        levels = [level for level in self._factors.get(CONCURRENCY, ()) if _is_count(level)]
        by_concurrency = sessions if isinstance(sessions, Mapping) else {}
        for extra in by_concurrency.keys() - set(levels):
            place = self._source.place_of_key((*path, str(extra)))
            what = "sessions are given for a concurrency that is no level"
            yield Problem(place, what, shown(extra), _texts(levels))
        for level in levels:
            count = sessions if isinstance(sessions, int) else sessions.get(int(level))
            if count is None:
                place = self._source.place_of_key(path)
                yield Problem(place, f"sessions for concurrency {level} are missing")
            elif count < int(level):
                place = self._source.place_of_value((*path, str(level)))
                what = f"{level} sessions at a time need at least {level} sessions"
                yield Problem(place, what, shown(count))

    def corrupt_list(self) -> Iterator[Problem]:
        words = self._shape.corrupt
        for index, word in enumerate(words):
            place = self._source.place_of_value(("corrupt", str(index)))
            if word not in CORRUPT_OUTCOMES:
                what = "only an outcome that is corruption can count as corrupt"
                yield Problem(place, what, word, CORRUPT_OUTCOMES)
            elif word in words[:index]:
                yield Problem(place, "the outcome stands here for the second time", word)

    def baseline(self) -> Iterator[Problem]:
        if self._shape.baseline is not None:
            yield from self._arm_problems(self._shape.baseline, ("baseline",))

    def known_good(self) -> Iterator[Problem]:
        """It must be no arm that a hypothesis is about: what is asked cannot be the yardstick."""
        known_good = self._shape.known_good
        if known_good is None:
            return
        problems = list(self._arm_problems(known_good, ("known_good",)))
        yield from problems
        for index, hypothesis in enumerate(() if problems else self._shape.hypotheses):
            versus = hypothesis.versus
            other = versus if isinstance(versus, Mapping) else self._shape.baseline
            for key, levels in (("arm", hypothesis.arm), ("versus", other)):
                if levels is None or any(self._name_problems(levels, ())):
                    continue
                if self._completed(levels) == self._completed(known_good):
                    place = self._source.place_of_key(("hypotheses", str(index), key))
                    yield Problem(place, "the known-good arm is the yardstick, it cannot be asked")

    def looks(self) -> Iterator[Problem]:
        blocks = self._shape.schedule.blocks
        if self._shape.stop is StopRule.TWO_LOOKS and blocks != BLOCKS_OF_TWO_LOOKS:
            place = self._source.place_of_value(("stop",))
            what = f"the looks are planned after 2 and after {BLOCKS_OF_TWO_LOOKS} blocks: set "
            yield Problem(place, f"{what}schedule.blocks to {BLOCKS_OF_TWO_LOOKS}", str(blocks))

    def longest_pause(self) -> Iterator[Problem]:
        """A wedge has victims: where all have given up before the pause is over, none is seen."""
        deadlines = self._shape.workload.deadlines
        each = (deadlines.first_token_s, deadlines.no_progress_s, deadlines.session_s)
        pause_s = self._shape.longest_pause_s
        if pause_s is not None and pause_s >= min(each):
            place = self._source.place_of_value(("longest_pause_s",))
            what = (
                f"no wedge could be seen: sessions give up after {min(each):g} s, and the longest "
                "pause must be shorter than first_token_s, no_progress_s and session_s"
            )
            yield Problem(place, what, f"{pause_s:g}")

    def hypotheses(self) -> Iterator[Problem]:
        ids = [hypothesis.id for hypothesis in self._shape.hypotheses]
        for index, hypothesis in enumerate(self._shape.hypotheses):
            path = ("hypotheses", str(index))
            if hypothesis.id in ids[:index]:
                place = self._source.place_of_value((*path, "id"))
                yield Problem(place, "two hypotheses have the same id", hypothesis.id)
            yield from self._prediction_problems(hypothesis.predict, (*path, "predict"))
            yield from self._goal_problems(hypothesis, path)
            yield from self._comparison_problems(hypothesis.arm, hypothesis.versus, path)

    def matrix(self) -> Iterator[Problem]:
        """Asked last: it needs names that are known to fit."""
        count = number_of_choices(self._factors)
        place = self._source.place_of_key(("factors",))
        if count > MAX_CHOICES:
            yield Problem(place, f"the factors make {count:,} arms; {MAX_CHOICES:,} are the limit")
        elif next(kept_choices(self._factors, self._shape.exclude), None) is None:
            place = self._source.place_of_key(("exclude",))
            yield Problem(place, "the exclusions leave no arm")

    def _goal_problems(self, hypothesis: HypothesisShape, path: KeyPath) -> Iterator[Problem]:
        is_reduction = hypothesis.goal is ClaimKind.REDUCE
        if is_reduction and hypothesis.predicted_rate is None:
            place = self._source.place_of_value((*path, "goal"))
            yield Problem(place, "a claim to reduce says to which corrupt rate: add predicted_rate")
        if not is_reduction and hypothesis.predicted_rate is not None:
            place = self._source.place_of_key((*path, "predicted_rate"))
            yield Problem(place, "only a claim with `goal: reduce` has a predicted rate")

    def _comparison_problems(
        self, arm: Levels, versus: Levels | str, path: KeyPath
    ) -> Iterator[Problem]:
        problems = list(self._arm_problems(arm, (*path, "arm")))
        other = versus if isinstance(versus, Mapping) else self._shape.baseline
        if isinstance(versus, Mapping):
            problems += self._arm_problems(versus, (*path, "versus"))
        elif other is None:
            place = self._source.place_of_key((*path, "versus"))
            what = "the campaign has no baseline: add one, or name levels in versus"
            problems.append(Problem(place, what))
        yield from problems
        if other is None or problems or any(self._name_problems(other, ())):
            return
        if self._completed(arm) == self._completed(other):
            place = self._source.place_of_key((*path, "arm"))
            yield Problem(place, "the hypothesis compares an arm with itself")

    def _arm_problems(self, levels: Levels, path: KeyPath) -> Iterator[Problem]:
        """An arm names a known level of each factor that has several, and is not excluded."""
        problems = list(self._name_problems(levels, path))
        yield from problems
        for index, partial in enumerate(self._shape.exclude):
            if not problems and matches(self._completed(levels), self._as_declared(partial)):
                excluded = self._source.place_of_value(("exclude", str(index)))
                what = f"this arm is excluded in line {excluded.line}"
                yield Problem(self._source.place_of_key(path), what)

    def _name_problems(self, levels: Levels, path: KeyPath) -> Iterator[Problem]:
        yield from self._unknown_names(levels, path)
        for name, declared in self._factors.items():
            if name not in self._as_declared(levels) and len(declared) > 1:
                place = self._source.place_of_key(path)
                yield Problem(place, f"a level of {name} is missing", None, _texts(declared))

    def _completed(self, levels: Levels) -> Levels:
        return completed_levels(self._factors, self._as_declared(levels))

    def _as_declared(self, levels: Levels) -> Levels:
        return {self._meant.get(name, name): level for name, level in levels.items()}

    def _unknown_names(self, levels: Levels, path: KeyPath) -> Iterator[Problem]:
        for name, level in levels.items():
            declared = self._factors.get(self._meant.get(name, name))
            if declared is None:
                place = self._source.place_of_key((*path, name))
                yield Problem(place, "unknown factor", name, tuple(self._factors))
            elif level_text(level) not in _texts(declared):
                place = self._source.place_of_value((*path, name))
                yield Problem(place, f"unknown level of {name}", shown(level), _texts(declared))

    def _prediction_problems(self, text: str, path: KeyPath) -> Iterator[Problem]:
        try:
            parse_prediction(text)
        except PredictionError as error:
            place = self._source.place_in_text(path, error.offset)
            yield Problem(place, error.what, error.found, error.allowed)


def _names_in(shape: CampaignShape) -> list[str]:
    """Every name of a factor that the file uses besides declaring it, as often as it does."""
    arms = [*shape.exclude, shape.baseline, shape.known_good]
    for hypothesis in shape.hypotheses:
        arms += [each for each in (hypothesis.arm, hypothesis.versus) if isinstance(each, Mapping)]
    return [name for levels in arms if levels is not None for name in levels]


def _misspelt(factors: Mapping[str, object], used: Sequence[str]) -> dict[str, str]:
    """Name elsewhere -> factor that nobody names so, where one slip at its declaration explains it.

    Two uses or more must agree: a single one is more likely the slip itself.
    """
    unnamed = [name for name in factors if name not in used]
    meant = {}
    for name in sorted(set(used) - set(factors)):
        alike = get_close_matches(name, unnamed, n=1, cutoff=0.7)
        if alike and used.count(name) > 1:
            meant[name] = alike[0]
    return meant


def place_of_level(source: YamlSource, factor: str, level: LevelValue) -> Place:
    """Where the file declares a level: in a mapping it is a key, in a list an entry."""
    path = ("factors", factor)
    declared = source.value_at(path)
    if isinstance(declared, dict):
        return source.place_of_key((*path, str(level)))
    assert isinstance(declared, tuple), "the shape admits nothing else"
    written_alike = [
        index
        for index, own in enumerate(declared)
        if isinstance(own, str | int | float) and level_text(own) == level_text(level)
    ]
    return source.place_of_value((*path, str(written_alike[-1])))


def _is_count(level: LevelValue) -> bool:
    return isinstance(level, int) and not isinstance(level, bool) and level >= 1


def _texts(levels: Sequence[LevelValue]) -> list[str]:
    return [level_text(level) for level in levels]
