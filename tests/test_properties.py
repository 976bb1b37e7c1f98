"""What must not change a score, tried on generated inputs: the order of measures and queries, names that keep
their order, documents below the cut, a second call; and contracts that go to text and come back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import metricpact as mp
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from metricpact.bridges.registry import get_bridge, installed_backends
from metricpact.contracts.contract import FIELDS, Contract
from metricpact.contracts.errors import MetricpactError
from metricpact.contracts.measures import Measure, parse_measure
from metricpact.contracts.profiles import load_profile
from metricpact.contracts.signature import parse_signature, sign
from metricpact.contracts.tables import Judgments, Run

BACKENDS = tuple(installed_backends())
Qrels = dict[str, dict[str, int]]
Returned = dict[str, dict[str, float]]

# The same examples on every machine and every run, so that a red build stays red until it is mended.
# A backend that has one measure refuses most contracts, and those examples are left out.
steady = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.filter_too_much],
)

DOCUMENTS = ["a", "B", "10", "9", "é", "ﬀ", "😀", "d1"]
QUERIES = ["q1", "q2", "q10", "007"]
CUT = ("P", "R", "RR", "AP", "nDCG", "DCG", "Success", "Judged")
UNCUT = ("R", "RR", "AP", "nDCG", "DCG", "IDCG", "Judged", "Rprec", "SetP", "SetR", "SetF", "Bpref")
NAMES = [
    *(f"{family}@{k}" for family in CUT for k in (1, 3)),
    *UNCUT,
    "P(rel=2)@2",
    "nDCG(dcg='log2')@3",
]
TABLES: list[dict[float, float]] = [{1: 1, 2: 5}, {0: 0, 1: 0.5, 2: 1.5}, {3: 0, 1: 2}]

grades = st.integers(0, 3)
scores = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-9, 2.0, -3.5, 1e300, 16777216.0, 16777217.0])
qrels_of = st.dictionaries(st.sampled_from(QUERIES), st.dictionaries(st.sampled_from(DOCUMENTS), grades), min_size=1)
runs_of = st.dictionaries(st.sampled_from(QUERIES), st.dictionaries(st.sampled_from(DOCUMENTS), scores), min_size=1)


def contracts(**fixed: Any) -> st.SearchStrategy[Contract]:
    """Any contract; `fixed` gives the values that single fields may take."""
    free: dict[str, list[Any]] = {
        "threshold": [0, 1, 2, 3],
        "gain": list(TABLES),
        "queries": [("q1",), ("q2", "007"), ("q10", "q1", "q2")],
    }
    fields = {
        name: st.sampled_from(fixed.get(name, [*known.values, *free.get(name, [])])) for name, known in FIELDS.items()
    }
    return st.fixed_dictionaries(fields).map(lambda values: Contract().replace(**values))


# Contracts that take whatever the two strategies above give.
tolerant = contracts(
    order=["score", "given"],
    ties=["given", "docid_desc", "docid_asc", "average"],
    queries=["judged", "answered"],
    extra_query=["ignore", "zero"],
)


def _names(contract: Contract, backend: str, among: Sequence[str] = NAMES) -> list[str]:
    bridge = get_bridge(backend)
    return [name for name in among if not hasattr(bridge.plan(parse_measure(name), contract), "reason")]


def _all(scored: Any, names: Sequence[str]) -> dict[str, Any]:
    """Everything that a scores object says of some measures, in plain values."""
    means = scored.mean
    parts = ("value", "n", "undefined", "missing", "extra", "judged_fraction")
    return {
        name: (
            dict(scored.by_query(name)),
            dict(scored.reasons(name)),
            dict(scored.judged_fraction(name)),
            {part: getattr(means[name], part) for part in parts},
        )
        for name in names
    }


def _score(
    qrels: Any, run: Any, contract: Contract, backend: str, names: Sequence[str] | None = None
) -> dict[str, Any]:
    asked = _names(contract, backend) if names is None else list(names)
    assume(asked)
    return _all(mp.score(qrels, run, asked, contract=contract, backend=backend), asked)


def _share(qrels: Qrels, run: Returned) -> bool:
    return bool(set(qrels) & set(run))


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(qrels=qrels_of, run=runs_of, contract=tolerant, data=st.data())
def test_the_order_of_measures_changes_nothing(
    backend: str, qrels: Qrels, run: Returned, contract: Contract, data: st.DataObject
) -> None:
    """Measures asked for together, in any order, or one at a time have the same values."""
    assume(_share(qrels, run))
    together = _score(qrels, run, contract, backend)
    shuffled = data.draw(st.permutations(list(together)))
    assert _score(qrels, run, contract, backend, shuffled) == together
    alone = shuffled[0]
    assert _score(qrels, run, contract, backend, [alone]) == {alone: together[alone]}


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(qrels=qrels_of, run=runs_of, contract=tolerant, data=st.data())
def test_the_order_of_queries_and_judgments_changes_nothing(
    backend: str, qrels: Qrels, run: Returned, contract: Contract, data: st.DataObject
) -> None:
    """Queries in another order on either side, and judgments in another order within a query."""
    assume(_share(qrels, run))
    judged = data.draw(st.permutations(list(qrels)))
    moved = {query: dict(data.draw(st.permutations(list(qrels[query].items())))) for query in judged}
    returned = {query: run[query] for query in data.draw(st.permutations(list(run)))}
    assert _score(moved, returned, contract, backend) == _score(qrels, run, contract, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(qrels=qrels_of, run=runs_of, contract=tolerant)
def test_names_that_keep_their_order_change_nothing(
    backend: str, qrels: Qrels, run: Returned, contract: Contract
) -> None:
    """A prefix on every document id leaves their byte order, and so every score."""
    assume(_share(qrels, run))
    judged, returned = (
        {query: {f"http://x/{doc}": number for doc, number in docs.items()} for query, docs in side.items()}
        for side in (qrels, run)
    )
    assert _score(judged, returned, contract, backend) == _score(qrels, run, contract, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(
    qrels=qrels_of,
    run=runs_of,
    contract=contracts(
        order=["score"],
        ties=["given", "docid_desc", "docid_asc", "average"],
        ideal=["judgments"],
        unjudged=["zero"],
        queries=["judged", "answered"],
        extra_query=["ignore", "zero"],
    ),
    cutoff=st.integers(1, 3),
    below=st.lists(st.sampled_from(DOCUMENTS), unique=True),
)
def test_documents_below_the_cut_change_nothing(
    *, backend: str, qrels: Qrels, run: Returned, contract: Contract, cutoff: int, below: list[str]
) -> None:
    """Where the prefix is full already, measures with a cutoff do not see what comes after it.

    Left out are contracts that look past the cut on purpose: an ideal from the returned documents, and
    condensed lists, which move later documents up.
    """
    assume(_share(qrels, run))
    names = _names(contract, backend, [f"{family}@{cutoff}" for family in (*CUT, "IDCG")])
    longer = {
        query: docs | {doc: -1e6 - at for at, doc in enumerate(below) if doc not in docs}
        if len(docs) >= cutoff
        else docs
        for query, docs in run.items()
    }
    assume(longer != run)
    assert _score(qrels, longer, contract, backend, names) == _score(qrels, run, contract, backend, names)


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(qrels=qrels_of, run=runs_of, contract=tolerant)
def test_a_second_call_finds_the_inputs_as_they_were(
    backend: str, qrels: Qrels, run: Returned, contract: Contract
) -> None:
    """Scoring leaves dicts and tables untouched, in order too, and says the same again."""
    assume(_share(qrels, run))
    before = copy.deepcopy((qrels, run))
    first = _score(qrels, run, contract, backend)
    assert _score(qrels, run, contract, backend) == first
    assert [[*side, *map(list, side.values())] for side in (qrels, run)] == [
        [*side, *map(list, side.values())] for side in before
    ]
    assert (qrels, run) == before

    judgments = Judgments.from_columns(*_columns(qrels), empty=[query for query, docs in qrels.items() if not docs])
    returned = Run.from_columns(*_columns(run), empty=[query for query, docs in run.items() if not docs])
    tables = judgments.to_polars().clone(), returned.to_polars().clone()
    assert _score(judgments, returned, contract, backend) == first
    assert _score(judgments, returned, contract, backend) == first
    assert judgments.to_polars().equals(tables[0])
    assert returned.to_polars().equals(tables[1])


def _columns(nested: Mapping[str, Mapping[str, float]]) -> list[list[Any]]:
    rows = [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], []]


@pytest.mark.parametrize("backend", BACKENDS)
@steady
@given(qrels=qrels_of, run=runs_of, contract=tolerant)
def test_a_value_is_a_fraction_or_has_a_reason(backend: str, qrels: Qrels, run: Returned, contract: Contract) -> None:
    """Never NaN: a normalised measure lies in 0…1, an undefined one says why, a mean counts its queries."""
    assume(_share(qrels, run))
    names = [name for name in _names(contract, backend) if not name.startswith(("DCG", "IDCG"))]
    assume(names)
    scored = mp.score(qrels, run, names, contract=contract, backend=backend)
    for name in names:
        values, reasons = scored.by_query(name), scored.reasons(name)
        assert set(values) == set(qrels)
        for query, value in values.items():
            assert (value is None) == (reasons[query] is not None)
            assert value is None or 0 <= value <= 1 + 1e-12
        mean = scored.mean[name]
        scope = set(qrels) if contract.queries == "judged" else set(qrels) & set(run)
        added = len(set(run) - set(qrels)) if contract.extra_query == "zero" else 0
        assert mean.n == sum(values[query] is not None for query in scope) + added
        assert mean.undefined == sum(values[query] is None for query in scope)
        assert (mean.value is None) == (mean.n == 0)
        assert (mean.missing, mean.extra) == (len(set(qrels) - set(run)), len(set(run) - set(qrels)))


# ---------------------------------------------------------------- contracts, measures and signatures as text

any_contract = contracts()
any_measure = st.one_of(
    st.builds(lambda family, k: f"{family}@{k}", st.sampled_from(CUT), st.integers(1, 2000)),
    st.sampled_from(UNCUT),
    st.builds(lambda family, rel: f"{family}(rel={rel})@7", st.sampled_from(("P", "R", "AP")), st.integers(1, 9)),
    st.builds(lambda beta: f"SetF(beta={beta!r})", st.floats(0.001, 1000)),
    st.sampled_from(("nDCG(dcg='exp-log2')@10", "DCG(gains={0:0,1:0.5,2:3})", "SetF(rel=2,beta=0.5)")),
)


@steady
@given(contract=any_contract, order=st.randoms(use_true_random=False))
def test_equal_contracts_are_one(contract: Contract, order: Any) -> None:
    """With the entries of tables and lists in another order, a contract is equal and hashes equal."""
    said: dict[str, Any] = contract.fields()
    for name in ("gain", "queries"):
        if not isinstance(said[name], str):
            entries = list(said[name])
            order.shuffle(entries)
            said[name] = dict(entries) if name == "gain" else entries
    again = Contract(**said)
    assert again == contract
    assert (hash(again), again.digest(), again.diff(contract)) == (hash(contract), contract.digest(), {})


@steady
@given(one=any_contract, other=any_contract)
def test_unequal_contracts_say_where(one: Contract, other: Contract) -> None:
    """`diff` names exactly the fields that make the two unequal, and applying it makes them equal."""
    differ = one.diff(other)
    assert (differ == {}) == (one == other)
    assert (one.digest() == other.digest()) == (one == other)
    assert one.replace(**{name: theirs for name, (_, theirs) in differ.items()}) == other


@steady
@given(contract=any_contract)
def test_a_contract_comes_back_from_toml(contract: Contract, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Written to TOML and read again, every field is what it was."""
    path: Path = tmp_path_factory.mktemp("contract") / "ours.toml"
    path.write_text(contract.to_toml(), encoding="utf-8")
    assert Contract.from_toml(path) == contract


