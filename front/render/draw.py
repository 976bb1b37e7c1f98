"""Tables as people read them: drawn for a terminal, or as Markdown."""

from __future__ import annotations

import io

from metricpact.render.report import Table


def draw(table: Table, places: int = 4, *, terminal: bool = False) -> str:
    """A table in plain characters; ``terminal`` folds it to the width of the terminal and may style it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    held = io.StringIO()
    # Without a terminal nothing is folded to a width: what reads it may be a file, or a wide page.
    console = Console(file=held, width=None if terminal else 1_000, force_terminal=terminal, highlight=False)
    if table.title:
        console.print(Text(table.title))
    drawn = RichTable(box=box.SIMPLE_HEAD)
    for name, dtype in table.frame.schema.items():
        drawn.add_column(Text(name), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in cells(table, places):
        drawn.add_row(*(Text(cell) for cell in row))
    console.print(drawn)
    return "\n".join(line.rstrip() for line in held.getvalue().splitlines()) + "\n"


def draw_markdown(table: Table, places: int = 4) -> str:
    """A table in Markdown, its title as a heading."""
    schema = table.frame.schema
    lines = [f"### {_escaped(table.title)}", ""] if table.title else []
    lines.append("| " + " | ".join(_escaped(name) for name in schema) + " |")
    lines.append("|" + "|".join("---:" if dtype.is_numeric() else "---" for dtype in schema.values()) + "|")
    lines += ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in cells(table, places)]
    return "\n".join(lines)


def cells(table: Table, places: int) -> list[list[str]]:
    """The cells as text: floats at some number of decimals, null as undefined."""

    def show(value: object) -> str:
        if value is None:
            return "undefined"
        return f"{value:.{places}f}" if isinstance(value, float) else str(value)

    return [[show(value) for value in row] for row in table.frame.iter_rows()]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
