"""What ``metricpact explain`` prints of a data set: what its grades mean, and where they run against a contract."""

from __future__ import annotations


def explain_dataset(name: str) -> str:
    """The grades of a data set as text; raises ``InputError`` for an id that ir_datasets does not know."""
    from metricpact.bridges.sources.ir_datasets_source import grade_labels, notes_on_labels

    labels = grade_labels(name)
    lines = [f"{name}: a data set of ir_datasets", ""]
    lines += [f"  grade {grade:>3}  {text}" for grade, text in labels.items()] or [
        "  it does not say what its grades mean"
    ]
    notes = notes_on_labels(name, labels)
    return "\n".join([*lines, *([""] if notes else []), *(f"note: {note}" for note in notes), ""])
