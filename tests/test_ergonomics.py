"""Traces behave as Python's users expect: small pickles, negative indices, and integers of any library."""

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import playground
from playground import PlaygroundError, Trace, version
from playground.__main__ import main

ROOT = Path(__file__).parent.parent
DOCUMENTED_MODULES = (
    "analysis.interventions", "face", "figures.many", "figures.place", "figures.sweeping", "figures.watching",
    "models.checking", "models.loading", "tracing", "version",
)  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTED_MODULES)
def test_the_examples_in_the_docstrings_are_true(name):
    outcome = doctest.testmod(importlib.import_module(f"playground.{name}"), extraglobs={"playground": playground})
    assert outcome.attempted > 0, "there are none"
    assert outcome.failed == 0


def test_a_head_may_be_the_mean_or_the_largest_of_all(small_trace):
    assert torch.equal(small_trace.row(1, "mean", (3, 4)), small_trace.rows(1, (3, 4)).mean(0))
    assert torch.equal(small_trace.column(1, "max", (3, 4)), small_trace.columns(1, (3, 4)).amax(0))
    with pytest.raises(PlaygroundError, match="no head 'median'"):
        small_trace.row(1, "median", (3, 4))


def test_a_trace_is_saved_and_read_again(small_trace, tmp_path):
    loaded_trace = Trace.load(small_trace.save(tmp_path / "a.trace"))
    for name in ("model", "grid", "prefix"):
        assert getattr(loaded_trace, name) == getattr(small_trace, name), name
    torch.testing.assert_close(loaded_trace.row(1, 2, (3, 4)), small_trace.row(1, 2, (3, 4)), atol=2e-3, rtol=0)
    assert small_trace.save(tmp_path / "b.trace", numbers="int8").stat().st_size < (tmp_path / "a.trace").stat().st_size
    assert loaded_trace.picture.size == small_trace.shown.size
    assert Trace.load(small_trace.save(tmp_path / "c.trace", picture=False)).picture is None
    with pytest.raises(PlaygroundError, match="can't be written"):
        small_trace.save(tmp_path / "none" / "a.trace")
    with pytest.raises(PlaygroundError, match="can't be read"):
        Trace.load(tmp_path / "none.trace")


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_flags_and_their_words(shell, capsys):
    assert main(["completion", shell]) == 0
    output = capsys.readouterr().out
    for word in ("figure", "doctor", "layout", "convolution", "with-image"):
        assert word in output
