"""Before the measured calls, the compilers are waited for: until they rest, and not for ever."""

from collections.abc import Callable, Iterable

from tracetax.machine.threads import Work
from tracetax.run.rest import QUIET_SECONDS, await_rest

MS = 1_000_000


def looks(*found: Work, then: Iterable[Work] = ()) -> Callable[[int], Work]:
    """What is seen at each look; the last goes on, unless there is more."""
    left, more = list(found), iter(then)

    def look(_: int) -> Work:
        return left.pop(0) if len(left) > 1 else next(more, left[0])

    return look


def test_compilers_that_rest_are_waited_for_only_to_be_sure() -> None:
    rest = await_rest(0, 5.0, looks(Work(7 * MS, wanted=False)))
    assert (rest.reached, rest.compiling_ns) == (True, 0)
    assert rest.waited_ns >= QUIET_SECONDS * 1e9


def test_the_queue_is_worked_off_first_also_where_others_have_the_cores() -> None:
    waiting = [Work(10 * MS, wanted=True)] * 20
    rest = await_rest(0, 5.0, looks(Work(10 * MS, wanted=True), *waiting, Work(35 * MS, wanted=False)))
    assert (rest.reached, rest.compiling_ns) == (True, 25 * MS)
    assert rest.waited_ns >= len(waiting) * 4 * MS + QUIET_SECONDS * 1e9


def test_compilers_that_never_rest_are_not_waited_for_for_ever() -> None:
    endless = (Work(used * MS, wanted=False) for used in range(10_000))
    rest = await_rest(0, 0.1, looks(Work(0, wanted=False), then=endless))
    assert not rest.reached
    assert rest.waited_ns >= 0.1e9
