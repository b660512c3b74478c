"""Traces behave as Python's users expect: small pickles, negative indices, and integers of any library."""

import doctest
import importlib
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError, Trace, version
from playground.__main__ import main

ROOT = Path(__file__).parent.parent
DOCUMENTED_MODULES = (
    "analysis.interventions", "face", "figures.many", "figures.sweeping", "figures.watching", "models.checking",
    "models.loading", "tracing", "version",
)  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTED_MODULES)
def test_the_examples_in_the_docstrings_are_true(name):
    outcome = doctest.testmod(importlib.import_module(f"playground.{name}"), extraglobs={"playground": playground})
    assert outcome.attempted > 0, "there are none"
    assert outcome.failed == 0


def test_integers_of_numpy_and_torch_are_accepted(small_trace):
    row = small_trace.row(1, 2, 30)
    for integer_type in (np.int64, np.uint8, torch.tensor):
        assert torch.equal(small_trace.row(integer_type(1), integer_type(2), integer_type(30)), row)
    best_token = row.argmax()
    assert torch.equal(small_trace.row(1, 2, best_token), small_trace.row(1, 2, int(best_token)))
    assert small_trace.token((np.int64(3), torch.tensor(4))) == small_trace.token((3, 4))
    for no_integer in (True, np.bool_(True), torch.tensor(True), 1.0, torch.tensor(1.0), torch.tensor([1, 2, 3])):
        with pytest.raises(PlaygroundError):
            small_trace.row(no_integer, 2, 30)


def test_layers_count_from_the_end_too(small_trace):
    assert torch.equal(small_trace.rows(-1, (3, 4)), small_trace.rows(2, (3, 4)))
    assert torch.equal(small_trace.features(-3), small_trace.features(0))
    assert torch.equal(small_trace.value_norms(-2), small_trace.value_norms(1))
    assert torch.equal(small_trace.column(-1, 0, "cls"), small_trace.column(2, 0, "cls"))
    assert playground.figure(small_trace, layer=-1, head=torch.tensor(2)).spec.layer == 2
    with pytest.raises(PlaygroundError, match="no layer -4"):
        small_trace.rows(-4, (3, 4))


def test_a_head_may_be_the_mean_or_the_largest_of_all(small_trace):
    assert torch.equal(small_trace.row(1, "mean", (3, 4)), small_trace.rows(1, (3, 4)).mean(0))
    assert torch.equal(small_trace.column(1, "max", (3, 4)), small_trace.columns(1, (3, 4)).amax(0))
    with pytest.raises(PlaygroundError, match="no head 'median'"):
        small_trace.row(1, "median", (3, 4))


def test_a_trace_is_saved_and_read_again(small_trace, tmp_path):
    loaded_trace = Trace.load(small_trace.save(tmp_path / "a.trace"))
    assert (loaded_trace.model, loaded_trace.grid, loaded_trace.prefix) == (
        small_trace.model,
        small_trace.grid,
        small_trace.prefix,
    )
    torch.testing.assert_close(loaded_trace.row(1, 2, (3, 4)), small_trace.row(1, 2, (3, 4)), atol=2e-3, rtol=0)
    assert small_trace.save(tmp_path / "b.trace", numbers="int8").stat().st_size < (tmp_path / "a.trace").stat().st_size
    with pytest.raises(PlaygroundError, match="can't be written"):
        small_trace.save(tmp_path / "none" / "a.trace")
    with pytest.raises(PlaygroundError, match="can't be read"):
        Trace.load(tmp_path / "none.trace")


def test_a_pickle_holds_no_network(small_trace):
    data = pickle.dumps(small_trace)
    loaded_trace = pickle.loads(data)
    assert loaded_trace.vit is None
    assert len(data) < 1.2 * sum(t.nbytes for q, k, _ in small_trace.record.values() for t in (q, k)) + 100_000
    assert torch.equal(loaded_trace.row(1, 2, (3, 4)), small_trace.row(1, 2, (3, 4)))
    assert torch.equal(loaded_trace.value_norms(1), small_trace.value_norms(1))
    assert small_trace.vit is not None
    with pytest.raises(PlaygroundError, match="can't run its network"):
        loaded_trace.features(1)
    assert torch.equal(pickle.loads(pickle.dumps(loaded_trace)).value_norms(1), small_trace.value_norms(1))


def test_a_repr_says_how_the_pass_ran(small, picture):
    assert repr(playground.trace(small, picture)) == "Trace(untrained: 3 layers × 4 heads, 8 × 8 patches)"
    assert "run without 1/√d_k" in repr(playground.trace(small, picture, scale="off"))
    assert "run with scale 0.5" in repr(playground.trace(small, picture, scale=0.5))
    assert "cut 1,2>3,4" in repr(playground.trace(small, picture, cut="1,2>3,4"))


def test_tables_hold_the_weights_and_what_heads_do(small_trace):
    table = small_trace.table((3, 4))
    assert len(table) == small_trace.layers * small_trace.heads * small_trace.tokens
    head_rows = table.query("layer == 1 and head == 2")
    np.testing.assert_allclose(head_rows.weight, small_trace.row(1, 2, (3, 4)).numpy())
    assert head_rows.token.tolist()[:4] == ["cls", "reg0", "reg1", "0,0"]
    assert head_rows.query("row == 3 and column == 4").token.tolist() == ["3,4"]
    head_summary = small_trace.table().query("layer == 1 and head == 2").iloc[0]
    patches = range(len(small_trace.prefix), small_trace.tokens)
    assert head_summary.entropy == pytest.approx(small_trace.entropy(1, patches)[2].mean().item(), rel=1e-5)
    weights = small_trace.weights(1, patches)[2]
    assert head_summary.prefix == pytest.approx(weights[:, :3].sum(-1).mean().item(), rel=1e-4)


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert text == version.citation_file(), "python playground/version.py writes it"
    assert f"version: {playground.__version__}\ndate-released: {version.RELEASE_DATE}\n" in text
    assert f"version = {{{playground.__version__}}}" in playground.cite()
    assert re.search(r'title: "(.*)"', text)[1] in playground.cite()


def test_repository_and_doi_are_set_in_one_place_and_left_out_where_they_are_not(monkeypatch, tmp_path):
    monkeypatch.setattr(version, "CHECKOUT", tmp_path)
    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "x"\n')
    for text in (playground.cite(), version.citation_file()):
        assert not re.search("doi|url|repository", text), text
    address = "https://example.org/ours"
    file.write_text(f'[project.urls]\nRepository = "{address}"\nDOI = "https://doi.org/10.5281/zenodo.1"\n')
    assert (version.repository(), version.doi()) == (address, "10.5281/zenodo.1")
    assert f"url     = {{{address}}},\n  doi     = {{10.5281/zenodo.1}},\n" in playground.cite()
    assert f'repository-code: "{address}"\ndoi: "10.5281/zenodo.1"\n' in version.citation_file()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_flags_and_their_words(shell, capsys):
    assert main(["completion", shell]) == 0
    output = capsys.readouterr().out
    for word in ("figure", "doctor", "layout", "convolution", "skip-existing"):
        assert word in output


def test_bash_completes(capsys):
    main(["completion", "bash"])
    command_words = "COMP_WORDS=(attention-playground figure --layout con) COMP_CWORD=3"
    shell_script = f"{command_words}; _shtab_attention_playground; echo ${{COMPREPLY[@]}}"
    output = subprocess.run(
        ["bash", "-c", f"{capsys.readouterr().out}\n{shell_script}"], capture_output=True, text=True
    )
    assert output.stdout.split() == ["convolution"], output
