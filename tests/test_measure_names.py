"""Measure names: every accepted spelling means one measure, and everything else is refused with help."""

from __future__ import annotations

import pytest
from metricpact.contracts.errors import MeasureError
from metricpact.contracts.families import FAMILIES
from metricpact.contracts.measures import Measure, parse_measure, parse_measures

SPELLINGS = {
    "nDCG@10": ["nDCG@10", "ndcg@10", "NDCG@10", "ndcg_cut_10", "ndcg_cut.10", "ndcg_at_10", " nDCG@10 ", "nDCG()@10"],
    "nDCG(dcg='exp-log2')@10": ["ndcg_burges@10", "nDCG(dcg='exp-log2')@10", "nDCG(gain='exponential')@10"],
    "nDCG(dcg='log2')@10": ["nDCG(dcg='log2')@10", 'nDCG(gain="linear")@10'],
    "nDCG(gains={0:0,1:1,2:3})@10": ["nDCG(gains={0:0,1:1,2:3})@10", "nDCG(gains={2: 3.0, 1: 1, 0: 0})@10"],
    "nDCG": ["nDCG", "ndcg"],
    "P@5": ["P@5", "P_5", "P.5", "precision@5", "Precision@5", "precision_at_5", "p@5"],
    "P(rel=2)@5": ["P(rel=2)@5", "precision(rel=2)@5"],
    "RR": ["RR", "recip_rank", "mrr", "MRR"],
    "RR@10": ["RR@10", "mrr@10", "MRR@10", "mrr_at_10", "RR@010"],
    "AP": ["AP", "map", "MAP"],
    "AP@100": ["AP@100", "map_cut_100", "map@100", "map_at_100", "map_cut.100"],
    "R@100": ["R@100", "recall_100", "recall@100", "Recall@100", "recall_at_100"],
    "R": ["R"],
    "Success@1": ["Success@1", "success_1", "hit_rate@1", "success@1"],
    "Rprec": ["Rprec", "rprec", "r-precision"],
    "Bpref": ["Bpref", "bpref"],
    "SetP": ["SetP", "set_P"],
    "SetR": ["SetR", "set_recall"],
    "SetF": ["SetF", "set_F", "SetF(beta=1)", "SetF(beta=1.0)"],
    "SetF(beta=0.5)": ["SetF(beta=0.5)", "SetF(beta=.5)"],
    "Judged@10": ["Judged@10", "judged@10"],
    "DCG@3": ["DCG@3", "dcg@3"],
    "IDCG@3": ["IDCG@3"],
}


@pytest.mark.parametrize(
    ("canonical", "spelling"), [(name, text) for name, texts in SPELLINGS.items() for text in texts]
)
def test_every_spelling_means_one_measure(canonical: str, spelling: str) -> None:
    """A spelling parses to a measure that prints canonically, and the canonical name parses to the same."""
    assert str(parse_measure(spelling)) == canonical
    assert parse_measure(canonical) == parse_measure(spelling)


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("Accuracy@1", "Success@1"),
        ("hits@5", "R@5"),
        ("Recall", "SetR"),
        ("recall", "R@10"),
        ("F1", "SetF"),
        ("recip_rank_10", "RR@10"),
        ("map_10", "AP@10"),
        ("ndcg_10", "nDCG@10"),
        ("hole@10", "Judged@10"),
        ("context_precision", "AP@10"),
    ],
)
def test_ambiguous_names_are_refused_with_the_choices(name: str, choice: str) -> None:
    """Names under which tools compute different things are not guessed."""
    with pytest.raises(MeasureError, match="ambiguous") as caught:
        parse_measure(name)
    assert choice in caught.value.hint


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ndgc@10", "nDCG@10"),
        ("Sucess@1", "Success@1"),
        ("recal@5", "R@5"),
        ("bperf", "Bpref"),
        ("ndcg_cutt_10", "nDCG@10"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(name: str, nearest: str) -> None:
    """A misspelt measure is told what was probably meant."""
    with pytest.raises(MeasureError, match="is not a measure") as caught:
        parse_measure(name)
    assert nearest in caught.value.hint


@pytest.mark.parametrize(
    "name",
    ["P", "P@0", "P@-1", "P@1.5", "P@true", "P@", "P@5junk", "P_5junk", "P_0", "P@1e3", "nDCG@99999999999", "Rprec@5",
     "Bpref@10", "SetF@3", "Success", "nDCG(rel=2)@10", "P(beta=2)@5", "P(rel=-1)@5", "P(rel=1.5)@5", "P(rel=True)@5",
     "P(2)@5", "P(rel=2,rel=3)@5", "P(rel=@5", "nDCG(gains={0:1})@5", "nDCG(gains={1:-1})", "nDCG(gains=3)",
     "nDCG(dcg='cubic')", "nDCG(dcg=[1])", "nDCG(gains={1:1},dcg='log2')", "ndcg_burges(dcg='log2')@5", "SetF(beta=0)",
     "SetF(beta=-1)", "SetF(beta=True)", "SetF(beta=1e999)", "", "@10", "()", "nDCG(__import__('os'))", "f" * 5000,
     "nDCG(gains={1:" + "(" * 500 + ")})"],
)  # fmt: skip
def test_what_is_no_measure_is_refused(name: str) -> None:
    """Wrong cutoffs, parameters and rubbish raise an error with a hint, whatever they hold."""
    with pytest.raises(MeasureError) as caught:
        parse_measure(name)
    assert caught.value.hint


@pytest.mark.parametrize("cutoff", [0, -1, True, False, 1.5, "3", 2**31])
def test_a_measure_made_in_python_is_checked_too(cutoff: object) -> None:
    """Booleans are not cutoffs, nor is anything but an integer of 1 or more."""
    with pytest.raises(MeasureError):
        Measure("P", cutoff)  # type: ignore[arg-type] # that is what is tested


def test_measures_asked_twice_are_scored_once() -> None:
    """Two spellings of one measure are one measure, at its first place."""
    assert [str(measure) for measure in parse_measures(["nDCG@10", "P@5", "ndcg_cut_10"])] == ["nDCG@10", "P@5"]
    with pytest.raises(MeasureError):
        parse_measures([3])  # type: ignore[list-item] # that is what is tested


def test_every_family_is_documented() -> None:
    """What explain prints is there for every family."""
    for family in FAMILIES.values():
        assert all(
            (family.formula, family.denominator, family.question, family.cannot, family.undefined, family.source)
        )
