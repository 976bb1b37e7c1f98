"""The house itself: layers, lazy imports, links for the type checker, the README, and the built wheel."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import readme

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ["contracts", "bridges", "crosscheck", "front"]
LIBRARIES = {
    **{
        name: name
        for name in ("pytrec_eval", "ranx", "ir_measures", "sklearn", "beir", "trectools", "mteb", "ir_datasets")
    },
    **{"torch": "torchmetrics", "torchmetrics": "torchmetrics", "sentence_transformers": "sentence_transformers"},
}
"""Import name → how the modules begin that may import it."""


def modules(layer: str) -> Iterator[Path]:
    """The modules of a layer."""
    yield from sorted((ROOT / layer).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """The absolute names of what a module imports, and whether that happens when the module itself is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, id(node) not in guarded
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or "", id(node) not in guarded


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_only_downwards(layer: str) -> None:
    """front → crosscheck → bridges → contracts, and never back."""
    above = LAYERS[LAYERS.index(layer) + 1 :]
    forbidden = [f"metricpact.{name}" for name in above if name != "front"]
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(layer)
        for name, _ in imported(path)
        if any(name == up or name.startswith(f"{up}.") for up in forbidden)
        or (
            layer != "front"
            and name.split(".")[0] == "metricpact"
            and name.split(".")[1:2] not in [[x] for x in LAYERS]
        )
    ]
    assert found == []


def test_a_library_is_imported_in_its_bridge_only_and_late() -> None:
    """Each toolkit is imported by the modules named after it, inside functions."""
    found = []
    for layer in LAYERS:
        for path in modules(layer):
            for name, at_import in imported(path):
                library = LIBRARIES.get(name.split(".")[0])
                if library and (at_import or not (layer == "bridges" and path.name.startswith(f"{library}_"))):
                    found.append(f"{path.relative_to(ROOT)} imports {name}")
    assert found == []


def test_no_front_module_shadows_a_function_or_a_layer() -> None:
    """Importing metricpact.score as a module would overwrite the function of that name."""
    names = {path.stem for path in (ROOT / "front").glob("*.py")} | {
        p.name for p in (ROOT / "front").iterdir() if p.is_dir()
    }
    import metricpact

    assert names & {*metricpact.__all__, "contracts", "bridges", "crosscheck"} == set()


def test_every_front_module_is_linked_for_the_type_checker() -> None:
    """mypy sees the package through links; a module without one would go unchecked."""
    linked = {path.name for path in (ROOT / "tests/typing/metricpact").iterdir()}
    wanted = {path.name for path in (ROOT / "front").iterdir() if path.suffix == ".py" or path.name == "py.typed"}
    wanted |= {path.name for path in (ROOT / "front").iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert wanted | {"contracts", "bridges", "crosscheck"} == linked
    assert all(path.resolve().exists() for path in (ROOT / "tests/typing/metricpact").iterdir())


def loaded(code: str) -> set[str]:
    """The modules that are loaded after some code ran in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.split())


def test_importing_metricpact_loads_no_toolkit() -> None:
    """Neither the package nor a scored reference run loads pandas, numba or a toolkit."""
    heavy = {"pandas", "numba", "ranx", "ir_measures", "pytrec_eval", "scipy", "sklearn", "ir_datasets"}
    heavy |= {"narwhals", "pyarrow", "duckdb", "lz4", "cbor2"}
    assert loaded("import metricpact") & (heavy | {"numpy", "polars", "click"}) == set()
    code = "import metricpact as mp; mp.score({'q': {'a': 1}}, {'q': ['a']}, backend='reference')"
    assert loaded(code) & heavy == set()


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_are_light(flag: str) -> None:
    """--help and --version load neither numpy nor polars."""
    code = f"from metricpact.cli import main\ntry:\n    main(['{flag}'])\nexcept SystemExit: pass"
    assert loaded(code) & {"numpy", "polars", "rich", "pytrec_eval"} == set()


def test_the_generated_parts_of_the_readme_are_fresh() -> None:
    """`make docs` would change nothing but version numbers of libraries."""
    text = readme.README.read_text(encoding="utf-8")
    versions = re.compile(r":\d+(\.\d+)+")
    assert versions.sub(":N", readme.generated(text)) == versions.sub(":N", text)


def test_the_python_example_of_the_readme_runs() -> None:
    """What the README shows in Python is true."""
    blocks = re.findall(r"```python\n(.*?)```", readme.README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})  # noqa: S102 # the README is ours


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True, text=True
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_metricpact_and_nothing_else(wheel: Path) -> None:
    """The top level is exactly metricpact and its dist-info, with every module and data file of the checkout."""
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"metricpact"}
    assert len(tops) == 2
    homes = {"front": "metricpact", **{layer: f"metricpact/{layer}" for layer in LAYERS[:3]}}
    tracked = subprocess.run(["git", "ls-files", *homes], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    listed = tracked.split("\n")[:-1] or [
        str(path.relative_to(ROOT))
        for home in homes
        for path in (ROOT / home).rglob("*")
        if path.suffix in {".py", ".toml"}
    ]
    wanted = {f"{homes[name.split('/')[0]]}/{name.partition('/')[2]}" for name in listed if not name.endswith(".md")}
    assert wanted - names == set()


def test_the_wheel_runs_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """The demo and the command line run from the wheel alone, in another folder."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    # The checkout's editable install comes later on the path than PYTHONPATH, and must not be what runs.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    where = subprocess.run(
        [sys.executable, "-c", "import metricpact; print(metricpact.__file__)"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(tmp_path))
    check = ["check", "--quiet", "--backend", "reference", "--backend", "pytrec_eval", "--field", "gain"]
    for arguments in (["demo"], ["contracts"], ["explain", "nDCG@10"], ["doctor"], check):
        done = subprocess.run(
            [sys.executable, "-m", "metricpact", *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        # In a new environment ranx is compiled here, and says so.
        said = [line for line in done.stderr.splitlines() if not line.startswith("compiling ranx")]
        assert (done.returncode, said) == (0, []), arguments
        assert done.stdout
