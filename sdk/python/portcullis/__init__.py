"""Asks Portcullis before an agent loop runs a tool.

Nothing here raises because of the gate: whatever goes wrong is a refusal, and a loop that runs
only what is allowed needs no other check. `Gate` is for loops of threads, `AsyncGate` for
loops of asyncio.
"""

from ._aio import AsyncGate, AsyncSession, AsyncTurn
from ._answer import (
    Allowed,
    Binary,
    Command,
    HookRun,
    Plan,
    Ran,
    Refused,
    RefusedBy,
    Section,
    Skill,
    Text,
    Told,
    Tools,
    Verdict,
)
from ._connection import PROTOCOL
from ._sync import Gate, Session, Turn

__all__ = [
    "PROTOCOL",
    "Allowed",
    "AsyncGate",
    "AsyncSession",
    "AsyncTurn",
    "Binary",
    "Command",
    "Gate",
    "HookRun",
    "Plan",
    "Ran",
    "Refused",
    "RefusedBy",
    "Section",
    "Session",
    "Skill",
    "Text",
    "Told",
    "Tools",
    "Turn",
    "Verdict",
]
