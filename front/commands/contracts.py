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
    lines = [f"{'':<22} {profile.name:<20} {second.name}"]
    for field, (mine, theirs) in profile.contract.diff(second.contract).items():
        lines.append(f"{field:<22} {plain_value(mine)!s:<20} {plain_value(theirs)}")
    for pattern in sorted({*profile.overrides, *second.overrides}):
        mine, theirs = profile.overrides.get(pattern, {}), second.overrides.get(pattern, {})
        if mine != theirs:
            lines.append(f"{pattern:<22} {dict(mine)!s:<20} {dict(theirs)}")
    say("\n".join(lines) + "\n")
    return 0
