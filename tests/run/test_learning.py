"""What is learned of the records of single requests, in words and numbers."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration, experiment, fake_equipment, new_run
from tracetax.agent import Agent, Instrumentations
from tracetax.catalog import every_agent
from tracetax.cli import ROOT
from tracetax.errors import UserError
from tracetax.kinds import declaration_of
from tracetax.kinds.requests import RequestParameters, Weighted, records_of
from tracetax.model import Use
from tracetax.results.folder import RunFolder
from tracetax.results.records import SingleCalls, TrialRecord, Verdict
from tracetax.run.equipment import Equipment
from tracetax.run.learning import LearnedExperiment, learn, told
from tracetax.run.plan import TrialPlan
from tracetax.service import OwnService

PARAMETERS = RequestParameters(calls=600, rate=100.0, mix=(Weighted("db", 2), Weighted("json", 1)), learned=())


def learned(*singles: SingleCalls) -> tuple[dict[str, int], str]:
    return told(replace(record(1), singles=singles), "request")


def test_as_many_records_of_each_request_are_a_number() -> None:
    known, text = learned(SingleCalls("db", 10, 30), SingleCalls("json", 10, 10))
    assert known == {"db": 3, "json": 1}
    assert text == "3 records of a request to db, 1 record of a request to json"


def test_where_they_vary_that_is_said_and_nothing_is_expected() -> None:
    known, text = learned(SingleCalls("db", 10, 31), SingleCalls("json", 10, 10))
    assert known == {"json": 1}
    assert "31 records of 10 requests to db: their number varies" in text


def test_where_none_come_the_framework_is_asked_about() -> None:
    known, text = learned(SingleCalls("db", 10, 0), SingleCalls("json", 10, 0))
    assert not known
    assert text.startswith("no spans arrived of 20 requests. Is the service's framework instrumented?")


def test_where_none_come_the_configuration_that_may_see_more_is_named() -> None:
    other = replace(configuration("lossy"), name="modules", title="with its loader")
    none = replace(record(1), singles=(SingleCalls("db", 10, 0),))
    assert "--configuration modules (with its loader). What the agent costs" in told(none, "request", other)[1]
    some = replace(none, singles=(SingleCalls("db", 10, 10),))
    assert "--configuration" not in told(some, "request", other)[1]


def test_what_was_learned_is_expected_of_that_configuration_alone() -> None:
    one, other = configuration("lossy"), configuration("complete")
    kind = declaration_of(PARAMETERS)
    parameters = kind.with_learned(PARAMETERS, [(one, {"db": 3, "json": 1})])
    assert records_of(parameters, one, "db") == 3
    assert records_of(parameters, other, "db") is None
    assert kind.records_made(parameters, one, 600) == 400 * 3 + 200 * 1
    assert kind.is_learned(parameters)


def test_what_an_agents_file_declares_of_a_like_endpoint_is_not_taken() -> None:
    declared = replace(configuration("lossy"), records_per_call={"db": None})
    assert records_of(PARAMETERS, declared, "db") is None


SWITCHES = Instrumentations(r"lib-(\w+)", "A_{NAME}_ENABLED", "false")
WHOLE = configuration("lossy")
OFF = {
    "lossy": {"lib-http": 10, "lib-fs": 20, "own": 5},
    "lossy-without-http": {},  # what is below it is silenced
    "lossy-without-fs": {"lib-http": 10, "lib-net": 25},  # another takes over: as many records
}
"""What is stood in for: the records of ten requests by their scopes, by configuration."""


class Asked:
    """Learns of a service whose trials are stood in for; what was said of it is kept."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, each: bool = True, fails: str = "") -> None:
        self.fails, self.said, self.tried = fails, list[str](), list[str]()
        monkeypatch.setattr("tracetax.run.learning.run_trial", self._trial)
        service = OwnService(("shop",), "/", "java", "", {}, {}, "/", 1, each_instrumentation=each)
        what = experiment(WHOLE)
        part = replace(what.parts[0], parameters=PARAMETERS)
        self.what = replace(what, parts=(part,), service=service)
        self.equipment = fake_equipment(folder / "sink", WHOLE)
        fake = replace(self.equipment.agents["fake"], instrumentations=SWITCHES)
        self.equipment = replace(self.equipment, agents=self.equipment.agents | {"fake": fake})
        self.run = new_run(folder / "run", self.what, WHOLE)

    def _trial(self, plan: TrialPlan, equipment: Equipment, folder: RunFolder, watch: object) -> TrialRecord:
        name = plan.config.name
        assert equipment.configuration("fake", name) == plan.config
        self.tried.append(name)
        if name == self.fails:
            failed = record(1, status="failed")
            return replace(failed, verdicts=(*failed.verdicts, Verdict("hangs", "error", "it hangs")))
        scopes = OFF[name]
        return replace(record(1), singles=(SingleCalls("db", 10, sum(scopes.values()), scopes),))

    def learned(self) -> LearnedExperiment:
        return learn(self.what, self.equipment, self.run, lambda _: None, self.said.append)


