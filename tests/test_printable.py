"""Text of foreign origin steers no terminal, spreadsheet or table."""

import errno

from tracetax.errors import ExitCode, refused_by_system
from tracetax.printable import printable, printable_lines

HOSTILE = "\x1b]0;title\x07[bold]=1+1|a\n\u202eb"


def test_control_characters_become_spaces_and_letters_stay() -> None:
    assert printable(HOSTILE) == " ]0;title [bold]=1+1|a  b"
    assert printable("µs – Größe 中 😀") == "µs – Größe 中 😀"
    assert printable_lines("a\x1b\nb\r\n") == "a \nb \n"


def test_a_name_that_is_too_long_is_a_sentence_with_the_way_out() -> None:
    refusal = refused_by_system(OSError(errno.ENAMETOOLONG, "File name too long", "x" * 300))
    assert str(refusal) == f"A name is too long for this file system: {'x' * 100}…\nGive a shorter one."
    assert refusal.exit_code == ExitCode.USAGE
    assert refused_by_system(OSError(errno.EIO, "broken")).exit_code == ExitCode.ENVIRONMENT
