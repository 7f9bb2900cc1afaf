"""The example of the README does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .support import PROGRAM, Case, Place

ROOT = Path(__file__).resolve().parent.parent


class Readme(Case):
    def test_the_example_refuses_what_is_dangerous(self) -> None:
        place = Place(self)
        found = re.search(r"```py\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
        assert found is not None
        example = found[1].replace("/home/dev/app", str(place.work))
        env = {**place.env, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        if "/" in PROGRAM:
            (place.dir / "bin").mkdir()
            (place.dir / "bin" / "portcullis").symlink_to(Path(PROGRAM).resolve())
            env["PATH"] = f"{place.dir / 'bin'}{os.pathsep}{env['PATH']}"
        done = subprocess.run([sys.executable, "-c", example], env=env, capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith('Blocked by the guard plugin: refusing "rm -rf build"'), done)
