"""A disk that fails at any write: a sentence, every finished trial kept, and a resume that ends well."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.faults.scene import children, finished, is_complete, measured
from tracetax.errors import ExitCode, UserError
from tracetax.results.folder import RunFolder


class Disk:
    """Lets a number of writes into a run folder pass, then none."""

    def __init__(self, run: Path, passing: int, number: int, patch: pytest.MonkeyPatch) -> None:
        self.left = passing
        for name in ("write_bytes", "mkdir", "rename", "replace"):
            really = getattr(Path, name)

            def write(path: Path, *arguments: Any, really: Any = really, **named: Any) -> Any:
                if path.is_relative_to(run):
                    self.left -= 1
                    if self.left < 0:
                        raise OSError(number, os.strerror(number), str(path))
                return really(path, *arguments, **named)

            patch.setattr(Path, name, write)


@pytest.mark.parametrize(
    ("number", "passing"),
    [(errno.ENOSPC, 0), (errno.ENOSPC, 3), (errno.ENOSPC, 8), (errno.ENOSPC, 21), (errno.EROFS, 5), (errno.EROFS, 13)],
)
def test_a_disk_that_fails_at_any_write_costs_no_finished_trial(
    tmp_path: Path, sink_binary: Path, passing: int, number: int
) -> None:
    run = tmp_path / "run"
    measured(run, sink_binary, blocks=1)
    before = finished(run)
    with pytest.MonkeyPatch.context() as patch:
        Disk(run, passing, number, patch)
        with pytest.raises(UserError, match="Every trial that had finished is kept") as caught:
            _, folder = measured(run, sink_binary, blocks=5)
            folder.consolidate()
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert f"--resume {run}" in str(caught.value)
    after = finished(run)
    assert before.items() <= after.items()
    assert children() == {}
    measured(run, sink_binary, blocks=2)
    assert after.items() <= finished(run).items()
    assert is_complete(RunFolder(run), blocks=max(2, len(after) // 3))
