"""``metricpact contracts``: the profiles, one of them as TOML, or the fields in which two differ."""

from __future__ import annotations

import click


@click.command("contracts")
@click.argument("name", required=False)
@click.option("--diff", "other", metavar="OTHER", help="The fields in which NAME and OTHER differ.")
def command(name: str | None, other: str | None) -> int:
    """List the contracts, print one as TOML, or compare two.

    NAME and OTHER are profiles or TOML files. A library's profile says where each of its fields comes from, and its
    domain: for which inputs it is what the library does. What is printed for one can be edited and passed as
    --contract.
    """
    from metricpact.contracts.contract import plain_value
    from metricpact.contracts.profiles import load_profile, profile_names
    from metricpact.render.registry import say

    if name is None:
        if other is not None:
            raise click.UsageError(
                "--diff compares two contracts: name both (contracts chapter --diff trec_eval-9.0.8)"
            )
        rows = [(known, load_profile(known)) for known in profile_names()]
        say("".join(f"{known:<24} {one.status or 'the default':<12} {one.summary}\n" for known, one in rows))
        return 0
    profile = load_profile(name)
    if other is None:
        say(profile.to_toml())
        return 0
    second = load_profile(other)
    lines = [("", profile.name, second.name)]
    lines += [(field, *map(plain_value, values)) for field, values in profile.contract.diff(second.contract).items()]
    for pattern, field in sorted({(p, f) for one in (profile, second) for p, fs in one.overrides.items() for f in fs}):
        values = [one.overrides.get(pattern, {}).get(field, getattr(one.contract, field)) for one in (profile, second)]
        if values[0] != values[1]:
            lines.append((f"{pattern} {field}", *map(plain_value, values)))
    first, middle = (max(22, *(len(str(line[column])) for line in lines)) for column in (0, 1))
    say("".join(f"{line[0]:<{first}} {line[1]!s:<{middle}} {line[2]}\n" for line in lines))
    return 0
