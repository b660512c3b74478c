"""A graphics card that is only pretended: a tensor on it says "cuda:0" and has its numbers in main memory, and an
operation that mixes it with a tensor of main memory fails, as on a real card.

torch's FakeTensorMode has shapes without numbers, and a trace asks for numbers: whether the pass is finite, which
labels are the likeliest. This shows that no operation mixes devices; not what a card's kernels are and round."""

import copy
from contextlib import contextmanager
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from playground import relevance

CARD, MAIN_MEMORY = torch.device("cuda:0"), torch.device("cpu")
INDEXING = ("index", "index_put", "index_put_")  # a card takes indices of main memory, too
COPIES = ("copy_", "_to_copy", "index_fill_")  # go from anywhere to anywhere; the last is x[[0, 1]] = True


class OnCard(torch.Tensor):
    """The numbers are `held`; torch itself sees a tensor of main memory without storage, so that .numpy() fails."""

    @staticmethod
    def __new__(cls, held):
        options = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        tensor = torch.Tensor._make_wrapper_subclass(cls, held.size(), **options)
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        """Runs an operation with a tensor of the card among its arguments."""
        name = function.overloadpacket.__name__
        tensors = [x for x in tree_leaves((arguments, options)) if isinstance(x, torch.Tensor)]
        must_agree = [arguments[0], *arguments[2:3]] if name in INDEXING else [] if name in COPIES else tensors
        places = {device_of(x) for x in must_agree if torch.is_tensor(x) and (x.dim() or device_of(x) == CARD)}
        if len(places) > 1 or (name in INDEXING and device_of(arguments[0]) != CARD):
            raise AssertionError(f"{function} mixes tensors of the card and of main memory")
        result = function(*tree_map(held, arguments), **tree_map(held, options or {}))
        returned = function._schema.returns
        if returned and returned[0].alias_info and returned[0].alias_info.is_write:
            return arguments[0]  # an operation that writes into its first tensor
        return tree_map(lambda x: OnCard(x) if isinstance(x, torch.Tensor) else x, result)


def device_of(x):
    return CARD if isinstance(x, OnCard) else MAIN_MEMORY


def held(x):
    return x.held if isinstance(x, OnCard) else x


class Move(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return held(x).clone() if device_of(x) == CARD else OnCard(x.detach())

    @staticmethod
    def backward(ctx, gradient):
        return Move.apply(gradient)


class Devices(TorchFunctionMode):
    """What asks a tensor for its device, and what names one."""

    def __torch_function__(self, function, types, arguments=(), options=None):
        options = dict(options or {})
        x = arguments[0] if arguments else None
        if function == torch.Tensor.device.__get__:
            return device_of(x)
        if function is torch.Tensor.tolist:  # torch refuses it to every subclass
            return held(x).tolist()
        if function is torch.Tensor.cpu:
            function, arguments = torch.Tensor.to, (x, MAIN_MEMORY)
        named = [options.pop("device")] if options.get("device") is not None else []
        if function is torch.Tensor.to:
            likes = [y for y in arguments[1:] if isinstance(y, torch.Tensor)]
            named += [device_of(y) for y in likes] + [y for y in arguments[1:] if isinstance(y, str | torch.device)]
            dtypes = [y.dtype for y in likes] + [y for y in arguments[1:] if isinstance(y, torch.dtype)]
            x = x.to(*dtypes, **options) if dtypes or options else x
            return Move.apply(x) if named and torch.device(named[0]).type != device_of(x).type else x
        result = function(*arguments, **options)
        return Move.apply(result) if named and torch.device(named[0]).type == "cuda" else result


@contextmanager
def pretended_card():
    with mock.patch.object(relevance, "free_bytes", return_value=2**30), Devices():
        yield


def on_card(vit):
    """The model with its weights on the card."""
    vit = copy.deepcopy(vit)
    for module in vit.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = torch.nn.Parameter(OnCard(parameter.detach()))
        module._buffers = {
            name: buffer if buffer is None else OnCard(buffer) for name, buffer in module._buffers.items()
        }
    return vit
