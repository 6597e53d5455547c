"""Matrix files from anybody: three formats in, and out of hostile bytes only a named refusal."""

import contextlib
import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy
from safetensors.numpy import save_file

from geocorgi.errors import BadFile, GeocorgiError, InvalidMatrix
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.matrix_file import MatrixInFile, read_matrix
from geocorgi.matrix.obfuscation_matrix import ObfuscationMatrix
from geocorgi.matrix.sealed import SealedMatrix
from geocorgi.tree import cells, distances

SEVEN = cells.descendants("88283082c1fffff", 9)
KM = distances.between_cells(SEVEN)
Z = exponential_matrix(SEVEN, KM, 5.0).probabilities
WEIGHTS = np.round(Z * 2**40).astype(np.uint64)
PAIR = SEVEN[:2]
EVEN = np.full((2, 2), 0.5)


def write_npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def write_csv(path: Path, table: np.ndarray = Z, names: tuple[str, ...] = SEVEN) -> Path:
    rows = [f"{name},{','.join(map(repr, row))}" for name, row in zip(names, table.tolist())]  # noqa: B905
    path.write_text("\n".join([f"cell,{','.join(names)}", *rows]), encoding="utf-8")
    return path


def write_safetensors(path: Path, table: np.ndarray = Z, kind: str = "matrix", **more: str) -> Path:
    metadata = {"cells": json.dumps(SEVEN[: len(table)])} | more
    save_file({kind: np.ascontiguousarray(table)}, path, metadata=metadata)
    return path


def refusal_of(path: Path) -> str:
    """Return the one sentence with which the file is refused; it begins with the file's name."""
    with pytest.raises(BadFile) as refusal:
        read_matrix(path)
    sentence = str(refusal.value)
    assert path.name in sentence[: len(path.name) + 15]
    assert "\n" not in sentence
    assert len(sentence) < 250
    return sentence


def same(found: MatrixInFile, weights: np.ndarray = Z) -> None:
    assert found.matrix.row_cells == found.matrix.column_cells == SEVEN
    assert (found.matrix.weights == weights).all()
    assert (found.distances_km == KM).all()


def test_a_matrix_goes_round_through_each_format(tmp_path: Path) -> None:
    same(read_matrix(write_npz(tmp_path / "z.npz", matrix=Z, cells=SEVEN)))
    same(read_matrix(write_csv(tmp_path / "z.csv")))
    same(read_matrix(write_safetensors(tmp_path / "z.safetensors")))


def test_sealed_weights_stay_whole_numbers(tmp_path: Path) -> None:
    large = WEIGHTS.copy()
    large[0, 0] = 2**62 - 1  # as a float it would be 2^62
    for path in (
        write_safetensors(tmp_path / "w.safetensors", large, "weights", level="2"),
        write_npz(tmp_path / "w.npz", matrix=large, cells=SEVEN),
    ):
        found = read_matrix(path)
        same(found, large)
        assert isinstance(found.matrix, SealedMatrix)
        assert found.matrix.weights[0, 0].item() == 2**62 - 1
        assert found.matrix.row_totals[0] == sum(large[0].tolist())
    assert read_matrix(tmp_path / "w.safetensors").matrix.level == 2  # type: ignore[attr-defined]
    without_cells = read_matrix(write_npz(tmp_path / "d.npz", matrix=large, distances_km=KM))
    assert isinstance(without_cells.matrix, SealedMatrix)


def test_the_verdict_on_weights_is_the_exact_one(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "w.safetensors", WEIGHTS, "weights")
    found = read_matrix(path)
    sealed = SealedMatrix(SEVEN, SEVEN, 0, WEIGHTS)
    assert audit(found.matrix, found.distances_km, 5.0) == audit(sealed, KM, 5.0)


