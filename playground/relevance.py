"""Relevance: which patches, through all layers, move an answer.

A weight says how much of a token's vector is mixed in; it does not say whether that mattered. A gradient does: how much
the answer would change if a weight were a little larger. The answer is the score of a label, or the feature of one
token: its projection, after the last norm, on the direction in which the token differs from the mean patch.

    "gradient"  gradient × input: ∂y/∂x · x of each token x that enters the first layer. With its sign it tells what
                speaks for the answer from what speaks against it; without its sign, how much each token matters
    "integrated"  integrated gradients (Sundararajan et al., 2017): (x − x₀) times the mean of ∂y/∂x on the way from x₀,
                the tokens of a picture of the mean colour, to x. With its sign; all of it sums to y(x) − y(x₀)
    "attnlrp"   AttnLRP (Achtibat et al., 2024): the answer's score is handed down, layer by layer, to what it was
                summed from. With its sign. `_by_rules` has the rules
    "chefer"    gradient × attention (Chefer, Gur & Wolf, 2021). Of each layer, Ā is the mean over its heads of
                max(0, ∂y/∂A ⊙ A). r begins as the shares of the tokens that the answer is read from; then, from the
                last layer down, r ← r + r Ā.
    "legrad"    LeGrad (Bousselham et al., 2024): each layer answers by itself, with the model's last norm and head;
                max(0, ∂y/∂A), averaged over heads and over the tokens that ask, summed over layers

The last two set negative products and gradients to 0: they show only what speaks for the answer.

No N × N gradient is kept in memory. The gradient of A is ∂y/∂A = g Vᵀ, where g is the gradient of the head's output,
(N, d). So rows of ∂y/∂A are computed when they are needed, like rows of A, and give the gradients of queries, keys and
values. The forward pass keeps the inputs of each layer and of its MLP and, if they are few bytes, the layer's queries,
keys and values and the hidden numbers of its MLP. The backward pass goes through one layer at a time. B is 1."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar, get_args

import torch
from torch import Tensor, nn

from playground.errors import NoRoom, PlaygroundError
from playground.numbers import bytes_in, index
from playground.vit import MLP, QKV, At, Attention, Block, Rotation, VisionTransformer, untouched, within
from playground.vit_parts import AttentionPool, attention_mask, like, rotate

Result = TypeVar("Result")
Method = Literal["gradient", "integrated", "attnlrp", "chefer", "legrad"]
METHODS: tuple[Method, ...] = get_args(Method)
SIGNED_METHODS = ("gradient", "integrated", "attnlrp")  # methods that give each token a sign
DEFAULT_METHOD: Method = "attnlrp"  # foretells best of those with a sign: assets/faithfulness.csv
STEPS = 24  # number of gradients that integrated gradients averages
MOST_WEIGHTS = 2**20  # most weights in memory at one time on a processor: they fit into its cache
BYTES_PER_WEIGHT = 256  # free bytes of a card for each weight in memory: 8 tensors of 4 bytes are an eighth of them
MOST_KEPT_BYTES = 2**27  # most bytes that a pass keeps; else each layer is recomputed in the backward pass

MEMORY_FILE = Path("/proc/meminfo")


@dataclass(frozen=True)
class Answer:
    """The number to explain: a score of the last layer's tokens."""

    score: Callable[[VisionTransformer, Tensor], Tensor]  # the last layer's tokens, (B, N, D) -> (B,)
    read_from: Tensor  # (N,): shares of the tokens that the answer is read from; they sum to 1


@dataclass(frozen=True)
class Pass:
    """The inputs of a forward pass that is then differentiated."""

    vit: VisionTransformer
    entering: Tensor  # (B, N, D): the tokens that enter the first layer
    rotation: Rotation
    scale: float
    at: At = untouched
    blank: Tensor | None = None  # (B, N, D): the tokens of a picture of the mean colour, for integrated gradients
    give_way: Callable[[], object] = lambda: None  # called between layers, so that a server can serve others

    def __post_init__(self) -> None:
        if self.vit.blocks[0].attn.proj.weight.is_inference():
            raise PlaygroundError(
                f"{self.vit.name} was made under torch.inference_mode(), where nothing can be differentiated: load it "
                "outside."
            )


