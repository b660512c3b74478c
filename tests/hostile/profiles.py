"""Builds ICC colour profiles: ordinary ones, and hostile ones that keep LittleCMS busy or make impossible claims.

GREEDY_PROFILES and HARMLESS_PROFILES map a name to a function that returns the profile's bytes.
"""

import struct
from collections.abc import Callable

D50 = (0.9642, 1.0, 0.8249)


def fixed_point(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}i", *(round(number * 65536) for number in numbers))


def profile(
    tags: dict[bytes, bytes], space: bytes = b"RGB ", connection: bytes = b"XYZ ", kind: bytes = b"scnr"
) -> bytes:
    """An ICC profile with these tags. Tags with equal bytes share one place, as in ordinary profiles."""
    start, offsets, body = 128 + 4 + 12 * len(tags), {}, b""
    for data in tags.values():
        if data not in offsets:
            offsets[data] = start + len(body)
            body += padded(data)
    table = b"".join(name + struct.pack(">II", offsets[data], len(data)) for name, data in tags.items())
    rest = struct.pack(">I", len(tags)) + table + body
    header_fields = (128 + len(rest), b"lcms", 0x04300000, kind, space, connection, bytes(12), b"acsp")
    return struct.pack(">I4sI4s4s4s12s4s", *header_fields).ljust(68, b"\0") + fixed_point(*D50) + bytes(48) + rest


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def text_tag(text: str) -> bytes:
    encoded = text.encode("utf-16-be")
    return b"mluc" + bytes(4) + struct.pack(">II2s2sII", 1, 12, b"en", b"US", len(encoded), 28) + encoded


def xyz(*numbers: float) -> bytes:
    return b"XYZ " + bytes(4) + fixed_point(*numbers)


def curve(*values: int) -> bytes:
    return padded(b"curv" + bytes(4) + struct.pack(f">I{len(values)}H", len(values), *values))


def parametric_curve(kind: int, *numbers: float) -> bytes:
    return b"para" + bytes(4) + struct.pack(">HH", kind, 0) + fixed_point(*numbers)


def with_standard_tags(**tags: bytes) -> dict[bytes, bytes]:
    standard_tags = {b"desc": text_tag("hostile"), b"cprt": text_tag("none"), b"wtpt": xyz(*D50)}
    return standard_tags | {name.encode(): data for name, data in tags.items()}


# An ordinary scanner's profile: three colours and a curve -------------------------------------------------------------


def matrix_profile(red: tuple = (0.61, 0.31, 0.02), **tags: bytes) -> bytes:
    """A profile similar to Adobe RGB, whose red and tags may be replaced."""
    colours = {"rXYZ": xyz(*red), "gXYZ": xyz(0.205, 0.626, 0.061), "bXYZ": xyz(0.149, 0.063, 0.745)}
    curves = dict.fromkeys(("rTRC", "gTRC", "bTRC"), parametric_curve(0, 2.2))
    return profile(with_standard_tags(**(colours | curves | tags)))


# Tables ---------------------------------------------------------------------------------------------------------------


