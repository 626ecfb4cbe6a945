"""Text of foreign origin, made harmless to show: what an agent, a server or an archive says steers no terminal.

It is used where such text enters: quoted logs, names that came to the sink, a server's reason, entries of archives,
names of files. What is typed into a spreadsheet or a Markdown table needs more, which the exports do.
"""


def printable(text: str) -> str:
    """One line without control characters: each, a line's end too, becomes a space.

    Escape sequences begin with one. It is all that Unicode calls control, format, separator (but the space) or
    unassigned, such as marks that turn the direction of what follows.
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def printable_lines(text: str) -> str:
    """The same for several lines, which stay apart."""
    return "\n".join(map(printable, text.split("\n")))
