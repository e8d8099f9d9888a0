"""A scenario of an engineer's own is found by what the docs say, and cannot do harm."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from db.vocabulary import Outcome
from runner.campaign.campaign import Workload
from runner.errors import ConfigError
from runner.judge.record import DueCall
from runner.sessions.own_scenario import NoDialogueError, OwnScenario
from runner.sessions.scenario import Scenario, make_scenario
from tests.runner.sessions.test_session_player import a_player

GOOD = """
from runner.judge.record import DueAnswer, DueCall
from runner.sessions.dialogue import Dialogue, Round, Step


class Mine:
    name = "mine"

    def __init__(self, workload):
        self.seed = workload.seed

    def dialogue(self, session_index):
        said = {"role": "user", "content": f"Question {session_index}?"}
        return Dialogue(f"mine/{session_index}", "", (), (Round((Step(say=(said,)),)),))
"""


def made_of(folder: Path, text: str, *, file: str = "mine.py", path: str = "mine:Mine") -> Scenario:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text, "utf-8")
    return make_scenario(Workload(scenario=path, sessions=4), folder=folder)


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("mine.py", "mine:Mine"),
        ("scenarios/mine.py", "scenarios.mine:Mine"),
        ("random.py", "random:Mine"),  # as a module of the standard library
        ("runner.py", "runner:Mine"),  # as a package of ours
    ],
)
def test_it_is_taken_from_beside_the_campaign_whatever_it_is_called(
    tmp_path: Path, file: str, path: str
) -> None:
    import random

    scenario = made_of(tmp_path, GOOD, file=file, path=path)

    assert scenario.dialogue(3).key == "mine/3"
    assert random.Random(1).random() > 0


def test_what_it_prints_is_kept_off_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_of(tmp_path, GOOD.replace("said =", "print('asked'); said =") + "\nprint('loaded')")

    assert capsys.readouterr() == ("", "loaded\n" + 3 * "asked\n")


def test_what_it_writes_by_other_means_is_kept_off_standard_output_and_ours_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chatty_helper.py").write_text("print('imported')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    written = "import sys, chatty_helper\nsys.stdout.write('loaded ')\n" + GOOD
    made_of(tmp_path, written.replace("said =", "sys.stdout.write('asked'); said ="))
    sys.stdout.write("ours")

    assert capsys.readouterr() == ("ours", "imported\nloaded " + 3 * "asked")


def test_a_dialogue_stays_as_it_was_made_whatever_the_next_one_changes(tmp_path: Path) -> None:
    tool = "TOOL = {'type': 'function', 'function': {'name': 'f', 'parameters': {}}}"
    named = "TOOL['function']['name'] = f'f{session_index}'"
    shared = GOOD.replace('"", (), (Round', '"", (TOOL,), (Round')
    scenario = made_of(tmp_path, f"{tool}\n{shared.replace('said =', named + '; said =')}")

    dialogues = [scenario.dialogue(index) for index in (1, 2)]

    names = [each.tools[0]["function"] for each in dialogues]
    assert names == [{"name": "f1", "parameters": {}}, {"name": "f2", "parameters": {}}]


def test_a_due_call_of_a_tool_that_is_not_offered_is_said_before_anything_starts(
    tmp_path: Path,
) -> None:
    due = GOOD.replace("Step(say=(said,))", "Step(say=(said,), due=DueCall('look_up', {}))")

    with pytest.raises(ConfigError) as caught:
        made_of(tmp_path, due)

    assert "a call of look_up is due, and the request offers no tools" in str(caught.value)


def test_where_it_was_looked_for_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        make_scenario(Workload(scenario="mine:Mine", sessions=4), folder=tmp_path)

    assert f"put it beside the campaign file as {tmp_path / 'mine.py'}" in str(caught.value)


def test_a_second_file_beside_the_campaign_is_said_not_to_be_looked_for(tmp_path: Path) -> None:
    (tmp_path / "cities.py").write_text("NAMES = ()", "utf-8")

    with pytest.raises(ConfigError) as caught:
        made_of(tmp_path, "import cities\n" + GOOD)

    assert "No module named 'cities'; only the file that the campaign names" in str(caught.value)
    assert f"{tmp_path} on PYTHONPATH" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("workload.seed", "__import__('random').random()").replace(
            'f"mine/', 'f"mine/{self.seed}/'
        ),
        GOOD.replace("workload.seed", "iter(range(9))").replace(
            'f"mine/', 'f"mine/{next(self.seed)}/'
        ),
    ],
    ids=["drawn without a seed", "counted"],
)
def test_dialogues_that_would_differ_between_arms_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"dialogue\(0\) was another one when it was asked for"):
        made_of(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GOOD + "\ndef broken(:", "SyntaxError: invalid syntax (mine.py, line "),
        (GOOD.replace("Mine:", "Other:"), "has no attribute 'Mine'"),
        (GOOD + "\nimport no_such_module", "No module named 'no_such_module'"),
        (GOOD + "\nraise SystemExit(3)", "it raised SystemExit: 3"),
        (GOOD.replace('name = "mine"', ""), "its `name` must be a text, found none"),
        (GOOD.replace("def dialogue", "def talk"), "it has no method dialogue(session_index)"),
        (GOOD.replace("return Dialogue", "Dialogue"), "must give a Dialogue, found none"),
        (GOOD.replace("(Round((Step(say=(said,)),)),)", "()"), "needs a round at least"),
        (GOOD.replace("(Round((Step(say=(said,)),)),)", "[Round(())]"), "found a list"),
        (GOOD.replace("(Round((Step(say=(said,)),)),)", "(Round(()),)"), "round 1 needs a step"),
        (GOOD.replace("say=(said,)", ""), "its first step says nothing"),
        (GOOD.replace("say=(said,)", "say=said"), "in round 1 `say` must be a tuple of messages"),
        (GOOD.replace("say=(said,)", "say=(said, 5)"), "`say` must be a tuple of messages, found"),
        (GOOD.replace('"content": f', '"content": {1}, "x": f'), "a request cannot be made"),
        (GOOD.replace("say=(said,)", "say=(said,), due='x'"), "must be a DueCall or a DueAnswer"),
        (GOOD.replace("say=(said,)", "say=(said,), due=DueAnswer('x')"), "a tuple of texts"),
        (GOOD.replace('f"mine/', '"\\ud800" f"'), "holds half of a surrogate pair"),
        (GOOD.replace('"", (),', '"", ({"a": 1},),'), "function must be an object, found None"),
    ],
)
def test_what_is_wrong_with_it_is_said_before_anything_is_run(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        made_of(tmp_path, text)

    assert str(caught.value).startswith("workload.scenario: mine:Mine gives no scenario: ")
    assert sentence in str(caught.value)


class Endless:
    """Gives one dialogue and loops for ever when it is asked for another."""

    name = "endless"

    def __init__(self) -> None:
        self.is_looping = False

    def dialogue(self, session_index: int) -> Any:
        self.is_looping = True
        try:
            while True:
                pass
        finally:
            self.is_looping = False


def test_one_that_never_answers_is_given_up_and_its_loop_ends() -> None:
    endless = Endless()
    scenario = OwnScenario(endless, within_s=0.01)

    with pytest.raises(TimeoutError, match=r"had not answered after 0\.01 s"):
        scenario.dialogue(1)

    while endless.is_looping:
        pass


class Faulty:
    name = "faulty"

    def dialogue(self, session_index: int) -> Any:
        if session_index == 1:
            raise LookupError("no line 1")
        return ["no dialogue"]


@pytest.mark.parametrize(
    ("index", "said"), [(1, "LookupError: no line 1"), (2, "must give a Dialogue, found a list")]
)
async def test_a_fault_in_one_session_costs_that_session(index: int, said: str) -> None:
    played = await a_player(OwnScenario(Faulty())).play(index)

    assert played.judgement.outcome is Outcome.HARNESS_ERROR
    assert said in str(played.judgement.detail)


async def test_nobody_else_waits_while_it_thinks() -> None:
    waited = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Thoughtful:
        name = "thoughtful"

        def dialogue(self, session_index: int) -> Any:
            asyncio.run_coroutine_threadsafe(waited.wait(), loop).result()
            raise LookupError("it thought in vain")

    player = replace(a_player(OwnScenario(Thoughtful())), scenario_may_block=True)
    playing = asyncio.create_task(player.play(0))
    await asyncio.sleep(0)
    waited.set()

    assert (await playing).judgement.outcome is Outcome.HARNESS_ERROR


def test_what_is_no_dialogue_is_no_error_of_ours() -> None:
    with pytest.raises(NoDialogueError):
        OwnScenario(object())


def test_the_one_of_the_docs_can_be_played(tmp_path: Path) -> None:
    docs = (Path(__file__).parents[3] / "configs" / "README.md").read_text("utf-8")
    example = docs.split("```python\n")[1].split("```")[0]

    scenario = made_of(tmp_path, example, path="mine:MyScenario")

    (played,) = scenario.dialogue(5).rounds
    assert played.steps[0].due == DueCall("look_up", {"city": "Town 5"})
