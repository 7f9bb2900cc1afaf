"""A server that is honest until a call says `fault`, and then goes wrong in one way. Its honest
answers are: `ls` is allowed, everything else is not."""

import json
import os
import signal
import sys
import time
from typing import Any

MODE = sys.argv[1]


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def line(message: Any) -> None:
    write(json.dumps(message).encode() + b"\n")


def say(**message: Any) -> None:
    line({"jsonrpc": "2.0", **message})


def judgement(id: str, allowed: bool) -> dict[str, Any]:
    return {
        "id": id,
        "verdict": "allow" if allowed else "block",
        "by": None if allowed else {"kind": "guard", "name": "guard"},
        "code": None if allowed else "guard/rm",
        "fault": None,
        "reason": None if allowed else "Blocked by the guard plugin: no.",
        "auto_approved": False,
        "micros": 1,
        "permit": {"id": "permit-1", "tool": "bash", "digest": "00"} if allowed else None,
    }


ALLOW = judgement("c1", True)
ERROR = {"code": -32603, "message": "the server failed inside", "data": {"code": "wire/internal", "fault": "internal"}}


def go_wrong(id: int) -> None:
    """What a call that says `fault` is answered."""
    match MODE:
        case "silent":
            pass
        case "exit":
            sys.exit(0)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "garbage":
            write(b"Traceback (most recent call last):\n")
        case "half a line":
            write(json.dumps({"jsonrpc": "2.0", "id": id, "result": ALLOW}).encode()[:40])
        case "no utf-8":
            write(b"\xff\xfe\n")
        case "a list":
            line([{"jsonrpc": "2.0", "id": id, "result": ALLOW}])
        case "another version":
            line({"id": id, "result": ALLOW})
        case "another id":
            say(id=id + 1000, result=ALLOW)
        case "no id":
            say(id=None, error={"code": -32700, "message": "?"})
        case "true as id":
            say(id=True, result=ALLOW)
        case "both":
            say(id=id, result=ALLOW, error=ERROR)
        case "neither":
            say(id=id)
        case "error":
            say(id=id, error=ERROR)
        case "an odd error":
            say(id=id, error="no")
        case "null":
            say(id=id, result=None)
        case "true":
            say(id=id, result=True)
        case "another verdict":
            say(id=id, result={**ALLOW, "verdict": "Allow"})
        case "no verdict":
            say(id=id, result={key: value for key, value in ALLOW.items() if key != "verdict"})
        case "no permit":
            say(id=id, result={**ALLOW, "permit": None})
        case "an allow with a fault":
            say(id=id, result={**ALLOW, "fault": "trap"})
        case "an allow with a reason":
            say(id=id, result={**ALLOW, "reason": "no"})
        case "another call":
            say(id=id, result=judgement("c2", True))
        case "a block without a reason":
            say(id=id, result={**judgement("c1", False), "reason": None})


PROTOCOL = {"newer": "1.9", "old": "0.9"}.get(MODE, "1.0")
ANSWERS: dict[str, Any] = {
    "initialize": {"protocol": PROTOCOL, "server": {}},
    "session/open": {"outcome": "open", "refusal": None, "hooks": [], "session_id": "s1"},
    "turn/begin": {"turn_id": "t1", "prompt": None},
}

if MODE == "prints first":
    write(b"Welcome!\n")
if MODE == "says nothing":
    while True:
        time.sleep(60)

for text in sys.stdin:
    asked = json.loads(text)
    id, method, params = asked.get("id"), asked["method"], asked["params"]
    if id is None:
        continue
    if method == "initialize" and MODE == "refuses":
        data = {"code": "wire/version", "fault": "bad-input", "supported": ["7.0"]}
        say(id=id, error={"code": -32001, "message": "protocol version `1.0` is not spoken here", "data": data})
    elif method != "beforeToolCall":
        say(id=id, result=ANSWERS[method])
    elif params["input"]["command"] == "fault":
        go_wrong(id)
    else:
        say(id=id, result=judgement(params.get("id", ""), params["input"]["command"] == "ls"))
