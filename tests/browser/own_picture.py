"""A person's own picture, and the ways to bring it into the app."""

import base64
import io

import torch
from PIL import Image

import playground
from browser.truth import assert_close, model


def picture(width: int, height: int, orientation: int = 1) -> bytes:
    """A disc on a gradient, as a JPEG."""
    y, x = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
    disc = ((x - 0.3) ** 2 + (y + 0.2) ** 2 < 0.15).float()
    pixels = (torch.stack([disc, (x + 1) / 2, (y + 1) / 2], dim=-1) * 255).byte().numpy()
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(out, "JPEG", quality=92, exif=exif)
    return out.getvalue()


def upload(visitor, data: bytes, name: str) -> None:
    file = {"name": name, "mimeType": "image/jpeg", "buffer": data}
    visitor.unfold("opening").locator("input[type=file]").first.set_input_files(file)


HAND_OVER = """([name, type, base64, title]) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const held = new DataTransfer();
  held.items.add(new File([bytes], title, { type }));
  const options = { bubbles: true, cancelable: true };
  const event = name === "drop" ? new DragEvent(name, { ...options, dataTransfer: held }) : new ClipboardEvent(name, { ...options, clipboardData: held });
  document.body.dispatchEvent(event);
}"""  # noqa: E501


def hand_over(visitor, how: str, data: bytes, kind: str = "image/jpeg", title: str = "dropped.jpg") -> None:
    visitor.page.evaluate(HAND_OVER, [how, kind, base64.b64encode(data).decode(), title])


def assert_shows(visitor, data: bytes, name: str) -> dict:
    """The page has this picture, and the numbers are those of Python's trace of the same file."""
    visitor.page.locator(".strip .own").filter(has_text=f"yours: {name}").wait_for(state="attached")
    chosen = visitor.page.locator('.strip .mine [aria-pressed="true"]').get_attribute("data-sample")
    visitor.until(f"r => r.picture === '{chosen.removeprefix('mine:')}'")  # the former one may have the same grid
    truth = playground.trace(model(), playground.open_image(data))
    visitor.until(f"r => r.grid[0] === {truth.grid[0]} && r.grid[1] === {truth.grid[1]}")
    shown = visitor.hover((2, 3))
    assert_close(shown["row"], truth.row(shown["layer"], shown["head"], (2, 3)))
    return shown
