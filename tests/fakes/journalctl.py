"""A stand-in for journalctl that reads what `supervised.py` keeps.

As the real one it ends when nobody reads its output any more, also where it has nothing to say.

python journalctl.py FOLDER -u UNIT -o json -f --no-tail --since=@SECONDS|--after-cursor=CURSOR
python journalctl.py FOLDER -u UNIT -o json -n 1 --no-pager -q
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import supervised

POLL_S = 0.02


def last(journal: Path) -> None:
    lines = journal.read_text("utf-8").splitlines(keepends=True) if journal.exists() else []
    sys.stdout.write("".join(line for line in lines[-1:] if line.endswith("\n")))


def main(folder: Path, unit: str, since_us: int, after: str) -> None:
    journal = folder / f"{unit}.journal"
    has_passed = not after
    offset = 0
    while supervised.is_heard():
        lines = journal.read_text("utf-8")[offset:] if journal.exists() else ""
        whole = lines[: lines.rfind("\n") + 1]
        offset += len(whole)
        for line in whole.splitlines():
            entry = json.loads(line)
            if has_passed and int(entry["__REALTIME_TIMESTAMP"]) >= since_us:
                sys.stdout.write(line + "\n")
            has_passed = has_passed or entry["__CURSOR"] == after
        sys.stdout.flush()
        time.sleep(POLL_S)


if __name__ == "__main__":
    named = sys.argv[sys.argv.index("-u") + 1]
    if "-n" in sys.argv:
        sys.exit(last(Path(sys.argv[1]) / f"{named}.journal"))
    options = dict(word.split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
    main(
        Path(sys.argv[1]),
        named,
        round(float(options.get("--since", "@0")[1:]) * 1e6),
        options.get("--after-cursor", ""),
    )
