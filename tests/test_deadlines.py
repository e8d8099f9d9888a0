"""Reads every module of ours and fails where something waits that nothing ends."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "runner", "db")

WITHOUT_ARGUMENTS = frozenset(
    {"join", "result", "wait", "get", "acquire", "select", "readline", "accept"}
)
"""Methods of threads, futures, events, queues, locks, selectors and pipes that wait for ever where
they are called with nothing; with an argument they are other methods or have their deadline."""

OF_SOCKETS = frozenset({"recv", "recv_into", "recvfrom"})
OF_SUBPROCESS = frozenset({"run", "call", "check_call", "check_output"})
OF_HTTP = frozenset({"get", "post", "put", "request", "stream"})
OTHERS = frozenset(
    {"communicate", "wait_for", "waitpid", "flock", "lockf", "create_connection", "urlopen"}
)
WAITING = WITHOUT_ARGUMENTS | OF_SOCKETS | OF_SUBPROCESS | OF_HTTP | OTHERS
HTTP_CLIENTS = frozenset({"http", "httpx", "requests", "_session"})
STARTERS = frozenset({"create_task", "ensure_future"})
TIMERS = frozenset({"timeout", "timeout_at"})

Place = tuple[str, str]

REASONS: dict[Place, str] = {
    ("db/inbox.py", "self._changed.wait_for(lambda: self._closed or bool(self._entries))"): (
        "the recorder's thread has nothing to do until a row comes or the inbox is closed"
    ),
    ("runner/cli/up_command.py", "supervisor.wait()"): (
        "it looks every 0.3 s whether it was told to stop; that is what the command is for"
    ),
    ("runner/execute/off_loop.py", "writing.result()"): "it has been waited for above",
    ("runner/execute/run_lifecycle.py", "source.wait()"): "a task that its context cancels",
    ("runner/execute/stop_request.py", "working.result()"): "it has been waited for above",
    (
        "runner/execute/stop_request.py",
        "asyncio.wait([working, asked], return_when=asyncio.FIRST_COMPLETED)",
    ): "the work has the deadlines of what it does, and a stop ends it",
    ("runner/observe/run_observer.py", "watched.reading.result()"): "it is known to be done",
    ("runner/observe/run_observer.py", "watched.scraping.result()"): "it is known to be done",
    ("runner/observe/wedge_watch.py", "task.result()"): "it is known to be done",
    ("runner/sessions/session_loop.py", "asyncio.wait((task,))"): (
        "it is stored by a recorder, which says after its patience that it is stuck"
    ),
    ("runner/sessions/session_loop.py", "asyncio.wait(self._under_way)"): (
        "they are stored by a recorder, which says after its patience that it is stuck"
    ),
    ("runner/testbed/answer_streams.py", "events.get()"): (
        "a server that stalls answers no more: the client's deadline, or its leaving, ends it"
    ),
    (
        "runner/testbed/relay.py",
        "asyncio.wait({prefilling, decoding}, return_when=asyncio.FIRST_EXCEPTION)",
    ): "an answer may take as long as it takes; a client that leaves ends it",
    (
        "runner/testbed/relay.py",
        "self._session.post(f'{worker.url}{CHAT_PATH}', data=self._body, headers=headers)",
    ): ("an answer may take as long as it takes; a client that leaves ends it"),
    ("runner/testbed/socket_link.py", "self._listener.accept()"): "closing the listener ends it",
    ("runner/testbed/socket_link.py", "lines.readline()"): (
        "its connection has a time limit until this line has come"
    ),
    (
        "runner/testbed/sse_response.py",
        "asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)",
    ): "an answer may take as long as it takes; a client that leaves ends it",
    ("runner/testbed/sse_response.py", "working.result()"): "it is known to be done",
    ("runner/testbed/topology.py", "child.process.wait()"): (
        "a task that waits for a server to die, cancelled with the router"
    ),
}
"""What may wait without a deadline, and why that is no hang."""


def unbounded_waits(source: str) -> Iterator[str]:
    """The calls in a module that wait and that nothing in their expression or block ends."""
    tree = ast.parse(source)
    waits = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _waits(n, source)]
    if not waits:
        return
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for call in waits:
        if not _is_ended_from_outside(call, parents):
            yield ast.unparse(call)


def _waits(call: ast.Call, source: str) -> bool:
    if not isinstance(call.func, ast.Attribute) or _has_keyword(call, "timeout"):
        return False
    name = call.func.attr
    if name not in WAITING:
        return False
    owner = ast.unparse(call.func.value)
    arguments = len(call.args) + len(call.keywords)
    return (
        (name in WITHOUT_ARGUMENTS and arguments == 0)
        or (name in OF_SOCKETS and ".settimeout(" not in source)
        or name == "communicate"
        or (name == "wait" and owner == "asyncio")
        or (name == "wait_for" and arguments == 1)
        or (name in OF_SUBPROCESS and owner == "subprocess")
        or (name == "waitpid" and "WNOHANG" not in ast.unparse(call))
        or (name in {"flock", "lockf"} and "LOCK_NB" not in ast.unparse(call))
        or (name == "create_connection" and owner == "socket")
        or (name == "urlopen")
        or (name in OF_HTTP and owner.rpartition(".")[2] in HTTP_CLIENTS)
    )


def _has_keyword(call: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in call.keywords)


def _is_ended_from_outside(call: ast.Call, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a time limit holds around it, or it is only started here."""
    node: ast.AST = call
    while (above := parents.get(node)) is not None:
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
            name = above.func.attr
            has_limit = name == "wait_for" and len(above.args) + len(above.keywords) > 1
            if node in above.args and (has_limit or name in STARTERS):
                return True
        if isinstance(above, ast.AsyncWith) and any(map(_is_timer, above.items)):
            return True
        if isinstance(above, ast.If) and node in above.body and _says_done(above.test, call):
            return True
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        node = above
    return False


