"""The same for loops of threads: the asyncio gate, on a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from ._aio import CLIENT, TIMEOUT, AsyncGate, AsyncSession, AsyncTurn, Listener
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
    failure,
    not_run,
    plan,
    prose,
)

T = TypeVar("T")


class _Thread:
    """An event loop on a thread, which does one thing after another for whoever asks."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="portcullis", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], failed: Callable[[Refused], T]) -> T:
        """The result; when the thread has gone or fails inside, what that means."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except concurrent.futures.CancelledError:
            return failed(failure("client/cancelled"))
        except Exception as error:
            work.close()
            return failed(failure("client/lost", str(error)))

    def end(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class Gate:
    """A connection to a server. Nothing of it, of its sessions or of its turns raises because of
    the gate: whatever goes wrong is a refusal. Safe for many threads at once."""

    def __init__(self, thread: _Thread, gate: AsyncGate) -> None:
        self._thread = thread
        self._gate = gate

    @classmethod
    def spawn(
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
    ) -> Gate:
        """Starts a server of one's own."""
        work = AsyncGate.spawn(
            command,
            args,
            cwd=cwd,
            env=env,
            stderr=stderr,
            timeout=timeout,
            client=client,
            on_judgement=on_judgement,
            on_change=on_change,
        )
        return cls._open(work, timeout)

    @classmethod
    def connect(
        cls,
        path: str,
        *,
        timeout: float = TIMEOUT,
        client: Mapping[str, str] = CLIENT,
        on_judgement: Listener | None = None,
        on_change: Listener | None = None,
    ) -> Gate:
        """Connects to a server that is there, at a socket."""
        work = AsyncGate.connect(path, timeout=timeout, client=client, on_judgement=on_judgement, on_change=on_change)
        return cls._open(work, timeout)

    @classmethod
    def _open(cls, work: Coroutine[Any, Any, AsyncGate], timeout: float) -> Gate:
        thread = _Thread()
        return cls(thread, thread.run(work, lambda refusal: AsyncGate(None, refusal, timeout)))

    @property
    def failure(self) -> Refused | None:
        """Why every call is refused from now on."""
        return self._gate.failure

    @property
    def pid(self) -> int | None:
        """The process id of a server of one's own."""
        return self._gate.pid

    def open_session(
        self, cwd: str, *, session_id: str | None = None, direct_writes: Sequence[str] | None = None
    ) -> Session:
        """Opens a session. When that fails, its calls are refused."""
        work = self._gate.open_session(cwd, session_id=session_id, direct_writes=direct_writes)
        failed = lambda refusal: AsyncSession(self._gate, session_id or "", Told("refused", refusal), refusal)
        return Session(self._thread, self._thread.run(work, failed))

    def report(self) -> dict[str, Any] | None:
        """Every capability and how it stands; None when the server cannot be asked."""
        return self._thread.run(self._gate.report(), lambda _: None)

    def close(self) -> None:
        """Ends the connection, and a server of one's own with it."""
        self._thread.run(self._gate.close(), lambda _: None)
        self._thread.end()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """One conversation of an agent."""

    def __init__(self, thread: _Thread, session: AsyncSession) -> None:
        self._thread = thread
        self._session = session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def started(self) -> Told:
        """`refused`: a hook objects, or the session could not be opened. Its calls are refused."""
        return self._session.started

    @property
    def failure(self) -> Refused | None:
        """Why every call of it is refused for a fault."""
        return self._session.failure

    def begin_turn(
        self,
        prompt: str | None = None,
        *,
        turn_id: str | None = None,
        needs: Sequence[str] | None = None,
        cards: Sequence[str] | None = None,
    ) -> Turn:
        """Begins a turn. When that fails, its calls are refused, and its prompt is withheld. What it is
        about is the domains that it `needs` and the tools whose `cards` are asked for."""

        def failed(refusal: Refused) -> AsyncTurn:
            heard = None if prompt is None else Told("withheld", refusal)
            return AsyncTurn(self._session._gate, turn_id or "", heard, refusal)

        work = self._session.begin_turn(prompt, turn_id=turn_id, needs=needs, cards=cards)
        return Turn(self._thread, self._thread.run(work, failed))

    def compact(self) -> Told:
        """What is remembered is to be shortened. `objected`: leave it as it is, if you can."""
        return self._thread.run(self._session.compact(), lambda refusal: Told("objected", refusal))

    def close(self) -> Told:
        """Ends the session, and its turns before it."""
        return self._thread.run(self._session.close(), lambda refusal: Told("objected", refusal))


