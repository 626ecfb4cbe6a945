"""What a trial's reader is told about the machine and the end of its process."""

import pytest

from tracetax.machine.disturbance import Load
from tracetax.process import Ending
from tracetax.run.verdicts import of_ending, of_load

QUIET = Load(steal=0.01, other=0.02, seconds=1.0)


@pytest.mark.parametrize(
    ("load", "verdicts"),
    [
        (QUIET, []),
        (Load(steal=0.1, other=0.1, seconds=1.0), [("disturbed", "warning")]),
        (Load(steal=0, other=0, seconds=1.0, throttled_ns=5), [("throttled", "note")]),
        (Load(steal=0, other=0, seconds=1.0, swapped_bytes=4096), [("swapped", "note")]),
        (Load(steal=0, other=0, seconds=1.0, interrupts=2.0, kernel=2.0), []),
    ],
)
def test_only_what_others_took_is_a_warning(load: Load, verdicts: list[tuple[str, str]]) -> None:
    assert [(verdict.code, verdict.severity) for verdict in of_load(load)] == verdicts


def test_a_jvm_that_kill_does_not_end_is_an_error_that_names_it() -> None:
    ending = Ending(status=-9, cpu_ns=0, max_rss_bytes=0, ended_ns=0, asked="KILL", left_behind=4711)
    (verdict,) = of_ending(ending)
    assert (verdict.code, verdict.severity) == ("left-behind", "error")
    assert "process 4711" in verdict.text
