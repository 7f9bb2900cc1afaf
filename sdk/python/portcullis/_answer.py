"""What a loop is told, read strictly: only what is an allow in every part is one."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Fault: TypeAlias = str
"""`trap`, `timeout`, `memory`, `bad-verdict`, `load`, `resource`, `too-big`, `bad-input` or `internal`."""


@dataclass(frozen=True, slots=True)
class RefusedBy:
    """Who refused; `client` when nobody could be asked."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run: with `input`, which is what was judged, and with nothing else."""

    tool: str
    """The tool's canonical name."""
    input_text: str
    """The arguments that were judged, as JSON."""
    permit: str
    """Names the permit, once, for `call_tool`."""
    digest: str
    """SHA-256 of what was judged."""
    auto_approved: bool
    """The tool's own plugin says that the user need not be asked."""
    allowed: Literal[True] = True

    @property
    def input(self) -> Any:
        """The arguments that were judged: a copy of its own each time."""
        return json.loads(self.input_text)


@dataclass(frozen=True, slots=True)
class Refused:
    """The call must not run."""

    by: RefusedBy
    code: str | None
    """A stable word such as `guard/rm`, `fault/timeout`, `wire/cancelled` or `client/lost`."""
    fault: Fault | None
    """None for a decision."""
    reason: str
    """What the model is told."""
    detail: str = ""
    """What a person is told besides."""
    wants_consent: bool = False
    """Nobody objects, and the user is to be asked. Without their word it is a refusal."""
    allowed: Literal[False] = False


Verdict: TypeAlias = Allowed | Refused


@dataclass(frozen=True, slots=True)
class HookRun:
    """One hook that was asked."""

    hook: str
    said: str
    why: str | None
    millis: int


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a moment. When nobody could be asked it is the closed one of its outcomes."""

    outcome: str
    refusal: Refused | None = None
    hooks: tuple[HookRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Binary:
    """A part of a tool's output that is no text."""

    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a tool that a plugin brings: always an answer for the model."""

    ran: bool
    """False: it did not run, or gave no answer."""
    content: tuple[str | Binary, ...]
    is_error: bool
    code: str | None = None
    """Why it did not run: `refused`, `unknown_capability`, a fault, a code of this client."""
    refusal: Refused | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools as the model's next request has them."""

    definitions: tuple[dict[str, Any], ...] = ()
    deferred: tuple[str, ...] = ()
    """The names of those that are not shown in full. They can be called as well."""
    catalogue: str = ""
    """What the prompt says of those that may have to be found."""
    misreads: int = 0
    refusal: Refused | None = None
    """Why there are none, when nobody could be asked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which calls of a batch may run side by side."""

    waves: tuple[tuple[int, ...], ...] = ()
    """The calls of each wave, by their places. Run one wave after the other."""
    calls: tuple[dict[str, Any], ...] = ()
    """What each claims, and what it waits for."""
    refusal: Refused | None = None
    """Why nobody could say, when nobody could: the waves are one call each then."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a person may type behind a slash."""

    name: str
    description: str
    arguments: str
    """A hint at what can be typed behind it; empty when there is none."""
    origin: str
    """Whose it is: `project`, `plugin:NAME`, `user`, `skill` or another extension's name."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A text that a model reads when it needs it."""

    name: str
    description: str
    serves: tuple[str, ...]
    """The domains that it serves; none: it does not say."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or why there is none."""

    text: str | None
    code: str | None = None
    """A stable word, such as `unknown_capability` or a code of this client; None with a text."""
    message: str = ""
    mentions: tuple[tuple[str, bool], ...] = ()
    """The files that a command points at with `@`, and whether each stays within the directory.
    Nothing has read them."""


@dataclass(frozen=True, slots=True)
class Section:
    """What the model is told of what it can use."""

    text: str = ""
    tokens: int = 0
    epoch: int = 0
    refusal: Refused | None = None


_FAILURES: Mapping[str, tuple[str, Fault, str]] = {
    "client/not-started": ("it could not be started", "load", "`portcullis doctor`"),
    "client/version": ("it speaks another version of the protocol", "load", "`portcullis --version`"),
    "client/lost": ("the connection to it was lost", "internal", "`portcullis doctor`"),
    "client/timeout": ("it did not answer in time", "timeout", "`portcullis doctor`"),
    "client/garbage": ("what it answered is no answer", "bad-verdict", "`portcullis doctor`"),
    "client/cancelled": ("the call was cancelled", "internal", "the call again if it is still wanted"),
    "client/input": ("its arguments are not JSON", "bad-input", "`portcullis doctor`"),
}

_CLIENT = RefusedBy("client", "portcullis")


