"""Numbers as somebody published them: the text, and every value that it could be the rounding of.

``0.44`` is any value of the closed interval 0.44 ± 0.005, since nobody says how they round; ``0.440`` is one of
0.44 ± 0.0005, so trailing zeros count. ``44 %`` is 0.44 ± 0.005, ``4.4e-1`` too. A whole number is exact: a recall of
``1`` is one and not anything from a half on; so is a calculation (``2/3``, ``1 + 3/2``, ``3 + 1/log2(3)``). Everything
holds with 1e-9 to spare, for sums of doubles.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from metricpact.contracts.errors import InputError

SPARE = Fraction(1, 10**9)
UNDEFINED = "undefined"
MOST_DIGITS = 40
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
_CALCULATION = re.compile(r"(?:[\d.+\-*/() ]|log2)+")
LARGEST = 10**15
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_HINT = "write a decimal as it is printed (0.44, .4973, 44%), or a calculation such as 21/43"


@dataclass(frozen=True)
class Published:
    """A number as written; ``value`` ± ``half`` is what it stands for (both exact), None where it is "undefined"."""

    text: str
    value: Fraction | None
    half: Fraction = Fraction(0)

    @property
    def low(self) -> Fraction:
        """The least value that is printed so, 1e-9 to spare."""
        return (self.value or Fraction(0)) - self.half - SPARE

    @property
    def high(self) -> Fraction:
        """The largest value that is printed so, 1e-9 to spare."""
        return (self.value or Fraction(0)) + self.half + SPARE

    def holds(self, number: float | Fraction | None) -> bool:
        """Whether a number (None: undefined) is printed so."""
        if number is None or self.value is None:
            return number is None and self.value is None
        return self.low <= Fraction(number) <= self.high

    def distance(self, number: float | Fraction | None) -> float:
        """How far a number is from the nearest value that is printed so; infinite where only one is undefined."""
        if self.holds(number):
            return 0.0
        if number is None or self.value is None:
            return math.inf
        return float(max(self.low - Fraction(number), Fraction(number) - self.high))

    def __str__(self) -> str:
        return self.text


def read_published(written: Any) -> Published:
    """A number from its text (or from an int, float, Decimal or Fraction, as Python prints it).

    Raises ``InputError`` for what is no finite number.
    """
    if isinstance(written, Published):
        return written
    if isinstance(written, bool) or not isinstance(written, str | int | float | Decimal | Fraction):
        raise InputError(f"{written!r} is not a number", _HINT)
    text = str(written).strip()
    if text == UNDEFINED:
        return Published(text, None)
    number, percent = (text[:-1].rstrip(), 100) if text.endswith("%") else (text, 1)
    if re.fullmatch(r"[+-]?\d+,\d+", number):
        raise InputError(f"{text!r} is not a number", f"write the decimals behind a point: {text.replace(',', '.')}")
    try:
        value, half = _value(number, percent=percent > 1)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        raise InputError(f"{text!r} is not a number", _HINT) from error
    return Published(text, value / percent, half / percent)


def _value(number: str, *, percent: bool) -> tuple[Fraction, Fraction]:
    """A number and half a unit of its last digit (0 for a whole number or a calculation); or ``ValueError``."""
    half = Fraction(0)
    if len(number) <= MOST_DIGITS and _DECIMAL.fullmatch(number):
        decimal = Decimal(number)
        value, half = Fraction(decimal), Fraction(10) ** int(decimal.as_tuple().exponent) / 2
        if number.lstrip("+-").isdigit() and not percent:
            half = Fraction(0)
    elif _CALCULATION.fullmatch(number):
        value = _calculated(ast.parse(number.strip(), mode="eval").body)
    else:
        raise ValueError("neither a decimal nor a calculation")
    if abs(value) > LARGEST:
        raise ValueError("too large")
    return value, half


def _calculated(node: ast.AST) -> Fraction:
    """The value of a calculation of numbers with + - * / and log2; raises ``ValueError`` for anything else."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            # A float's shortest text is the decimal that was typed.
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_calculated(operand)
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](_calculated(left), _calculated(right))
        case ast.Call(func=ast.Name(id="log2"), args=[argument], keywords=[]):
            return Fraction(math.log2(_calculated(argument)))
    raise ValueError("not a calculation")
