"""Finds a port of this machine that nobody listens on."""

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free a moment ago; a service that loses the race for it fails to start."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def is_listening(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0
