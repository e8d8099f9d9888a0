"""Configs whose stack is the oracle server under systemd over ssh, docker or kubectl: stand-ins."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.control.ports import free_port
from tests.fakes import supervised
from tests.fakes.oracle_configs import write_oracle_configs

FAKES = Path(__file__).parent
UNIT = "oracle.service"
NAME = "oracle"
FOUND_ARGS = ["--index-k-dtype", "fp8", "--log-line", "as it was found"]

_FACTORS = """
factors:
  index_keys:
    fp8:
      args: [--index-k-dtype, fp8]
      verify:
        - {server_info: internal_states.*.index_k_dtype, equals: fp8}
        - {server_info: internal_states.*.memory_usage.index_key_bytes_per_token, equals: 132}
    bf16:
      args: [--index-k-dtype, bf16, --log-line, 'a "quoted" $HOME 100% \\ word; touch /tmp/x']
      env: {POOL: "dtype aware; $(reboot)"}
      verify:
        - {server_info: internal_states.*.index_k_dtype, equals: bf16}
        - {log: 'index key pool: bf16, (\\d+) bytes', equals: 256}
        - {log: 'index key pool: fp8', absent: true}
ENVIRONMENT
    lying:
      args: [--index-k-dtype, bf16, --says-index-k-dtype, fp8]
      verify:
        - {server_info: internal_states.*.index_k_dtype, equals: fp8}
        - {server_info: internal_states.*.memory_usage.index_key_bytes_per_token, equals: 132}
"""
_OF_ENVIRONMENT = "        - {environment: POOL, equals: 'dtype aware; $(reboot)'}"


def tool(name: str, folder: Path) -> list[str]:
    """The words that run a stand-in."""
    return [sys.executable, str(FAKES / f"{name}.py"), str(folder)]


class ControlledStack:
    """A service that runs as somebody left it; `close` ends it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.server = [
            *(sys.executable, "-m", "tests.fakes.oracle_server", "--port", str(self.port))
        ]

    def write(
        self,
        service: str,
        *,
        hosts: str = "",
        proves_environment: bool = False,
        ours: bool = True,
    ) -> None:
        factors = _FACTORS.replace("ENVIRONMENT", _OF_ENVIRONMENT if proves_environment else "")
        if not ours:  # when it was started is not known, and so not what it wrote since then
            factors = "\n".join(line for line in factors.splitlines() if "{log:" not in line)
        text = (
            "stack: oracle\ndescription: An oracle that others started.\nmodel: oracle\n"
            f"may_restart: {str(ours).lower()}\n{hosts}services:\n  server:\n{service}"
            f"    port: {self.port}\n"
            "    server_info: /server_info\n    flush_cache: /flush_cache\n"
            "    metrics: {path: /metrics, dialect: sglang}\n    ready_within_s: 600\n"
            f"{factors}"
        )
        (self.folder / "stacks" / "oracle.yaml").write_text(text, "utf-8")

    def running_words(self, name: str) -> list[str]:
        """The command line of the process that runs now; empty where none does."""
        pid = supervised.pid_of(self.folder, name)
        if not pid:
            return []
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return [word.decode() for word in words if word]

    def close(self) -> None:
        for name in (UNIT, NAME):
            supervised.stop(self.folder, name)


def systemd_over_ssh(folder: Path, *, levels: Sequence[str], **campaign: object) -> ControlledStack:
    """A unit that runs, reached through ssh."""
    made = _written(folder, levels, campaign)
    (folder / "units").mkdir()
    words = " ".join(f'"{word}"' for word in [*made.server, *FOUND_ARGS])
    (folder / "units" / UNIT).write_text(f"[Service]\nExecStart={words}\n", "utf-8")
    hosts = (
        "hosts:\n  gpu1:\n"
        f"    ssh: {json.dumps([*tool('ssh', folder), 'root@gpu1'])}\n"
        "    become: [env]\n"
        f"    systemctl: {json.dumps(tool('systemctl', folder))}\n"
        f"    journalctl: {json.dumps(tool('journalctl', folder))}\n"
        f"    drop_ins: {folder / 'drop-ins'}\n"
    )
    service = (
        "    controller: systemd\n    host: gpu1\n"
        f"    unit: {UNIT}\n    log: journal\n    command: {json.dumps(made.server)}\n"
    )
    made.write(service, hosts=hosts, proves_environment=True)
    supervised.start(folder, UNIT, [*made.server, *FOUND_ARGS], {})
    return made


def docker(folder: Path, *, levels: Sequence[str], **campaign: object) -> ControlledStack:
    """Nothing runs before, and nothing is to run afterwards."""
    made = _written(folder, levels, campaign)
    words = tool("docker", folder)
    commands = {
        "start": [
            [*words, "run", "-d", "--name", NAME, "{env:-e}", "an-image", "{command}"],
        ],
        "stop": [[*words, "rm", "-f", NAME]],
        "status": [*words, "inspect", "--format", "{{.Id}}", NAME],
    }
    service = (
        f"    controller: command\n    command: {json.dumps(made.server)}\n"
        f"    commands: {json.dumps(commands)}\n"
        f"    log: command\n    log_command: "
        f"{json.dumps([*words, 'logs', '-f', '--since', '{since}', NAME])}\n"
        f"    facts: {{image: {json.dumps([*words, 'inspect', '--format', '{{.Image}}', NAME])}}}\n"
    )
    made.write(service)
    return made


def kubernetes(folder: Path, *, levels: Sequence[str], **campaign: object) -> ControlledStack:
    """A deployment that runs in its first revision."""
    made = _written(folder, levels, campaign)
    deployment = {"command": made.server, "revisions": [FOUND_ARGS]}
    (folder / f"{NAME}.json").write_text(json.dumps(deployment), "utf-8")
    words = tool("kubectl", folder)
    patch = '[{"op": "replace", "path": "/spec/containers/0/args", "value": {command_json}}]'
    status = [*words, "rollout", "status", f"deployment/{NAME}"]
    commands = {
        "start": [[*words, "patch", "deployment", NAME, "--type=json", "-p", patch], status],
        "stop": [[*words, "scale", f"deployment/{NAME}", "--replicas=0"]],
        "found": [*words, "get", "deployment", NAME, "-o", "jsonpath={.metadata.revision}"],
        "restore": [
            [*words, "rollout", "undo", f"deployment/{NAME}", "--to-revision={found}"],
            status,
        ],
    }
    made.write(
        f"    controller: command\n    commands: {json.dumps(commands)}\n"
        f"    log: file\n    log_file: {folder / (NAME + '.journal')}\n"
    )
    supervised.start(folder, NAME, [*made.server, *FOUND_ARGS], {})
    return made


def external(
    folder: Path,
    *,
    levels: Sequence[str],
    switches: Sequence[str] = (),
    keys: str = "",
    **campaign: object,
) -> ControlledStack:
    """A server that runs with fp8 keys and these switches; `keys` are further lines of its file."""
    made = _written(folder, levels, {"restart": "when_needed", **campaign})
    log = folder / f"{NAME}.journal"
    made.write(f"    controller: external\n    log: file\n    log_file: {log}\n{keys}", ours=False)
    supervised.start(folder, NAME, [*made.server, *switches], {})
    return made


def _written(folder: Path, levels: Sequence[str], campaign: dict[str, object]) -> ControlledStack:
    write_oracle_configs(folder, levels=levels, **campaign)  # type: ignore[arg-type]
    return ControlledStack(folder)
