"""Holding a tool's own numbers against the profile that claims to say what it does: inputs, outcomes, differences.

An input is inside a profile's stated domain, or is one that tool and contract both have to refuse. Inputs are random
and seeded; they hold exact ties and ties in single precision only, rank columns that contradict the scores, listings
in no order, unjudged documents, negative grades, queries without anything relevant, queries on one side only, and
documents whose id is the query's, as far as the domain admits each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

import polars as pl
from metricpact.bridges.evaluate import evaluate
from metricpact.bridges.observed import registry
from metricpact.bridges.observed.tool import Native
from metricpact.bridges.plan import matters
from metricpact.contracts.contract import FIELDS
from metricpact.contracts.errors import InputError, MetricpactError, UnsupportedError
from metricpact.contracts.measures import parse_measure
from metricpact.contracts.profiles import Profile, load_profile
from metricpact.contracts.tables import Judgments, Run

EXACT = 1e-9
SMALL = 200
"""From more queries on, a tool that gives means only is asked for each query by itself as well."""
POOL = ["a", "B", "c", "É", "e1", "10", "9", "Zz", "x-1", "x_2", "w", "v", "U", "é", "t5", "z"]
MEASURES = [
    "P@1", "P@3", "P@20", "P(rel=2)@3", "R@1", "R@3", "R@20", "R", "RR", "RR@1", "RR@3", "RR@20", "RR(rel=2)@3",
    "AP@1", "AP@3", "AP@20", "AP", "nDCG@1", "nDCG@3", "nDCG@20", "nDCG", "nDCG(dcg='exp-log2')@3",
    "nDCG(gains={1:1,2:5})@3", "DCG@3", "DCG", "Success@1", "Success@3", "Success@20", "Rprec", "SetP", "SetR",
    "SetF", "SetF(beta=2)", "Bpref", "Judged@1", "Judged@3", "Judged@20",
]  # fmt: skip
"""What a tool is asked for, as far as it has it."""


@dataclass(frozen=True)
class Part:
    """Inputs of one kind, and the measures (families, "" for all) that a domain admits them for."""

    families: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    ties: bool = True
    narrow_ties: bool = True
    negative: bool = True
    negative_scores: bool = True
    missing: bool = True
    extra: bool = True
    same_order: bool = False
    two_kinds: bool = False
    all_relevant: bool = False
    least: int = 1


@dataclass(frozen=True)
class Domain:
    """The inputs of a profile: parts, kinds of input that both refuse, and values of fields that no input can tell.

    ``alike`` maps a field to the values that say the same as the profile's own inside the domain.
    """

    tool: str
    parts: tuple[Part, ...] = (Part(),)
    refused: tuple[Part, ...] = ()
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ALL_TIES = ("given", "docid_desc", "docid_asc", "average")
NO_MATTER = {"negative_grade": ("nonrelevant", "unjudged")}
"""Only Bpref and Judged tell a judged document that is not relevant from one that is not judged."""
SAME_QUERIES = Part(ties=False, missing=False, extra=False, same_order=True)
DOMAINS = {
    "pytrec_eval-0.5.11": Domain("pytrec_eval"),
    "ir_measures-0.4.3": Domain("ir_measures"),
    "ranx-0.3.21": Domain("ranx", (Part(without=("Bpref",)), Part(families=("Bpref",), two_kinds=True))),
    "ranx-dicts-0.3.21": Domain(
        "ranx-dicts",
        (replace(SAME_QUERIES, without=("Bpref",)), replace(SAME_QUERIES, families=("Bpref",), two_kinds=True)),
        refused=(replace(SAME_QUERIES, extra=True),),
        alike={"ties": ALL_TIES, "queries": ("answered",)},
    ),
    "beir-2.2.0": Domain(
        "beir",
        (Part(families=("P", "R", "AP", "nDCG")), Part(families=("RR", "Success"), extra=False)),
        refused=(Part(families=("RR",)), Part(families=("Success",))),
        alike=NO_MATTER,
    ),
    "msmarco": Domain("msmarco", alike=NO_MATTER),
    "gdeval": Domain("gdeval", alike=NO_MATTER),
    "sklearn-1.9": Domain("sklearn", (Part(negative=False, least=2),), refused=(Part(least=2),)),
    "trectools-0.0.50": Domain(
        "trectools", (Part(without=("Bpref",)), Part(families=("Bpref",), two_kinds=True))
    ),
    "mteb-2": Domain("mteb", (Part(extra=False),), refused=(Part(),), alike=NO_MATTER),
    "torchmetrics-1.9": Domain(
        "torchmetrics",
        (
            Part(("P", "SetP", "RR", "AP", "Success"), (), False, False, False, False),
            Part(("nDCG",), negative=False, negative_scores=False),
            Part(("R", "Rprec"), (), False, False, False, False, all_relevant=True),
        ),
        alike={"ties": ALL_TIES, **NO_MATTER},
    ),
    "sentence-transformers-6": Domain("sentence-transformers", alike=NO_MATTER),
}  # fmt: skip
"""Profile → its inputs."""


@dataclass(frozen=True)
class Input:
    """Judgments and run, and what the tool gave: numbers, or its refusal."""

    judgments: Judgments
    run: Run
    measures: list[str]
    native: Native | None
    rounding: float


def make_input(random: Random, queries: int, part: Part) -> tuple[Judgments, Run]:
    """A random input of a kind, with some queries."""
    judged: list[tuple[str, str, int]] = []
    ranked: list[tuple[str, str, float, int]] = []
    names = [str(number) for number in range(1, queries + 1)]
    present = [name for name in names if not part.missing or random.random() > 0.1] or names[:1]
    for query in names:
        pool = [*POOL, query]
        hopeless = not part.two_kinds and random.random() < 0.1
        grades = {
            doc: 0 if hopeless else random.choice([-1, 0, 0, 1, 2, 3] if part.negative else [0, 0, 1, 2, 3])
            for doc in random.sample(pool, random.randint(1, 12))
        }
        if max(grades.values()) < 0 or part.two_kinds:
            grades |= dict(zip(random.sample(POOL, 2), (0, random.randint(1, 3)), strict=True))
        judged += [(query, doc, grade) for doc, grade in grades.items()]
        if query in present:
            wanted = [doc for doc, grade in grades.items() if grade > 0] if part.all_relevant else []
            ranked += _ranking(random, query, wanted, part)
    if part.extra:
        for number in range(1 + queries // 15):
            ranked += _ranking(random, str(10_000 + number), [], part)
    if not part.same_order:
        blocks = list(dict.fromkeys(row[0] for row in ranked))
        random.shuffle(blocks)
        place = {query: at for at, query in enumerate(blocks)}
        ranked.sort(key=lambda row: place[row[0]])
    run = Run.from_columns(*zip(*ranked, strict=True))
    return Judgments.from_columns(*zip(*judged, strict=True)), run


def _ranking(random: Random, query: str, wanted: Sequence[str], part: Part) -> Iterator[tuple[str, str, float, int]]:
    """One ranking, listed in no order, with a rank column that says something else."""
    docs = list(dict.fromkeys([*wanted, *random.sample(POOL, random.randint(part.least, 12))]))
    if random.random() < 0.4 and query not in docs:
        docs.append(query)
    random.shuffle(docs)
    ranks = random.sample(range(1, len(docs) + 1), len(docs))
    scores: list[float] = []
    while len(scores) < len(docs):
        score = random.choice([1.0, 2.0, 3.0, random.randint(1, 10**6) / 10**5])
        if part.narrow_ties:
            score += random.choice([0, 0, 1e-9, 2e-9])
        if part.negative_scores and random.random() < 0.2:
            score -= 5.0
        score = round(score, 9)
        if part.ties or (score not in scores):
            scores.append(score)
    yield from zip([query] * len(docs), docs, scores, ranks, strict=True)


def measures_of(tool: str, part: Part) -> list[str]:
    """The measures of ours that a tool has and a part admits."""
    return [
        name
        for name in MEASURES
        if registry.own_name(tool, name) is not None
        and (not part.families or parse_measure(name).family in part.families)
        and parse_measure(name).family not in part.without
    ]


def asked(tool: str, judgments: Judgments, run: Run, measures: list[str]) -> Input:
    """An input with what the tool gives for it."""
    try:
        native = registry.native(tool, judgments, run, measures)
    except UnsupportedError:
        native = None
    if native is not None and not native.values and len(judgments.queries) > SMALL:
        native = replace(native, values=_query_by_query(tool, judgments, run, measures))
    return Input(judgments, run, measures, native, registry.get_tool(tool).rounding)


def _query_by_query(tool: str, judgments: Judgments, run: Run, measures: list[str]) -> Mapping[str, dict[str, float]]:
    """The values of a tool that gives means only: its mean of each query by itself."""
    values: dict[str, dict[str, float]] = {measure: {} for measure in measures}
    graded, ranked = (table.to_polars().partition_by("query_id", as_dict=True) for table in (judgments, run))
    for key in graded.keys() & ranked.keys():
        one = Judgments.from_columns(*graded[key]["query_id", "doc_id", "grade"])
        alone = Run.from_columns(*ranked[key]["query_id", "doc_id", "score"])
        for measure, value in registry.native(tool, one, alone, measures).means.items():
            values[measure][str(key[0])] = value
    return values


@cache
def inputs(name: str, seed: int, sizes: tuple[int, ...]) -> list[Input]:
    """Random inputs of a profile's domain with their native numbers: of each part one for every size.

    Of the parts that are refused, those inputs are kept that the tool does refuse.
    """
    domain, random = DOMAINS[name], Random(f"{name} {seed}")
    inside = [
        asked(domain.tool, *make_input(random, size, part), measures_of(domain.tool, part))
        for part in domain.parts
        for size in sizes
    ]
    assert [one for one in inside if one.native is None] == []
    outside = [
        asked(domain.tool, *make_input(random, size, part), measures_of(domain.tool, part))
        for part in domain.refused
        for size in sizes
    ]
    refused = [one for one in outside if one.native is None]
    assert bool(refused) == bool(domain.refused)
    return inside + refused


def differences(profile: Profile, given: Input) -> tuple[Counter[str], list[str]]:
    """How many values of each measure ("" for refusals) were compared, and where the reference is not as the tool."""
    try:
        scores = evaluate(given.judgments, given.run, given.measures, profile, "reference")
    except InputError as error:
        return Counter([""]), [] if given.native is None else [f"refused: {error.fact}"]
    if given.native is None:
        return Counter([""]), ["not refused"]
    compared: Counter[str] = Counter()
    found = []
    for measure in given.measures:
        ours: dict[str, float | None] = {**scores.by_query(measure), "all": scores.mean[measure].value}
        theirs = {**given.native.values.get(measure, {})}
        if measure in given.native.means:
            theirs["all"] = given.native.means[measure]
        for query, value in theirs.items():
            if query not in ours:  # a query that is not judged, of which only the mean can tell
                continue
            mine = ours[query]
            compared[measure] += 1
            if mine is None or abs(mine - value) > EXACT + given.rounding:
                found.append(f"{measure} {query}: {mine}, the tool {value}")
    return compared, found


def mutations(profile: Profile, measures: Sequence[str]) -> Iterator[tuple[str, str, Profile]]:
    """The profile with one field of its contract or of one override set otherwise: what, to which value, the result.

    Only fields that can touch one of the measures.
    """
    asked_for = [parse_measure(measure) for measure in measures]
    for place, values in [("", profile.contract.fields()), *profile.overrides.items()]:
        for name, value in values.items():
            others: list[object] = [other for other in FIELDS[name].values if other != value]
            touched = [measure for measure in asked_for if matters(measure, name)]
            if name == "threshold":
                others, touched = [0, 2], [measure for measure in asked_for if measure.known.binary]
            for other in others if touched else ():
                if place:
                    overrides = {**profile.overrides, place: {**values, name: other}}
                    yield f"{place}.{name}", str(other), replace(profile, overrides=overrides)
                else:
                    yield name, str(other), replace(profile, contract=profile.contract.replace(**{name: other}))


def profile_and_tool(name: str) -> tuple[Profile, str]:
    """A profile and the tool that it speaks of."""
    return load_profile(name), DOMAINS[name].tool


def notices(profile: Profile, given: Input) -> bool:
    """Whether an input tells a changed profile from the tool."""
    try:
        return bool(differences(profile, given)[1])
    except MetricpactError:
        return True


def inside(name: str, judgments: Judgments, run: Run) -> tuple[Judgments, Run]:
    """Real judgments and run, cut to what a profile's domain admits."""
    tool, graded, ranked = DOMAINS[name].tool, judgments.to_polars(), run.to_polars()
    if tool in ("ranx", "ranx-dicts", "torchmetrics"):
        compared = pl.col("score").cast(pl.Float32 if tool == "torchmetrics" else pl.Float64)
        tied = pl.struct("query_id", compared).is_duplicated().any().over("query_id")
        ranked = ranked.filter(~tied)
    if tool in ("sklearn", "torchmetrics"):
        graded = graded.filter(pl.col("grade") >= 0)
    if tool == "torchmetrics":
        ranked = ranked.filter(pl.col("score") > 0)
    if tool == "ranx-dicts":
        graded = graded.join(ranked, on="query_id", how="semi", maintain_order="left")
        order = graded.select("query_id").unique(maintain_order=True)
        ranked = order.join(ranked, on="query_id", how="inner", maintain_order="left")
    return Judgments.from_columns(*graded), Run.from_columns(*ranked)


def outside(name: str, judgments: Judgments) -> set[str]:
    """The families that a domain does not admit for some judgments."""
    tool = DOMAINS[name].tool
    if tool == "torchmetrics":
        return {"R", "Rprec"}
    relevant, other = pl.col("grade") >= 1, pl.col("grade").is_between(0 if tool == "trectools" else -9, 0)
    kinds = judgments.to_polars().group_by("query_id").agg(relevant.any(), other.any().alias("other"))
    lacks = not (kinds["grade"].all() and kinds["other"].all())
    return {"Bpref"} if lacks and tool in ("ranx", "ranx-dicts", "trectools") else set()
