"""Opens a picture from an untrusted file as upright RGB, and turns it into the model's input.

Every file may be hostile. Only eight formats are recognised, sizes are checked from the header before anything is
decoded, and what could keep a decoder busy for minutes is refused first: each of those checks answers a file in
tests/hostile that really does so. No global setting of Pillow is changed, so several threads can open pictures at
once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.decoder import SLOW, Worker
from playground.pictures.decoding import HIDDEN_EXIF, MAX_PIXELS, check_effort, check_size, read, read_header
from playground.pictures.upright import shrinkage, upright_rgb

if TYPE_CHECKING:
    import numpy as np
    import torch

MOST_PATCHES = 16_384  # that are traced
KEPT_PIXELS = 2**25  # a browser computes from all pixels; of larger pictures Python would need too much memory

Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview, BinaryIO, Image.Image, "np.ndarray", "torch.Tensor"]


def open_image(source: Source, kept: int = KEPT_PIXELS) -> Image.Image:
    """An upright RGB picture, decoded and detached from its file, from a path, bytes, a file object or a PIL image; or
    from an array or a tensor of (height, width, 3), (3, height, width) or (height, width): bytes, or 0 … 1.

    A file object is read from its beginning and stays open. Pictures of more than `kept` pixels, 33.6
    million, come back at half size or less.
    """
    if hasattr(source, "__array__") and not isinstance(source, Image.Image | memoryview):
        source = _of_array(source)
    picture = _or_a_sentence(_open, source, kept)
    picture.filename = _file_of(source)  # type: ignore[attr-defined]  # as Pillow's own pictures have it
    return picture


def _file_of(source: Source) -> str:
    """Where a picture came from, so that what is made of it can say so; "" of bytes."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return str(getattr(source, "filename", "") or "")


def decode_here(data: bytes, kept: int) -> Image.Image:
    """The same for a file, never in another process."""
    return _or_a_sentence(_decoded_file, data, kept)


def _or_a_sentence(opened: Callable[[Any, int], Image.Image], source: Any, kept: int) -> Image.Image:
    try:
        return opened(source, kept)
    except PlaygroundError:
        raise
    except MemoryError:
        complaint = "There is not enough memory to open this picture: save it smaller."
    except Image.DecompressionBombError:
        complaint = (
            f"A picture may have at most {MAX_PIXELS // 10**6} megapixels, and this one has more: save it smaller."
        )
    except Exception:  # Pillow documents no complete list of what its decoders raise
        complaint = (
            "The picture is damaged, cut short or not what it says it is. "
            "Open it in an image editor, save it again as PNG or JPEG, and take that file."
        )
    raise PlaygroundError(complaint)  # outside `except`: else the traceback keeps the half-decoded picture in memory


def _of_array(numbers: Any) -> Image.Image:
    """Of numpy, torch and whoever else has arrays."""
    import numpy as np

    on_cpu = numbers.detach().cpu() if hasattr(numbers, "detach") else numbers
    array = np.asarray(on_cpu)
    if array.ndim == 4 and len(array) == 1:
        array = array[0]
    if array.ndim == 3 and array.shape[0] in (1, 3) and array.shape[2] not in (1, 3):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)) or not array.size:
        raise PlaygroundError(
            "An array is a picture with the shape (height, width, 3), (3, height, width) or (height, width); "
            f"given was {tuple(np.shape(on_cpu))}."
        )
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise PlaygroundError(
                "This array holds what is no number (NaN): a picture is bytes, or fractions from 0 to 1."
            )
        low, high = float(array.min()), float(array.max())
        if not (low >= 0 and high <= 1):
            raise PlaygroundError(
                f"An array of fractions is a picture between 0 and 1; given was {low:.3g} to {high:.3g}. Undo the "
                "normalisation first, or give trace(model, pixel_values=…) what the model gets as it is."
            )
        array = (array * 255 + 0.5).astype(np.uint8)
    if array.dtype != np.uint8:
        raise PlaygroundError(f"An array is a picture of uint8, or of fractions from 0 to 1; given was {array.dtype}.")
    return Image.fromarray(array)


def _open(source: Source, kept: int) -> Image.Image:
    if isinstance(source, Image.Image):
        check_size(*source.size)
        return _decoded(source, kept)
    data = read(source)
    if SLOW.match(data):
        with Worker() as worker:
            return worker.decoded(data, kept)
    return _decoded_file(data, kept)


