"""A gate, its sessions and their turns, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._answer import (
    Allowed,
    Command,
    Plan,
    Ran,
    Refused,
    Section,
    Skill,
    Text,
    Told,
    Tools,
    Verdict,
    commands,
    copied,
    failure,
    not_run,
    plan,
    prose,
    ran,
    section,
    skills,
    text,
    told,
    tools,
    verdict,
)
from ._connection import LINE_MAX, PROTOCOL, Connection, Outcome

TIMEOUT = 180.0
"""Longer than the server takes for a judgement with hooks, or for the run of a tool."""

CLIENT = {"name": "portcullis-client-python", "version": "0.1.0"}

Listener = Callable[[dict[str, Any]], None]


def _major(version: str) -> str:
    return version.split(".")[0]


class AsyncGate:
    """A connection to a server. Nothing of it, of its sessions or of its turns raises because of
    the gate: whatever goes wrong is a refusal."""

    def __init__(self, connection: Connection | None, refusal: Refused | None, timeout: float) -> None:
        self._connection = connection
        self._refusal = refusal
        self._timeout = timeout

    @classmethod
    async def spawn(
        cls,
        command: str = "portcullis",
        args: Sequence[str] = ("serve",),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stderr: int | None = None,
        timeout: float = TIMEOUT,
        client: Mapping[str, str] = CLIENT,
        on_judgement: Listener | None = None,
        on_change: Listener | None = None,
    ) -> AsyncGate:
        """Starts a server of one's own."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                command, *args, cwd=cwd, env=env, stdin=pipe, stdout=pipe, stderr=stderr, limit=LINE_MAX
            )
        except (OSError, ValueError) as error:
            return cls(None, failure("client/not-started", str(error)), timeout)
        assert process.stdout is not None and process.stdin is not None
        return await cls._greet(process.stdout, process.stdin, process, timeout, client, on_judgement, on_change)

    @classmethod
    async def connect(
        cls,
        path: str,
        *,
        timeout: float = TIMEOUT,
        client: Mapping[str, str] = CLIENT,
        on_judgement: Listener | None = None,
        on_change: Listener | None = None,
    ) -> AsyncGate:
        """Connects to a server that is there, at a socket."""
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=LINE_MAX)
        except (OSError, ValueError) as error:
            return cls(None, failure("client/not-started", str(error)), timeout)
        return await cls._greet(reader, writer, None, timeout, client, on_judgement, on_change)

    @classmethod
    async def _greet(
        cls,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        process: asyncio.subprocess.Process | None,
        timeout: float,
        client: Mapping[str, str],
        on_judgement: Listener | None,
        on_change: Listener | None,
    ) -> AsyncGate:
        listeners = {"judgement": on_judgement, "registry/changed": on_change}
        news = [method for method, listener in listeners.items() if listener is not None]

        def listen(method: str, params: Any) -> None:
            listener = listeners.get(method)
            if listener is not None:
                listener(params)

        connection = Connection(reader, writer, process, listen)
        params = {"protocol": PROTOCOL, "client": dict(client), "notifications": news}
        result, refusal = await connection.request("initialize", params, timeout)
        spoken = text(result.get("protocol")) if isinstance(result, dict) else None
        if refusal is not None:
            is_old = refusal.code == "wire/version"
            connection.fail(failure("client/version", refusal.reason) if is_old else refusal)
        elif spoken is None:
            connection.fail(failure("client/garbage", "no version"))
        elif _major(spoken) != _major(PROTOCOL):
            connection.fail(failure("client/version", f"it speaks {spoken}"))
        return cls(connection, None, timeout)

    @property
    def failure(self) -> Refused | None:
        """Why every call is refused from now on."""
        return self._refusal or (self._connection.failure if self._connection else None)

    @property
    def pid(self) -> int | None:
        """The process id of a server of one's own."""
        process = self._connection.process if self._connection else None
        return process.pid if process else None

    async def open_session(
        self, cwd: str, *, session_id: str | None = None, direct_writes: Sequence[str] | None = None
    ) -> AsyncSession:
        """Opens a session. When that fails, its calls are refused."""
        writes = None if direct_writes is None else list(direct_writes)
        params = {"cwd": cwd, "session_id": session_id, "direct_writes": writes}
        result, refusal = await self._ask("session/open", params)
        started = told(result, refusal, "refused", ("open", "refused"))
        id = text(result.get("session_id")) if isinstance(result, dict) else None
        if refusal is None and id is None:
            refusal = failure("client/garbage", "no session")
        return AsyncSession(self, id or session_id or "", started, refusal)

    async def report(self) -> dict[str, Any] | None:
        """Every capability and how it stands; None when the server cannot be asked."""
        result, _ = await self._ask("registry/report", {})
        return result if isinstance(result, dict) else None

    async def close(self) -> None:
        """Ends the connection, and a server of one's own with it."""
        if self._connection is not None:
            await self._connection.close()

    async def __aenter__(self) -> AsyncGate:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, method: str, params: Mapping[str, Any], timeout: float | None = None) -> Outcome:
        if self._connection is None:
            return None, self._refusal or failure("client/lost")
        return await self._connection.request(method, params, self._timeout if timeout is None else timeout)


