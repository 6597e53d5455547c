"""The machine that something is measured on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

VERSIONS = ("numpy", "scipy", "highspy", "h3", "matplotlib")


def machine() -> dict[str, Any]:
    """Say on what was measured."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[2], 1) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in VERSIONS},
    }


def processor() -> str:
    """Return what the system calls its processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