class Turn:
    """One turn, from the user's words to the model's last."""

    def __init__(self, thread: _Thread, turn: AsyncTurn) -> None:
        self._thread = thread
        self._turn = turn

    @property
    def id(self) -> str:
        return self._turn.id

    @property
    def prompt(self) -> Told | None:
        """`withheld`: do not hand it to the model, and tell the user why. None without a prompt."""
        return self._turn.prompt

    @property
    def failure(self) -> Refused | None:
        """Why every call of it is refused for a fault."""
        return self._turn.failure

    def before_tool_call(
        self, tool: str, input: Any, *, id: str | None = None, cwd: str | None = None, timeout: float | None = None
    ) -> Verdict:
        """May this call run?"""
        work = self._turn.before_tool_call(tool, input, id=id, cwd=cwd, timeout=timeout)
        return self._thread.run(work, lambda refusal: refusal)

    def after_tool_call(
        self, tool: str, input: Any, output: str, *, id: str | None = None, cwd: str | None = None
    ) -> Told:
        """A tool has run, or has failed. `annotated`: put the reason behind the result."""
        work = self._turn.after_tool_call(tool, input, output, id=id, cwd=cwd)
        return self._thread.run(work, lambda refusal: Told("annotated", refusal))

    def plan(self, permits: Sequence[Allowed | str], *, timeout: float | None = None) -> Plan:
        """Which of these calls may run side by side, and why the others wait. Uses no permit up."""
        work = self._turn.plan(permits, timeout=timeout)
        return self._thread.run(work, lambda refusal: plan(None, refusal, len(permits)))

    def run_tool(self, permit: Allowed | str, *, timeout: float | None = None) -> Ran:
        """Runs a tool that a plugin brings, once, with the permit for it."""
        return self._thread.run(self._turn.run_tool(permit, timeout=timeout), not_run)

    def call_tool(
        self, tool: str, input: Any, *, id: str | None = None, cwd: str | None = None, timeout: float | None = None
    ) -> Ran:
        """Runs a tool that a plugin brings, when the call is allowed."""
        return self._thread.run(self._turn.call_tool(tool, input, id=id, cwd=cwd, timeout=timeout), not_run)

    def tools(self, *, provider_defers: bool = False) -> Tools:
        """The tools as the model's next request has them."""
        work = self._turn.tools(provider_defers=provider_defers)
        return self._thread.run(work, lambda refusal: Tools(refusal=refusal))

    def find_tools(
        self, query: str, *, provider_defers: bool = False, timeout: float | None = None
    ) -> tuple[Ran, Tools]:
        """The tools that these words mean, which are shown from then on."""
        work = self._turn.find_tools(query, provider_defers=provider_defers, timeout=timeout)
        return self._thread.run(work, lambda refusal: (not_run(refusal), Tools(refusal=refusal)))

    def commands(self) -> tuple[tuple[Command, ...], Refused | None]:
        """What a person may type behind a slash; and why that is not known, when it is not."""
        return self._thread.run(self._turn.commands(), lambda refusal: ((), refusal))

    def expand(self, name: str, typed: str = "", *, timeout: float | None = None) -> Text:
        """The text that a model is asked for a command, with what was typed behind its name."""
        return self._thread.run(self._turn.expand(name, typed, timeout=timeout), lambda refusal: prose(None, refusal))

    def skills(self) -> tuple[tuple[Skill, ...], Refused | None]:
        """The skills that there are; and why that is not known, when it is not."""
        return self._thread.run(self._turn.skills(), lambda refusal: ((), refusal))

    def skill(self, name: str, *, timeout: float | None = None) -> Text:
        """The text of a skill, as it was listed."""
        return self._thread.run(self._turn.skill(name, timeout=timeout), lambda refusal: prose(None, refusal))

    def standing(self) -> Section:
        """What the model is told of what it can use: the same in every request of the turn."""
        return self._thread.run(self._turn.standing(), lambda refusal: Section(refusal=refusal))

    def subagent_stop(self, words: str | None = None) -> Told:
        """A worker has said its last words."""
        return self._thread.run(self._turn.subagent_stop(words), lambda refusal: Told("ends", refusal))

    def end(self, words: str | None = None, *, stop: bool = True) -> Told:
        """The model has said its last words. `goes_on`: let it answer again. Without `stop` the
        hooks at `stop` are not asked, because the user broke off."""
        return self._thread.run(self._turn.end(words, stop=stop), lambda refusal: Told("ends", refusal))
