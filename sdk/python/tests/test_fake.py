"""The client against servers that go wrong, each in one way."""

from __future__ import annotations

import asyncio

from portcullis import Gate

from .support import AsyncCase, Case, Place, a_turn, bash, faking, sync_turn

GARBAGE = ("client/garbage", "bad-verdict")
LOST = ("client/lost", "internal")

# What a call is answered, and the refusal that it is. After these the connection is over.
BREAKS = {
    "exit": LOST,
    "killed": LOST,
    "garbage": GARBAGE,
    "no utf-8": GARBAGE,
    "a list": GARBAGE,
    "another version": GARBAGE,
    "another id": GARBAGE,
    "no id": GARBAGE,
    "true as id": GARBAGE,
    "both": GARBAGE,
    "neither": GARBAGE,
}

# After these the next call is served.
FAILS = {
    "error": ("wire/internal", "internal"),
    "an odd error": ("client/garbage", "internal"),
    "null": GARBAGE,
    "true": GARBAGE,
    "another verdict": GARBAGE,
    "no verdict": GARBAGE,
    "no permit": GARBAGE,
    "an allow with a fault": GARBAGE,
    "an allow with a reason": GARBAGE,
    "another call": GARBAGE,
    "a block without a reason": GARBAGE,
}


class Async(AsyncCase):
    async def one(self, mode: str, code: str, fault: str) -> None:
        place = Place(self)
        turn = await a_turn(await self.spawn(**faking(mode)))
        await self.serves(place, turn)
        self.fails(place, await bash(turn, "fault"), code, fault)
        if mode in FAILS:
            self.fails(place, await bash(turn, "fault"), code, fault)
            return await self.serves(place, turn)
        self.fails(place, await bash(turn, "ls"), code, fault)

    async def test_an_answer_that_is_wrong_is_a_refusal(self) -> None:
        for mode, (code, fault) in {**BREAKS, **FAILS}.items():
            with self.subTest(mode):
                await self.one(mode, code, fault)

    async def test_calls_that_wait_are_all_refused_when_the_connection_breaks(self) -> None:
        place = Place(self)
        turn = await a_turn(await self.spawn(**faking("garbage")))
        await self.serves(place, turn)
        for verdict in await asyncio.gather(*(bash(turn, "fault") for _ in range(8))):
            self.fails(place, verdict, *GARBAGE)

    async def test_an_answer_that_does_not_come_or_comes_in_part_is_a_refusal(self) -> None:
        place = Place(self)
        for mode in ("silent", "half a line"):
            turn = await a_turn(await self.spawn(**faking(mode)))
            await self.serves(place, turn)
            self.fails(place, await bash(turn, "fault", timeout=0.3), "client/timeout", "timeout")
            if mode == "silent":
                await self.serves(place, turn)

    async def test_another_version_of_the_protocol_is_a_refusal_and_one_that_adds_to_it_is_served(self) -> None:
        place = Place(self)
        await self.serves(place, await a_turn(await self.spawn(**faking("newer"))))
        for mode in ("old", "refuses"):
            gate = await self.spawn(**faking(mode))
            assert gate.failure is not None
            self.assertEqual("client/version", gate.failure.code)
            self.fails(place, await bash(await a_turn(gate), "ls"), "client/version", "load")

    async def test_a_server_that_does_not_greet_as_it_should_is_a_refusal(self) -> None:
        place = Place(self)
        mute = await self.spawn(**faking("says nothing", timeout=0.5))
        self.fails(place, await bash(await a_turn(mute), "ls"), "client/timeout", "timeout")
        loud = await self.spawn(**faking("prints first"))
        self.fails(place, await bash(await a_turn(loud), "ls"), *GARBAGE)


class Sync(Case):
    def test_an_answer_that_is_wrong_is_a_refusal(self) -> None:
        for mode, (code, fault) in {**BREAKS, **FAILS}.items():
            with self.subTest(mode), Gate.spawn(**faking(mode)) as gate:
                place, turn = Place(self), sync_turn(gate)
                self.is_served(place, turn)
                self.fails(place, turn.before_tool_call("Bash", {"command": "fault"}, id="c1"), code, fault)
                if mode in FAILS:
                    self.is_served(place, turn)

    def test_an_answer_that_does_not_come_is_a_refusal(self) -> None:
        with Gate.spawn(**faking("silent")) as gate:
            place, turn = Place(self), sync_turn(gate)
            self.is_served(place, turn)
            late = turn.before_tool_call("Bash", {"command": "fault"}, id="c1", timeout=0.3)
            self.fails(place, late, "client/timeout", "timeout")
            self.is_served(place, turn)