class AsyncSession:
    """One conversation of an agent."""

    def __init__(self, gate: AsyncGate, id: str, started: Told, refusal: Refused | None) -> None:
        self._gate = gate
        self._refusal = refusal
        self.id = id
        self.started = started
        """`refused`: a hook objects, or the session could not be opened. Its calls are refused."""

    @property
    def failure(self) -> Refused | None:
        """Why every call of it is refused for a fault."""
        return self._refusal or self._gate.failure

    async def begin_turn(
        self,
        prompt: str | None = None,
        *,
        turn_id: str | None = None,
        needs: Sequence[str] | None = None,
        cards: Sequence[str] | None = None,
    ) -> AsyncTurn:
        """Begins a turn. When that fails, its calls are refused, and its prompt is withheld. What it is
        about is the domains that it `needs` and the tools whose `cards` are asked for."""
        reading = None
        if needs is not None or cards is not None:
            reading = {"needs": list(needs or ()), "cards": list(cards or ())}
        params = {"session_id": self.id, "turn_id": turn_id, "prompt": prompt, "reading": reading}
        result, refusal = await self._ask("turn/begin", params)
        id = text(result.get("turn_id")) if isinstance(result, dict) else None
        if refusal is None and id is None:
            refusal = failure("client/garbage", "no turn")
        heard = None
        if prompt is not None:
            answer = result.get("prompt") if isinstance(result, dict) else None
            heard = told(answer, refusal, "withheld", ("handed_on", "withheld"))
        return AsyncTurn(self._gate, id or turn_id or "", heard, refusal)

    async def compact(self) -> Told:
        """What is remembered is to be shortened. `objected`: leave it as it is, if you can."""
        return await self._moment("session/compact")

    async def close(self) -> Told:
        """Ends the session, and its turns before it."""
        return await self._moment("session/close")

    async def _moment(self, method: str) -> Told:
        result, refusal = await self._ask(method, {"session_id": self.id})
        return told(result, refusal, "objected", ("fine", "objected"))

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Outcome:
        if self._refusal is not None:
            return None, self._refusal
        return await self._gate._ask(method, params)


