"""A place for one test, and a tool that leaves a mark when it runs."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from portcullis import AsyncGate, AsyncTurn, Gate, Turn, Verdict

PROGRAM = os.environ.get("PORTCULLIS_BIN", "portcullis")
FAKE = str(Path(__file__).with_name("fake.py"))

_marks = itertools.count()


class Place:
    """A user of their own, gone with the test."""

    def __init__(self, case: unittest.TestCase) -> None:
        holder = tempfile.TemporaryDirectory(prefix="portcullis-")
        case.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)
        self.work = self.dir / "work"
        self.work.mkdir()
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.dir),
            # Compiled components are shared by all tests, because they are the same.
            "XDG_CACHE_HOME": os.environ.get("PORTCULLIS_TEST_CACHE", str(self.dir / "cache")),
            "XDG_STATE_HOME": os.environ.get("PORTCULLIS_TEST_STATE", str(self.dir / "state")),
        }

    def config(self, text: str) -> None:
        path = self.dir / ".config" / "portcullis" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write(self, path: str, text: str) -> None:
        """Puts a file among the user's own."""
        own = self.dir / ".local" / "share" / "portcullis" / path
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text)

    def hold(self) -> Path:
        """A hook that holds up the calls that say `wait`; who opens this hears when it does."""
        started = self.dir / "started"
        os.mkfifo(started)
        wait = f'grep -q wait || exit 0; : > "{started}"; exec tail -f /dev/null'
        self.config(f"[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = '{wait}'\n")
        return started

    def spawning(self, **options: Any) -> dict[str, Any]:
        """How the real program is started."""
        return {"command": PROGRAM, "cwd": str(self.work), "env": self.env, **options}

    def mark(self, verdict: Verdict) -> bool:
        """Whether a loop would have run the call."""
        mark = self.dir / f"mark-{next(_marks)}"
        if verdict.allowed:
            mark.write_text(verdict.input_text)
        return mark.exists()


def faking(mode: str, **options: Any) -> dict[str, Any]:
    """How a server is started that goes wrong in one way."""
    return {"command": sys.executable, "args": [FAKE, mode], **options}


class Case(unittest.TestCase):
    """The three arms."""

    def is_served(self, place: Place, turn: Turn) -> None:
        self.allows(place, turn.before_tool_call("Bash", {"command": "ls"}, id="c1"))
        self.denies(place, turn.before_tool_call("Bash", {"command": "rm -rf build"}, id="c1"))

    def allows(self, place: Place, verdict: Verdict) -> None:
        self.assertTrue(place.mark(verdict), verdict)

    def denies(self, place: Place, verdict: Verdict, code: str = "guard/rm") -> None:
        self.assertFalse(place.mark(verdict))
        self.assertEqual((code, None), (getattr(verdict, "code"), getattr(verdict, "fault")))

    def fails(self, place: Place, verdict: Verdict, code: str, fault: str) -> None:
        self.assertFalse(place.mark(verdict))
        assert not verdict.allowed
        self.assertEqual((code, fault), (verdict.code, verdict.fault), verdict)
        self.assertRegex(verdict.reason, r"^Blocked, because Portcullis did not judge this call: .*not a decision")
        self.assertNotRegex(verdict.reason, r"/tmp|/home")


class AsyncCase(unittest.IsolatedAsyncioTestCase, Case):
    """The same for asyncio."""

    async def serves(self, place: Place, turn: AsyncTurn) -> None:
        self.allows(place, await bash(turn, "ls"))
        self.denies(place, await bash(turn, "rm -rf build"))

    async def spawn(self, **options: Any) -> AsyncGate:
        gate = await AsyncGate.spawn(**options)
        self.addAsyncCleanup(gate.close)
        return gate


async def bash(turn: AsyncTurn, command: str, **options: Any) -> Verdict:
    return await turn.before_tool_call("Bash", {"command": command}, id="c1", **options)


async def a_turn(gate: AsyncGate) -> AsyncTurn:
    return await (await gate.open_session("/home/dev/app")).begin_turn()


def sync_turn(gate: Gate) -> Turn:
    return gate.open_session("/home/dev/app").begin_turn()


