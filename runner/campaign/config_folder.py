"""Where configuration files lie, and which of them a name means; reads no file's content."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from runner.errors import UsageError

ENVIRONMENT_VARIABLE = "DECISIVE_CONFIGS"
_RUNNER_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class ConfigFolder:
    """A folder with `campaigns/*.yaml`, `stacks/*.yaml` and, if it wants its own, `events/*.yaml`.

    A file's name is its stem.
    """

    path: Path

    def campaign_files(self) -> tuple[Path, ...]:
        return self._files("campaigns")

    def stack_files(self) -> tuple[Path, ...]:
        return self._files("stacks")

    def event_files(self) -> tuple[Path, ...]:
        """The catalogue of log events: the folder's own, else the one that came along."""
        return self._files("events") or shipped_event_files()

    def campaign_path(self, name: str) -> Path:
        """Raises UsageError for a name that no file in the folder has, whatever path it spells."""
        return self._named("campaigns", name)

    def stack_path(self, name: str) -> Path:
        """Raises UsageError as `campaign_path` does."""
        return self._named("stacks", name)

    def _files(self, kind: str) -> tuple[Path, ...]:
        folder = self.path / kind
        files = [path for path in folder.glob("*.yaml") if path.is_file()]
        return tuple(sorted(files, key=lambda path: path.name))

    def _named(self, kind: str, name: str) -> Path:
        """The listing decides, not the file system: a name from outside cannot leave the folder."""
        by_stem = {path.stem: path for path in self._files(kind)}
        stem = name.removesuffix(".yaml")
        if stem in by_stem:
            return by_stem[stem]
        similar = get_close_matches(stem, by_stem, n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        known = ", ".join(by_stem) or "none"
        where = (self.path / kind).resolve()
        raise UsageError(f"{where} has no file {stem[:60]}.yaml; it has: {known}{hint}")


def find_config_folder(
    chosen: Path | None, *, environment: Mapping[str, str], working_directory: Path
) -> ConfigFolder:
    """The first of: `chosen`, DECISIVE_CONFIGS, ./configs, the one that came with the package.

    Raises UsageError where one that was named is no folder; only ./configs may be absent.
    """
    named = chosen or environment.get(ENVIRONMENT_VARIABLE)
    if named:
        folder = working_directory / named
        if not folder.is_dir():
            raise UsageError(f"the configs folder {folder} does not exist")
        return ConfigFolder(folder)
    local = working_directory / "configs"
    return ConfigFolder(local if local.is_dir() else _shipped_folder())


def shipped_event_files() -> tuple[Path, ...]:
    return ConfigFolder(_shipped_folder())._files("events")


def _shipped_folder() -> Path:
    """Inside the installed package, or beside it in a checkout."""
    installed = _RUNNER_PACKAGE / "shipped_configs"
    return installed if installed.is_dir() else _RUNNER_PACKAGE.parent / "configs"