def _decoded_file(data: bytes, kept: int) -> Image.Image:
    picture = read_header(data)
    check_size(*picture.size)
    check_effort(picture)
    if picture.format == "JPEG":
        shrink = shrinkage(picture, kept)
        picture.draft(None, (picture.width // shrink, picture.height // shrink))
        blocks = picture.applist  # type: ignore[attr-defined]  # of a JPEG
        picture.info["exif"] = next((block for _, block in blocks if block.startswith(HIDDEN_EXIF)), b"")
    return _decoded(picture, kept)


def _decoded(picture: Image.Image, kept: int) -> Image.Image:
    picture.load()
    return upright_rgb(picture, kept)


# The model's input

RESAMPLING = {method.name.lower(): method for method in Image.Resampling}  # the names are timm's


def fit(image_size: tuple[int, int], patch: int, native: tuple[int, int]) -> tuple[int, int]:
    """The input size (H, W) for a picture of (width, height): the picture's aspect in whole patches, with about as many
    patches as the native size has, never more, and at least one along each side.
    """
    width, height = image_size
    patches = max(1, native[0] // patch) * max(1, native[1] // patch)
    aspect = min(max(height / width, 1 / patches), patches)
    rows, columns = math.sqrt(patches * aspect), math.sqrt(patches / aspect)

    def near(side: float) -> list[int]:
        return [step for step in range(math.floor(side) - 1, math.ceil(side) + 2) if 1 <= step <= patches]

    grids = [(r, c) for r in near(rows) for c in {*near(columns), patches // r}]
    grids += [(patches // c, c) for c in near(columns)]

    def misfit(grid: tuple[int, int]) -> float:  # distortion costs more than fewer patches
        r, c = grid
        return 2 * abs(math.log(r / c / aspect)) + abs(math.log(r * c / patches))

    r, c = min((grid for grid in grids if grid[0] * grid[1] <= patches), key=misfit)
    return r * patch, c * patch


def checked_size(size: tuple[int, int], patch: int) -> tuple[int, int]:
    """An input size (H, W) that somebody chose, if it is whole patches, and not too many."""
    try:
        height, width = (int(n) for n in size)
    except (TypeError, ValueError):
        raise PlaygroundError(f"A size is (height, width) in pixels, not {size!r}.") from None
    if height < patch or width < patch or height % patch or width % patch:
        near = tuple(max(1, round(n / patch)) * patch for n in (height, width))
        raise PlaygroundError(
            f"A size of {height} × {width} can't be cut into patches of {patch} × {patch}; the nearest is {near}."
        )
    if (tokens := height * width // patch**2) > MOST_PATCHES:
        raise PlaygroundError(
            f"A size of {height} × {width} makes {tokens:,} patches; at most {MOST_PATCHES:,} are traced."
        )
    return height, width


def displayed(image: Image.Image, size: tuple[int, int], interpolation: str = "bicubic") -> Image.Image:
    """The whole picture resized to (H, W), without cropping: what the model sees."""
    if interpolation not in RESAMPLING:
        raise PlaygroundError(f"There is no interpolation {interpolation!r}: choose one of {', '.join(RESAMPLING)}.")
    height, width = size
    picture = image if image.mode == "RGB" else open_image(image)
    return picture.resize((width, height), RESAMPLING[interpolation])


def model_input(
    image: Image.Image,
    size: tuple[int, int],
    mean: Sequence[float],
    std: Sequence[float],
    interpolation: str = "bicubic",
) -> torch.Tensor:
    """The displayed picture as the model's input, normalised by `mean` and `std`: (1, 3, H, W) float32."""
    import numpy as np
    import torch

    pixels = torch.from_numpy(np.array(displayed(image, size, interpolation)))  # (H, W, 3) bytes
    pixels = pixels.permute(2, 0, 1).float().contiguous()  # (3, H, W)
    per_channel = [torch.tensor(values, dtype=torch.float32).view(3, 1, 1) for values in (mean, std)]
    return pixels.div_(255).sub_(per_channel[0]).div_(per_channel[1]).unsqueeze(0)  # in place: it may be large


def given_input(values: Any) -> torch.Tensor:
    """What somebody made for a model, (1, 3, H, W) float32: a tensor, an array, or the dictionary of an image processor
    of `transformers`. Nothing of it is changed."""
    import torch

    if isinstance(values, Mapping):
        values = values.get("pixel_values")
    try:
        pixels = torch.as_tensor(values).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise PlaygroundError(
            f"pixel_values is a tensor of (1, 3, height, width); given was {type(values).__name__}."
        ) from None
    if pixels.dim() != 4 or tuple(pixels.shape[:2]) != (1, 3):
        raise PlaygroundError(f"pixel_values is one picture, (1, 3, height, width); given was {tuple(pixels.shape)}.")
    if not pixels.is_floating_point() or not bool(pixels.isfinite().all()):
        what = f"{pixels.dtype}".removeprefix("torch.") if not pixels.is_floating_point() else "NaN or infinite"
        raise PlaygroundError(f"pixel_values are the normalised numbers that the model gets; given were {what}.")
    return pixels.float()
