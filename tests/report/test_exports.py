import csv
import io
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tracetax.cli import report
from tracetax.commands.report import export_run
from tracetax.errors import UserError
from tracetax.report.exports import export, formats
from tracetax.results.findings import Findings
from tracetax.results.folder import RunFolder

from .fake_run import fake_run
from .sample_findings import NOTHING_RECORDED, many_samples, sample_findings, with_row
from .variants import with_building, with_builds, with_lines, with_printed_lines


def table(findings: Findings) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(findings, "csv"))))


def test_csv_has_a_row_per_configuration_and_measure() -> None:
    findings = sample_findings()
    rows = table(findings)
    assert len(rows) == sum(max(1, len(row.measures)) for row in findings.configurations)
    assert all(len(row) == len(rows[0]) and None not in row for row in rows)


def test_csv_carries_the_keys_the_interval_the_labels_and_the_versions() -> None:
    row = next(
        row
        for row in table(sample_findings())
        if (row["part"], row["configuration"], row["measure"], row["per"])
        == ("full-speed", "otlp-lossless", "overhead", "invocation")
    )
    assert (float(row["ci95_low"]), float(row["estimate"]), float(row["ci95_high"])) == pytest.approx(
        (301.5 - 8.84, 301.5, 301.5 + 8.84)
    )
    assert row["labels"] == "indicative+not-settled"
    assert (row["version"], row["artifact_sha256"], row["deferred"]) == ("2.33.1", "b71e" * 16, "True")
    assert (row["rate"], row["depth"], row["unit"]) == ("full", "10", "ns")


def test_csv_keeps_a_configuration_without_a_result_with_its_verdict() -> None:
    row = next(row for row in table(sample_findings()) if row["configuration"] == "otlp-grpc")
    assert (row["verdicts"], row["measure"], row["estimate"]) == ("nothing-recorded", "", "")


def test_csv_tells_two_builds_apart() -> None:
    assert {row["build"] for row in table(with_builds(sample_findings()))} == {"", "old.jar", "new.jar"}


def test_markdown_is_a_table_with_its_machine_versions_sentence_band_and_blocks() -> None:
    text = export(sample_findings(), "markdown")
    assert "**At 1,000 calls/s, Kieker costs less than OpenTelemetry: CPU 0.56 against 1.2 µs" in text
    assert "| 1 | Kieker | binary TCP | 199.2 ± 2.6 | 147.2 ± 2.1 | 3.48 µs | 100 % |" in text
    assert "A/A band ± 0.6 ns per invocation; 5 blocks, indicative" in text
    assert "- Machine: AMD EPYC 9654 96-Core Processor, 2 cores, 23 GiB, Linux 6.18.2" in text
    assert "Kieker 2.0.2 (sha256 5f0c5f0c5f0c)" in text


@pytest.mark.parametrize("by", ["cpu", "overhead"])
def test_what_ranks_comes_first_and_is_marked_in_every_format(by: Any) -> None:
    findings = sample_findings()
    findings = replace(findings, experiment=replace(findings.experiment, rank_by=by))
    names = ["CPU per record, ns", "overhead per invocation, ns"]
    first, second = names if by == "cpu" else names[::-1]
    text = export(findings, "markdown")
    assert f"| configuration | {first}, ranked by this | {second} | p99" in text
    assert f"| binary TCP | {'199.2 ± 2.6 | 147.2 ± 2.1' if by == 'cpu' else '147.2 ± 2.1 | 199.2 ± 2.6'} |" in text
    rows = [row for row in table(findings) if row["rank"] and row["configuration"] == "binary-tcp"]
    assert [(row["measure"], row["per"]) for row in rows if row["ranks"] == "True"] == [
        (by, "record" if by == "cpu" else "invocation")
    ] * 2
    assert rows[0]["ranks"] == "True"


def test_markdown_has_what_a_choice_hangs_on_with_the_best_in_bold() -> None:
    text = export(sample_findings(), "markdown")
    assert "| | Kieker, binary TCP | OpenTelemetry, OTLP, as shipped |" in text
    assert "| CPU added, of a core (sets rank) | **✓ 0.558 ± 0.013 %** | 1.179 ± 0.023 % |" in text
    assert "| Records delivered at full speed | **✓ 100 %** | 2.0 % of 3.4 million/s |" in text


def test_every_row_of_the_markdown_has_as_many_cells_as_its_head() -> None:
    hostile = with_row(sample_findings(), agent_name="a|b", title="`x` | <b>y</b>", verdicts=(NOTHING_RECORDED,))
    lines = [line for line in export(hostile, "markdown").splitlines() if line.startswith("|")]
    wide = [line for line in lines if line.count("|") > 4]
    assert {line.replace("\\|", "").count("|") for line in wide} == {9}


def test_markdown_has_columns_for_builds_where_trials_build_their_program() -> None:
    text = export(with_building(sample_findings()), "markdown")
    assert "| records | added to the build | added to its CPU | |" in text
    assert "| 100 % | 400 ± 30 ms | 800 ± 30 ms |" in text
    assert "building the program takes 1.20 ± 0.03 s, 2.40 ± 0.03 s of CPU; A/A band" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines if line.count("|") > 4} == {11}
    assert "build" not in export(sample_findings(), "markdown")


def test_markdown_has_no_link_and_no_html() -> None:
    text = export(with_row(sample_findings(), title="<script> [x](https://example.org)"), "markdown")
    assert "\\<script\\>" in text
    assert "\\[x\\]" in text


def test_a_check_that_is_no_result_says_so_in_markdown() -> None:
    assert "No result" in export(sample_findings(result=False), "markdown")


