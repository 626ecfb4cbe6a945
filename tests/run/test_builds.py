"""Two builds of an agent: each trial is started with the files of its own, and both are in every block."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.run.stand_ins import HEAP, configuration, experiment, fake_equipment, new_run
from tests.run.test_session import Watcher
from tracetax.model import Use
from tracetax.results.blocks import service_mean, side_by_side, whole_blocks
from tracetax.results.records import Cell
from tracetax.run.session import Session

FLAT = configuration("flat", flags=("-Dagent={artifacts.agent}", "-Dplugin={artifacts.plugin}"))
BUILDS = (Use("fake", "flat", "old.jar"), Use("fake", "flat", "new.jar"))


def test_both_builds_are_measured_in_each_block_with_files_of_their_own(
    tmp_path: Path, sink_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", 99.0)
    what = experiment(FLAT)
    what = replace(what, parts=(replace(what.parts[0], uses=BUILDS),))
    equipment = fake_equipment(sink_binary, FLAT)
    fake = replace(equipment.agents["fake"], builds={use.build: {} for use in BUILDS})
    equipment = replace(
        equipment,
        agents=equipment.agents | {"fake": fake},
        artifacts={"fake": {"agent": Path("/maven.jar"), "plugin": Path("/plugin.jar")}},
        builds={"fake": {use.build: {"agent": Path("/") / use.build} for use in BUILDS}},
    )
    folder = new_run(tmp_path / "r", what, FLAT)
    watcher = Watcher()
    Session(what, equipment, folder, watcher).run()
    measured = [record for record in folder.records() if record.cell.role == "configuration"]
    assert sorted((record.block, record.cell.use.build) for record in measured) == [
        (1, "new.jar"),
        (1, "old.jar"),
        (2, "new.jar"),
        (2, "old.jar"),
    ]
    for record in measured:
        assert f"-Dagent=/{record.cell.use.build}" in record.command
        assert "-Dplugin=/plugin.jar" in record.command
    labels = {turn.cell.label for turn in watcher.trials}
    assert {"fake flat [old.jar]", "fake flat [new.jar]", "baseline"} <= labels
    older, newer = (Cell("p", build, HEAP) for build in BUILDS)
    first, second = side_by_side(whole_blocks(folder.records()), older, newer, service_mean)
    assert len(first) == len(second) == 2
