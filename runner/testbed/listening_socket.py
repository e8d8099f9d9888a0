"""A bound socket that does not listen yet, so that nobody connects before there is an answer."""

from __future__ import annotations

import argparse
import os
import socket

MOST_PORT = 65_535


def bind(host: str, port: int) -> socket.socket:
    """Raises OSError when it is taken or not ours; its `strerror` begins with the address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        number = error.errno or 0
        raise OSError(number, f"{host}:{port}: {os.strerror(number)}") from error
    return listener


def port_number(text: str) -> int:
    """For argparse; 0 stands for a free one."""
    port = int(text)
    if not 0 <= port <= MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text} is no port: ports go from 0 to {MOST_PORT}")
    return port
