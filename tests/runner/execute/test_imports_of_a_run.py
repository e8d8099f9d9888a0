"""What is imported while sessions are played holds up the loop that reads their streams."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.oracle_configs import write_oracle_configs

ROOT = Path(__file__).parents[3]

PLAY_A_RUN = """
import sys
from pathlib import Path
from runner.sessions.session_player import SessionPlayer
from tests.runner.execute.campaign_bench import Watching, run_once

before, during = set(), set()
play = SessionPlayer.play

async def first_notes_what_is_there(self, session_index):
    before.update(before or sys.modules)
    return await play(self, session_index)

SessionPlayer.play = first_notes_what_is_there
run_once(Path(sys.argv[1]), watching=Watching(on_session=lambda _: during.update(sys.modules)))
print(len(before) > 0, *sorted(name for name in during - before if name.startswith("scipy")))
"""


@pytest.mark.end_to_end
def test_nothing_of_scipy_is_imported_while_sessions_are_played(tmp_path: Path) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4)

    ended = subprocess.run(
        [sys.executable, "-c", PLAY_A_RUN, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert ended.stdout.split() == ["True"]
