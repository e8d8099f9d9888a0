"""In processes of their own: a limit that was lowered cannot be raised again."""

import subprocess
import sys

import pytest

LIMITED = """
import resource, sys
from runner.errors import UsageError
from runner.execute.open_files import provide_open_files

resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
try:
    provide_open_files(500)
except UsageError as error:
    print(error)
else:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("soft", "hard", "said"),
    [
        (256, 4096, "628"),
        (1024, 4096, "1024"),
        (
            256,
            512,
            "500 sessions at a time need 628 open files, and this process may have 512: raise the "
            "limit (ulimit -Hn), or lower the concurrency",
        ),
    ],
)
def test_as_many_files_may_be_open_as_sessions_need(soft: int, hard: int, said: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", LIMITED, str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.strip() == said