def test_what_numpy_users_write_is_read(tmp_path: Path) -> None:
    same(read_matrix(write_npz(tmp_path / "list.npz", matrix=Z.tolist(), cells=list(SEVEN))))
    as_bytes = np.array([cell.encode() for cell in SEVEN])
    assert as_bytes.dtype == "S15"
    same(read_matrix(write_npz(tmp_path / "bytes.npz", matrix=Z, cells=as_bytes)))
    upper = [cell.upper() for cell in SEVEN]
    same(read_matrix(write_npz(tmp_path / "upper.npz", matrix=Z, cells=upper)))
    column = np.array(SEVEN)[:, None]
    same(read_matrix(write_npz(tmp_path / "column.npz", matrix=np.asfortranarray(Z), cells=column)))
    single = Z.astype(np.float32)
    found = read_matrix(write_npz(tmp_path / "single.npz", matrix=single, cells=SEVEN))
    assert (found.matrix.weights == single.astype(np.float64)).all()
    np.savez_compressed(tmp_path / "small.NPZ.npz", matrix=Z, cells=SEVEN, other=np.zeros(3))
    (tmp_path / "small.NPZ.npz").rename(tmp_path / "small.NPZ")
    same(read_matrix(tmp_path / "small.NPZ"))


def test_what_spreadsheets_write_is_read(tmp_path: Path) -> None:
    text = write_csv(tmp_path / "z.csv").read_text(encoding="utf-8")
    for kind, content in {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "bom_quoted": b'\xef\xbb\xbf"cell"' + text.encode()[4:],
        "windows": text.replace("\n", "\r\n").encode(),
        "blank": f"{text}\n\n\n".encode(),
        "spaces": text.replace(",0.", ", 0.").encode(),
        "unnamed": text.encode()[4:],
    }.items():
        path = tmp_path / f"{kind}.csv"
        path.write_bytes(content)
        same(read_matrix(path))


def test_distances_may_stand_for_the_cells(tmp_path: Path) -> None:
    found = read_matrix(write_npz(tmp_path / "d.npz", matrix=Z, distances_km=KM))
    assert found.matrix.row_cells[:2] == ("row 0", "row 1")
    assert (found.distances_km == KM).all()
    assert (found.matrix.weights == Z).all()
    both = read_matrix(write_npz(tmp_path / "b.npz", matrix=Z, cells=SEVEN, distances_km=KM * 9))
    same(both)


def test_distances_that_differ_there_and_back_are_judged_each_by_its_own(tmp_path: Path) -> None:
    # One-way streets: telling row 0 from row 1 is judged over 1 km, the way back over 4 km.
    one_way = np.array([[0.0, 1.0], [4.0, 0.0]])
    table = np.array([[0.75, 0.25], [0.25, 0.75]])
    found = read_matrix(write_npz(tmp_path / "d.npz", matrix=table, distances_km=one_way))
    verdict = audit(found.matrix, found.distances_km, 1.0)
    assert verdict.smallest_epsilon_per_km == pytest.approx(np.log(3))
    assert verdict.worst is not None
    assert (verdict.worst.real, verdict.worst.other) == ("row 0", "row 1")
    assert verdict.violations == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda km: km + np.eye(7) * 1e-9,
        lambda km: -km,
        lambda km: np.where(np.eye(7, k=1), np.nan, km),
        lambda km: np.where(np.eye(7, k=1), np.inf, km),
    ],
)
def test_numbers_that_are_no_distances_are_not_audited(
    tmp_path: Path, spoil: Callable[[np.ndarray], np.ndarray]
) -> None:
    found = read_matrix(write_npz(tmp_path / "d.npz", matrix=Z, distances_km=spoil(KM)))
    with pytest.raises(InvalidMatrix, match="distance"):
        audit(found.matrix, found.distances_km, 5.0)


def ragged(table: np.ndarray, **at: Any) -> np.ndarray:
    table = table.copy()
    table[1, 2] = at["value"]
    return table


