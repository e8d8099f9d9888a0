"""Where configuration comes from, and that no name leads out of there."""

from pathlib import Path

import pytest

from runner.campaign.config_folder import ConfigFolder, find_config_folder
from runner.errors import UsageError


def folder_at(path: Path, *campaigns: str) -> Path:
    (path / "campaigns").mkdir(parents=True)
    (path / "stacks").mkdir()
    for name in campaigns:
        (path / "campaigns" / name).write_text("campaign: x\n")
    return path


def found(tmp_path: Path, chosen: Path | None = None, variable: str = "") -> Path:
    environment = {"DECISIVE_CONFIGS": variable} if variable else {}
    return find_config_folder(chosen, environment=environment, working_directory=tmp_path).path


def test_the_nearest_word_wins(tmp_path: Path) -> None:
    for name in ("chosen", "named", "configs"):
        folder_at(tmp_path / name)

    assert found(tmp_path, Path("chosen"), "named") == tmp_path / "chosen"
    assert found(tmp_path, None, str(tmp_path / "named")) == tmp_path / "named"
    assert found(tmp_path) == tmp_path / "configs"


def test_without_any_the_folder_that_came_along_is_used(tmp_path: Path) -> None:
    assert (found(tmp_path) / "campaigns" / "decisive-test.yaml").is_file()


def test_a_folder_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the configs folder .*/nowhere does not exist"):
        found(tmp_path, Path("nowhere"))
    with pytest.raises(UsageError, match=r"the configs folder .*/nowhere does not exist"):
        found(tmp_path, None, "nowhere")


def test_campaigns_are_listed_by_name(tmp_path: Path) -> None:
    folder = ConfigFolder(folder_at(tmp_path / "c", "b.yaml", "a.yaml", "notes.md"))

    assert [path.name for path in folder.campaign_files()] == ["a.yaml", "b.yaml"]
    assert folder.stack_files() == ()
    assert folder.campaign_path("b") == folder.campaign_path("b.yaml") == folder.campaign_files()[1]


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "c/../a", "", ".", "..", "a\x00", "A" * 999]
)
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.yaml").write_text("campaign: x\n")
    folder = ConfigFolder(folder_at(tmp_path / "campaigns_of", "a.yaml"))

    with pytest.raises(UsageError, match="has no file"):
        folder.campaign_path(name)


def test_a_wrong_name_is_answered_with_the_right_ones(tmp_path: Path) -> None:
    folder = ConfigFolder(folder_at(tmp_path / "c", "smoke.yaml"))

    with pytest.raises(
        UsageError, match=r"no file smok\.yaml; it has: smoke; did you mean smoke\?"
    ):
        folder.campaign_path("smok")
    with pytest.raises(UsageError, match="it has: none"):
        folder.stack_path("testbed")