def failure(code: str, detail: str = "") -> Refused:
    """The refusal for one of `_FAILURES`. `detail` is for people, and the model does not see it."""
    what, fault, way_out = _FAILURES[code]
    reason = (
        f"Blocked, because Portcullis did not judge this call: {what}. This is a fault and not a decision: the call "
        f"was not found to be wrong. Ask the user to run {way_out}."
    )
    return Refused(_CLIENT, code, fault, reason, detail)


def refused_by(error: object) -> Refused:
    """The refusal for the `error` of an answer."""
    parts = error if isinstance(error, dict) else {}
    data = parts.get("data")
    data = data if isinstance(data, dict) else {}
    message = text(parts.get("message")) or "it failed"
    reason = (
        f"Blocked, because Portcullis did not judge this call: {message}. This is a fault and not a decision: the "
        "call was not found to be wrong."
    )
    code, fault = text(data.get("code")) or "client/garbage", text(data.get("fault")) or "internal"
    return Refused(_CLIENT, code, fault, reason, text(data.get("hint")) or "")


def text(value: object) -> str | None:
    """A text that says something."""
    return value if isinstance(value, str) and value else None


def _by(value: object) -> RefusedBy | None:
    if not isinstance(value, dict):
        return None
    kind, name = value.get("kind"), value.get("name")
    return RefusedBy(kind, name) if isinstance(kind, str) and isinstance(name, str) else None


def _refusal(value: object, wants_consent: bool = False) -> Refused | None:
    """A refusal of the server's; None when it is none."""
    if not isinstance(value, dict):
        return None
    by, reason = _by(value.get("by")), text(value.get("reason"))
    code, fault = value.get("code"), value.get("fault")
    words = all(word is None or isinstance(word, str) for word in (code, fault))
    if by is None or reason is None or not words:
        return None
    return Refused(by, code, fault, reason, wants_consent=wants_consent)


def verdict(judgement: object, asked: Mapping[str, Any]) -> Verdict:
    """What a judgement means."""
    if isinstance(judgement, dict) and judgement.get("id") == asked.get("id", ""):
        word = judgement.get("verdict")
        objections = ("by", "code", "fault", "reason")
        if word == "allow" and all(key in judgement and judgement[key] is None for key in objections):
            return _allowed(judgement, asked)
        if word in ("block", "ask"):
            refusal = _refusal(judgement, wants_consent=word == "ask")
            if refusal is not None:
                return refusal
    return failure("client/garbage", f"no judgement: {judgement!r}")


def _allowed(judgement: Mapping[str, Any], asked: Mapping[str, Any]) -> Verdict:
    permit = judgement.get("permit")
    permit = permit if isinstance(permit, dict) else {}
    handle, tool, digest = (text(permit.get(key)) for key in ("id", "tool", "digest"))
    if handle is None or tool is None or digest is None:
        return failure("client/garbage", "an allow without a permit")
    return Allowed(tool, json.dumps(asked["input"]), handle, digest, judgement.get("auto_approved") is True)


def told(result: object, refusal: Refused | None, closed: str, known: Sequence[str]) -> Told:
    """What became of a moment. What cannot be read is the closed one of its outcomes."""
    if refusal is not None:
        return Told(closed, refusal)
    if isinstance(result, dict) and result.get("outcome") in known and "refusal" in result:
        said = _refusal(result["refusal"])
        if said is not None or result["refusal"] is None:
            return Told(result["outcome"], said, _hooks(result.get("hooks")))
    return Told(closed, failure("client/garbage", "no outcome"))


def _hooks(value: object) -> tuple[HookRun, ...]:
    runs = value if isinstance(value, list) else []
    return tuple(
        HookRun(str(run.get("hook")), str(run.get("said")), run.get("why"), int(run.get("millis") or 0))
        for run in runs
        if isinstance(run, dict)
    )


def ran(result: object, refusal: Refused | None) -> Ran:
    """What became of a plugin's tool."""
    if refusal is not None:
        return not_run(refusal)
    parts = result if isinstance(result, dict) else {}
    output, error = parts.get("output"), parts.get("error", False)
    code = text(error.get("code")) if isinstance(error, dict) else None
    if isinstance(output, dict) and isinstance(output.get("is_error"), bool):
        is_sound = error is None or (code is not None and output["is_error"])
        try:
            content = tuple(_part(part) for part in output["content"])
        except (KeyError, TypeError, ValueError, binascii.Error):
            is_sound = False
        if is_sound:
            said = _refusal(error.get("refusal")) if isinstance(error, dict) else None
            return Ran(error is None, content, output["is_error"], code, said)
    return not_run(failure("client/garbage", "no output"))


