"""Both sides of each equation in a lesson agree in the digits that are printed."""

import math
import re

import numpy as np
import pytest

from playground.lessons import block_answer, heads

NUMBER = r"\d[\d,]*(?:\.\d+)?"
SIDE = rf"(?:−log )?{NUMBER}(?: ?%)?"
EQUATION = re.compile(rf"({SIDE}(?: [+÷·×] {SIDE})*)(?: FLOPs)? = ({NUMBER})")


def equations(text: str) -> list[tuple[str, str]]:
    return EQUATION.findall(text.replace("*", ""))


def value(side: str) -> float:
    python_text = re.sub(rf"−log ({NUMBER})", r"(-math.log(\1))", side)
    python_text = python_text.replace(",", "").replace("%", "").replace("÷", "/").replace("·", "*").replace("×", "*")
    return eval(python_text, {"math": math})


def check_equations(text: str, least: int = 1) -> None:
    pairs = equations(text)
    assert len(pairs) >= least, text
    for left, right in pairs:
        digits = len(right.partition(".")[2])
        assert round(value(left), digits) == pytest.approx(float(right.replace(",", "")), abs=1e-9), f"{left} = {right}"


@pytest.mark.parametrize("share", np.linspace(0.0002, 0.2, 57).tolist())
def test_losses_are_those_of_the_probabilities_beside_them(share):
    check_equations(block_answer.loss_question("plant", share, "textured", 0.8822, True).says, 2)
    check_equations(block_answer.loss_question("plant", share, "textured", 0.8822, False).says)


def test_the_losses_of_heads_add_up():
    random = np.random.default_rng(0)
    for size in (0.1, 0.01, 0.001):
        single = (random.random(6) * size).tolist()
        question = heads.layer_sum_question(2, single, sum(single), 2 * size, 0.1, (size, size))
        check_equations(question.says)
        ((_, right),) = equations(question.says)
        assert question.picture.values[-2] == pytest.approx(float(right))
