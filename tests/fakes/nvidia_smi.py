"""A stand-in for nvidia-smi: one GPU whose memory comes back some looks after its server ended.

    python nvidia_smi.py FOLDER QUERY...

FOLDER/gpu-memory has a line for each look at the memory that is to come, the last one for good;
FOLDER/gpu-looks gets a line for each look that was made.
"""

import sys
from pathlib import Path


def main(folder: Path, query: str) -> None:
    if "memory.used" not in query:
        sys.stdout.write("A GPU of the test, 570.1, 143771 MiB\n")
        return
    memory = folder / "gpu-memory"
    first, *others = memory.read_text("ascii").splitlines()
    if others:
        memory.write_text("\n".join(others), "ascii")
    with (folder / "gpu-looks").open("a", encoding="ascii") as looks:
        looks.write(f"{first}\n")
    sys.stdout.write(f"{first}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), " ".join(sys.argv[2:]))
