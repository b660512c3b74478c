"""Opens a picture from an untrusted file as upright RGB, and turns it into the model's input. decoding.py has the
checks. No global setting of Pillow is changed, so several threads can open pictures at once."""

from __future__ import annotations

import contextlib
import io
import math
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from PIL import Image

from playground.errors import PlaygroundError
from playground.pictures.decoder import SLOW_FORMATS, Worker
from playground.pictures.decoding import (
    HIDDEN_EXIF,
    MAX_PIXELS,
    TIFF_NUMBERS,
    check_effort,
    check_size,
    read,
    read_header,
)

if TYPE_CHECKING:
    import numpy as np
    import torch

MOST_PATCHES = 16_384  # the largest number of patches of a traced picture
KEPT_PIXELS = 2**25  # in larger pictures, squares of pixels are averaged, here and in the browser (engine/images.js)

Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview, BinaryIO, Image.Image, "np.ndarray", "torch.Tensor"]


def open_image(source: Source, pixels: int = KEPT_PIXELS) -> Image.Image:
    """An upright RGB picture, decoded and detached from its file, from a path, bytes, a file object or a PIL image; or
    from an array or a tensor of (height, width, 3), (3, height, width) or (height, width): bytes, or 0 … 1.

    A file object is read from its beginning and stays open. Pictures of more than `pixels` pixels, by default 33.6
    million, come back at half size or less.
    """
    if hasattr(source, "__array__") and not isinstance(source, Image.Image | memoryview):
        source = _picture_of_array(source)
    picture = _with_error_sentence(_open, source, pixels)
    picture.filename = _file_of(source)  # type: ignore[attr-defined]  # as Pillow's own pictures have it
    return picture


