"""Formulas in prose: subscripts and roots are never left as plain letters."""

import pytest
from playground.ui.lesson import mathematics, with_subscripts


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Scale: why √d_k", r"Scale: why $\sqrt{d_k}$"),
        ("d_k = 64, ÷ √64", r"$d_k$ = 64, ÷ $\sqrt{64}$"),
        ("W_Q, W_O and ‖W_O v‖", "$W_Q$, $W_O$ and ‖$W_O$ v‖"),
        ("e^−∞ is 0, and e^(s − largest)", r"$e^{-\infty}$ is 0, and $e^{s - \text{largest}}$"),
        ("already $d_k$, `d_k` and qk_scale", "already $d_k$, `d_k` and qk_scale"),
        ("code: `QKᵀ / √d_k`, then W_O", "code: `QKᵀ / √d_k`, then $W_O$"),
    ],
)
def test_subscripts_stand_low_and_the_root_has_its_bar(text, written):
    assert mathematics(text) == written


def test_a_chart_writes_subscripts_as_html():
    assert with_subscripts("1/√d_k") == "1/√d<sub>k</sub>"