ODD_ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "no matrix": ({"cells": SEVEN}, "lacking"),
    "no cells": ({"matrix": Z}, "lacking"),
    "nan": ({"matrix": ragged(Z, value=np.nan), "cells": SEVEN}, "row 1, column 2 is not a finite"),
    "infinite": ({"matrix": ragged(Z, value=np.inf), "cells": SEVEN}, "not a finite number"),
    "negative": (
        {"matrix": ragged(Z, value=-1e-30), "cells": SEVEN},
        "row 1, column 2 is negative",
    ),
    "not one": ({"matrix": Z * 1.01, "cells": SEVEN}, "sums to 1.01"),
    "text": ({"matrix": Z.astype(str), "cells": SEVEN}, "the matrix holds <U"),
    "complex": ({"matrix": Z + 0.5j, "cells": SEVEN}, "the matrix holds complex128"),
    "wide": ({"matrix": Z.astype(np.longdouble), "cells": SEVEN}, "at most 64 bits"),
    "dates": ({"matrix": np.zeros((7, 7), "M8[s]"), "cells": SEVEN}, "the matrix holds datetime64"),
    "records": ({"matrix": np.zeros((7, 7), [("a", "f8")]), "cells": SEVEN}, "the matrix holds"),
    "truth": ({"matrix": np.eye(7, dtype=bool), "cells": SEVEN}, "the matrix holds bool"),
    "counts": ({"matrix": WEIGHTS.astype(np.int64), "cells": SEVEN}, "every row sums to one"),
    "scalar": ({"matrix": 1.0, "cells": SEVEN}, "'matrix' has"),
    "scalar with distances": ({"matrix": 1.0, "distances_km": KM}, "'matrix' has"),
    "cube": ({"matrix": np.ones((1, 1, 1)), "cells": SEVEN[:1]}, "1 × 1 × 1"),
    "empty": ({"matrix": np.ones((0, 0)), "cells": np.array([], "U15")}, "expected 1 to 5,000"),
    "flat": ({"matrix": np.ones(7), "cells": SEVEN}, "7 cells but a matrix of 7"),
    "not square": ({"matrix": np.ones((7, 1)), "cells": SEVEN}, "7 cells but a matrix of 7 × 1"),
    "wide with distances": ({"matrix": np.ones((1, 2)), "distances_km": np.ones((1, 2))}, "1 × 2"),
    "other cells": ({"matrix": Z, "cells": SEVEN[:6]}, "6 cells but a matrix of 7 × 7"),
    "twice": ({"matrix": EVEN, "cells": [SEVEN[0]] * 2}, "name a cell twice"),
    "twice but in capitals": ({"matrix": EVEN, "cells": [SEVEN[0], SEVEN[0].upper()]}, "twice"),
    "no h3": ({"matrix": EVEN, "cells": ["home", "work"]}, "cell 1: .* is not an H3 cell"),
    "numbers": ({"matrix": EVEN, "cells": [1, 2]}, "'cells' is an array of int64"),
    "not ascii": ({"matrix": EVEN, "cells": np.array([b"\xff" * 15] * 2)}, "not ASCII"),
    "few distances": ({"matrix": Z, "distances_km": KM[:6, :6]}, "one number for each pair"),
    "flat distances": ({"matrix": Z, "distances_km": KM[0]}, "one number for each pair"),
    "complex distances": ({"matrix": Z, "distances_km": KM + 0j}, "one number for each pair"),
    "sealed zero row": ({"matrix": np.zeros((2, 2), np.uint64), "cells": PAIR}, "all zero"),
    "sealed large": ({"matrix": np.full((2, 2), 2**63, np.uint64), "cells": PAIR}, "at most 2"),
}


@pytest.mark.parametrize("kind", ODD_ARRAYS)
def test_arrays_that_are_no_matrix_are_refused(tmp_path: Path, kind: str) -> None:
    arrays, says = ODD_ARRAYS[kind]
    sentence = refusal_of(write_npz(tmp_path / "odd.npz", **arrays))
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(sentence)


