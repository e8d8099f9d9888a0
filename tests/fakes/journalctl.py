"""A stand-in for journalctl that reads what `supervised.py` keeps.

python journalctl.py FOLDER -u UNIT -o json -f --no-tail --since=@SECONDS|--after-cursor=CURSOR
"""

import json
import sys
import time
from pathlib import Path

POLL_S = 0.02


def main(folder: Path, unit: str, since_us: int, after: str) -> None:
    journal = folder / f"{unit}.journal"
    has_passed = not after
    offset = 0
    while True:
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
    options = dict(word.split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
    main(
        Path(sys.argv[1]),
        sys.argv[sys.argv.index("-u") + 1],
        round(float(options.get("--since", "@0")[1:]) * 1e6),
        options.get("--after-cursor", ""),
    )