def _says_done(test: ast.expr, call: ast.Call) -> bool:
    """`if task.done():` before `task.result()`."""
    assert isinstance(call.func, ast.Attribute)
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return f"{ast.unparse(call.func.value)}.done()" in map(ast.unparse, parts)


def _is_timer(item: ast.withitem) -> bool:
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in TIMERS
    )


@pytest.fixture(scope="module")
def found() -> set[Place]:
    return {
        (str(path.relative_to(ROOT)), call)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for call in unbounded_waits(path.read_text(encoding="utf-8"))
    }


def test_whatever_waits_has_a_deadline_or_a_reason(found: set[Place]) -> None:
    hanging = [f"{path}: {call}" for path, call in sorted(found - REASONS.keys())]

    assert not hanging, f"give it a deadline, or say why it needs none: {'; '.join(hanging)}"


def test_every_reason_is_still_needed(found: set[Place]) -> None:
    assert REASONS.keys() <= found


@pytest.mark.parametrize(
    "source",
    [
        "thread.join()",
        "future.result()",
        "if not future.done():\n    future.result()",
        "if other.done():\n    future.result()",
        "process.wait()",
        "process.communicate(stdin)",
        "mailbox.get()",
        "lock.acquire()",
        "selector.select()",
        "connection.recv(10)",
        "listener.accept()",
        "subprocess.run(argv, check=True)",
        "os.waitpid(pid, 0)",
        "fcntl.flock(file, fcntl.LOCK_EX)",
        "socket.create_connection(address)",
        "condition.wait_for(is_there)",
        "async def f():\n    await asyncio.wait([task])",
        "async def f():\n    await event.wait()",
        "async def f():\n    await http.get(url)",
        "async def f():\n    async with self.http.stream('GET', url) as answer:\n        pass",
        # A limit around another function does not hold for what that one has left running.
        "async def f():\n    async with asyncio.timeout(1):\n        async def g():\n"
        "            await event.wait()",
    ],
)
def test_a_wait_without_a_deadline_is_seen(source: str) -> None:
    assert list(unbounded_waits(source))


@pytest.mark.parametrize(
    "source",
    [
        "', '.join(words)",
        "thread.join(timeout=1)",
        "thread.join(1.0)",
        "levels.get('a')",
        "event.wait(0.5)",
        "process.communicate(stdin, timeout=1)",
        "connection.settimeout(1)\nconnection.recv(10)",
        "os.waitpid(pid, os.WNOHANG)",
        "condition.wait_for(is_there, timeout=1)",
        "async def f():\n    await asyncio.wait_for(event.wait(), 1)",
        "async def f():\n    await asyncio.wait([task], timeout=1)",
        "async def f():\n    task = asyncio.create_task(event.wait())",
        "if task.done() and not task.cancelled():\n    task.result()",
        "async def f():\n    async with asyncio.timeout(1):\n        await http.get(url)",
    ],
)
def test_a_wait_that_ends_is_none(source: str) -> None:
    assert not list(unbounded_waits(source))