class Trap:
    """Unpickling this would leave a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_never_executed(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = np.array([[Trap(sprung)]], dtype=object)
    pickle.loads(pickle.dumps(trap))  # noqa: S301 - the trap does work
    assert sprung.exists()
    sprung.unlink()
    for arrays in (
        {"matrix": trap, "cells": SEVEN},
        {"matrix": Z, "cells": trap},
        {"matrix": np.zeros((1, 1), [("a", object)]), "cells": SEVEN},
    ):
        assert "never loaded" in refusal_of(write_npz(tmp_path / "trap.npz", **arrays))
    for name in ("raw.npz", "raw.csv", "raw.safetensors"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap(sprung)))
        refusal_of(tmp_path / name)
    assert not sprung.exists()


def npz_with(path: Path, member: bytes, **more: Any) -> Path:
    """Write an npz file whose member 'matrix' has exactly these bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("matrix.npy", member)
        cells_file = io.BytesIO()
        np.save(cells_file, np.array(SEVEN))
        archive.writestr("cells.npy", cells_file.getvalue())
    return path


def header(text: str, version: tuple[int, int] = (1, 0)) -> bytes:
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return npy.magic(*version) + size + text.encode("latin1")


def described(shape: str, descr: str = "'<f8'") -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")


@pytest.mark.parametrize(
    "member",
    [
        described("(1000000, 1000000)"),
        described("(4294967296, 4294967296)"),  # wraps to zero in 64 bits
        described("(9223372036854775808, 2)"),
        described("(5001, 5000)"),
        described("(5000, 5000)"),  # allowed, but the numbers are not there
        described("(5000, 5000)", "'<U1000000'"),
        described("(1000000000000,)", "'<U0'"),
        described("(-1, -1)"),
        described("(7.0, 7)"),
        described("(" * 4000 + ")" * 4000),
        described("(7, 7)", "'|O'"),
        described("(7, 7)", "'<f99'"),
        described("(7, 7)", "(" * 2000),
        described("(7, 7)", "{1: 2, 'a': 3}"),
        header("{[]: 1}\n"),
        header("{1: 1, 'shape': 2}\n"),
        header("\x00" * 50),
        header("{'a': " + "9" * 9000 + "}"),
        header("", (9, 9)),
        npy.magic(2, 0) + b"\xff\xff\xff\xff",
        npy.magic(2, 0) + b"\xff\xff\xff\xff" + bytes(50_000_000),
        npy.magic(1, 0),
        b"\x93NUMPY",
        b"",
    ],
    ids=range(24),
)
def test_a_header_that_lies_costs_neither_memory_nor_a_traceback(
    tmp_path: Path, member: bytes
) -> None:
    path = npz_with(tmp_path / "liar.npz", member)
    tracemalloc.start()
    refusal_of(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # numpy sets aside what a header within the bound declares before it finds the file short.
    assert peak < (210e6 if member == described("(5000, 5000)") else 10e6)


def test_a_zip_bomb_beside_the_arrays_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, matrix=Z, cells=SEVEN)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(100_000_000))
    tracemalloc.start()
    same(read_matrix(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e6


def safetensors_with(path: Path, head: object, body: bytes = b"") -> Path:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def tensor(shape: list[int], size: int, dtype: str = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}


def test_a_safetensors_file_that_lies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "liar.safetensors"
    huge = 10**6
    for head, body in [
        ({"matrix": tensor([huge, huge], 8 * huge**2)}, b""),
        ({"matrix": tensor([huge, huge], 8)}, bytes(8)),
        ({"matrix": tensor([2**32, 2**32], 0)}, b""),
        ({"matrix": tensor([2**61, 8], 0)}, b""),
        ({"matrix": tensor([6000, 0], 0)}, b""),
        ({"matrix": tensor([1, 1], 2, "BF16")}, bytes(2)),
        ({"matrix": tensor([1, 1], 1, "F8_E4M3")}, bytes(1)),
        ({"matrix": tensor([], 8)}, bytes(8)),
        ({"matrix": tensor([-1, -1], 8)}, bytes(8)),
        ({}, b""),
        (b"[" * 10_000, b""),
        (b"", b""),
        ([], b""),
    ]:
        refusal_of(safetensors_with(path, head, body))
    for content in (b"", b"\xff" * 8, struct.pack("<Q", 2**63), struct.pack("<Q", 99_999_999)):
        path.write_bytes(content)
        refusal_of(path)


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"cells": ""}, "'cells' is not JSON"),
        ({"cells": "[" * 100_000}, "'cells' is not JSON"),
        ({"cells": "null"}, "expected metadata 'cells'"),
        ({"cells": '"abc"'}, "expected metadata 'cells'"),
        ({"cells": "[1, 2, 3, 4, 5, 6, 7]"}, "expected metadata 'cells'"),
        ({"cells": json.dumps(SEVEN[:3])}, "3 cells but a matrix of 7 × 7"),
        ({"cells": json.dumps(["home"] * 7)}, "cell 1: "),
        ({"level": "-1"}, "'level' is not one from 0 to 15"),
        ({"level": "16"}, "'level' is not one from 0 to 15"),
        ({"level": "9" * 5000}, "'level' is not JSON"),
        ({"level": "true"}, "'level' is not one"),
        ({"level": "1.0"}, "'level' is not one"),
        ({"level": "high"}, "'level' is not JSON"),
    ],
)
def test_metadata_that_says_nothing_is_refused(
    tmp_path: Path, metadata: dict[str, str], says: str
) -> None:
    assert says in refusal_of(write_safetensors(tmp_path / "odd.safetensors", **metadata))