def _file_of(source: Source) -> str:
    """The path or name of the picture, for captions; "" for bytes."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return str(getattr(source, "filename", "") or "")


def decode_here(data: bytes, pixels: int) -> Image.Image:
    """Opens a file in this process, never in another one."""
    return _with_error_sentence(_decoded_file, data, pixels)


def _with_error_sentence(open_picture: Callable[[Any, int], Image.Image], source: Any, pixels: int) -> Image.Image:
    try:
        return open_picture(source, pixels)
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


def _picture_of_array(numbers: Any) -> Image.Image:
    """Pixels from arrays of numpy, torch and others."""
    import numpy as np

    cpu_numbers = numbers.detach().cpu() if hasattr(numbers, "detach") else numbers
    if str(getattr(cpu_numbers, "dtype", "")) == "torch.bfloat16":  # which NumPy lacks
        cpu_numbers = cpu_numbers.float()
    array = np.asarray(cpu_numbers)
    if array.ndim == 4 and len(array) == 1:
        array = array[0]
    if array.ndim == 3 and array.shape[0] in (1, 3) and array.shape[2] not in (1, 3):
        array = np.moveaxis(array, 0, -1)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)) or not array.size:
        raise PlaygroundError(
            "An array is a picture with the shape (height, width, 3), (3, height, width) or (height, width); "
            f"given was {tuple(np.shape(cpu_numbers))}."
        )
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise PlaygroundError("This array holds NaN: a picture is bytes, or fractions from 0 to 1.")
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


def _open(source: Source, pixels: int) -> Image.Image:
    if isinstance(source, Image.Image):
        check_size(*source.size)
        return _decoded(source, pixels)
    data = read(source)
    if SLOW_FORMATS.match(data):
        with Worker() as worker:
            return worker.decoded(data, pixels)
    return _decoded_file(data, pixels)


def _decoded_file(data: bytes, pixels: int) -> Image.Image:
    picture = read_header(data)
    check_size(*picture.size)
    check_effort(picture)
    if picture.format == "JPEG":
        if pixels < KEPT_PIXELS:  # else squares of pixels are averaged, as in the browser's engine
            shrink = shrinkage(picture, pixels)
            picture.draft(None, (picture.width // shrink, picture.height // shrink))
        blocks = picture.applist  # type: ignore[attr-defined]  # the application segments of a JPEG
        picture.info["exif"] = next((block for _, block in blocks if block.startswith(HIDDEN_EXIF)), b"")
    return _decoded(picture, pixels)


def _decoded(picture: Image.Image, pixels: int) -> Image.Image:
    picture.load()
    return upright_rgb(picture, pixels)


# The model's input

RESAMPLING = {method.name.lower(): method for method in Image.Resampling}  # by timm's names of the filters


SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".heic", ".avif")


def in_folder(folder: Path) -> list[Path]:
    """The picture files in a folder and its subfolders, sorted by name."""
    if not folder.is_dir():
        raise PlaygroundError(f"There is no folder {folder}.")
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)


def fit(image_size: tuple[int, int], patch: int, native_size: tuple[int, int]) -> tuple[int, int]:
    """The input size (H, W) for a picture of (width, height): its aspect in whole patches, about as many as the native
    size has, never more, and at least one along each side."""
    width, height = image_size
    patches = max(1, native_size[0] // patch) * max(1, native_size[1] // patch)
    aspect = min(max(height / width, 1 / patches), patches)
    rows, columns = math.sqrt(patches * aspect), math.sqrt(patches / aspect)

    def near_sides(side: float) -> list[int]:
        return [count for count in range(math.floor(side) - 1, math.ceil(side) + 2) if 1 <= count <= patches]

    grids = [(r, c) for r in near_sides(rows) for c in {*near_sides(columns), patches // r}]
    grids += [(patches // c, c) for c in near_sides(columns)]

    def misfit(grid: tuple[int, int]) -> float:  # the cost of a grid: distortion counts more than missing patches
        r, c = grid
        return 2 * abs(math.log(r / c / aspect)) + abs(math.log(r * c / patches))

    r, c = min((grid for grid in grids if grid[0] * grid[1] <= patches), key=misfit)
    return r * patch, c * patch


def checked_size(size: tuple[int, int], patch: int) -> tuple[int, int]:
    """A chosen input size (H, W), checked: whole patches, and not too many."""
    try:
        height, width = (int(n) for n in size)
        if (height, width) != tuple(size):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise PlaygroundError(f"A size is (height, width) in pixels, not {size!r}.") from None
    if height < patch or width < patch or height % patch or width % patch:
        nearest_size = tuple(max(1, round(n / patch)) * patch for n in (height, width))
        raise PlaygroundError(
            f"A size of {height} × {width} can't be cut into patches of {patch} × {patch}; the nearest is "
            f"{nearest_size}."
        )
    if (tokens := height * width // patch**2) > MOST_PATCHES:
        raise PlaygroundError(f"A size of {height} × {width} makes {tokens:,} patches: {MOST_PATCHES:,} are the most.")
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
    return pixels.div_(255).sub_(per_channel[0]).div_(per_channel[1]).unsqueeze(0)  # in place, because it may be large


def given_input(values: Any) -> torch.Tensor:
    """The caller's own model input, (B, 3, H, W) float32: a tensor, an array, or what an image processor gives."""
    import torch

    if isinstance(values, Mapping):
        values = values.get("pixel_values")
    try:
        pixels = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise PlaygroundError(
            f"pixel_values is a tensor of (pictures, 3, height, width); given was {type(values).__name__}."
        ) from None
    if pixels.layout is not torch.strided or pixels.is_meta:
        raise PlaygroundError(f"pixel_values is a dense tensor; given was {pixels.layout} on {pixels.device}.")
    if pixels.dim() != 4 or not len(pixels) or pixels.shape[1] != 3:
        raise PlaygroundError(
            f"pixel_values are pictures of one size, (pictures, 3, height, width); given was {tuple(pixels.shape)}."
        )
    if not pixels.is_floating_point() or not bool(pixels.isfinite().all()):
        given_kind = f"{pixels.dtype}".removeprefix("torch.") if not pixels.is_floating_point() else "NaN or infinite"
        raise PlaygroundError(f"pixel_values are the normalised numbers that the model gets; given were {given_kind}.")
    return pixels.float() if pixels.requires_grad else pixels.cpu().float()


