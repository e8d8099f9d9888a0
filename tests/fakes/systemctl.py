"""A stand-in for systemctl that really starts and stops the processes of its units.

    python systemctl.py FOLDER show|daemon-reload|start|restart|stop UNIT

FOLDER/units/UNIT is the unit file, FOLDER/drop-ins/UNIT.d/*.conf are its drop-ins. As with systemd,
a change of these counts after `daemon-reload` only, and a later setting replaces or adds to an
earlier one. A restart can be held, see hold.py: the unit runs by then.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import hold
import supervised

WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def main(folder: Path, verb: str, arguments: list[str]) -> int:
    with (folder / "calls").open("a", encoding="utf-8") as calls:
        calls.write(f"{verb} {' '.join(arguments)}\n")
    if verb == "daemon-reload":
        _reload(folder)
        return 0
    unit = arguments[0]
    if not (folder / "units" / unit).exists():
        if verb == "show":
            sys.stdout.write("LoadState=not-found\nActiveState=inactive\nMainPID=0\n")
            return 0
        sys.stderr.write(f"Unit {unit} could not be found.\n")
        return 5
    if verb == "show":
        pid = supervised.pid_of(folder, unit)
        state = "active" if pid else "inactive"
        status = supervised.status_of(folder, unit)
        sys.stdout.write(f"LoadState=loaded\nActiveState={state}\nMainPID={pid}\n")
        sys.stdout.write(f"ExecMainStatus={status}\n")
        return 0
    if verb in ("stop", "restart"):
        supervised.stop(folder, unit)
    if verb in ("start", "restart"):
        loaded = json.loads((folder / "loaded.json").read_text("utf-8"))[unit]
        supervised.start(folder, unit, loaded["argv"], loaded["env"])
        has_drop_in = any((folder / "drop-ins" / f"{unit}.d").glob("*.conf"))
        hold.wait_while_held(folder, "restart" if has_drop_in else "restart-without-drop-in")
    return 0


def _reload(folder: Path) -> None:
    loaded = {unit.name: _read(folder, unit) for unit in sorted((folder / "units").iterdir())}
    (folder / "loaded.json").write_text(json.dumps(loaded), "utf-8")


def _read(folder: Path, unit: Path) -> dict[str, object]:
    argv: list[str] = []
    env: dict[str, str] = {}
    drop_ins = sorted((folder / "drop-ins" / f"{unit.name}.d").glob("*.conf"))
    for path in (unit, *drop_ins):
        for line in path.read_text("utf-8").splitlines():
            key, _, value = line.partition("=")
            words = [unquoted(found) for found in WORD.finditer(value)]
            if key == "ExecStart":
                argv = [word.replace("$$", "$") for word in words]
            elif key == "Environment":
                env |= dict(word.split("=", 1) for word in words)
    return {"argv": argv, "env": env}


def unquoted(found: re.Match[str]) -> str:
    text = found[1] if found[1] is not None else found[2]
    text = re.sub(r"\\(.)", lambda escape: _ESCAPED.get(escape[1], escape[1]), text)
    return text.replace("%%", "%")


if __name__ == "__main__":
    words = [word for word in sys.argv[3:] if not word.startswith("--")]
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], words))
