"""What is said of Kieker's releases is decided by rules, which can come out either way."""

import io
import struct
from pathlib import Path
from zipfile import ZipFile

from benchmarks.kieker_history import (
    PAPERS_PT1,
    PROBE,
    RECORD,
    SIGNATURES,
    Held,
    compared,
    constants,
    decided,
    held,
    steps,
    write,
)
from msgspec.structs import replace

RELEASES = ("1.8", "1.9", "1.10", "1.12", "1.13", "2.0.2")
LEVEL = {"deactivated": 5.0, "no writer": 100.0, "queue": 150.0, "TCP": 200.0}
NOISE = (0.99, 1.0, 1.01, 1.0, 0.99, 1.01)
Found = dict[tuple[str, str], dict[int, float]]


def row(level: float, turn: int = 0) -> dict[int, float]:
    return {block: level * NOISE[(block + turn) % len(NOISE)] for block in range(1, 11)}


def measured() -> Found:
    """Every release costs the same, but for the old queue in new releases, which hands over at twice the price."""
    found = {(line, one): row(level, turn) for line, level in LEVEL.items() for turn, one in enumerate(RELEASES)}
    for one in ("1.13", "2.0.2"):
        found["queue, ArrayBlockingQueue", one] = row(200.0, 3)
        found["TCP, ArrayBlockingQueue", one] = row(250.0, 3)
    return found


def classes() -> dict[str, Held]:
    old = Held(False, False, True, True, True)
    return {one: replace(old, jctools=one in ("1.13", "2.0.2")) for one in RELEASES}


def said(found: Found, of: dict[str, Held]) -> list[str]:
    return [one.decided for one in decided(found, of)]


def test_a_step_is_one_whose_whole_interval_lies_beyond_the_margin() -> None:
    found = measured()
    assert {one.said for one in steps(found, RELEASES)} == {"no step shown"}
    found["TCP", "1.13"] = row(150.0, 4)
    assert {(one.after, one.said) for one in steps(found, RELEASES) if one.said != "no step shown"} == {
        ("1.13", "cheaper"),
        ("2.0.2", "dearer"),
    }
    found["TCP", "1.13"] = row(196.0, 4)  # 2 % are shown, and are less than the margin
    assert {one.said for one in steps(found, RELEASES)} == {"no step shown"}


def test_releases_that_cost_the_same_refute_the_gain_of_caching() -> None:
    assert said(measured(), classes()) == ["refuted", "refuted", "confirmed", "confirmed", "confirmed", "confirmed"]


def test_a_record_that_becomes_cheaper_after_the_first_release_confirms_it() -> None:
    found = measured()
    for one in ("1.10", "1.12"):
        found["no writer", one] = row(100.0 * PAPERS_PT1, 2)
    assert said(found, classes())[0] == "confirmed"
    found["no writer", "1.12"] = row(150.0, 2)
    assert said(found, classes())[0] == "refuted"


def test_an_interval_that_holds_the_papers_gain_and_none_decides_nothing() -> None:
    found = measured()
    found["no writer", "1.12"] = {block: 90.0 + 45.0 * (block % 2 - 0.5) for block in range(1, 11)}
    assert said(found, classes())[0] == "undecided"


def test_what_the_classes_hold_decides_the_rest() -> None:
    of = classes()
    of["1.13"] = Held(True, False, True, False, False)
    assert said(measured(), of)[1::3] == ["undecided", "refuted"]
    assert said(measured(), of)[-1] == "refuted"


def test_a_queue_that_hands_over_dearer_refutes_and_what_is_not_measured_is_not_compared() -> None:
    found = measured()
    found["queue, ArrayBlockingQueue", "1.13"] = row(120.0)
    del found["queue, ArrayBlockingQueue", "2.0.2"]
    assert said(found, classes())[2:4] == ["refuted", "not comparable"]
    assert compared(found["TCP", "1.8"], {99: 1.0}) is None


def test_a_pool_of_constants_is_read_over_every_kind_of_entry() -> None:
    pool = b"\x01" + struct.pack(">H", 3) + b"abc" + b"\x05" + bytes(8) + b"\x07" + bytes(2) + b"\x0b" + bytes(4)
    head = b"\xca\xfe\xba\xbe" + bytes(4)
    assert constants(head + struct.pack(">H", 6) + pool) == ({"abc"}, True)
    assert constants(head + struct.pack(">H", 5) + pool) == ({"abc"}, False)


def test_what_a_jar_holds_is_found(tmp_path: Path) -> None:
    def of_text(text: str) -> bytes:
        return b"\xca\xfe\xba\xbe" + bytes(4) + struct.pack(">HBH", 2, 1, len(text)) + text.encode()

    with ZipFile(tmp_path / "old.jar", "w") as jar:
        jar.writestr(PROBE, of_text(RECORD))
        jar.writestr(SIGNATURES, of_text("java/util/concurrent/ConcurrentHashMap"))
    assert held(tmp_path / "old.jar") == Held(False, False, True, True, False)
    with ZipFile(tmp_path / "old.jar", "a") as jar:
        jar.writestr("com/lmax/disruptor/RingBuffer.class", b"")
        jar.writestr("org/jctools/queues/MpscArrayQueue.class", b"")
    assert held(tmp_path / "old.jar") == Held(True, True, True, True, False)


def test_the_tables_name_every_release() -> None:
    told = io.StringIO()
    write(measured(), classes(), told)
    assert "| 1.12 → 1.13 | " in told.getvalue()
    assert "| 1.8 → 2.0.2 | " in told.getvalue()
    assert "| 2.0.2 | no | yes | yes | yes | yes |" in told.getvalue()
    assert round(PAPERS_PT1, 2) == 0.79