class AsyncTurn:
    """One turn, from the user's words to the model's last."""

    def __init__(self, gate: AsyncGate, id: str, prompt: Told | None, refusal: Refused | None) -> None:
        self._gate = gate
        self._refusal = refusal
        self.id = id
        self.prompt = prompt
        """`withheld`: do not hand it to the model, and tell the user why. None without a prompt."""

    @property
    def failure(self) -> Refused | None:
        """Why every call of it is refused for a fault."""
        return self._refusal or self._gate.failure

    async def before_tool_call(
        self, tool: str, input: Any, *, id: str | None = None, cwd: str | None = None, timeout: float | None = None
    ) -> Verdict:
        """May this call run? Cancel the task to take it back."""
        asked, refusal = copied(tool, input, id, cwd)
        if asked is None:
            return refusal or failure("client/input")
        result, refusal = await self._ask("beforeToolCall", asked, timeout)
        return refusal or verdict(result, asked)

    async def after_tool_call(
        self, tool: str, input: Any, output: str, *, id: str | None = None, cwd: str | None = None
    ) -> Told:
        """A tool has run, or has failed. `annotated`: put the reason behind the result."""
        asked, refusal = copied(tool, input, id, cwd)
        result = None
        if asked is not None:
            result, refusal = await self._ask("afterToolCall", {**asked, "output": output})
        return told(result, refusal, "annotated", ("stands", "annotated"))

    async def plan(self, permits: Sequence[Allowed | str], *, timeout: float | None = None) -> Plan:
        """Which of these calls may run side by side, and why the others wait. Uses no permit up."""
        names = [permit if isinstance(permit, str) else permit.permit for permit in permits]
        return plan(*await self._ask("batch/plan", {"permits": names}, timeout), len(names))

    async def run_tool(self, permit: Allowed | str, *, timeout: float | None = None) -> Ran:
        """Runs a tool that a plugin brings, once, with the permit for it."""
        name = permit if isinstance(permit, str) else permit.permit
        return ran(*await self._ask("tools/call", {"permit": name}, timeout))

    async def call_tool(
        self, tool: str, input: Any, *, id: str | None = None, cwd: str | None = None, timeout: float | None = None
    ) -> Ran:
        """Runs a tool that a plugin brings, when the call is allowed."""
        asked, refusal = copied(tool, input, id, cwd)
        if asked is None:
            return not_run(refusal or failure("client/input"))
        return ran(*await self._ask("tools/call", asked, timeout))

    async def tools(self, *, provider_defers: bool = False) -> Tools:
        """The tools as the model's next request has them."""
        return tools(*await self._ask("tools/list", {"provider_defers": provider_defers}))

    async def find_tools(
        self, query: str, *, provider_defers: bool = False, timeout: float | None = None
    ) -> tuple[Ran, Tools]:
        """The tools that these words mean, which are shown from then on."""
        params = {"query": query, "provider_defers": provider_defers}
        result, refusal = await self._ask("tools/find", params, timeout)
        shown = result.get("tools") if isinstance(result, dict) else None
        return ran(result, refusal), tools(shown, refusal)

    async def commands(self) -> tuple[tuple[Command, ...], Refused | None]:
        """What a person may type behind a slash; and why that is not known, when it is not."""
        return commands(*await self._ask("commands/list", {}))

    async def expand(self, name: str, typed: str = "", *, timeout: float | None = None) -> Text:
        """The text that a model is asked for a command, with what was typed behind its name."""
        return prose(*await self._ask("commands/expand", {"name": name, "arguments": typed}, timeout))

    async def skills(self) -> tuple[tuple[Skill, ...], Refused | None]:
        """The skills that there are; and why that is not known, when it is not."""
        return skills(*await self._ask("skills/list", {}))

    async def skill(self, name: str, *, timeout: float | None = None) -> Text:
        """The text of a skill, as it was listed."""
        return prose(*await self._ask("skills/load", {"name": name}, timeout))

    async def standing(self) -> Section:
        """What the model is told of what it can use: the same in every request of the turn."""
        return section(*await self._ask("turn/standing", {}))

    async def subagent_stop(self, words: str | None = None) -> Told:
        """A worker has said its last words."""
        return await self._stop("turn/subagentStop", {"words": words})

    async def end(self, words: str | None = None, *, stop: bool = True) -> Told:
        """The model has said its last words. `goes_on`: let it answer again. Without `stop` the
        hooks at `stop` are not asked, because the user broke off."""
        return await self._stop("turn/end", {"words": words, "stop": stop})

    async def _stop(self, method: str, params: Mapping[str, Any]) -> Told:
        result, refusal = await self._ask(method, params)
        return told(result, refusal, "ends", ("ends", "goes_on", "at_the_limit"))

    async def _ask(self, method: str, params: Mapping[str, Any], timeout: float | None = None) -> Outcome:
        if self._refusal is not None:
            return None, self._refusal
        return await self._gate._ask(method, {"turn_id": self.id, **params}, timeout)
