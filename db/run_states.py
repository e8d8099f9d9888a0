"""Which state of a run may follow which. It is pure: it stores nothing and asks no clock."""

from db.vocabulary import RunState

_PATH = (
    RunState.PLANNED,
    RunState.APPLYING,
    RunState.VERIFYING,
    RunState.WARMING,
    RunState.DRIVING,
    RunState.SETTLING,
    RunState.DONE,
)
_ENDS_FROM_ANYWHERE = (RunState.STOPPED, RunState.FAILED, RunState.INVALID)


def legal_successors(state: RunState) -> tuple[RunState, ...]:
    """The next step of the path, or an end that a run may meet anywhere; nothing after an end."""
    if state.is_terminal:
        return ()
    return (_PATH[_PATH.index(state) + 1], *_ENDS_FROM_ANYWHERE)


ACTIVE_STATES: tuple[RunState, ...] = tuple(state for state in RunState if state.is_active)
