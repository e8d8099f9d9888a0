"""A recorded load as the files of a folder that runs without Decisive. Makes bytes; writes once."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from db.identifiers import IdKind, format_id
from runner.errors import UsageError
from runner.judge.markup_catalogue import CATALOGUE
from runner.judge.special_token_families import SPECIAL_TOKEN_FAMILIES
from runner.reproduction.readme_text import readme_text, seen_text
from runner.reproduction.recorded_load import (
    RecordedLoad,
    RecordedPlay,
    RecordedRequest,
    number_of,
)

_SCRIPT = "replay.py"
_DEFAULT_LIMIT_S = 200.0
_EXECUTABLE = 0o755

_CURL = """\
#!/usr/bin/env bash
# Sends the recorded turns of session {session} again, one after the other, and prints what comes.
#   bash curl.sh http://HOST:PORT              the key, if one is needed, from API_KEY
set -euo pipefail
cd "$(dirname "$0")"
key() {{ if [ -n "${{API_KEY:-}}" ]; then printf 'authorization: Bearer %s' "$API_KEY"; fi; }}
url="${{1:?where the stack is: http://HOST:PORT}}"
for request in {requests}; do
  printf '\\n== %s\\n' "$request"
  curl --silent --show-error --no-buffer "$url/v1/chat/completions" \\
    --header 'content-type: application/json' \\
    --header @<(key) \\
    --data-binary "@$request"
done
"""


def folder_files(load: RecordedLoad) -> dict[str, bytes]:
    """Path inside the folder to content; the same load gives the same bytes."""
    requests = {
        request_path(play, request): request.body
        for play in load.plays
        for request in play.requests
    }
    own = [path for path in requests if path.startswith(f"requests/{_session_name(load)}-")]
    return {
        "README.md": readme_text(load).encode(),
        "load.json": _as_json(load_json(load)),
        _SCRIPT: files("runner.reproduction").joinpath(_SCRIPT).read_bytes(),
        "curl.sh": _CURL.format(session=_session_name(load), requests=" ".join(own)).encode(),
        **requests,
    }


def load_json(load: RecordedLoad) -> dict[str, Any]:
    """What the script reads beside the bodies."""
    return {
        "focus": {"session": _session_name(load), "request": _focus_path(load)},
        "seen": seen_text(load),
        "request_id_field": _request_id_field(load),
        "flush_cache": _flush_path(load),
        "answer_limit_s": _answer_limit_s(load),
        "markup": list(_markup(load)),
        "sessions": [_play_json(play) for play in load.plays],
    }


def write_folder(content: Mapping[str, bytes], to: Path) -> None:
    """All of it or nothing. Raises UsageError where something is there already."""
    if to.exists() or to.is_symlink():
        raise UsageError(f"{to} exists: nothing in it is overwritten, so name another folder")
    to.parent.mkdir(parents=True, exist_ok=True)
    growing = Path(mkdtemp(prefix=f".{to.name}-", dir=to.parent))
    try:
        for name, data in content.items():
            path = growing / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if data.startswith(b"#!"):
                path.chmod(_EXECUTABLE)
        growing.chmod(_EXECUTABLE)
        os.rename(growing, to)  # noqa: PTH104 - Path.replace would take the place of an empty folder
    except BaseException:
        shutil.rmtree(growing, ignore_errors=True)
        raise


def request_path(play: RecordedPlay, request: RecordedRequest) -> str:
    name = format_id(IdKind.SESSION, play.session.id)
    return f"requests/{name}-{number_of(request.turn)}.json"


def _play_json(play: RecordedPlay) -> dict[str, Any]:
    return {
        "session": format_id(IdKind.SESSION, play.session.id),
        "starts_after_s": round(play.starts_after_s, 6),
        "turns": [
            {
                "request": request_path(play, request),
                "pause_before_s": round(request.pause_before_s, 6),
                "due": request.turn.due,
            }
            for request in play.requests
        ],
    }


def _session_name(load: RecordedLoad) -> str:
    return format_id(IdKind.SESSION, load.focus.id)


def _focus_path(load: RecordedLoad) -> str:
    return f"requests/{_session_name(load)}-{number_of(load.focus_turn)}.json"


def _request_id_field(load: RecordedLoad) -> str | None:
    """The field under which the server was told the request's own name."""
    for play in load.plays:
        for request in play.requests:
            fields = json.loads(request.body)
            if isinstance(fields, dict):
                found = [k for k, value in fields.items() if value == request.turn.request_id]
                return found[0] if found else None
    return None


def _flush_path(load: RecordedLoad) -> str | None:
    """Of the service that sessions are sent to, which is the first."""
    services = (load.definition.get("stack") or {}).get("services") or {}
    first = next(iter(services.values()), None) or {}
    path = first.get("flush_cache")
    return path if isinstance(path, str) else None


def _answer_limit_s(load: RecordedLoad) -> float:
    workload = load.definition.get("workload") or {}
    limit_s = (workload.get("deadlines") or {}).get("session_s")
    return float(limit_s) if isinstance(limit_s, int | float) else _DEFAULT_LIMIT_S


def _markup(load: RecordedLoad) -> Iterator[str]:
    """Regular expressions: special tokens, which no prose holds, and what this load had."""
    found = {
        span.get("family")
        for play in load.plays
        for request in play.requests
        for span in request.turn.markup
    }
    families = {family.id: family for family in SPECIAL_TOKEN_FAMILIES}
    families |= {family.id: family for family in CATALOGUE if family.id in found}
    for family in families.values():
        if family.markers:
            yield family.markers


def _as_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
