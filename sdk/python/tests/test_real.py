"""The client against the real program."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from typing import Any

from portcullis import AsyncGate, Gate

from .support import PROGRAM, AsyncCase, Case, Place, a_turn, bash, sync_turn

LOST = ("client/lost", "internal")


def hook(event: str, run: str) -> str:
    return f"[[hooks]]\nevent = \"{event}\"\nshell = true\ncommand = '{run}'\n"


class Async(AsyncCase):
    async def test_a_loop_is_served_by_a_process_of_its_own(self) -> None:
        place = Place(self)
        gate = await self.spawn(**place.spawning())
        self.assertIsNone(gate.failure)
        session = await gate.open_session(str(place.work), session_id="s1")
        self.assertEqual(("s1", "open", None), (session.id, session.started.outcome, session.failure))
        turn = await session.begin_turn("clean up")
        assert turn.prompt is not None
        self.assertEqual("handed_on", turn.prompt.outcome)
        await self.serves(place, turn)
        told = await turn.after_tool_call("Bash", {"command": "ls"}, "README.md", id="c9")
        self.assertEqual("stands", told.outcome)
        self.assertEqual("ends", (await turn.subagent_stop("done")).outcome)
        self.assertEqual("ends", (await turn.end("done")).outcome)
        self.fails(place, await bash(turn, "ls"), "wire/unknown", "bad-input")
        self.assertEqual("fine", (await session.compact()).outcome)
        self.assertEqual("fine", (await session.close()).outcome)
        await gate.close()
        self.fails(place, await bash(turn, "ls"), *LOST)

    async def test_what_is_allowed_is_what_was_judged_whatever_becomes_of_the_original(self) -> None:
        place = Place(self)
        turn = await a_turn(await self.spawn(**place.spawning()))
        input = {"command": "ls"}
        waiting = asyncio.create_task(turn.before_tool_call("Bash", input))
        await asyncio.sleep(0)
        input["command"] = "rm -rf /"
        verdict = await waiting
        assert verdict.allowed
        self.assertEqual({"command": "ls"}, verdict.input)
        verdict.input["command"] = "rm -rf /"
        self.assertEqual({"command": "ls"}, verdict.input)
        circle: dict[str, Any] = {}
        circle["self"] = circle
        for odd in (circle, {"command": object()}, {"x": float("nan")}):
            self.fails(place, await turn.before_tool_call("Bash", odd), "client/input", "bad-input")
        self.assertFalse((await turn.before_tool_call("Bash", None)).allowed)
        await self.serves(place, turn)

    async def test_a_tool_of_a_plugin_runs_with_its_permit_once_or_is_judged_first(self) -> None:
        place = Place(self)
        turn = await a_turn(await self.spawn(**place.spawning()))
        verdict = await turn.before_tool_call("current_time", {})
        assert verdict.allowed
        ran = await turn.run_tool(verdict)
        self.assertEqual((True, None), (ran.ran, ran.refusal))
        self.assertEqual((False, str), (ran.is_error, type(ran.content[0])))
        again = await turn.run_tool(verdict)
        self.assertEqual((False, "wire/unknown"), (again.ran, again.code))
        self.assertTrue((await turn.call_tool("current_time", {})).ran)
        wrong = await turn.call_tool("current_time", {"zone": 7})
        assert wrong.refusal is not None
        seen = (wrong.ran, wrong.is_error, wrong.code, wrong.refusal.by.kind)
        self.assertEqual((False, True, "refused", "schema"), seen)
        agents = await turn.call_tool("Bash", {"command": "ls"})
        seen = (agents.ran, agents.is_error, agents.code, agents.refusal)
        self.assertEqual((False, True, "unknown_capability", None), seen)
        await self.serves(place, turn)

    async def test_commands_and_skills_are_listed_and_give_their_texts(self) -> None:
        place = Place(self)
        place.write("commands/review.md", "Review $1 by @style.md.\n")
        place.write("skills/trim/SKILL.md", "---\nname: trim\ndescription: Trims.\n---\nTrim it.\n")
        turn = await a_turn(await self.spawn(**place.spawning()))
        commands, refusal = await turn.commands()
        self.assertEqual([("review", "user"), ("skill:trim", "skill")], [(one.name, one.origin) for one in commands])
        self.assertIsNone(refusal)
        review = await turn.expand("review", "src/a.rs")
        expected = ("Review src/a.rs by @style.md.\n", None, (("style.md", True),))
        self.assertEqual(expected, (review.text, review.code, review.mentions))
        none = await turn.expand("none")
        self.assertEqual((None, "unknown_capability"), (none.text, none.code))
        skills, _ = await turn.skills()
        self.assertEqual([("trim", "Trims.", ())], [(one.name, one.description, one.serves) for one in skills])
        self.assertIn("Trim it", (await turn.skill("trim")).text or "")
        self.assertEqual("kind_mismatch", (await turn.skill("review")).code)
        await turn.end()
        late = await turn.skill("trim")
        self.assertEqual((None, "wire/unknown"), (late.text, late.code))
        rows, refusal = await turn.commands()
        self.assertEqual(((), "wire/unknown"), (rows, refusal.code if refusal else None))

    async def test_a_batch_is_planned_without_using_a_permit_up(self) -> None:
        place = Place(self)
        turn = await a_turn(await self.spawn(**place.spawning()))
        permits = []
        for tool, input in (
            ("Edit", {"file_path": "src/a", "old_string": "1", "new_string": "2"}),
            ("Write", {"file_path": "src/b", "content": ""}),
            ("Read", {"file_path": "src/a"}),
            ("current_time", {}),
        ):
            verdict = await turn.before_tool_call(tool, input)
            assert verdict.allowed
            permits.append(verdict)
        plan = await turn.plan(permits)
        self.assertEqual((((0, 1, 3), (2,)), None), (plan.waves, plan.refusal))
        self.assertEqual(0, plan.calls[2]["behind"])
        self.assertTrue((await turn.run_tool(permits[3])).ran)
        # Its permit is used up, and nobody knows any more: one by one.
        again = await turn.plan(permits)
        assert again.refusal is not None
        self.assertEqual((((0,), (1,), (2,), (3,)), "wire/unknown"), (again.waves, again.refusal.code))
        await self.serves(place, turn)

    async def test_a_turn_says_what_there_is_and_finds_it(self) -> None:
        place = Place(self)
        gate = await self.spawn(**place.spawning())
        turn = await a_turn(gate)
        tools = await turn.tools()
        about = await (await gate.open_session(str(place.work))).begin_turn(needs=["web"])
        self.assertIsNone((await about.tools(provider_defers=True)).refusal)
        self.assertIn("current_time", [tool["name"] for tool in tools.definitions])
        found, shown = await turn.find_tools("time")
        self.assertEqual((True, None), (found.ran, shown.refusal))
        self.assertIn("current_time", str(found.content[0]))
        section = await turn.standing()
        self.assertEqual((None, True), (section.refusal, section.tokens > 0))
        report = await gate.report()
        assert report is not None
        self.assertGreater(len(report["rows"]), 1)
        await gate.close()
        seen = ((await turn.tools()).definitions, (await turn.standing()).text, await gate.report())
        self.assertEqual(((), "", None), seen)
        found, shown = await turn.find_tools("time")
        self.assertEqual(("client/lost", "client/lost"), (found.code, getattr(shown.refusal, "code")))

    async def test_consent_that_nobody_has_given_is_a_refusal_that_says_so(self) -> None:
        place = Place(self)
        place.config('[permissions]\nmode = "ask"\nallow = ["Bash(ls)"]\n')
        turn = await a_turn(await self.spawn(**place.spawning()))
        await self.serves(place, turn)
        verdict = await bash(turn, "make it")
        assert not verdict.allowed
        self.assertEqual((True, None, False), (verdict.wants_consent, verdict.fault, place.mark(verdict)))

    async def test_a_hooks_word_reaches_the_loop(self) -> None:
        place = Place(self)
        place.config(
            hook("prompt-submit", "echo no secrets >&2; exit 2")
            + hook("post-tool-use", "echo look again >&2; exit 2")
            + hook("stop", "grep -q really || { echo go on >&2; exit 2; }")
        )
        session = await (await self.spawn(**place.spawning())).open_session(str(place.work))
        turn = await session.begin_turn("my secret")
        assert turn.prompt is not None and turn.prompt.refusal is not None
        self.assertEqual("withheld", turn.prompt.outcome)
        self.assertIn("no secrets", turn.prompt.refusal.reason)
        self.assertEqual("block", turn.prompt.hooks[0].said)
        await self.serves(place, turn)
        told = await turn.after_tool_call("Bash", {"command": "ls"}, "out")
        assert told.refusal is not None
        self.assertEqual("annotated", told.outcome)
        self.assertIn("look again", told.refusal.reason)
        self.assertEqual("goes_on", (await turn.end("done")).outcome)
        self.assertEqual("ends", (await turn.end("really done")).outcome)

    async def held(self, place: Place, started: Any) -> None:
        """Until a call is held up."""
        await asyncio.to_thread(lambda: open(started).close())

    async def test_a_server_that_dies_in_the_middle_of_a_call_is_a_refusal(self) -> None:
        place = Place(self)
        started = place.hold()
        gate = await self.spawn(**place.spawning())
        turn = await a_turn(gate)
        await self.serves(place, turn)
        waiting = [asyncio.create_task(bash(turn, "wait")) for _ in range(2)]
        await self.held(place, started)
        assert gate.pid is not None
        os.kill(gate.pid, signal.SIGKILL)
        for call in waiting:
            self.fails(place, await call, *LOST)
        self.fails(place, await bash(turn, "ls"), *LOST)
        self.assertEqual("ends", (await turn.end()).outcome)

    async def test_a_call_that_is_cancelled_or_late_is_a_refusal_and_the_next_one_is_served(self) -> None:
        place = Place(self)
        started = place.hold()
        turn = await a_turn(await self.spawn(**place.spawning()))
        await self.serves(place, turn)
        waiting = asyncio.create_task(bash(turn, "wait"))
        await self.held(place, started)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        await self.serves(place, turn)
        late = asyncio.create_task(bash(turn, "wait", timeout=0.3))
        await self.held(place, started)
        self.fails(place, await late, "client/timeout", "timeout")
        await self.serves(place, turn)

    async def test_many_clients_share_a_server_at_a_socket_and_its_end_refuses_all(self) -> None:
        place = Place(self)
        path = str(place.dir / "run" / "s")
        server = subprocess.Popen(
            [PROGRAM, "serve", "-v", "--socket", path], env=place.env, cwd=place.work, stderr=subprocess.PIPE
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        assert server.stderr is not None
        self.addCleanup(server.stderr.close)
        while b"listening" not in await asyncio.to_thread(server.stderr.readline):
            self.assertIsNone(server.poll())
        gates = await asyncio.gather(AsyncGate.connect(path), AsyncGate.connect(path))
        for gate in gates:
            self.addAsyncCleanup(gate.close)
        one, two = await asyncio.gather(*(a_turn(gate) for gate in gates))
        await self.serves(place, one)
        await self.serves(place, two)
        await gates[0].close()
        self.fails(place, await bash(one, "ls"), *LOST)
        await self.serves(place, two)
        server.terminate()
        self.assertEqual(0, await asyncio.to_thread(server.wait))
        self.fails(place, await bash(two, "ls"), *LOST)
        self.assertFalse(os.path.exists(path))
        late = await AsyncGate.connect(path)
        self.fails(place, await bash(await a_turn(late), "ls"), "client/not-started", "load")

    async def test_judgements_are_heard_of_and_a_listener_that_fails_harms_nothing(self) -> None:
        place = Place(self)
        heard: list[Any] = []
        both = asyncio.Event()

        def listen(judgement: dict[str, Any]) -> None:
            heard.append(judgement["code"])
            if len(heard) == 2:
                both.set()
            raise RuntimeError("the listener's own")

        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        turn = await a_turn(await self.spawn(**place.spawning(on_judgement=listen)))
        await self.serves(place, turn)
        # News may come behind the answers.
        await asyncio.wait_for(both.wait(), 60)
        await turn.end()
        self.assertEqual([None, "guard/rm"], heard)

    async def test_a_server_that_does_not_start_is_a_refusal(self) -> None:
        place = Place(self)
        await self.serves(place, await a_turn(await self.spawn(**place.spawning())))
        place.config("[plugins]\nenabeld = []\n")
        broken = await self.spawn(**place.spawning(stderr=subprocess.DEVNULL))
        self.fails(place, await bash(await a_turn(broken), "ls"), *LOST)
        for wrong in ({"command": "portcullis-is-not-here"}, {"cwd": str(place.dir / "nowhere")}, {"command": "\0"}):
            absent = await self.spawn(**place.spawning(**wrong))
            self.fails(place, await bash(await a_turn(absent), "ls"), "client/not-started", "load")


class Sync(Case):
    def test_a_loop_of_threads_is_served(self) -> None:
        place = Place(self)
        with Gate.spawn(**place.spawning()) as gate:
            session = gate.open_session(str(place.work), session_id="s1")
            self.assertEqual(("s1", "open", None), (session.id, session.started.outcome, session.failure))
            turn = session.begin_turn("clean up")
            assert turn.prompt is not None
            self.assertEqual("handed_on", turn.prompt.outcome)
            threads = [threading.Thread(target=self.is_served, args=(place, turn)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertTrue(turn.call_tool("current_time", {}).ran)
            verdict = turn.before_tool_call("current_time", {})
            assert verdict.allowed
            self.assertTrue(turn.run_tool(verdict).ran)
            self.assertTrue(turn.find_tools("time")[0].ran)
            self.assertIsNone(turn.tools().refusal or turn.standing().refusal)
            self.assertIsNotNone(gate.report())
            self.assertEqual("stands", turn.after_tool_call("Bash", {"command": "ls"}, "out").outcome)
            self.assertEqual("ends", turn.subagent_stop().outcome)
            self.assertEqual("ends", turn.end("done").outcome)
            self.assertEqual("fine", session.compact().outcome)
            self.assertEqual("fine", session.close().outcome)
        # The gate is closed, and so is its thread.
        self.fails(place, turn.before_tool_call("Bash", {"command": "ls"}), *LOST)
        self.assertEqual("refused", gate.open_session("/").started.outcome)
        self.assertEqual("withheld", getattr(session.begin_turn("x").prompt, "outcome"))

    def test_a_server_that_dies_in_the_middle_of_a_call_is_a_refusal(self) -> None:
        place = Place(self)
        started = place.hold()
        with Gate.spawn(**place.spawning()) as gate:
            turn = sync_turn(gate)
            self.is_served(place, turn)

            def kill() -> None:
                open(started).close()
                assert gate.pid is not None
                os.kill(gate.pid, signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            self.fails(place, turn.before_tool_call("Bash", {"command": "wait"}, id="c1"), *LOST)
            killer.join()

    def test_a_server_that_does_not_start_is_a_refusal(self) -> None:
        place = Place(self)
        with Gate.spawn(**place.spawning()) as gate:
            self.is_served(place, sync_turn(gate))
        for absent in (Gate.spawn(**place.spawning(command="portcullis-is-not-here")), Gate.connect("/home/dev/no")):
            with absent:
                verdict = sync_turn(absent).before_tool_call("Bash", {"command": "ls"})
                self.fails(place, verdict, "client/not-started", "load")