def table16(inputs: int, outputs: int, grid: int, points: bytes, entries: int = 2) -> bytes:
    """A table of ICC type mft2: curves, a grid of points, curves."""
    ramp = struct.pack(f">{entries}H", *(65535 * i // max(1, entries - 1) for i in range(entries)))
    head = struct.pack(">BBBB", inputs, outputs, grid, 0) + fixed_point(1, 0, 0, 0, 1, 0, 0, 0, 1)
    return b"mft2" + bytes(4) + head + struct.pack(">HH", entries, entries) + ramp * inputs + points + ramp * outputs


def ink_table(grid: int) -> bytes:
    """A table from CMYK to Lab, in which each ink absorbs light, as on paper."""
    levels = [1 - i / (grid - 1) for i in range(grid)]
    points = []
    for c in levels:
        for m in levels:
            for y in levels:
                for k in levels:
                    light = k * (0.3 * c + 0.6 * m + 0.1 * y)
                    a, b = 0.5 + 0.3 * k * (c - m), 0.5 + 0.3 * k * ((c + m) / 2 - y)
                    points += [round(65280 * light), round(65280 * a), round(65280 * b)]
    return table16(4, 3, grid, struct.pack(f">{len(points)}H", *points))


def ink_profile(grid: int = 9) -> bytes:
    return profile(with_standard_tags(A2B0=ink_table(grid)), b"CMYK", b"Lab ", b"prtr")


def curves_and_grid(curves: bytes, channels: int = 3, grid: int | None = None, points: bytes = b"") -> bytes:
    """A table of ICC type mAB: curves, a grid, curves, a matrix, curves. All curves are the same bytes."""
    curve_bytes = curves * channels
    start = 32
    matrix = fixed_point(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
    clut = b"" if grid is None else bytes([grid] * channels).ljust(16, b"\0") + b"\2\0\0\0" + points
    offsets = (
        start,
        start + len(curve_bytes),
        start,
        start + len(curve_bytes) + len(matrix) if clut else 0,
        start if clut else 0,
    )
    head = b"mAB " + bytes(4) + struct.pack(">BBHIIIII", channels, 3, 0, *offsets)
    return head + curve_bytes + matrix + clut


# Multi-process elements: chains of stages, which may be very long -----------------------------------------------------


def stages(count: int, stage: bytes, channels: int = 3) -> bytes:
    start = 16 + 8 * count
    head = b"mpet" + bytes(4) + struct.pack(">HHI", channels, channels, count)
    return head + struct.pack(">II", start, len(stage)) * count + stage


def matrix_stage(channels: int = 3) -> bytes:
    numbers = [float(row == column) for row in range(channels) for column in range(channels)] + [0.0] * channels
    return b"matf" + bytes(4) + struct.pack(f">HH{len(numbers)}f", channels, channels, *numbers)


def grid_stage(grid: int, channels: int = 3) -> bytes:
    points = bytes(4 * channels * grid**channels)
    return (
        b"clut" + bytes(4) + struct.pack(">HH", channels, channels) + bytes([grid] * channels).ljust(16, b"\0") + points
    )


# The app refuses these before LittleCMS reads them, which would take seconds to minutes or hundreds of megabytes.
GREEDY_PROFILES: dict[str, Callable[[], bytes]] = {
    "100,000 stages": lambda: matrix_profile(D2B0=stages(100_000, matrix_stage())),
    "30,000 stages of grids": lambda: matrix_profile(D2B0=stages(30_000, grid_stage(2))),
    "30,000 stages beside a table": lambda: profile(
        with_standard_tags(A2B0=curves_and_grid(curve()), D2B0=stages(30_000, matrix_stage()))
    ),
    "30,000 stages, as another profile's": lambda: profile(
        with_standard_tags(D2B0=stages(30_000, matrix_stage())), b"RGB ", b"XYZ ", b"spac"
    ),
    "a table of 80⁴ points that are not there": lambda: profile(
        with_standard_tags(A2B0=table16(4, 3, 80, b"")), b"CMYK", b"Lab ", b"prtr"
    ),
    "a grid of 85⁴ points that are not there": lambda: profile(
        with_standard_tags(A2B0=curves_and_grid(curve(), 4, 85)), b"CMYK", b"Lab ", b"prtr"
    ),
    "5,000 tags": lambda: matrix_profile(**{f"{number:4}": curve() for number in range(5_000)}),
}
# LittleCMS reads these within seconds or refuses them itself.
HARMLESS_PROFILES: dict[str, Callable[[], bytes]] = {
    "100 tags": lambda: matrix_profile(**{f"{number:4}": curve() for number in range(80)}),
    "curves of 32,767 points": lambda: profile(
        with_standard_tags(A2B0=curves_and_grid(curve(*range(32_767)), 3, 2, bytes(48)))
    ),
    "a grid of 100³ points": lambda: profile(
        with_standard_tags(A2B0=curves_and_grid(curve(), 3, 100, bytes(6 * 100**3)))
    ),
    "a power of 30,000": lambda: matrix_profile(
        rTRC=parametric_curve(3, -30_000, 1, 0, 1, 0), gTRC=parametric_curve(0, 30_000)
    ),
}
