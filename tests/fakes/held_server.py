"""A chat server of the standard library alone, which starts at once and can be held at each page.

    python held_server.py FOLDER PORT ARM

It says that it is in the arm, answers every request with the same word, and is no model.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import hold

_WARM_UP_TOKENS = 16


class HeldServer:
    def __init__(self, folder: Path, arm: str) -> None:
        self._folder = folder
        self._arm = arm
        self._has_served = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request a connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ")[1]
        sizes = [line for line in head.split("\r\n") if line.lower().startswith("content-length:")]
        body = await reader.readexactly(int(sizes[0].split(":")[1])) if sizes else b""
        answer = await self._answer(path, json.loads(body or b"{}"))
        content = json.dumps(answer).encode()
        status = "400 Bad Request" if "refused" in answer else "200 OK"
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
            f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )
        await writer.drain()
        writer.close()

    async def _answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/server_info":
            return {"version": "held", "arm": self._arm}
        if path == "/flush_cache":
            is_refused = self._has_served and hold.is_held(self._folder, "drain")
            return {"refused": "requests are pending"} if is_refused else {"success": True}
        if path == "/health":
            await self._wait("health")
            return {}
        if body.get("tools"):
            self._has_served = True
            await self._wait("session")
        elif body.get("max_tokens") == _WARM_UP_TOKENS:
            await self._wait("warm-up")
        message = {"role": "assistant", "content": "hello"}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    async def _wait(self, what: str) -> None:
        await asyncio.to_thread(hold.wait_while_held, self._folder, what)


async def main(folder: Path, port: int, arm: str) -> None:
    server = await asyncio.start_server(HeldServer(folder, arm).serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