# Decides, from the table of tags in a colour profile, whether LittleCMS can read the profile safely.
#
# Two kinds of tags would take far too much time or memory. Multi-process elements may name their stages a hundred
# thousand times in a few hundred bytes, and LittleCMS computes every stage for each of 36,000 colours. Tables may claim
# more numbers than the profile holds, and memory is allocated before they are read. Profiles of cameras, scanners,
# screens and printers have neither.

TAGS_AT, TAG = 128, struct.Struct(">4sII")  # a tag's name, offset and size
MOST_TAGS = 100  # LittleCMS reads no profile that has more


def is_usable(profile: bytes) -> bool:
    data = memoryview(profile)
    try:
        (count,) = struct.unpack_from(">I", data, TAGS_AT)
        if count > MOST_TAGS:
            return False
        tags = [TAG.unpack_from(data, TAGS_AT + 4 + TAG.size * number) for number in range(count)]
        return all(_is_modest(data[offset:], len(data)) for _, offset, _ in tags)
    except (struct.error, ValueError):  # cut short
        return False


def _is_modest(data: memoryview, size: int) -> bool:
    """Checks the bytes from a tag's beginning to the end of the profile: the tag's claimed length can't be trusted."""
    kind = bytes(data[:4])
    if kind == b"mpet":
        return False
    if kind in (b"mft1", b"mft2"):  # a colour table with equally many points along each axis
        inputs, outputs, points = data[8:11]
        return points**inputs * outputs <= size
    if kind in (b"mAB ", b"mBA ") and (table_start := int.from_bytes(data[24:28])):
        inputs, outputs = data[8:10]
        return math.prod(data[table_start : table_start + 16][:inputs]) * outputs <= size
    return True


# A picture of any mode becomes RGB in bands of rows, so that there are never two copies of 64 megapixels.

BAND_PIXELS = 2**20

TURN = Image.Transpose
# EXIF orientation -> the transposition that makes the picture upright
UPRIGHT = {2: TURN.FLIP_LEFT_RIGHT, 3: TURN.ROTATE_180, 4: TURN.FLIP_TOP_BOTTOM, 5: TURN.TRANSPOSE, 6: TURN.ROTATE_270}
UPRIGHT |= {7: TURN.TRANSVERSE, 8: TURN.ROTATE_90}