def relevance(run: Pass, answer: Answer, method: str = DEFAULT_METHOD, signed: bool = False) -> Tensor:
    """(B, N): how much each token moves the answer, as shares whose magnitudes sum to 1, or all zeros. With `signed`,
    the share of a token that speaks against it is negative."""
    methods = {
        "gradient": _gradient, "integrated": _integrated, "attnlrp": _attnlrp, "chefer": _chefer, "legrad": _legrad,
    }  # fmt: skip
    effects = methods[method](run, answer)
    shares = effects / effects.abs().sum(-1, keepdim=True).clamp(min=torch.finfo(effects.dtype).tiny)
    return (shares if signed else shares.abs()).detach()


def of_picture(run: Pass, token: int | None, label: str | int | None, method: str, signed: bool | None) -> Tensor:
    """The relevance of one picture, for a token's feature or for a label (its name or number): (N,)."""
    if (token is None) == (label is None):
        raise PlaygroundError("Relevance is of a query's feature or of a label: give one of the two.")
    if method not in METHODS:
        raise PlaygroundError(f"There is no method {method!r}: choose one of {', '.join(METHODS)}.")
    has_sign, tokens = is_signed(label is not None, method, signed), run.entering.shape[1]
    if token is not None:
        answer = feature(run.vit, token, tokens)
    else:
        answer = label_score(run.vit, label_number(run.vit, label), tokens)
    check_memory(run.vit, tokens)
    shares = relevance(run, answer, method, has_sign)[0]
    if not shares.isfinite().all():
        raise PlaygroundError(f"The gradients of {run.vit.name} are no numbers here: load the model in float32.")
    return shares


def is_signed(of_label: bool, method: str = DEFAULT_METHOD, signed: bool | None = None) -> bool:
    """Checks `signed`. By default true for a label, which tokens speak for or against, and false for a feature."""
    if signed and method not in SIGNED_METHODS:
        raise PlaygroundError(
            f"{method} knows only what speaks for an answer and has no sign: leave signed out, or take the method "
            f"{', '.join(SIGNED_METHODS)}."
        )
    return of_label and method in SIGNED_METHODS if signed is None else signed


def check_memory(vit: VisionTransformer, tokens: int) -> None:
    """Raises if there is too little memory, because the machine would swap and stall."""
    memory = free_bytes(vit.patch_embed.proj.weight.device)
    if memory is not None and (needed_bytes := bytes_held(vit, tokens)) > memory:
        raise PlaygroundError(
            f"Relevance over {tokens:,} tokens takes {needed_bytes / 1e9:.1f} GB, and {max(0, memory) / 1e9:.1f} GB "
            f"are free: choose fewer patches or a smaller model."
        )


def bytes_held(vit: VisionTransformer, tokens: int) -> int:
    """Bytes of one layer's tensors with gradients, and of what is kept to save recomputing."""
    c, kept_bytes, most = vit.config, _kept_bytes(vit, tokens), most_weights(vit.patch_embed.proj.weight.device)
    fixed_bytes = 4 * (tokens * (2 * c.depth * c.width + 4 * c.mlp_width + 16 * c.width) + 6 * most)
    return fixed_bytes + (kept_bytes if kept_bytes <= MOST_KEPT_BYTES else 0)


def _kept_bytes(vit: VisionTransformer, tokens: int) -> int:
    """Bytes if no layer is recomputed, of the method that keeps most: AttnLRP."""
    c = vit.config
    return 4 * tokens * c.depth * (10 * c.width + (6 if c.gated_mlp else 3) * c.mlp_width)


@contextmanager
def room(vit: VisionTransformer, pictures: int, tokens: int) -> Iterator[None]:
    """Turns a graphics card's lack of memory in this block into an error that says what would fit."""
    try:
        yield
        return
    except torch.OutOfMemoryError:
        pass
    c, device = vit.config, vit.patch_embed.proj.weight.device
    if device.type == "cuda":
        torch.cuda.empty_cache()
    pass_bytes = vit.patch_embed.proj.weight.element_size() * tokens * (3 * c.depth * c.width + 4 * c.mlp_width)
    memory, needed_bytes = free_bytes(device) or 0, pictures * pass_bytes
    count = memory // pass_bytes
    words = f"{count} of these at once" if count else f"about {tokens * memory // pass_bytes:,} tokens of one picture"
    raise NoRoom(
        f"{vit.name} over {pictures} × {tokens:,} tokens keeps {needed_bytes / 1e9:.1f} GB, and {memory / 1e9:.1f} GB "
        f"of {device} are free: {words} would fit; or take .half(), a smaller model, or device='cpu'."
    )


