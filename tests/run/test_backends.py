"""A configuration that is measured at the sink, and at a backend in its place, in the same blocks."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fakes.backends import fake_backend
from tests.faults.scene import children
from tests.run.stand_ins import OF_THE_MACHINE, configuration, experiment, fake_equipment, new_run
from tests.run.test_session import Watcher
from tracetax.analysis.findings import build
from tracetax.model import Configuration, Use
from tracetax.report.exports.csv import export
from tracetax.report.views import title_of
from tracetax.results.findings import find_measure
from tracetax.results.folder import RunFolder
from tracetax.results.records import TrialRecord
from tracetax.run.session import Session

FLAT = configuration("flat")
USES = (Use("fake", "flat"), Use("fake", "flat", backend="fake-server"))


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetax.machine.disturbance.DISTURBED_ABOVE", 99.0)


class Looking(Watcher):
    """Sees which companions of a trial run while its calls are made: by agent, whether there is a backend, a sink."""

    def __init__(self) -> None:
        super().__init__()
        self.companions: dict[tuple[str, str], set[str]] = {}

    def state(self, text: str) -> None:
        if text == "calling":
            use = self.trials[-1].cell.use
            commands = [" ".join(words) for words in children().values()]
            named = {"backend": "backend.py", "sink": "--record-name"}
            running = {name for name, word in named.items() if any(word in command for command in commands)}
            self.companions[use.agent, use.backend] = running


def measured(
    tmp_path: Path,
    sink: Path,
    fault: str = "none",
    *,
    config: Configuration = FLAT,
    memory: bool = False,
    watcher: Watcher | None = None,
) -> tuple[RunFolder, list[TrialRecord]]:
    what = experiment(config, memory=memory)
    what = replace(what, parts=(replace(what.parts[0], uses=USES),))
    supplied = fake_backend(fault)
    equipment = replace(fake_equipment(sink, config), backends={"fake-server": supplied})
    folder = new_run(tmp_path / "r", what, config)
    folder.write_manifest(replace(folder.manifest, backends={"fake-server": supplied.backend}))
    Session(what, equipment, folder, watcher or Watcher()).run()
    return folder, [record for record in folder.records() if record.cell.role == "configuration"]


def test_what_the_backend_does_not_speak_goes_to_a_sink_beside_it(tmp_path: Path, sink_binary: Path) -> None:
    watcher = Looking()
    both = replace(FLAT, flags=(*FLAT.flags, "-Dmore={sink.zipkin.port}"))
    _, records = measured(tmp_path, sink_binary, config=both, watcher=watcher)
    assert all(record.status == "ok" for record in records)
    assert watcher.companions["fake", "fake-server"] == {"backend", "sink"}
    assert watcher.companions["fake", ""] == watcher.companions["none", ""] == {"sink"}


def test_a_backend_that_speaks_all_of_it_stands_alone(tmp_path: Path, sink_binary: Path) -> None:
    watcher = Looking()
    measured(tmp_path, sink_binary, watcher=watcher)
    assert watcher.companions["fake", "fake-server"] == {"backend"}


def test_memory_is_measured_at_the_sink_only(tmp_path: Path, sink_binary: Path) -> None:
    folder, _ = measured(tmp_path, sink_binary, memory=True)
    memory = [record for record in folder.records() if record.cell.role == "memory"]
    assert {record.cell.use.agent for record in memory} == {"fake", "none"}
    assert {record.cell.use.backend for record in memory} == {""}


def test_both_get_the_same_records_in_every_block(tmp_path: Path, sink_binary: Path) -> None:
    folder, records = measured(tmp_path, sink_binary)
    assert sorted((record.block, record.cell.use.backend) for record in records) == [
        (1, ""),
        (1, "fake-server"),
        (2, ""),
        (2, "fake-server"),
    ]
    for record in records:
        assert (record.status, [v.code for v in record.verdicts if v.code not in OF_THE_MACHINE]) == ("ok", [])
        assert record.ledger and record.warm_up
        assert record.ledger.received == record.ledger.expected == 600
        assert record.ledger.expected_trees == (0 if record.cell.use.backend else 200)
        assert record.warm_up.ledger.missing == 0
        assert record.receiver_cpu_ns > 0
        assert not (folder.path / "trials" / f"{record.number:04d}" / "backend").exists()
    assert {cell["backend"] for cell in folder_measures(folder)} == {"", "fake-server"}


def folder_measures(folder: RunFolder) -> list[dict[str, str]]:
    from tracetax.results.folder import measures

    return measures(folder.records()).to_dicts()


def test_rows_statements_and_exports_tell_them_apart(tmp_path: Path, sink_binary: Path) -> None:
    folder, _ = measured(tmp_path, sink_binary)
    findings = build(folder)
    rows = {row.backend: row for row in findings.configurations if row.agent == "fake"}
    assert title_of(rows["fake-server"]) == "flat → Fake server 1.0"
    assert rows["fake-server"].records.blocks_incomplete == 0
    for row in rows.values():
        cost = find_measure(row, "receiver_cpu", "record")
        assert cost and cost.estimate > 0 and cost.n_blocks == 2
    assert find_measure(rows["fake-server"], "sink_cpu") is None
    assert find_measure(rows["fake-server"], "bytes") is None
    (said,) = [statement for statement in findings.statements if statement.id.endswith("-receives")]
    assert "Fake server 1.0 takes" in said.text
    assert said.rests_on == ("p/fake/flat/fake-server", "p/fake/flat")
    lines = export(findings).splitlines()
    place = lines[0].split(",").index("backend")
    assert {line.split(",")[place] for line in lines[1:]} == {"", "Fake server 1.0"}


def test_what_it_drops_is_a_loss(tmp_path: Path, sink_binary: Path) -> None:
    _, records = measured(tmp_path, sink_binary, "drops")
    for record in (record for record in records if record.cell.use.backend):
        assert record.ledger and record.ledger.received < record.ledger.expected
        codes = {verdict.code for verdict in record.verdicts}
        assert {"records-lost", "backend-refused"} <= codes
    assert all(record.ledger and not record.ledger.missing for record in records if not record.cell.use.backend)


@pytest.mark.parametrize("fault", ["ends", "dies"])
def test_one_that_fails_is_named_with_its_log(tmp_path: Path, sink_binary: Path, fault: str) -> None:
    _, records = measured(tmp_path, sink_binary, fault)
    failed = [record for record in records if record.cell.use.backend]
    assert failed and all(record.status == "failed" for record in failed)
    for record in failed:
        (verdict,) = record.verdicts
        assert verdict.code == "backend-failed"
        assert "Fake server 1.0" in verdict.text
        assert f"logs/{record.number:04d}/backend.txt" in verdict.text
    assert all(record.status == "ok" for record in records if not record.cell.use.backend)