def upright_rgb(picture: Image.Image, pixels: int) -> Image.Image:
    shrink, to_srgb, scale = shrinkage(picture, pixels), None, _deep_scale(picture)
    canvas = Image.new("RGB", (math.ceil(picture.width / shrink), math.ceil(picture.height / shrink)))
    for top, band in _bands(picture, shrink):
        colours, opacity = _colours_and_opacity(band, scale)
        to_srgb = to_srgb or _colours(colours.mode, picture.info.get("icc_profile"))
        # In the order of browsers: first the colour profile, then the opacity
        rgb = _on_white(to_srgb(colours), opacity) if opacity else to_srgb(colours.reduce(shrink))
        canvas.paste(rgb.reduce(shrink) if opacity else rgb, (0, top // shrink))
    transposition = UPRIGHT.get(_orientation(picture.info.get("exif")))
    return canvas if transposition is None else canvas.transpose(transposition)


def shrinkage(picture: Image.Image, pixels: int) -> int:
    """The factor by which both sides shrink so that at most `pixels` pixels remain."""
    return math.ceil(math.sqrt(picture.width * picture.height / pixels))


def _bands(picture: Image.Image, multiple: int = 1) -> Iterator[tuple[int, Image.Image]]:
    rows = multiple * max(1, BAND_PIXELS // (picture.width * multiple))
    for top in range(0, picture.height, rows):
        yield top, picture.crop((0, top, picture.width, min(top + rows, picture.height)))


def _colours_and_opacity(
    band: Image.Image, scale: tuple[float, float] | None
) -> tuple[Image.Image, Image.Image | None]:
    """The picture with eight bits a channel, in RGB or in a mode such as CMYK that `_colours` converts by its colour
    profile; and its opacity, None if all pixels are opaque."""
    if scale:
        return _to_eight_bits(band, *scale), None
    if band.has_transparency_data:
        grey = band.mode in ("L", "LA", "La")
        band = band.convert("LA" if grey else "RGBA")
        return band.convert("L" if grey else "RGB"), band.getchannel("A")
    return (band if band.mode in ("RGB", "L", "CMYK", "LAB") else band.convert("RGB")), None


def _on_white(rgb: Image.Image, opacity: Image.Image) -> Image.Image:
    paper = Image.new("RGB", rgb.size, "white")
    paper.paste(rgb, mask=opacity)
    return paper


def _deep_scale(picture: Image.Image) -> tuple[float, float] | None:
    """The values of black and white: the range of the mode, or of the picture's values if the mode has no fixed range.
    None for a mode of eight bits."""
    if picture.mode.startswith("I;16"):
        return 0, 65535
    if picture.mode not in ("I", "F"):
        return None
    import numpy as np

    finite_values = (values[np.isfinite(values)] for values in (np.asarray(band) for _, band in _bands(picture)))
    ranges = [(float(values.min()), float(values.max())) for values in finite_values if values.size]
    if not ranges:
        raise PlaygroundError("Every pixel of the picture is NaN or infinite: save it as PNG.")
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    usual_maxima = (1,) if picture.mode == "F" else (255, 65535)
    return next(((0, white) for white in usual_maxima if low >= 0 and high <= white), (low, high))


def _to_eight_bits(band: Image.Image, low: float, high: float) -> Image.Image:
    import numpy as np

    values = np.nan_to_num(np.asarray(band, dtype=np.float64), nan=low, posinf=high, neginf=low)
    if band.mode.startswith("I;16"):  # the upper eight bits, as Pillow and browsers read 16-bit colours
        grey = (values // 256).astype(np.uint8)
    else:
        grey = np.rint((values - low) * (255 / max(high - low, 1e-300))).astype(np.uint8)
    if isinstance(band.info.get("transparency"), int):
        grey[values == band.info["transparency"]] = 255
    return Image.fromarray(grey)


def _colours(mode: str, profile: bytes | None) -> Callable[[Image.Image], Image.Image]:
    """The conversion of this mode to sRGB: by the picture's colour profile if that is usable."""
    profile = profile if profile and is_usable(profile) else None
    if profile or mode == "LAB":
        with contextlib.suppress(Exception):  # with a broken profile the picture opens without it
            from PIL import ImageCms

            source_profile = ImageCms.ImageCmsProfile(io.BytesIO(profile) if profile else ImageCms.createProfile("LAB"))
            space, name = source_profile.profile.xcolor_space.strip(), source_profile.profile.profile_description or ""
            if space == {"L": "GRAY", "LAB": "Lab"}.get(mode, mode) and "sRGB" not in name:
                transform = ImageCms.buildTransform(source_profile, ImageCms.createProfile("sRGB"), mode, "RGB")
                return lambda band: ImageCms.applyTransform(band, transform)  # type: ignore[return-value]
    return lambda band: band.convert("RGB")


def _orientation(exif: bytes | None) -> int:
    """The EXIF orientation. Parsed by hand: Pillow would parse all of EXIF, print warnings, and trust claimed sizes."""
    tiff = exif.removeprefix(b"Exif\0\0").removeprefix(HIDDEN_EXIF) if isinstance(exif, bytes) else b""
    byte_order = "<" if tiff.startswith(b"II") else ">"
    with contextlib.suppress(struct.error):
        (directory_start,) = struct.unpack_from(byte_order + "I", tiff, 4)
        (tag_count,) = struct.unpack_from(byte_order + "H", tiff, directory_start)
        for entry in range(directory_start + 2, directory_start + 2 + 12 * tag_count, 12):
            tag, kind, length = struct.unpack_from(byte_order + "HHI", tiff, entry)
            if tag == 274 and kind in (3, 4) and length == 1:
                return int(struct.unpack_from(byte_order + TIFF_NUMBERS[kind], tiff, entry + 8)[0])
    return 1