def in_room(
    vit: VisionTransformer, tokens: int, most_passes: int, fitting_counts: list[int], work: Callable[[int], Result]
) -> Result:
    """Runs `work` with at most `most_passes` passes at once. While a graphics card has too little memory, halves the
    number; `fitting_counts` keeps the number that fitted."""
    while True:
        pass_count = min([most_passes, *fitting_counts])
        try:
            with room(vit, pass_count, tokens):
                return work(pass_count)
        except NoRoom:
            if pass_count == 1:
                raise
            fitting_counts.append(pass_count // 2)


def most_weights(device: torch.device) -> int:
    """The most weights in memory at one time: on a processor what fits into its cache, on a card a part of its
    memory, for it is slow with many small products."""
    return MOST_WEIGHTS if device.type == "cpu" else max(MOST_WEIGHTS, (free_bytes(device) or 0) // BYTES_PER_WEIGHT)


def free_bytes(device: torch.device) -> int | None:
    """Free bytes of the graphics card or the machine; None if unknown. What torch holds there unused is free too."""
    if device.type == "cuda":
        unused_bytes = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + unused_bytes
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return bytes_in(MEMORY_FILE, "MemAvailable")


def label_number(vit: VisionTransformer, label: str | int | None) -> int:
    c = vit.config
    if not vit.classes:
        raise no_labels(vit, "ask about a patch")
    if isinstance(label, str) and label in c.labels:
        return c.labels.index(label)
    if (number := index(label)) is not None and 0 <= number < c.classes:
        return number
    hint = f": {', '.join(c.labels[:8])} …" if c.labels else f": labels are 0 to {c.classes - 1}"
    raise PlaygroundError(f"{vit.name} has no label {label!r:.60}{hint}")


def no_labels(vit: VisionTransformer, advice: str) -> PlaygroundError:
    if vit.no_answer:
        return PlaygroundError(f"The labels of {vit.name} are not shown: {vit.no_answer}.")
    return PlaygroundError(f"{vit.name} has no labels: {advice}.")


def label_score(vit: VisionTransformer, label: int, tokens: int) -> Answer:
    """A label's score before the softmax, as the answer."""
    prefix_count, read_from = len(vit.config.prefix), torch.zeros(tokens)
    if vit.config.pool == "token":
        read_from[: 2 if vit.config.dist_token else 1] = 0.5 if vit.config.dist_token else 1
    else:
        read_from[prefix_count:] = 1 / (tokens - prefix_count)
        read_from[0] += vit.config.pool == "token+avg"
    return Answer(lambda vit, x: vit.classify(x)[:, label], read_from)


def feature(vit: VisionTransformer, token: int, tokens: int) -> Answer:
    """A token's feature as the answer: its projection on the direction of its difference from the mean patch."""

    def projection(vit: VisionTransformer, x: Tensor) -> Tensor:
        x = vit.norm(x)  # (B, N, D)
        difference = (x[:, token] - x[:, len(vit.config.prefix) :].mean(1)).detach()
        return (x[:, token] * (difference / difference.norm(dim=-1, keepdim=True).clamp(min=1e-12))).sum(-1)

    return Answer(projection, torch.eye(tokens)[token])


# The methods ----------------------------------------------------------------------------------------------------------


def _chefer(run: Pass, answer: Answer) -> Tensor:
    precise = torch.promote_types(run.entering.dtype, torch.float32)  # in a half, small increments would vanish
    start_shares = answer.read_from.to(run.entering.device, precise).expand(run.entering.shape[:2])  # (B, N)
    relevances, increments = start_shares, torch.zeros_like(start_shares)

    def watch(rows: slice, product: Tensor) -> None:
        increments.add_(
            (relevances[:, None, None, rows] @ product.clamp(min=0).to(precise)).mean(1)[:, 0]
        )  # over heads

    for _ in _backward(run, answer, watch):  # from the last layer down
        relevances, increments = relevances + increments, torch.zeros_like(start_shares)
    return relevances - start_shares  # minus the shares with which `relevances` began


def _gradient(run: Pass, answer: Answer) -> Tensor:
    *_, gradient = _backward(run, answer)
    return (gradient * run.entering).sum(-1)


def _attnlrp(run: Pass, answer: Answer) -> Tensor:
    return _gradient(_by_rules(run), answer)


# Shares of the gradient that go on: a product hands half to each of its factors, and a score is in two products.
PRODUCT_SHARES = {"queries": 0.25, "keys": 0.25, "values": 0.5}


def _by_rules(run: Pass) -> Pass:
    """The same pass through a copy of the model, on the same weights, whose gradient times its input is what each of
    AttnLRP's rules hands down:

    matrix, sum   in proportion to the summands (ε → 0); a bias keeps its part, so that tokens get less than the score
    product       half to each factor: weights × values, queries × keys, a gated MLP
    softmax       its own gradient × input (Taylor's series), which keeps a part as a bias does
    LayerNorm     in proportion to the input: the deviation counts as a constant
    activation    all of it to the input

    γ, with which the paper's ViTs damp what speaks against a sum, is left out: it is tuned for each model."""
    vit = with_constant_deviations(run.vit)
    for part in vit.modules():
        if isinstance(part, MLP):
            part.act.forward = partial(_activation_by_rule, part.act.forward)
            if part.gated:
                part.fc1.forward = partial(_shared, part.fc1.forward, 0.5)  # type: ignore[method-assign]
        elif isinstance(part, AttentionPool):
            part.kv.forward = partial(_shared, part.kv.forward, 0.5)  # type: ignore[method-assign]

    def at(point: str, x: Tensor) -> Tensor:
        share = PRODUCT_SHARES.get(point.rpartition(".")[2])
        return run.at(point, x) if share is None else _shared(partial(run.at, point), share, x)

    return replace(run, vit=vit, at=like(run.at, at))


def with_constant_deviations(vit: VisionTransformer) -> VisionTransformer:
    """A copy of the model, on the same weights, in whose gradients the deviation of each LayerNorm is a constant."""
    vit = copy.deepcopy(vit, {id(tensor): tensor for tensor in (*vit.parameters(), *vit.buffers())})
    for part in vit.modules():
        if isinstance(part, nn.LayerNorm):
            part.forward = partial(_norm_by_rule, part)  # type: ignore[method-assign]
    return vit


def _shared(function: Callable[[Tensor], Tensor], share: float, x: Tensor) -> Tensor:
    """function(x), of whose gradient only a share goes on."""
    y = function(x)
    return y.detach() + share * (y - y.detach())


def _activation_by_rule(activation: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return x * (activation(x) / torch.where(x == 0, 1, x)).detach()


def _norm_by_rule(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()
    return centred / deviation.detach() * norm.weight + norm.bias


def _integrated(run: Pass, answer: Answer) -> Tensor:
    """Integrated gradients by the midpoint rule."""
    if run.blank is None:
        raise PlaygroundError("Integrated gradients need the tokens of a blank picture to begin from.")
    difference, total = run.entering - run.blank, torch.zeros_like(run.entering)
    for step in range(STEPS):
        *_, gradient = _backward(replace(run, entering=run.blank + (step + 0.5) / STEPS * difference), answer)
        total += gradient / STEPS
    return (total * difference).sum(-1)


@torch.no_grad()
def _legrad(run: Pass, answer: Answer) -> Tensor:
    total = run.entering.new_zeros(run.entering.shape[:2])
    x = run.entering
    for layer, block in enumerate(run.vit.blocks):
        at = _LayerInterventions(within(run.at, layer))
        mixture, qkv = block.attn(block.norm1(x), run.scale, run.rotation, at)
        with torch.enable_grad():
            mixture.requires_grad_()
            stream = at.at("residual.middle", x + at.at("attention", block.ls1(mixture)))
            layer_output = at.at("residual", stream + at.at("mlp", block.ls2(block.mlp(block.norm2(stream), at.at))))
            (gradient,) = torch.autograd.grad(answer.score(run.vit, layer_output).sum(), mixture)
        x = layer_output.detach()
        head_gradients = at.back("attention.heads", _by_head(gradient @ block.attn.proj.weight, qkv))
        for rows in _chunks(qkv):
            total += (head_gradients[:, :, rows] @ qkv.v.mT).clamp(min=0).sum((1, 2))
        run.give_way()
    return total


# The backward pass ----------------------------------------------------------------------------------------------------

Watch = Callable[[slice, Tensor], None]  # called with rows of A ⊙ ∂y/∂A, (B, h, rows, N)


@dataclass
class _LayerInterventions:
    """Applies the interventions `at` in one layer, and carries gradients back through their changes."""

    at: At
    graphs: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)  # point -> x before and after `at`

    def __call__(self, point: str, x: Tensor) -> Tensor:
        if point.endswith(".heard"):
            return self.at(point, x)
        with torch.enable_grad():
            old_x = x.detach().requires_grad_()
            new_x = self.at(point, old_x)
        if new_x is old_x:
            return x
        self.graphs[point] = old_x, new_x
        return new_x.detach()

    def back(self, point: str, gradient: Tensor) -> Tensor:
        if point not in self.graphs:
            return gradient
        old_x, new_x = self.graphs[point]
        if not new_x.requires_grad:  # the new value does not depend on the old one
            return torch.zeros_like(old_x)
        return torch.autograd.grad(new_x, old_x, gradient, materialize_grads=True, allow_unused=True)[0]

    def mask(self, q: Tensor) -> Tensor | None:
        """Which keys each query hears, (B or 1, h or 1, N, N); None: every key."""
        return attention_mask(self.at, q.device)


@dataclass
class Layer:
    """What one layer keeps for the backward pass. A graph is a tensor and the input that it is computed from."""

    x: Tensor  # the layer's input, (B, N, D)
    stream: Tensor  # the residual stream between attention and MLP
    at: _LayerInterventions
    qkv: tuple[Tensor, Tensor] | None = None  # graph from x to q, k and v, (3, B, h, N, d); None: recompute it
    hidden: tuple[Tensor, Tensor] | None = None  # graph from `stream` to the input of the MLP's second matrix


def _backward(run: Pass, answer: Answer, watch: Watch = lambda rows, product: None) -> Iterator[Tensor]:
    """Yields ∂y/∂ each layer's input, (B, N, D), from the last layer down."""
    layers, x = _forward(run)
    with torch.enable_grad():
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(answer.score(run.vit, x).sum(), x)
    for layer in reversed(range(len(run.vit.blocks))):
        gradient = _layer_backward(run, layer, layers.pop(), gradient, watch)
        yield gradient
        run.give_way()


@torch.no_grad()
def _forward(run: Pass) -> tuple[list[Layer], Tensor]:
    """Runs the pass. Returns what each layer keeps for the backward pass, and the last layer's output."""
    keeps_layers = _kept_bytes(run.vit, run.entering.shape[1]) <= MOST_KEPT_BYTES
    layers, x = [], run.entering
    for layer, block in enumerate(run.vit.blocks):
        at = _LayerInterventions(within(run.at, layer))
        qkv = _queries_keys_values(block, x, run.rotation, at.at)
        q, k, v = qkv[0].detach()
        mixed = at("attention.heads", block.attn.mix(q, k, v, run.scale, at.mask(x)))  # (B, h, N, d)
        attended = x + at("attention", block.ls1(block.attn.proj(mixed.transpose(1, 2).flatten(2))))
        stream = at("residual.middle", attended)
        layers.append(Layer(x, stream, at, qkv if keeps_layers else None))
        if keeps_layers:
            layers[-1].hidden = _hidden(block, stream)
            mlp_output = block.mlp.fc2(at("mlp.hidden", layers[-1].hidden[0].detach()))
        else:
            mlp_output = block.mlp(block.norm2(stream), like(at.at, at))
        x = at("residual", stream + at("mlp", block.ls2(mlp_output)))
        run.give_way()
    return layers, x


@torch.no_grad()
def _layer_backward(run: Pass, layer: int, layer_pass: Layer, gradient: Tensor, watch: Watch) -> Tensor:
    """∂y/∂ a layer's output -> ∂y/∂ its input. MLP's second matrix and attention are differentiated by hand."""
    block = run.vit.blocks[layer]
    hidden, stream = layer_pass.hidden or _hidden(block, layer_pass.stream)
    gradient = layer_pass.at.back("residual", gradient)
    hidden_gradient = block.ls2(layer_pass.at.back("mlp", gradient)) @ block.mlp.fc2.weight  # ls2 only multiplies
    hidden_gradient = layer_pass.at.back("mlp.hidden", hidden_gradient)
    gradient = gradient + torch.autograd.grad(hidden, stream, hidden_gradient)[0]
    gradient = layer_pass.at.back("residual.middle", gradient)
    qkv, x = layer_pass.qkv or _queries_keys_values(block, layer_pass.x, run.rotation, layer_pass.at.at)
    mixed_gradient = block.ls1(layer_pass.at.back("attention", gradient)) @ block.attn.proj.weight
    head_gradients = layer_pass.at.back("attention.heads", _by_head(mixed_gradient, QKV(*qkv)))
    qkv_gradient = _attention_back(QKV(*qkv.detach()), head_gradients, run.scale, layer_pass.at.mask(x), watch)
    return gradient + torch.autograd.grad(qkv, x, qkv_gradient)[0]


def _attention_back(qkv: QKV, head_gradients: Tensor, scale: float, mask: Tensor | None, watch: Watch) -> Tensor:
    """∂y/∂ the heads' output, (B, h, N, d) -> ∂y/∂ queries, keys and values, (3, B, h, N, d)."""
    q, k, v = qkv  # (B, h, N, d) each
    gradients = q.new_zeros(3, *q.shape)
    q_gradient, k_gradient, v_gradient = gradients
    for rows in _chunks(qkv):
        scores = q[:, :, rows] @ k.mT * scale  # (B, h, rows, N)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, :, rows], -torch.inf)
        weights = scores.softmax(-1)
        product = weights * (head_gradients[:, :, rows] @ v.mT)  # A ⊙ ∂y/∂A
        watch(rows, product)
        score_gradients = product.addcmul_(weights, product.sum(-1, keepdim=True), value=-1)  # back through the softmax
        q_gradient[:, :, rows] = score_gradients @ k
        k_gradient += score_gradients.mT @ q[:, :, rows]
        v_gradient += weights.mT @ head_gradients[:, :, rows]
    gradients[:2] *= scale
    return gradients


def _by_head(mixed_gradient: Tensor, qkv: QKV) -> Tensor:
    """(B, N, D) -> (B, h, N, d)"""
    return mixed_gradient.unflatten(-1, (qkv.q.shape[1], -1)).transpose(1, 2)


def _chunks(qkv: QKV) -> Iterator[slice]:
    """Yields queries in parts whose rows hold at most `most_weights`."""
    _, heads, tokens, _ = qkv.q.shape
    step = max(1, most_weights(qkv.q.device) // (heads * tokens))
    for start in range(0, tokens, step):
        yield slice(start, start + step)


def _hidden(block: Block, stream: Tensor) -> tuple[Tensor, Tensor]:
    """(the input of an MLP's second matrix, the tensor that it is computed from)"""
    with torch.enable_grad():
        stream = stream.detach().requires_grad_()
        return block.mlp.hidden(block.norm2(stream)), stream


def _queries_keys_values(block: Block, x: Tensor, rotation: Rotation, at: At) -> tuple[Tensor, Tensor]:
    """(queries, keys and values as in vit.Attention, (3, B, h, N, d); the tensor that they are computed from)"""
    attn: Attention = block.attn
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        qkv = attn.qkv(block.norm1(x)).unflatten(-1, (3, attn.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = originals = qkv.unbind(0)
        q, k = attn.q_norm(q), attn.k_norm(k)
        if rotation is not None:
            q, k = rotate(q, *rotation), rotate(k, *rotation)
        q, k, v = at("attention.queries", q), at("attention.keys", k), at("attention.values", v)
        is_unchanged = all(a is b for a, b in zip((q, k, v), originals, strict=True))
        return (qkv if is_unchanged else torch.stack([q, k, v])), x
