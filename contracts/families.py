"""The measures that metricpact knows, one entry a family: formula, denominator, and what it can and cannot say.

The questions, denominators and limits of the first five are the table of the chapter "Metrics that Answer
Different Questions"; the others cite their source.
"""

from __future__ import annotations

from dataclasses import dataclass

CHAPTER = "Metrics that Answer Different Questions (Retrieval From First Principles, chapter 23)"
CUMULATED_GAIN = "Järvelin and Kekäläinen, ACM TOIS 20(4), 2002"


@dataclass(frozen=True)
class Family:
    """What is known of a measure apart from its cutoff and parameters.

    ``cutoff`` is "required", "optional" or "none"; ``parameters`` are the names it takes; ``binary`` tells
    whether it looks at relevant or not (by the threshold) or at the grades.
    """

    name: str
    cutoff: str
    parameters: tuple[str, ...]
    binary: bool
    formula: str
    denominator: str
    question: str
    cannot: str
    undefined: str
    source: str


_NO_RELEVANT = "when no document is known to be relevant"

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "P", "required", ("rel",), True,
            "relevant in the prefix / k",
            "k, even where fewer documents are returned",
            "How much of the allowed prefix is known to be relevant?",
            "Whether the prefix covers the evidence that is required",
            "never: it is 0 where nothing is relevant",
            CHAPTER,
        ),
        Family(
            "R", "optional", ("rel",), True,
            "relevant in the prefix / |R|",
            "|R|, the known relevant documents",
            "How much of the known relevant material came into the prefix?",
            "Whether all the returned relevant documents are needed together",
            _NO_RELEVANT,
            CHAPTER,
        ),
        Family(
            "RR", "optional", ("rel",), True,
            "1 / rank of the first relevant document in the prefix, 0 without one",
            "a position; the mean is over queries",
            "How early does the first relevant document come?",
            "Anything about further relevant documents",
            _NO_RELEVANT,
            CHAPTER,
        ),
        Family(
            "AP", "optional", ("rel",), True,
            "sum of P@i over the ranks i in the prefix that hold a relevant document, / |R|",
            "|R|, also those outside the prefix",
            "How concentrated are all known relevant documents in the prefix?",
            "Whether one grade is more useful than another",
            _NO_RELEVANT,
            CHAPTER,
        ),
        Family(
            "nDCG", "optional", ("gain",), False,
            "DCG@k / ideal DCG@k, with DCG@k = sum of gain(grade) × discount(rank) over the prefix",
            "the ideal DCG@k of the same judgments",
            "How does the graded prefix compare with its ideal order?",
            "Whether the evidence is true, sufficient or admitted",
            "when the ideal DCG from the judgments is 0; the threshold plays no part",
            CHAPTER + "; " + CUMULATED_GAIN,
        ),
        Family(
            "DCG", "optional", ("gain",), False,
            "sum of gain(grade) × discount(rank) over the prefix",
            "none: it grows with the number of graded documents",
            "How much discounted gain does the prefix hold?",
            "How much was there to gain: queries are not on one scale",
            "never: it is 0 without a gain",
            CUMULATED_GAIN,
        ),
        Family(
            "IDCG", "optional", ("gain",), False,
            "the DCG of the judged documents in descending order of gain",
            "none",
            "How much discounted gain could a prefix hold?",
            "Anything about the ranking (unless the ideal is made of returned documents)",
            "never: it is 0 without a gain",
            CUMULATED_GAIN,
        ),
        Family(
            "Success", "required", ("rel",), True,
            "1 if the prefix holds a relevant document, else 0",
            "none",
            "Does the prefix hold any relevant document?",
            "How many, how early, and how much was missed",
            _NO_RELEVANT,
            "trec_eval, measure success",
        ),
        Family(
            "Rprec", "none", ("rel",), True,
            "relevant in the first |R| documents / |R|",
            "|R|, which is the cutoff as well",
            "How precise is the ranking at the depth that could hold all relevant documents?",
            "Anything past |R| documents; its depth differs from query to query",
            _NO_RELEVANT,
            "trec_eval, measure Rprec",
        ),
        Family(
            "SetP", "none", ("rel",), True,
            "relevant returned / returned",
            "the number of documents returned",
            "How much of all that is returned is known to be relevant?",
            "Anything about order; a longer ranking is a different question",
            "never: it is 0 where nothing is relevant or returned",
            "trec_eval, measure set_P",
        ),
        Family(
            "SetR", "none", ("rel",), True,
            "relevant returned / |R|",
            "|R|, the known relevant documents",
            "How much of the known relevant material is returned at all?",
            "Anything about order",
            _NO_RELEVANT,
            "trec_eval, measure set_recall",
        ),
        Family(
            "SetF", "none", ("rel", "beta"), True,
            "(1 + β²) × P × R / (β² × P + R) of SetP and SetR, 0 where both are 0",
            "both of SetP's and SetR's",
            "How good is the returned set, recall weighing β times as much as precision?",
            "Which of the two moved it",
            _NO_RELEVANT,
            "van Rijsbergen, Information Retrieval, 1979; trec_eval, measure set_F, takes β² as its parameter",
        ),
        Family(
            "Bpref", "none", ("rel",), True,
            "mean over R of 1 − min(n, |R|) / min(N, |R|), n = judged non-relevant documents ranked above, "
            "N = all of them; 0 for a relevant document that is not returned",
            "|R|",
            "How often are relevant documents ranked above judged non-relevant ones?",
            "What was not judged: it creates no missing judgments and does not tell whether the evidence answers the "
            "question; few known relevant documents make its preferences coarse",
            _NO_RELEVANT,
            "Buckley and Voorhees, SIGIR 2004; trec_eval, measure bpref",
        ),
        Family(
            "Judged", "optional", (), False,
            "judged in the prefix / documents in the prefix",
            "the documents in the prefix (not k)",
            "How much of the prefix was judged at all?",
            "Anything about relevance",
            "when nothing is returned",
            CHAPTER,
        ),
    )
}  # fmt: skip
"""Every family by its canonical name."""
