"""Reports as documents: one HTML page, or LaTeX tables to be put into a paper."""

from __future__ import annotations

from html import escape

from metricpact.render.draw import cells
from metricpact.render.report import Report, Table

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#111;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem;text-align:left;white-space:pre-wrap}"
    "thead th{border-bottom:1px solid}.n{text-align:right;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-weight:600;white-space:pre-wrap}"
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {sign: f"\\{sign}" for sign in "&%$#_"}


def html_page(report: Report, places: int) -> str:
    """A page of its own, without a script and without anything from elsewhere."""
    body = [_html_table(table, places) for table in report.tables]
    body += [f"<p><code>{escape(line)}</code></p>" for line in report.lines]
    head = f'<meta charset="utf-8"><title>metricpact</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(body) + "\n</body></html>\n"


def latex_tables(report: Report, places: int) -> str:
    r"""A ``tabular`` a table, with the rules of the package booktabs, for an engine that reads UTF-8."""
    notes = "\n".join(f"% {line}" for text in report.lines for line in text.splitlines())
    tables = [_latex_table(table, places) for table in report.tables]
    return "\n\n".join(["% \\usepackage{booktabs}", *tables, notes]).rstrip() + "\n"


def _numeric(table: Table) -> list[bool]:
    return [dtype.is_numeric() for dtype in table.frame.schema.values()]


def _html_table(table: Table, places: int) -> str:
    kinds = [' class="n"' if numeric else "" for numeric in _numeric(table)]

    def row(tag: str, texts: list[str]) -> str:
        filled = (f"<{tag}{kind}>{escape(text)}</{tag}>" for kind, text in zip(kinds, texts, strict=True))
        return f"<tr>{''.join(filled)}</tr>"

    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    rows = "\n".join(row("td", texts) for texts in cells(table, places))
    return f"<table>{title}\n<thead>{row('th', table.frame.columns)}</thead>\n<tbody>\n{rows}\n</tbody></table>"


def _latex_table(table: Table, places: int) -> str:
    columns = "".join("r" if numeric else "l" for numeric in _numeric(table))

    def row(texts: list[str]) -> str:
        return " & ".join(_in_latex(text.replace("\n", " ")) for text in texts) + r" \\"

    title = [f"% {line}" for line in table.title.splitlines()]
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", row(table.frame.columns), r"\midrule"]
    rows = [row(texts) for texts in cells(table, places)]
    return "\n".join([*title, *head, *rows, r"\bottomrule", r"\end{tabular}"])


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
