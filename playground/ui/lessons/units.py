"""Counts, bytes and seconds in words."""

BYTES = [10.0**p for p in range(3, 13)]  # where axes have a line


def flops_text(n: float) -> str:
    return _with_unit(n, 1000, ("", " K", " M", " G", " T", " P"))


def bytes_text(n: float) -> str:
    """In powers of ten, as disks and the README count."""
    return _with_unit(n, 1000, (" B", " KB", " MB", " GB", " TB"))


def seconds_text(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _with_unit(n: float, step: int, units: tuple[str, ...]) -> str:
    place = 0
    while n >= step and place < len(units) - 1:
        n, place = n / step, place + 1
    return f"{n:.3g}{units[place]}" if n < 999.5 or place else f"{n:.0f}{units[place]}"