@steady
@given(name=any_measure)
def test_a_measure_comes_back_from_its_name(name: str) -> None:
    """The canonical name of a measure means this measure."""
    measure = parse_measure(name)
    assert parse_measure(str(measure)) == measure


@steady
@given(name=any_measure, contract=any_contract)
def test_a_signature_comes_back_and_knows_its_contract(name: str, contract: Contract) -> None:
    """A signature reads back equal, and gives the contract of the measure; hashed values have to be told."""
    measure: Measure = parse_measure(name)
    signature = sign(measure, load_profile(contract), ("metricpact:0.1.0", "numpy:2"))
    again = parse_signature(str(signature))
    assert (again, str(again)) == (signature, str(signature))
    hashed: dict[str, Any] = {}
    for field in ("gain", "queries"):
        if not isinstance(getattr(contract, field), str):
            hashed[field] = getattr(contract, field)
    assert again.contract(hashed) == measure.apply(contract)


def _refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except MetricpactError:
        return True
    return False


@pytest.mark.parametrize("field", ["gain", "queries"])
def test_a_hash_is_not_a_value(field: str) -> None:
    """A signature with a hashed table or list gives no contract until the very value behind it is told."""
    values: dict[str, list[Any]] = {"gain": [{1: 1, 2: 5}, {1: 1, 2: 4}], "queries": [("a", "b"), ("a",)]}
    right, wrong = values[field]
    contract = Contract().replace(**{field: right})
    signature = parse_signature(str(sign(parse_measure("RR@10"), load_profile(contract), ())))
    assert _refused(signature.contract)
    assert _refused(lambda: signature.contract({field: wrong}))
    assert signature.contract({field: right}) == contract
