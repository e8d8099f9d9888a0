import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.run_states import ACTIVE_STATES, legal_successors
from db.vocabulary import RunState

ENDS = {RunState.DONE, RunState.STOPPED, RunState.FAILED, RunState.INVALID}


def test_the_path_of_a_run_is_the_one_of_the_design() -> None:
    path = [RunState.PLANNED]
    while path[-1] not in ENDS:
        path.append(legal_successors(path[-1])[0])

    assert " → ".join(path) == (
        "planned → applying → verifying → warming → driving → settling → done"
    )


@pytest.mark.parametrize("state", sorted(set(RunState) - ENDS))
def test_any_living_state_may_end_as_stopped_failed_or_invalid(state: RunState) -> None:
    assert {RunState.STOPPED, RunState.FAILED, RunState.INVALID} < set(legal_successors(state))


@pytest.mark.parametrize("state", sorted(ENDS))
def test_nothing_follows_an_end(state: RunState) -> None:
    assert legal_successors(state) == ()


def test_only_settling_leads_to_done() -> None:
    leading = [state for state in RunState if RunState.DONE in legal_successors(state)]

    assert leading == [RunState.SETTLING]


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=6))
def test_every_walk_comes_to_an_end_within_six_steps(choices: list[int]) -> None:
    state, steps = RunState.PLANNED, 0
    for choice in choices:
        if not legal_successors(state):
            break
        state, steps = legal_successors(state)[choice], steps + 1

    assert state in ENDS or steps == len(choices) < 6
    assert steps <= 6


def test_active_is_neither_planned_nor_ended() -> None:
    assert [str(state) for state in ACTIVE_STATES] == [
        "applying",
        "verifying",
        "warming",
        "driving",
        "settling",
    ]
