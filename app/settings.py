"""Where the dashboard finds the store and the campaign files: two environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from db.store_url import DEFAULT_STORE_URL

STORE_VARIABLE = "DECISIVE_STORE"
CONFIGS_VARIABLE = "DECISIVE_CONFIGS"


@dataclass(frozen=True, slots=True)
class Settings:
    """`configs` is None where the usual places are to be searched."""

    store_url: str
    configs: Path | None


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    variables = os.environ if environment is None else environment
    configs = variables.get(CONFIGS_VARIABLE)
    return Settings(
        store_url=variables.get(STORE_VARIABLE) or DEFAULT_STORE_URL,
        configs=Path(configs) if configs else None,
    )
