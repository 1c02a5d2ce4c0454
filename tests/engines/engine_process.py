"""Runs code as an engine's processes run it: in a Python of its own, away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(
    code: str, folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What it printed. One that fails is an error, with what it said."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done
