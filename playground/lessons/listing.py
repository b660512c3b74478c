"""Source code for a lesson: lines exactly as in the file, with the formulas that they implement.

Lines are read from the source. `find` finds a line by a piece of the line's text. It raises, and a test fails, if the
piece doesn't occur exactly once.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import nn

from playground import vit, vit_parts
from playground.analysis import patches
from playground.errors import PlaygroundError

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Line:
    number: int  # in its file, from 1
    text: str  # without the common indentation
    mark: str = ""  # the piece to highlight
    formula: str = ""  # the formula that the line computes; _ subscript, ^ superscript, braces group


@dataclass(frozen=True)
class Listing:
    """A class or a function, line by line."""

    file: str
    lines: tuple[Line, ...]


@cache
def listing(source_object: type | Callable) -> Listing:
    source_object = source_object.fget if isinstance(source_object, property) else source_object
    source_lines, first_line = inspect.getsourcelines(source_object)
    lines = textwrap.dedent("".join(source_lines)).rstrip().split("\n")
    file = Path(inspect.getfile(source_object)).relative_to(ROOT).as_posix()
    return Listing(file, tuple(Line(first_line + i, line) for i, line in enumerate(lines)))


def find(source_object: type | Callable, piece: str, formula: str = "") -> Line:
    matching_lines = [line for line in listing(source_object).lines if piece in line.text]
    if len(matching_lines) != 1:
        raise PlaygroundError(
            f"{source_object.__qualname__} has {len(matching_lines)} lines with {piece!r} where there should be one."
        )
    return Line(matching_lines[0].number, matching_lines[0].text.strip(), piece, formula)


@dataclass(frozen=True)
class Section:
    """One section of the lesson: functions or classes, and formulas for some of their lines."""

    says: str
    sources: tuple[type | Callable, ...]
    formulas: tuple[tuple[str, str], ...]  # (a piece of a line, its formula)

    def read(self) -> list[Listing]:
        """The listings of all `sources`, with the formulas beside their lines."""
        noted = {}
        for piece, formula in self.formulas:
            owners = [source for source in self.sources if any(piece in line.text for line in listing(source).lines)]
            note = find((owners or self.sources)[0], piece, formula)  # raises if no listing has the piece
            noted[listing(owners[0]).file, note.number] = piece, formula
        return [
            Listing(file, tuple(Line(line.number, line.text, *noted.get((file, line.number), ())) for line in lines))
            for file, lines in ((source.file, source.lines) for source in map(listing, self.sources))
        ]


PARTS = {
    "patches": Section(
        "One matrix E turns every patch into a token. A convolution that steps as far as it is wide does just that.",
        (vit.Patches, patches.by_unfolding),
        (
            ("self.proj = nn.Conv2d(", "E: 3·P·P pixels → D numbers"),
            ("return self.proj(image)", "x_p E, slid over the image"),
            ("pixels = F.unfold(", "x_p: a row of 3·P·P pixels per patch"),
            ("return F.linear(pixels", "x_p E + b"),
        ),
    ),
    "positions": Section(
        "Attention treats its tokens as a set. Only the vector that is added here says where a patch was.",
        (vit_parts.sinusoidal, vit.VisionTransformer.embed),
        (
            ("frequency = 10_000", "ω_i = 10000^{−2i/D}"),
            ("angle = position * frequency", "n ω_i"),
            ("return torch.stack([angle.sin()", "P_{n,2i} = sin(n ω_i),  P_{n,2i+1} = cos(n ω_i)"),
            ("x = self.patch_embed(image)", "x_p E"),
            ("x = torch.cat([*prefix, x]", "[x_{class}; x_p E]"),
            ('if c.positions == "learned":', "z_0 = [x_{class}; x_p E] + E_{pos}"),
        ),
    ),
    "attention": Section(
        "The formula in three lines: compare, turn scores into shares, mix. The forward pass calls the fused kernel, "
        "which computes the same without ever holding all weights; these three lines are its check, in step 2.",
        (vit.attention_by_hand, vit.attention, vit.Config.scale),
        (
            ("scores = q @ k.transpose", "QK^T"),
            ("weights = (scores * scale)", "A = softmax(QK^T / √d_k)"),
            ("return weights @ v", "A V"),
            ("return F.scaled_dot_product_attention", "softmax(QK^T / √d_k) V, in blocks"),
            ("return (self.width // self.heads)", "1/√d_k,  d_k = D/h"),
        ),
    ),
    "heads": Section(
        "h small attentions side by side; W_O mixes what they return into one vector.",
        (vit.Attention,),
        (
            ("self.qkv = nn.Linear(", "W_Q, W_K, W_V side by side"),
            ("self.proj = nn.Linear(", "W_O"),
            ("qkv = self.qkv(x)", "Q = z W_Q,  K = z W_K,  V = z W_V"),
            ("q, k, v = qkv.permute(", "Q_i, K_i, V_i for head i"),
            ("self.mix(q, k, v", "head_i = softmax(Q_iK_i^T / √d_k) V_i"),
            ("mixed = mixed.transpose(", "[head_1; …; head_h]"),
            ("return self.proj(mixed)", "MSA(z) = [head_1; …; head_h] W_O"),
        ),
    ),
    "mlp": Section(
        "The same small network is applied to each token separately. No token sees another one here.",
        (vit.MLP,),
        (
            ('self.fc2(at("mlp.hidden", self.hidden(tokens)))', "MLP(z) = h W_2 + b_2"),
            ("x = self.fc1(x)", "z W_1 + b_1"),
            ("return self.act(gate) * x", "gated: h = SiLU(z W_g) ⊙ z W_1"),
            ("return self.act(x)", "h = GELU(z W_1 + b_1)"),
        ),
    ),
    "layer": Section(
        "Attention and MLP each add to the token z; neither replaces it. The norms stand before them (pre-norm), so "
        "the sum itself is never rescaled.",
        (vit.Block,),
        (
            ("mixture, qkv = self.attn(", "MSA(LN(z_{ℓ−1}))"),
            ('x + at("attention", self.ls1(mixture))', "z′_ℓ = MSA(LN(z_{ℓ−1})) + z_{ℓ−1}"),
            ('x + at("mlp", self.ls2(', "z_ℓ = MLP(LN(z′_ℓ)) + z′_ℓ"),
        ),
    ),
    "answer": Section(
        "After the last layer one vector is read out, here the class token's, and a matrix turns it into class scores.",
        (vit.VisionTransformer.record, vit.VisionTransformer.layers, vit.VisionTransformer.classify),
        (
            ("in self.layers(*self.embed(image, at), scale, at=at)", "z_0 → z_1 → … → z_L"),
            ("x, qkv = block(x, scale, rotation, within(at, layer))", "z_{ℓ−1} → z_ℓ"),
            ("x = self.norm(x)", "LN(z_L)"),
            ("read = x[:, 0]", "y = LN(z_L^0), the class token's row"),
            ("return self.head(self.fc_norm(", "y W_{head} + b"),
        ),
    ),
    "torch": Section(
        "A *Module* is a function with parameters; calling it calls `forward`. A *Parameter* is a tensor that training "
        "changes: whatever is put on a Module as one is found by `parameters()`. A *ModuleList* only holds its "
        "modules, and the code says what is called when.",
        (vit.VisionTransformer.__init__, vit_parts.LayerScale),
        (
            ("self.cls_token = nn.Parameter(", "Parameter: learned, one for all pictures"),
            ("self.pos_embed = nn.Parameter(", "Parameter: a row for each place"),
            ("self.blocks = nn.ModuleList(", "ModuleList: L layers, called in a loop"),
            ("self.gamma = nn.Parameter(", "Parameter: γ, D numbers"),
        ),
    ),
}


def _with_a_parameter():
    class Gain(nn.Module):
        def __init__(self):
            super().__init__()
            self.gamma = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return self.gamma * x

    return Gain()


def _with_a_tensor():
    class Gain(nn.Module):
        def __init__(self):
            super().__init__()
            self.gamma = torch.ones(3, requires_grad=True)

        def forward(self, x):
            return self.gamma * x

    return Gain()


def _one_after_the_other():
    return nn.Sequential(nn.Linear(3, 3), nn.GELU())


def _a_list():
    return nn.ModuleList([nn.Linear(3, 3), nn.GELU()])


MODULE_MAKERS = {
    "parameter": _with_a_parameter, "tensor": _with_a_tensor, "sequential": _one_after_the_other, "list": _a_list,
}  # fmt: skip


@dataclass(frozen=True)
class ModuleTrial:
    """What PyTorch finds in a module, and what a call of the module gives."""

    parameter_names: list[str]  # that parameters() gives
    state_names: list[str]  # that state_dict() gives
    changed_names: list[str]  # of parameters that one step of training changes
    call_words: str  # what module(x) gives, in words


@cache
def try_module(kind: str) -> ModuleTrial:
    module, x = MODULE_MAKERS[kind](), torch.ones(2, 3)
    parameters = dict(module.named_parameters())
    former_values = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    try:
        answer = module(x)
        answer.sum().backward()
        called = " × ".join(map(str, answer.shape)) + " numbers"
        if parameters:
            torch.optim.SGD(parameters.values(), lr=0.1).step()
    except NotImplementedError:
        called = "an error: it has no `forward`; a loop calls what it holds"
    called += ", as `module[1](module[0](x))`" if kind == "sequential" else ""
    changed = [name for name, parameter in parameters.items() if not torch.equal(parameter, former_values[name])]
    return ModuleTrial([*parameters], [*module.state_dict()], changed, called)
