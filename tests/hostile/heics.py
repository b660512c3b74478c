"""Broken HEIC files."""

import struct

from hostile.making import box, patched, saved

QUICK_PRESET = {"enc_params": {"preset": "ultrafast"}}  # other presets take ten seconds for a large picture


def heic_claiming(width: int, height: int, data: bytes | None = None) -> bytes:
    data = data or saved("HEIF")
    return patched(data, data.index(b"ispe") + 8, struct.pack(">II", width, height))


def large_heic() -> bytes:
    return saved("HEIF", (8_000, 6_000), **QUICK_PRESET)


def heic_of_tiles(rows: int, columns: int, tile: int, output_size: tuple[int, int], is_nested: bool = False) -> bytes:
    """A grid in which all tiles are the same coded tile, so that the file stays small."""
    coded_tile = saved("HEIF", (tile, tile), **QUICK_PRESET)
    decoder_config = coded_tile[coded_tile.index(b"hvcC") - 4 :][
        : int.from_bytes(coded_tile[coded_tile.index(b"hvcC") - 4 :][:4])
    ]
    coded_picture = coded_tile[coded_tile.index(b"mdat") + 4 :]
    width, height = output_size
    # the second byte is a flag: width and height have four bytes each
    grid = bytes((0, 1, rows - 1, columns - 1)) + struct.pack(">II", width, height)

    def full_box(name: bytes, data: bytes, version: int = 0) -> bytes:
        return box(name, bytes((version, 0, 0, 0)) + data)

    def item(number: int, kind: bytes) -> bytes:
        return full_box(b"infe", struct.pack(">HH4s", number, 0, kind) + b"\0", version=2)

    items = [(1, b"hvc1", coded_picture), (2, b"grid", grid)] + ([(3, b"grid", grid)] if is_nested else [])
    top_item = items[-1][0]
    references = b"".join(
        box(b"dimg", struct.pack(">HH", number, rows * columns) + struct.pack(">H", number - 1) * (rows * columns))
        for number, kind, _ in items
        if kind == b"grid"
    )
    sizes = full_box(b"ispe", struct.pack(">II", tile, tile)) + full_box(b"ispe", struct.pack(">II", width, height))
    associations = b"".join(struct.pack(">HB", n, 2) + (b"\x81\x02" if n == 1 else b"\x03\x03") for n, _, _ in items)
    properties = box(b"ipco", decoder_config + sizes) + full_box(b"ipma", struct.pack(">I", len(items)) + associations)

    def meta(offset: int) -> bytes:
        location_entries = b""
        for number, _, data in items:
            location_entries += struct.pack(">HHHII", number, 0, 1, offset, len(data))
            offset += len(data)
        handler = full_box(b"hdlr", bytes(4) + b"pict" + bytes(13))
        infos = full_box(b"iinf", struct.pack(">H", len(items)) + b"".join(item(n, kind) for n, kind, _ in items))
        locations = full_box(b"iloc", b"\x44\0" + struct.pack(">H", len(items)) + location_entries)
        primary_item = full_box(b"pitm", struct.pack(">H", top_item))
        return full_box(
            b"meta",
            handler + primary_item + locations + infos + full_box(b"iref", references) + box(b"iprp", properties),
        )

    file_type = box(b"ftyp", b"heic" + bytes(4) + b"mif1heic")
    start = len(file_type) + len(meta(0)) + 8
    return file_type + meta(start) + box(b"mdat", b"".join(data for _, _, data in items))


HEICS = {
    "a HEIC of 48 megapixels that claims 64 × 48": lambda: heic_claiming(64, 48, large_heic()),
    "a HEIC of 40,000 tiles": lambda: heic_of_tiles(200, 200, 64, output_size=(256, 256)),
    "a HEIC of 900 large tiles": lambda: heic_of_tiles(30, 30, 4096, output_size=(256, 256)),
    "a HEIC of tiles of tiles": lambda: heic_of_tiles(20, 20, 64, output_size=(1280, 1280), is_nested=True),
    "a HEIC of 4,000,000 empty boxes": lambda: saved("HEIF") + box(b"free", b"") * 4_000_000,
}