def test_each_instrumentation_that_made_a_record_is_switched_off_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(tmp_path, monkeypatch)
    found = asked.learned()
    assert asked.tried == ["lossy", "lossy-without-fs", "lossy-without-http"]
    assert found.experiment.parts[0].uses == (Use("fake", "lossy"), Use("fake", "lossy-without-http"))
    assert "Fake: nobody knows the switch of own." in asked.said
    assert "Fake (lossy, without fs) is left out: it makes as many records." in asked.said
    assert "Fake (lossy, without http): no record is left" in asked.said
    off = found.agents(asked.equipment.agents)["fake"].configurations["lossy-without-http"]
    assert off.environment == {"A_HTTP_ENABLED": "false"}
    assert off.without == "http"
    parameters = found.experiment.parts[0].parameters
    assert isinstance(parameters, RequestParameters)
    assert [records_of(parameters, config, "db") for config in (WHOLE, off)] == [None, 0]  # 35 records of 10 vary


def test_without_that_wish_there_is_one_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(tmp_path, monkeypatch, each=False)
    assert asked.learned().switched == ()
    assert asked.tried == ["lossy"]


def test_what_fails_without_an_instrumentation_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(tmp_path, monkeypatch, fails="lossy-without-http")
    assert asked.learned().experiment.parts[0].uses == (Use("fake", "lossy"),)
    assert "Fake (lossy, without http) is left out: it hangs" in asked.said
    with pytest.raises(UserError, match="Nothing is left to be measured"):
        Asked(tmp_path / "other", monkeypatch, fails="lossy").learned()


def test_a_search_that_goes_on_learns_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(tmp_path, monkeypatch)
    first = asked.learned()
    asked.what = first.experiment
    asked.equipment = replace(asked.equipment, agents=first.agents(asked.equipment.agents))
    again = asked.learned()
    assert again.experiment.parts[0].uses == first.experiment.parts[0].uses


def test_a_switch_joins_those_that_are_set() -> None:
    listed = Instrumentations(r"@o/(.+)", "DISABLED", "{name}")
    assert listed.switch("express", {"DISABLED": "fs", "B": "1"}) == {"DISABLED": "fs,express", "B": "1"}
    assert listed.switch("express", {}) == {"DISABLED": "express"}
    assert SWITCHES.switch("spring-web", {}) == {"A_SPRING_WEB_ENABLED": "false"}
    assert (listed.named("@o/express"), listed.named("express")) == ("express", "")


@pytest.mark.parametrize(
    ("language", "scope", "name"),
    [
        ("java", "io.opentelemetry.tomcat-10.0", "tomcat"),
        ("java", "io.opentelemetry.spring-webmvc-6.0", "spring-webmvc"),
        ("java", "io.opentelemetry.jdbc", "jdbc"),
        ("java", "com.example.own", ""),
        ("node", "@opentelemetry/instrumentation-express", "express"),
        ("python", "opentelemetry.instrumentation.flask", "flask"),
    ],
)
def test_an_agents_file_says_which_instrumentation_a_scope_is_of(language: str, scope: str, name: str) -> None:
    agent: Agent = every_agent(ROOT).of(language, "requests").agents["opentelemetry"]
    assert agent.instrumentations
    assert agent.instrumentations.named(scope) == name
