"""``metricpact contracts``: the profiles, one of them as TOML, or the fields in which two differ."""

from __future__ import annotations

import click


@click.command("contracts")
@click.argument("name", required=False)
@click.option("--diff", "other", metavar="OTHER", help="The fields in which NAME and OTHER differ.")
def command(name: str | None, other: str | None) -> int:
    """List the contracts, print one as TOML, or compare two.

    NAME and OTHER are profiles or TOML files; what is printed for one can be edited and passed as --contract.
    """
    from metricpact.contracts.contract import plain_value
    from metricpact.contracts.profiles import load_profile, profile_names

    if name is None:
        if other is not None:
            raise click.UsageError(
                "--diff compares two contracts: name both (contracts chapter --diff trec_eval-9.0.8)"
            )
        for known in profile_names():
            click.echo(f"{known:<20} {load_profile(known).summary}")
        return 0
    profile = load_profile(name)
    if other is None:
        click.echo(profile.to_toml(), nl=False)
        return 0
    second = load_profile(other)
    click.echo(f"{'':<22} {profile.name:<20} {second.name}")
    for field, (mine, theirs) in profile.contract.diff(second.contract).items():
        click.echo(f"{field:<22} {plain_value(mine)!s:<20} {plain_value(theirs)}")
    for pattern in sorted({*profile.overrides, *second.overrides}):
        mine, theirs = profile.overrides.get(pattern, {}), second.overrides.get(pattern, {})
        if mine != theirs:
            click.echo(f"{pattern:<22} {dict(mine)!s:<20} {dict(theirs)}")
    return 0
