"""Encodes a short address as a QR code: rows of "0" (light) and "1" (dark), without the light margin around the code.

The code holds bytes, at most 106. That fits into versions 1 to 5 with the lowest error correction, which need only one
block. The terms are those of ISO/IEC 18004: a *version* is a size, a *mask* is a pattern over the data that avoids
large dark or light areas.
"""

from __future__ import annotations

from collections.abc import Callable

from playground.errors import PlaygroundError

DATA_BYTES = {1: 19, 2: 34, 3: 55, 4: 80, 5: 108}  # version -> data bytes
CORRECTION_BYTES = {1: 7, 2: 10, 3: 15, 4: 20, 5: 26}  # version -> error correction bytes
MOST_TEXT_BYTES = DATA_BYTES[5] - 2  # most bytes of a text: two are left for header and padding
MASKS: tuple[Callable[[int, int], bool], ...] = (
    lambda row, column: (row + column) % 2 == 0,
    lambda row, column: row % 2 == 0,
    lambda row, column: column % 3 == 0,
    lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0,
    lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0,
)
Grid = list[list[int]]


def rows(text: str) -> list[str]:
    data = text.encode()
    version = next((version for version, room in DATA_BYTES.items() if len(data) + 2 <= room), None)
    if version is None:
        raise PlaygroundError(
            f"A QR code here holds {MOST_TEXT_BYTES} bytes; given were {len(data)}. Take a shorter address."
        )
    fixed_cells = _fixed_cells(version)
    words = _words(data, DATA_BYTES[version])
    bits = [
        word >> bit & 1 for word in (*words, *_correction(words, CORRECTION_BYTES[version])) for bit in range(7, -1, -1)
    ]
    grids = [_grid_of(fixed_cells, bits, mask) for mask in range(len(MASKS))]
    return ["".join(map(str, row)) for row in min(grids, key=_penalty)]


def _words(data: bytes, room: int) -> list[int]:
    """Header, data and padding as bytes. The header has twelve bits, so each data byte lies across two bytes."""
    bit_stream = (0b0100 << 8 | len(data)) << 8 * len(data) + 4 | int.from_bytes(data) << 4
    words = list(bit_stream.to_bytes(len(data) + 2))
    return words + [(0xEC, 0x11)[i % 2] for i in range(room - len(words))]


# Error correction (Reed-Solomon): the remainder of a division of polynomials over the field of 256 elements.


def _product(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def _correction(words: list[int], count: int) -> list[int]:
    divisor, root = [1], 1  # coefficients of (x - 1)(x - 2)(x - 4)…, that of the highest power first
    for _ in range(count):
        divisor = [a ^ _product(b, root) for a, b in zip([*divisor, 0], [0, *divisor], strict=True)]
        root = _product(root, 2)
    remainder = [*words, *[0] * count]
    for i in range(len(words)):
        leading_byte = remainder[i]
        for j, factor in enumerate(divisor):
            remainder[i + j] ^= _product(factor, leading_byte)
    return remainder[-count:]


# The picture


def _fixed_cells(version: int) -> list[list[int | None]]:
    """The grid of fixed cells (0 or 1), with None in cells for data. The cells of the format bits hold 0 at first."""
    side = 17 + 4 * version
    grid: list[list[int | None]] = [[None] * side for _ in range(side)]
    for i in range(8, side - 8):
        grid[6][i] = grid[i][6] = 1 - i % 2
    for top, left in ((0, 0), (0, side - 7), (side - 7, 0)):
        for row in range(max(0, top - 1), min(side, top + 8)):
            for column in range(max(0, left - 1), min(side, left + 8)):
                distance = max(abs(row - top - 3), abs(column - left - 3))
                grid[row][column] = int(distance not in (2, 4))
    if version > 1:
        middle = side - 7
        for row in range(middle - 2, middle + 3):
            for column in range(middle - 2, middle + 3):
                grid[row][column] = int(max(abs(row - middle), abs(column - middle)) != 1)
    for row, column in (*_format_places(side)[0], *_format_places(side)[1]):
        grid[row][column] = 0
    grid[side - 8][8] = 1
    return grid


def _format_places(side: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The (row, column) of each of the fifteen format bits, the highest bit first, in each of the two copies."""
    first_copy = [(8, column) for column in (0, 1, 2, 3, 4, 5, 7, 8)] + [(row, 8) for row in (7, 5, 4, 3, 2, 1, 0)]
    second_copy = [(side - 1 - i, 8) for i in range(7)] + [(8, side - 8 + i) for i in range(8)]
    return first_copy, second_copy


def _format_bits(mask: int) -> int:
    """The format bits: correction level (L is 01) and mask, then ten bits that correct errors in these five."""
    level_and_mask = 0b01 << 3 | mask
    remainder = level_and_mask << 10
    for bit in range(14, 9, -1):
        if remainder >> bit & 1:
            remainder ^= 0b10100110111 << bit - 10
    return (level_and_mask << 10 | remainder) ^ 0b101010000010010


def _grid_of(fixed_cells: list[list[int | None]], bits: list[int], mask: int) -> Grid:
    side = len(fixed_cells)
    grid: Grid = [[-1 if cell is None else cell for cell in row] for row in fixed_cells]
    bits_left = iter(bits)
    pairs = (*range(side - 1, 6, -2), *range(5, 0, -2))  # filled two columns at a time; the sixth column is fixed
    for pair_number, right_column in enumerate(pairs):
        for row in range(side) if pair_number % 2 else range(side - 1, -1, -1):
            for column in (right_column, right_column - 1):
                if grid[row][column] < 0:
                    grid[row][column] = next(bits_left, 0) ^ MASKS[mask](row, column)
    for places in _format_places(side):
        for i, (row, column) in enumerate(places):
            grid[row][column] = _format_bits(mask) >> 14 - i & 1
    return grid


def _penalty(grid: Grid) -> int:
    """How hard the code is to read: long lines and blocks of one colour, shapes like a corner pattern, and an excess of
    one colour add to it."""
    side = len(grid)
    lines = ["".join(map(str, line)) for line in (*grid, *zip(*grid, strict=True))]
    runs = [run for line in lines for run in line.replace("01", "0 1").replace("10", "1 0").split()]
    line_excess = sum(len(run) - 2 for run in runs if len(run) >= 5)
    blocks = sum(
        grid[row][column] == grid[row][column + 1] == grid[row + 1][column] == grid[row + 1][column + 1]
        for row in range(side - 1)
        for column in range(side - 1)
    )
    corners = sum(
        line.startswith(pattern, start)
        for line in lines
        for start in range(side - 10)
        for pattern in ("10111010000", "00001011101")
    )
    dark_share = sum(map(sum, grid)) / side**2
    return line_excess + 3 * blocks + 40 * corners + 10 * int(abs(dark_share - 0.5) * 20)
