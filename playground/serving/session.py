"""What one person has chosen, kept between the runs of their page, and the bytes that show it.

A session knows no widgets: the pages change it through the functions below and mount what `blob` gives. Bytes that the
browser has are not sent again.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from playground.errors import PlaygroundError
from playground.pack import pack
from playground.samples import SAMPLES, named
from playground.serving import address, engine
from playground.serving.cache import Shelf
from playground.serving.engine import Picture, Wish

MINE = "mine"  # no sample has this name
LENS_HEIGHT = -82  # the window less what stands above the lens


@dataclass
class Session:
    picture: Picture
    wish: Wish
    view: dict[str, str] = field(default_factory=dict)  # as in the address
    view_id: int = 0  # a new one tells the microscope to take `view`
    other: tuple[Picture, Wish] | None = None  # to compare with
    whole: Wish | None = None  # the same picture, the whole pass with another scale
    overlay: dict | None = None  # the server's answer to a question about one patch
    extra: tuple[str, list[int]] | None = None  # a pack's id, and more layers of it
    sent: set[str] = field(default_factory=set)  # what the browser has
    own: Shelf = field(default_factory=engine.own_shelf)  # traces of this person's uploads
    mine: Picture | None = None  # the last of them: one click brings it back
    changes: int = 0
    built: tuple[int, bytes] = (-1, b"")

    # What a person chooses

    def show(self, picture: Picture) -> None:
        self._try(picture, self.wish)

    def use(self, model: str) -> None:
        self._try(self.picture, Wish(model))

    def refine(self, detail: int) -> None:
        self._try(self.picture, replace(self.wish, detail=detail))

    def compare(self, picture: Picture, model: str) -> None:
        wish = Wish(model, self.wish.detail if model == self.wish.model else 1)
        engine.answer(picture, wish, self.own)  # says what is wrong before anything has changed
        self.other = (picture, wish)
        self.view = self.view | {"beside": "compare"}
        self.view_id += 1
        self.changes += 1

    def _try(self, picture: Picture, wish: Wish) -> None:
        """PlaygroundError leaves everything as it was."""
        if wish.detail not in engine.details(wish.model):  # an address may ask for more than the page offers
            wish = replace(wish, detail=1)
        engine.answer(picture, wish, self.own)
        other = self._moved_along(picture, wish)
        self.picture, self.wish, self.other = picture, wish, other
        if not picture.sample:
            self.mine = picture
        self.whole = self.overlay = self.extra = None
        self.changes += 1

    def _moved_along(self, picture: Picture, wish: Wish) -> tuple[Picture, Wish] | None:
        """Another model goes on to the new picture, another picture to the new model. Who chooses just what stands
        beside has the two change places."""
        if self.other is None:
            return None
        beside, its_wish = self.other
        if beside.id == self.picture.id:
            other = (picture, self.wish if its_wish == wish else its_wish)
        else:
            other = (self.picture if beside.id == picture.id else beside, wish)
        engine.look(*other, self.own)
        return other

    @property
    def _layer(self) -> int | None:
        return int(self.view["layer"]) if "layer" in self.view else None

    def arrive(self, words: dict[str, str], view: dict[str, str]) -> str | None:
        """From another page: what the address leaves open stays as it was. Gives a sentence if something in it can't be
        had."""
        self.sent.clear()  # the browser forgot what another page had shown
        self.view |= view
        self.view_id += 1
        self.changes += 1
        model = words.get("model", self.wish.model)
        detail = int(words.get("detail", self.wish.detail if model == self.wish.model else 1))
        picture = engine.sample(words["sample"]) if "sample" in words else self.picture
        wish = Wish(model, detail)
        try:
            if (picture.id, wish) != (self.picture.id, self.wish):
                self._try(picture, wish)
        except PlaygroundError as error:
            return str(error)
        return None

    def take_back(self, former: Session, words: dict[str, str]) -> str | None:
        """What a person had loaded stays theirs when they go back; an address of it names a model and no sample."""
        self.own, self.mine = former.own, former.mine
        if self.mine is not None and "model" in words and "sample" not in words:
            try:
                self.show(self.mine)
            except PlaygroundError as error:
                return str(error)
        return None

    # What the microscope asks

    def answer(self, asked: dict) -> None:
        try:
            self._answer(asked)
        except PlaygroundError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError):
            raise PlaygroundError("The page asked what can't be answered: reload it, and try again.") from None
        self.changes += 1

    def _answer(self, asked: dict) -> None:
        what = asked.get("what")
        if what == "packs":
            self.sent -= {str(i) for i in asked.get("ids", [])}
        elif what == "layers":
            self.extra = (str(asked["pack"]), [int(i) for i in asked["layers"]][:3])
        elif what == "whole":
            whole = replace(self.wish, scale=1.0 if asked["scale"] == "off" else float(asked["scale"]))
            engine.answer(self.picture, whole, self.own)
            self.whole = whole
        elif what in ("similarity", "rollout"):
            self.overlay = self._overlay(what, str(asked["query"]), int(asked["layer"]), asked.get("scale", "on"))
        elif what == "compare" and self.other is None:
            self.compare(next_sample(self.picture), self.wish.model)

    def _overlay(self, what: str, query: str, layer: int, scale: float | str) -> dict:
        """`scale` is that of the whole pass; "on" for the trained one."""
        wish = self.wish if scale == "on" else replace(self.wish, scale=float(scale))
        seen = engine.trace(self.picture, wish, self.own)
        parts = query.split(",")
        place = (int(parts[0]), int(parts[1])) if len(parts) == 2 else query
        answer = {"what": what, "query": query, "scale": scale}
        if what == "rollout":  # through all layers, whichever is shown
            return answer | {"layer": None, "values": seen.rollout(place).numpy()}
        return answer | {"layer": layer, "values": seen.similarity(place, layer).numpy()}

    # What the microscope gets

    def _pairs(self) -> list[tuple[Picture, Wish]]:
        whole = [] if self.whole is None else [(self.picture, self.whole)]
        return [(self.picture, self.wish), *whole, *([] if self.other is None else [self.other])]

    def blob(self) -> bytes:
        """Unchanged as long as nothing has changed: equal bytes are not sent twice."""
        if self.built[0] != self.changes:
            self.built = (self.changes, self._build())
        return self.built[1]

    def _build(self) -> bytes:
        arrays, packs, images, complete = {}, [], {}, True
        for picture, wish in self._pairs():
            pack_id = id_of(picture, wish)
            entry = {"id": pack_id, "title": model_title(wish.model), "image": len(images)}
            if picture.id in images:
                entry["image"] = list(images).index(picture.id)
            else:
                images[picture.id] = {"id": picture.id, "title": picture.name, "mime": "image/jpeg"}
                if picture.sample:
                    images[picture.id]["start"] = named(picture.name).start
                if picture.id not in self.sent:
                    images[picture.id]["section"] = f"image{len(images)}"
                    arrays[f"image{len(images)}"] = picture.jpeg
            complete &= engine.look(picture, wish, self.own)
            section = f"pack{len(packs)}"
            if pack_id not in self.sent:
                arrays[section] = engine.pack(picture, wish, self.own, self._layer)
            elif self.extra is not None and self.extra[0] == pack_id:
                arrays[section] = engine.layers(picture, wish, self.own, self.extra[1])
            packs.append(entry | ({"section": section} if section in arrays else {}))
            self.sent |= {pack_id, picture.id}
        asks = ["similarity", "rollout", "whole", "compare"] + ([] if complete else ["layers"])
        header = {
            "format": "attention-playground/page-1",
            "packs": packs,
            "images": list(images.values()),
            "view": self.view,
            "view_id": self.view_id,
            "shows": self.strip(),
            "ui": {"height": LENS_HEIGHT, "uploaded": not self.picture.sample, "asks": asks},
        }
        if self.overlay is not None:
            arrays["overlay"] = self.overlay["values"].astype(np.float32)
            header["overlay"] = {k: v for k, v in self.overlay.items() if k != "values"} | {"section": "overlay"}
        self.extra = None
        return pack(header, arrays)

    def strip(self) -> dict:
        """What of the strip of samples is chosen, and whether a picture of the person's own stands there."""
        own = self.mine and {"title": self.mine.name, "src": self.mine.thumbnail}
        return {"chosen": self.picture.name if self.picture.sample else MINE, "own": own}

    # The address

    def words(self, view: bool = True) -> dict[str, str]:
        """What stands in the address now; the microscope's `view` only on its page."""
        words = {"model": self.wish.model}
        if self.picture.sample:
            words["sample"] = self.picture.name
        if self.wish.detail > 1:
            words["detail"] = str(self.wish.detail)
        if self.other is not None and view:
            picture, wish = self.other
            if picture.id == self.picture.id:
                words["with"] = f"model:{wish.model}"
            elif picture.sample:
                words["with"] = f"sample:{picture.name}"
        return address.readable(words) | (self.view if view else {})


