"""Decodes QR codes by the rules of ISO/IEC 18004, which this file implements a second time."""

import pytest

from playground.errors import PlaygroundError
from playground.serving import qr

ADDRESSES = ["http://a.b/c/X", "http://192.168.178.23:8501/c/ACDEF", "https://attention.example.org/some/path/c/QRTVW"]


def read_code(rows: list[str]) -> str:
    """The text of a QR code: unmasks the cells, walks the columns and checks the error correction."""
    side = len(rows)
    grid = [[int(cell) for cell in row] for row in rows]
    formats = [[grid[row][column] for row, column in places] for places in qr._format_places(side)]
    assert formats[0] == formats[1]
    format_bits = int("".join(map(str, formats[0])), 2) ^ 0b101010000010010
    assert format_bits >> 13 == 0b01
    mask = qr.MASKS[format_bits >> 10 & 7]
    version = (side - 17) // 4
    fixed_cells = qr._fixed_cells(version)
    bits, is_upward = [], True
    for right in [c for c in range(side - 1, 0, -1) if (c > 6 and (side - 1 - c) % 2 == 0) or c in (5, 3, 1)]:
        for row in range(side - 1, -1, -1) if is_upward else range(side):
            for column in (right, right - 1):
                if fixed_cells[row][column] is None:
                    bits.append(grid[row][column] ^ mask(row, column))
        is_upward = not is_upward
    codewords = [int("".join(map(str, bits[i : i + 8])), 2) for i in range(0, len(bits) - 7, 8)]
    for power in range(qr.CORRECTION_BYTES[version]):  # the message is divisible by each factor of the generator
        root, remainder = 1, 0
        for _ in range(power):
            root = qr._product(root, 2)
        for codeword in codewords:
            remainder = qr._product(remainder, root) ^ codeword
        assert remainder == 0, power
    bit_text = "".join(f"{codeword:08b}" for codeword in codewords[: qr.DATA_BYTES[version]])
    assert bit_text[:4] == "0100"
    length = int(bit_text[4:12], 2)
    return bytes(int(bit_text[position : position + 8], 2) for position in range(12, 12 + 8 * length, 8)).decode()


@pytest.mark.parametrize("text", [*ADDRESSES, *("x" * n for n in (1, 17, 18, 32, 33, 53, 54, 78, 79, 106))])
def test_a_drawn_code_can_be_read(text):
    assert read_code(qr.rows(text)) == text


def test_a_long_address_is_refused_with_a_sentence():
    with pytest.raises(PlaygroundError, match="107"):
        qr.rows("x" * 107)