def test_a_safetensors_file_without_a_matrix_is_refused(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "odd.safetensors", kind="embedding")
    assert "a tensor is lacking" in refusal_of(path)
    save_file({"matrix": Z}, path)
    assert "expected metadata 'cells'" in refusal_of(path)


A, B = PAIR


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 0: expected a header"),
        ("cell\n", "line 1: expected a header"),
        (f"cell;{A};{B}\n{A};0.5;0.5\n{B};0.5;0.5", "expected a header"),
        ("cell," + ",".join(["x"] * 5001), "expected a header"),
        (f"cell,{A},{B}\n", "not the header's cells"),
        (f"cell,{A},{B}\n{A},0.5,0.5\n", "not the header's cells"),
        (f"cell,{A},{B}\n{B},0.5,0.5\n{A},0.5,0.5", "not the header's cells"),
        (f"cell,{A},{B}\n{A},0.5,0.5\n{B},1", "line 3: expected a cell and 2 numbers, found 2"),
        (f"cell,{A},{B}\n{A},0.5,0.5,0\n{B},1,0", "line 2: .* found 4 fields"),
        (f"cell,{A},{B}\n{A},0.5,0.5\n{B},0.5,0.5\n{B},0.5,0.5", "line 4: more rows than the 2"),
        (f"cell,{A},{B}\n{A},0.5,half\n{B},0.5,0.5", "line 2: a field .* is not a number"),
        (f"cell,{A},{B}\n{A},0.5,\n{B},0.5,0.5", "line 2: a field .* is not a number"),
        (f"cell,{A},{B}\n{A},0.5,nan\n{B},0.5,0.5", "row 0, column 1 is not a finite"),
        (f"cell,{A},{B}\n{A},0.5,inf\n{B},0.5,0.5", "row 0, column 1 is not a finite"),
        (f"cell,{A},{B}\n{A},0.5,1e999\n{B},0.5,0.5", "row 0, column 1 is not a finite"),
        (f"cell,{A},{B}\n{A},1.5,-0.5\n{B},0.5,0.5", "row 0, column 1 is negative"),
        (f"cell,{A},{B}\n{A},0.5,0.4\n{B},0.5,0.5", "row 0 sums to 0.9"),
        (f"cell,{A},{A}\n{A},0.5,0.5\n{A},0.5,0.5", "name a cell twice"),
        ("cell,home,work\nhome,0.5,0.5\nwork,0.5,0.5", "cell 1: "),
        (f'cell,{A},{B}\n"{A},0.5,0.5', "not CSV"),
        (f"cell,{A},{B}\n{A},0.5,\xff".encode("latin1").decode("latin1"), "not a number"),
        ("x" * 200_000, "not CSV"),
    ],
)
def test_a_csv_file_that_is_no_matrix_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(text, encoding="utf-8")
    sentence = refusal_of(path)
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(sentence)