@pytest.mark.parametrize("name", formats())
def test_every_format_takes_a_run_in_which_nothing_was_measured(name: str) -> None:
    findings = sample_findings()
    rows = tuple(replace(row, measures=(), verdicts=(NOTHING_RECORDED,), rank=None) for row in findings.configurations)
    text = export(replace(findings, configurations=rows, aa=()), name)
    wanted = {"csv": NOTHING_RECORDED.code, "lines": "slope", "markdown": NOTHING_RECORDED.text}[name]
    assert wanted in text.replace("\\", "")


def test_an_unknown_format_is_answered_with_those_there_are(tmp_path: Path) -> None:
    fake_run(tmp_path / "run", blocks=1)
    with pytest.raises(UserError, match="There are: csv, lines, markdown"):
        export_run(tmp_path / "run", "xml", None)


def test_an_export_writes_the_file_or_nothing_else_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_run(tmp_path / "run", blocks=1)
    findings = RunFolder(tmp_path / "run").findings
    assert export_run(tmp_path / "run", "csv", None) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (export(findings, "csv"), "")
    assert export_run(tmp_path / "run", "csv", tmp_path / "rows.csv") == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "rows.csv").read_text() == out


def test_an_export_into_no_folder_says_so(tmp_path: Path) -> None:
    fake_run(tmp_path / "run", blocks=1)
    with pytest.raises(UserError, match="there is no folder"):
        export_run(tmp_path / "run", "csv", tmp_path / "nowhere" / "rows.csv")


def test_an_export_that_cannot_be_written_says_why_and_not_that_the_run_is_at_fault(tmp_path: Path) -> None:
    fake_run(tmp_path / "run", blocks=1)
    (tmp_path / "rows.csv.part").mkdir()
    with pytest.raises(UserError, match=r"rows\.csv cannot be written: Is a directory"):
        export_run(tmp_path / "run", "csv", tmp_path / "rows.csv")


def test_the_command_exports_and_refuses_a_file_without_a_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_run(tmp_path / "run", blocks=1)
    assert report(tmp_path / "run", export="markdown") == 0
    assert capsys.readouterr().out.startswith("**What tracing costs on the JVM call tree**")
    with pytest.raises(UserError, match="--to goes with --export"):
        report(tmp_path / "run", to=tmp_path / "x.md")


def test_markdown_has_the_lines_over_depth() -> None:
    text = export(with_lines(sample_findings(samples=many_samples(2))), "markdown")
    assert "| agent | configuration | each further invocation | fixed | R² | |" in text
    assert "| OpenTelemetry | writer 0 | 300.0 ± 8.0 ns | 1.23 ± 0.03 µs | 0.9999 | bent, records missing |" in text


def test_lines_are_a_format_of_their_own_with_what_was_printed() -> None:
    findings = with_printed_lines(sample_findings(samples=many_samples(2)))
    first, second = csv.DictReader(io.StringIO(export(findings, "lines")))
    assert (first["cost"], first["slope"], first["intercept"], first["n_blocks"]) == (
        "service_time",
        "300.0",
        "1234.0",
        "5",
    )
    assert (first["values"], first["cut_at"], first["printed_slope"]) == ("10+20+30", "20+30", "")
    assert [second[f"printed_{name}"] for name in ("platform", "slope", "intercept", "r_squared", "source")] == [
        "a machine",
        "133.92",
        "13063.42",
        "0.9985",
        "Table 3, Fake: default",
    ]


def test_markdown_has_the_printed_line_below_ours() -> None:
    text = export(with_printed_lines(sample_findings(samples=many_samples(2))), "markdown")
    assert "| | as printed, a machine | 133.9 ns | 13.06 µs | 0.9985 | |" in text
    assert "calls cut by the agent at 20 and 30" in text


def test_markdown_has_the_columns_of_the_paper_on_throughput() -> None:
    findings = sample_findings()
    row = next(row for row in findings.configurations if row.configuration == "otlp-lossless")
    model = row.measures[0]
    values = {
        "throughput": 76_300.0,
        "throughput_q1": 74_700.0,
        "throughput_median": 76_250.4,
        "throughput_q3": 77_840.0,
    }
    measures = tuple(
        replace(
            model, name=name, unit="1/s", estimate=value, ci95=(76_000.0, 76_600.0) if name == "throughput" else None
        )
        for name, value in values.items()
    )
    rows = tuple(
        replace(one, measures=(*one.measures, *measures)) if one is row else one for one in findings.configurations
    )
    text = export(replace(findings, configurations=rows), "markdown")
    assert "| agent | configuration | mean | Q1 | median | Q3 |" in text
    assert f"| {row.title} | 76,300 ± 300 | 74,700 | 76,250 | 77,840 |" in text
    assert "Calls per second" not in export(findings, "markdown")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r@"])
def test_csv_holds_no_formula_and_numbers_stay_numbers(start: str) -> None:
    findings = with_row(sample_findings(), title=f"{start}HYPERLINK(1)")
    titles = {row["title"] for row in table(findings)}
    assert f"'{start.replace(chr(9), ' ').replace(chr(13), ' ')}HYPERLINK(1)" in titles
    assert any(float(row["ci95_low"]) < 0 for row in table(findings) if row["ci95_low"])


def test_exports_hold_no_control_characters_and_no_markup_of_others() -> None:
    title = "\x1b[2J\x9b1m[bold]a|b\n| c `d` <b>\u202e"
    findings = with_row(sample_findings(), title=title, agent_name="\x1b]0;x\x07=1")
    for name in ("csv", "markdown"):
        assert all(letter.isprintable() or letter == "\n" for letter in export(findings, name))
    assert "\\[bold\\]a\\|b \\| c \\`d\\` \\<b\\>" in export(findings, "markdown")
