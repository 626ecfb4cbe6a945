"""What is learned of the records of single requests, in words and numbers."""

from msgspec.structs import replace

from tests.results.trials import record
from tests.run.stand_ins import configuration
from tracetax.kinds import declaration_of
from tracetax.kinds.requests import RequestParameters, Weighted, records_of
from tracetax.results.records import SingleCalls
from tracetax.run.learning import told

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
