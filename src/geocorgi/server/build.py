"""One forest, built in a process of its own.

``python -m geocorgi.server.build MAP WORK OUT REQUEST`` works at low priority, writes a line of
JSON for every subtree that is done, and the forest to OUT. Standard input is its lifeline: when it
ends, because whoever started it stopped or was killed, the process ends at once. Subtrees that are
finished are kept in WORK, and the next one goes on from them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from geocorgi.errors import BadFile, GeocorgiError
from geocorgi.files import write_atomically
from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.server.wall import raise_wall
from geocorgi.wire.forest_request import decode_request
from geocorgi.wire.map_codec import read_map

FEW_LEAVES = 49
NICENESS = 10
REFUSED = 2
NO_ROOM = 3  # a folder of this machine cannot be read or written: it may pass


def build(map_file: Path, work_folder: Path, out: Path, request: bytes) -> None:
    """Build the forest of a request and write it, telling of every subtree."""
    public_map = read_map(map_file)
    with executor_for(len(public_map.leaves)) as executor:
        forest = privacy_forest(
            public_map,
            decode_request(request),
            executor=executor,
            work_folder=work_folder,
            on_progress=_tell_progress,
        )
    write_atomically(out, forest_bytes(forest))


def executor_for(leaves: int) -> AbstractContextManager[Executor | None]:
    """Lend this process's own thread for a few leaves, for which starting workers takes longer."""
    return ThreadPoolExecutor(1) if leaves <= FEW_LEAVES else nullcontext()


def main(arguments: list[str]) -> int:
    """Run the process; return its exit code."""
    raise_wall()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    map_file, work_folder, out, request = arguments
    try:
        build(Path(map_file), Path(work_folder), Path(out), request.encode("ascii"))
    except GeocorgiError as refusal:
        _tell({"reason": str(refusal)})
        return NO_ROOM if isinstance(refusal, BadFile) else REFUSED
    return 0


def _tell_progress(state: SubtreeDone) -> None:
    _tell({"done": state.done, "subtrees": state.subtrees})


def _tell(fields: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def _end_with_standard_input() -> None:
    # Not by way of sys.stdin, whose lock a thread that waits would hold while the process ends.
    while os.read(0, 4_096):
        continue
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