def test_a_csv_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    for content in ("cell,ä,b\n".encode("latin1"), "cell,a,b\n".encode("utf-16"), bytes(50)):
        path.write_bytes(content)
        refusal_of(path)


def test_a_csv_file_with_endless_rows_is_refused_at_the_first_too_many(tmp_path: Path) -> None:
    path = tmp_path / "endless.csv"
    path.write_text(f"cell,{A}\n" + f"{A},1\n" * 500_000, encoding="utf-8")
    tracemalloc.start()
    assert "line 3: more rows" in refusal_of(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e6


def test_a_file_larger_than_any_matrix_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(5000**2 * 26 + 1)
    assert "larger than any matrix of 5,000 cells" in refusal_of(path)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".safetensors"])
def test_a_file_that_cannot_be_read_is_named_once(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"missing{suffix}"
    assert refusal_of(path) == f"cannot read missing{suffix}: No such file or directory"
    path.mkdir()
    assert refusal_of(path) == f"cannot read missing{suffix}: Is a directory"


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".safetensors"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, suffix: str) -> None:
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    assert refusal_of(pipe) == f"pipe{suffix} is a pipe or a device: " + (
        "copy what it holds into a file first"
    )


@pytest.mark.parametrize("name", ["matrix.npy", "matrix.txt", "matrix", ".npz"])
def test_other_kinds_of_file_are_refused_with_the_kinds_that_are_known(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"")
    assert "expected a name ending in .npz, .csv, .safetensors" in refusal_of(tmp_path / name)


def _contents(folder: Path) -> dict[str, bytes]:
    paths = [
        write_npz(folder / "stored.npz", matrix=Z, cells=SEVEN),
        write_npz(folder / "distances.npz", matrix=Z, distances_km=KM),
        write_csv(folder / "z.csv"),
        write_safetensors(folder / "z.safetensors", level="1"),
        write_safetensors(folder / "w.safetensors", WEIGHTS, "weights"),
    ]
    np.savez_compressed(folder / "small.npz", matrix=Z, cells=SEVEN)
    return {path.name: path.read_bytes() for path in [*paths, folder / "small.npz"]}


@pytest.fixture(scope="module")
def valid_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return _contents(tmp_path_factory.mktemp("valid"))


NAMES = ["stored.npz", "distances.npz", "small.npz", "z.csv", "z.safetensors", "w.safetensors"]
in_a_folder = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.mark.filterwarnings("ignore")  # numpy warns of headers that Python 2 might have written
@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 4)), max_size=4),
    st.floats(0, 1),
)
@in_a_folder
def test_damaged_files_are_refused_and_nothing_else_happens(
    valid_files: dict[str, bytes],
    tmp_path: Path,
    name: str,
    edits: list[tuple[float, bytes, int]],
    keep: float,
) -> None:
    content = valid_files[name]
    for where, put, dropped in edits:
        at = int(where * len(content))
        content = content[:at] + put + content[at + dropped :]
    if not edits:
        content = content[: int(keep * len(content))]
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.suppress(BadFile):
        found = read_matrix(path)
        assert isinstance(found.matrix, ObfuscationMatrix | SealedMatrix)
        with contextlib.suppress(GeocorgiError):
            audit(found.matrix, found.distances_km, 5.0)


def test_every_truncation_of_a_csv_or_safetensors_header_is_refused(
    valid_files: dict[str, bytes], tmp_path: Path
) -> None:
    for name in ("z.safetensors", "stored.npz"):
        for end in range(0, len(valid_files[name]), 37):
            path = tmp_path / name
            path.write_bytes(valid_files[name][:end])
            refusal_of(path)
