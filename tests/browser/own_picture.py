"""A person's own picture, and the ways to bring it into the app."""

import base64
import io

import numpy as np
from PIL import Image

import playground
from browser.truth import assert_close, model
from playground.serving.pictures import digest


def picture(width: int, height: int, orientation: int = 1) -> bytes:
    """A JPEG of two white discs with dark middles on a gradient: its best moment is one disc attending to the other."""
    aspect_x, aspect_y = max(1, width / height), max(1, height / width)
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    disc_x, disc_y = (0.55, 0) if width >= height else (0, 0.55)
    distances = ((abs(x) - disc_x) * aspect_x) ** 2 + ((abs(y) - disc_y) * aspect_y) ** 2
    pixels = np.stack([np.zeros_like(x), (x + 1) / 2, (y + 1) / 2], axis=-1)
    pixels[distances < 0.1] = 1
    pixels[distances < 0.025] = 0.1
    return as_jpeg(pixels, orientation)


def as_jpeg(pixels: np.ndarray, orientation: int = 1) -> bytes:
    exif, buffer = Image.Exif(), io.BytesIO()
    exif[0x0112] = orientation
    Image.fromarray((pixels * 255).astype(np.uint8)).save(buffer, "JPEG", quality=92, exif=exif)
    return buffer.getvalue()


def upload(visitor, data: bytes, name: str) -> None:
    file = {"name": name, "mimeType": "image/jpeg", "buffer": data}
    visitor.unfold("photo").locator("input[type=file]").first.set_input_files(file)


HAND_OVER = """([name, type, base64, title]) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const held = new DataTransfer();
  held.items.add(new File([bytes], title, { type }));
  const options = { bubbles: true, cancelable: true };
  const event = name === "drop" ? new DragEvent(name, { ...options, dataTransfer: held }) : new ClipboardEvent(name, { ...options, clipboardData: held });
  document.body.dispatchEvent(event);
}"""  # noqa: E501


def hand_over(visitor, gesture: str, data: bytes, mime_type: str = "image/jpeg", title: str = "dropped.jpg") -> None:
    visitor.page.evaluate(HAND_OVER, [gesture, mime_type, base64.b64encode(data).decode(), title])


def assert_shows(visitor, data: bytes, name: str) -> dict:
    visitor.page.get_by_title(f"Yours: {name}").first.wait_for(state="attached")
    selector = f'.toolbar[data-picture="mine:{digest(data)}"]'
    visitor.page.locator(selector).wait_for(state="attached")
    visitor.until(f"r => r.picture === '{digest(data)}'")
    visitor.page.locator(".attention-early").wait_for(state="detached")  # until Streamlit has taken over the lens
    truth = playground.trace(model(), playground.open_image(data))
    visitor.until(f"r => r.grid[0] === {truth.grid[0]} && r.grid[1] === {truth.grid[1]}")
    state = visitor.hover((2, 3))
    assert_close(state["row"], truth.row(state["layer"], state["head"], (2, 3)))
    return state


def assert_opens_a_trace_file(visitor, folder) -> None:
    """Somebody's attention, saved by Python and dropped here, has its grid, names and rows; nobody gets it."""
    queries, keys = np.random.default_rng(1).normal(0, 2, (2, 4, 3, 2 + 5 * 7, 8)).astype(np.float32)
    image = Image.fromarray(np.full((50, 70, 3), 99, np.uint8))
    theirs = playground.from_attention(
        q=queries, k=keys, grid=(5, 7), prefix=2, names=["red", "fox"], image=image, title="Their model"
    )
    sent = []
    visitor.page.on("request", lambda request: request.method == "GET" or sent.append(request.url))
    hand_over(visitor, "drop", theirs.save(folder / "fox.trace").read_bytes(), "", "fox.trace")
    state = visitor.until("r => r.grid[0] === 5 && r.grid[1] === 7")
    assert list(state["prefix"]) == ["red", "fox"]
    query = tuple(map(int, state["query"].split(",")))
    assert_close(state["row"], theirs.row(state["layer"], state["head"], query))
    assert "Their model" in visitor.page.locator(".provenance").inner_text()
    assert sent == []
    view = {"cut": "1,1>2,2", "pass": "whole", "scale": "off"}  # as a hand-written address may have it
    visitor.page.evaluate("view => theLens().update({ view })", view)
    visitor.until("r => r.scale === 1")
    assert visitor.page.evaluate("theLens().view.cut") == ""
    assert "computed" not in visitor.part("badge").inner_text()
