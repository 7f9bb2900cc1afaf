"""One connection: requests out, answers in. When anything is wrong with it, it is over, and
every request ends with the reason."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ._answer import Refused, failure, refused_by

PROTOCOL = "1.0"
"""The version of the protocol that is spoken here."""

LINE_MAX = 64 * 1024 * 1024
"""A line that is longer than this is no answer."""

END_SECONDS = 10.0
"""How long a server is given to end by itself."""

Outcome: TypeAlias = tuple[Any, None] | tuple[None, Refused]


class Connection:
    """Both ends of a conversation, and the process behind it if it is one's own."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        process: asyncio.subprocess.Process | None,
        listen: Callable[[str, Any], None] | None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.process = process
        self._listen = listen
        self._next = 1
        self._pending: dict[int, asyncio.Future[Outcome]] = {}
        # Requests that nobody waits for any more and that may still be answered.
        self._late: dict[int, None] = {}
        self.failure: Refused | None = None
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Mapping[str, Any], timeout: float) -> Outcome:
        """Asks. Whatever goes wrong is a refusal; a task that is cancelled takes the request back."""
        if self.failure is not None:
            return None, self.failure
        id, self._next = self._next, self._next + 1
        try:
            line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return None, failure("client/input", str(error))
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._pending[id] = answer
        try:
            async with asyncio.timeout(timeout):
                self._writer.write(line.encode() + b"\n")
                await self._writer.drain()
                return await answer
        except TimeoutError:
            self._take_back(id)
            return None, failure("client/timeout")
        except asyncio.CancelledError:
            self._take_back(id)
            raise
        except (OSError, RuntimeError) as error:
            self.fail(failure("client/lost", str(error)))
            return None, self.failure or failure("client/lost")
        finally:
            self._pending.pop(id, None)

    def _take_back(self, id: int) -> None:
        # The server refuses it as well, and what it says of it is not heard any more.
        self._late[id] = None
        if len(self._late) > 1024:
            self._late.pop(next(iter(self._late)))
        if self.failure is None:
            message = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}
            self._writer.write(json.dumps(message).encode() + b"\n")

    def fail(self, refusal: Refused) -> None:
        """It is over, for this reason."""
        if self.failure is not None:
            return
        self.failure = refusal
        for answer in self._pending.values():
            if not answer.done():
                answer.set_result((None, refusal))
        self._writer.close()
        if self.process is not None and self.process.returncode is None:
            try:
                self.process.terminate()
            except ProcessLookupError:
                pass

    async def close(self) -> None:
        """Ends it in order."""
        if self.failure is None:
            self.failure = failure("client/lost", "it was closed")
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_result((None, self.failure))
            self._writer.close()
        if self.process is not None:
            try:
                await asyncio.wait_for(self.process.wait(), END_SECONDS)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        try:
            await self._writer.wait_closed()
        except OSError:
            pass

    async def _read(self) -> None:
        try:
            while self.failure is None:
                line = await self._reader.readline()
                if not line.endswith(b"\n"):
                    return self.fail(failure("client/lost", "it said nothing more"))
                problem = self._line(line)
                if problem is not None:
                    return self.fail(failure("client/garbage", problem))
        except ValueError as error:
            self.fail(failure("client/garbage", str(error)))
        except Exception as error:
            self.fail(failure("client/lost", str(error)))

    def _hear(self, method: str, params: Any) -> None:
        if self._listen is None:
            return
        try:
            self._listen(method, params)
        except Exception as error:
            # It is the loop's own, and no reason to hear no answers any more.
            context = {"message": "a listener of the gate failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    def _line(self, line: bytes) -> str | None:
        """What is wrong with it, if anything is."""
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            return str(error)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return "it is no message"
        if "id" not in message:
            method = message.get("method")
            if not isinstance(method, str):
                return "it is no message"
            self._hear(method, message.get("params"))
            return None
        id = message["id"]
        answer = self._pending.get(id) if type(id) is int else None
        if answer is None:
            if type(id) is int and id in self._late:
                del self._late[id]
                return None
            # Somebody waits for this answer, and nobody knows who.
            return "an answer to nothing that was asked"
        if ("result" in message) == ("error" in message):
            return "neither a result nor an error"
        if answer.done():
            return None
        if "error" in message:
            answer.set_result((None, refused_by(message["error"])))
        else:
            answer.set_result((message["result"], None))
        return None