def start(words: dict[str, str], view: dict[str, str]) -> tuple[Session, str | None]:
    """A session from an address; beside it a sentence, if the address asked for something that can't be had."""
    model, trouble = words.get("model", default_model()), None
    picture = engine.sample(words.get("sample", SAMPLES[0].name))
    session = Session(picture, Wish(default_model()), view)
    try:
        session._try(picture, Wish(model, int(words.get("detail", 1))))
        kind, _, name = words.get("with", "").partition(":")
        if kind == "sample" and any(s.name == name for s in SAMPLES):
            session.compare(engine.sample(name), model)
        elif kind == "model":
            session.compare(picture, name)
    except PlaygroundError as error:
        trouble = str(error)
    return session, trouble


def id_of(picture: Picture, wish: Wish) -> str:
    return f"{picture.id}-{sha256(repr(wish).encode()).hexdigest()[:12]}"


def default_model() -> str:
    return "bundled" if engine.has_bundled() else "untrained"


def model_title(name: str) -> str:
    return {"bundled": "bundled ViT", "untrained": "untrained ViT"}.get(name, name.split(".")[0])


def next_sample(picture: Picture) -> Picture:
    names = [s.name for s in SAMPLES]
    place = names.index(picture.name) if picture.sample else -1
    return engine.sample(names[(place + 1) % len(names)])


def sent_photo(photo: dict) -> Picture:
    """A picture that was dropped or pasted; it came inside a message."""
    try:
        data = base64.b64decode(photo["data"], validate=True)
    except (KeyError, TypeError, ValueError):
        raise PlaygroundError("The picture did not arrive in one piece: try again, or save it and upload it.") from None
    return engine.upload(data, str(photo.get("name", "picture"))[:60])
