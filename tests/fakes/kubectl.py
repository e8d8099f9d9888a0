"""A stand-in for kubectl with deployments whose one pod is a process of this machine.

    python kubectl.py FOLDER get deployment NAME -o JSONPATH
    python kubectl.py FOLDER patch deployment NAME --type=json -p JSON
    python kubectl.py FOLDER rollout status|undo deployment/NAME [--to-revision=N]
    python kubectl.py FOLDER scale deployment/NAME --replicas=N

FOLDER/NAME.json holds the revisions: lists of the words of the pod. `get` prints the revision that
stands.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import supervised


def main(folder: Path, words: list[str]) -> int:
    with (folder / "kubectl-calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(words) + "\n")
    name = next(word for word in words[1:] if "/" in word or word not in _VERBS).split("/")[-1]
    path = folder / f"{name}.json"
    deployment = json.loads(path.read_text("utf-8"))
    if words[0] == "get":
        sys.stdout.write(str(len(deployment["revisions"])))
        return 0
    if words[0] == "patch":
        (change,) = json.loads(words[words.index("-p") + 1])
        assert change["path"].endswith("/args")
        deployment["revisions"].append(change["value"])
    if words[:2] == ["rollout", "undo"]:
        revision = int(words[-1].removeprefix("--to-revision="))
        deployment["revisions"].append(deployment["revisions"][revision - 1])
    replicas = [word for word in words if word.startswith("--replicas=")]
    if words[:2] != ["rollout", "status"]:
        path.write_text(json.dumps(deployment), "utf-8")
        supervised.stop(folder, name)
        if replicas != ["--replicas=0"]:
            supervised.start(
                folder, name, [*deployment["command"], *deployment["revisions"][-1]], {}
            )
    return 0


_VERBS = frozenset({"deployment", "status", "undo"})

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