def not_run(refusal: Refused) -> Ran:
    """The answer to a call that nobody could judge."""
    return Ran(False, (refusal.reason,), True, refusal.code, refusal)


def tools(result: object, refusal: Refused | None) -> Tools:
    """The tools, as far as they can be read."""
    if refusal is None and isinstance(result, dict):
        definitions, deferred, catalogue = (result.get(key) for key in ("definitions", "deferred", "catalogue"))
        if isinstance(definitions, list) and isinstance(deferred, list) and isinstance(catalogue, str):
            return Tools(tuple(definitions), tuple(deferred), catalogue, int(result.get("misreads") or 0))
    return Tools(refusal=refusal or failure("client/garbage", "no tools"))


def commands(result: object, refusal: Refused | None) -> tuple[tuple[Command, ...], Refused | None]:
    """The commands, as far as they can be read."""
    rows = _rows(result, "commands", ("name", "description", "arguments", "from"))
    if refusal is not None or rows is None:
        return (), refusal or failure("client/garbage", "no commands")
    return tuple(Command(row["name"], row["description"], row["arguments"], row["from"]) for row in rows), None


def skills(result: object, refusal: Refused | None) -> tuple[tuple[Skill, ...], Refused | None]:
    """The skills, as far as they can be read."""
    rows = _rows(result, "skills", ("name", "description"))
    if refusal is not None or rows is None:
        return (), refusal or failure("client/garbage", "no skills")
    serves = [tuple(map(str, row.get("serves") or ())) for row in rows]
    return tuple(Skill(row["name"], row["description"], own) for row, own in zip(rows, serves, strict=True)), None


def _rows(result: object, what: str, texts: Sequence[str]) -> list[dict[str, Any]] | None:
    rows = result.get(what) if isinstance(result, dict) else None
    is_sound = isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(text), str) for text in texts) for row in rows
    )
    return rows if is_sound else None


def prose(result: object, refusal: Refused | None) -> Text:
    """The text, or why there is none."""
    if refusal is None and isinstance(result, dict):
        own, error = result.get("text"), result.get("error")
        if isinstance(own, str) and error is None:
            pointed = result.get("mentions") or ()
            files = [one for one in pointed if isinstance(one, dict)] if isinstance(pointed, list) else []
            mentions = tuple((str(one.get("path", "")), one.get("is_inside") is True) for one in files)
            return Text(own, mentions=mentions)
        if isinstance(error, dict) and isinstance(error.get("code"), str):
            return Text(None, error["code"], str(error.get("message", "")))
    refusal = refusal or failure("client/garbage", "no text")
    return Text(None, refusal.code, refusal.reason)


def section(result: object, refusal: Refused | None) -> Section:
    """The section, as far as it can be read."""
    if refusal is None and isinstance(result, dict):
        words, tokens, epoch = (result.get(key) for key in ("text", "tokens", "epoch"))
        if isinstance(words, str) and isinstance(tokens, int) and isinstance(epoch, int):
            return Section(words, tokens, epoch)
    return Section(refusal=refusal or failure("client/garbage", "no section"))


def _part(part: Mapping[str, Any]) -> str | Binary:
    if part["type"] == "binary":
        return Binary(str(part["mime_type"]), base64.b64decode(part["data"], validate=True))
    return str(part["text"])


def copied(
    tool: str, input: Any, id: str | None, cwd: str | None
) -> tuple[dict[str, Any], None] | tuple[None, Refused]:
    """The call as it is sent. What is allowed is this copy, whatever becomes of the original."""
    parts = {"tool": tool, "input": input, "id": id, "cwd": cwd}
    try:
        copy = json.loads(json.dumps({key: value for key, value in parts.items() if value is not None}, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        return None, failure("client/input", str(error))
    return copy, None


def plan(result: Any, refusal: Refused | None, count: int) -> Plan:
    """The waves of a batch. Without a plan that holds each call once, they run one by one."""
    waves = result.get("waves") if isinstance(result, dict) else None
    calls = result.get("calls") if isinstance(result, dict) else None
    lists = waves if isinstance(waves, list) and all(isinstance(wave, list) for wave in waves) else []
    places = [at for wave in lists for at in wave]
    are_places = all(isinstance(at, int) and not isinstance(at, bool) for at in places)
    is_sound = are_places and sorted(places) == list(range(count)) and isinstance(calls, list) and len(calls) == count
    if refusal is not None or not is_sound:
        one_by_one = tuple((at,) for at in range(count))
        return Plan(one_by_one, (), refusal or failure("client/garbage", "no plan"))
    return Plan(tuple(tuple(wave) for wave in lists), tuple(calls))
