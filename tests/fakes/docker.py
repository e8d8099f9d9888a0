"""A stand-in for docker whose containers are processes of this machine.

python docker.py FOLDER run -d --name NAME [-e NAME=VALUE]... IMAGE WORDS...
python docker.py FOLDER rm -f NAME
python docker.py FOLDER inspect --format FORMAT NAME
python docker.py FOLDER logs -f --since TIME NAME
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import supervised


def main(folder: Path, verb: str, words: list[str]) -> int:
    with (folder / "docker-calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps([verb, *words]) + "\n")
    if verb == "run":
        return _run(folder, words)
    name = words[-1]
    if verb == "rm":
        supervised.stop(folder, name)
        (folder / f"{name}.journal").unlink(missing_ok=True)
        return 0
    if verb == "logs":
        _follow(folder / f"{name}.journal")
        return 0
    if not supervised.pid_of(folder, name):
        sys.stderr.write(f"Error: No such object: {name}\n")
        return 1
    sys.stdout.write("sha256:0123456789abcdef\n")
    return 0


def _run(folder: Path, words: list[str]) -> int:
    name, env = "", {}
    while words[0].startswith("-"):
        option = words.pop(0)
        if option == "--name":
            name = words.pop(0)
        elif option == "-e":
            key, _, value = words.pop(0).partition("=")
            env[key] = value
    if supervised.pid_of(folder, name):
        sys.stderr.write(f'Conflict. The container name "{name}" is already in use.\n')
        return 125
    supervised.start(folder, name, words[1:], env)
    return 0


def _follow(journal: Path) -> None:
    offset = 0
    while supervised.is_heard():
        text = journal.read_text("utf-8")[offset:] if journal.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        offset += len(whole)
        for line in whole.splitlines():
            sys.stdout.write(json.loads(line)["MESSAGE"] + "\n")
        sys.stdout.flush()
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
