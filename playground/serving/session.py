"""What one person has chosen, kept between the runs of their page.

A session knows no widgets: the pages change it through the functions below and mount what `blob` gives.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from playground.errors import PlaygroundError
from playground.samples import SAMPLES
from playground.serving import address, models, pictures, traces
from playground.serving.browser import Browser, Choice, Overlay
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

_view_ids = count(1)  # never the same twice on a server


class Session:
    def __init__(self, picture: Picture, wish: Wish, view: dict[str, str] | None = None):
        self.choice = Choice(picture, wish)
        self.own = traces.own_cache()  # traces of this person's uploads
        self._browser = Browser()
        self.tell_view(view or {})

    @property
    def picture(self) -> Picture:
        return self.choice.picture

    @property
    def wish(self) -> Wish:
        return self.choice.wish

    @property
    def other(self) -> tuple[Picture, Wish] | None:
        return self.choice.other

    # The microscope's view, as in the address

    def tell_view(self, view: dict[str, str]) -> None:
        """The microscope will take this view: it heeds `view` when it comes with a new id."""
        self.view, self.view_id = view, next(_view_ids)

    def hear_view(self, view: dict[str, str]) -> None:
        """The microscope says what it shows."""
        self.view = view

    # What a person chooses

    def show(self, picture: Picture) -> None:
        self._choose(picture, self.wish)

    def use(self, model: str) -> None:
        self._choose(self.picture, Wish(model))

    def refine(self, detail: int) -> None:
        self._choose(self.picture, replace(self.wish, detail=detail))

    def compare(self, picture: Picture, model: str) -> None:
        wish = Wish(model, self.wish.detail if model == self.wish.model else 1)
        traces.answer(picture, wish, self.own)  # says what is wrong before anything has changed
        self.choice = replace(self.choice, other=(picture, wish))
        self.tell_view(self.view | {"beside": "compare"})

    def alone(self) -> None:
        """Nothing is compared, and the view is the one that a page begins with."""
        self.choice = replace(self.choice, other=None)
        self.tell_view({})

    def _choose(self, picture: Picture, wish: Wish) -> None:
        """PlaygroundError leaves everything as it was."""
        if wish.detail not in models.details(wish.model):  # an address may ask for more than the page offers
            wish = replace(wish, detail=1)
        traces.answer(picture, wish, self.own)
        other = self._beside(picture, wish)
        mine = self.choice.mine if picture.sample else picture
        self.choice = Choice(picture, wish, other, mine=mine)

    def _beside(self, picture: Picture, wish: Wish) -> tuple[Picture, Wish] | None:
        """What is compared with a new choice. Two models are compared on the new picture, two pictures in the new
        model. If the choice is what stood beside, the two change places."""
        if self.other is None:
            return None
        beside, its_wish = self.other
        if beside.id == self.picture.id:
            other = (picture, self.wish if its_wish == wish else its_wish)
        else:
            other = (self.picture if beside.id == picture.id else beside, wish)
        traces.make(*other, self.own)
        return other

    def arrive(self, words: dict[str, str], view: dict[str, str]) -> str | None:
        """From another page: what the address leaves open stays as it was. Gives a sentence if something in it can't be
        had."""
        self._browser.has_nothing()
        self.tell_view(self.view | view)
        model = words.get("model", self.wish.model)
        detail = int(words.get("detail", self.wish.detail if model == self.wish.model else 1))
        picture = pictures.sample(words["sample"]) if "sample" in words else self.picture
        wish = Wish(model, detail)
        try:
            if (picture.id, wish) != (self.picture.id, self.wish):
                self._choose(picture, wish)
        except PlaygroundError as error:
            return str(error)
        return None

    def take_back(self, former: Session, words: dict[str, str]) -> str | None:
        """What a person had loaded stays theirs when they go back in the browser's history. The address of an upload
        names a model and no sample."""
        mine = former.choice.mine
        self.own, self.choice = former.own, replace(self.choice, mine=mine)
        if mine is not None and "model" in words and "sample" not in words:
            try:
                self.show(mine)
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

    def _answer(self, asked: dict) -> None:
        what = asked.get("what")
        if what == "packs":
            self._browser.lost({str(i) for i in asked.get("ids", [])})
        elif what == "layers":
            self._browser.wants(str(asked["pack"]), [int(i) for i in asked["layers"]][:3])
        elif what == "whole":
            whole = replace(self.wish, scale=1.0 if asked["scale"] == "off" else float(asked["scale"]))
            traces.answer(self.picture, whole, self.own)
            self.choice = replace(self.choice, whole=whole)
        elif what in ("similarity", "rollout"):
            overlay = self._overlay(what, str(asked["query"]), int(asked["layer"]), asked.get("scale", "on"))
            self.choice = replace(self.choice, overlay=overlay)
        elif what == "compare" and self.other is None:
            self.compare(pictures.next_sample(self.picture), self.wish.model)

    def _overlay(self, what: str, query: str, layer: int, scale: float | str) -> Overlay:
        wish = self.wish if scale == "on" else replace(self.wish, scale=float(scale))
        seen = traces.trace(self.picture, wish, self.own)
        parts = query.split(",")
        place = (int(parts[0]), int(parts[1])) if len(parts) == 2 else query
        if what == "rollout":  # through all layers, whichever is shown
            return Overlay(what, query, None, scale, seen.rollout(place).numpy())
        return Overlay(what, query, layer, scale, seen.similarity(place, layer).numpy())

    def blob(self) -> bytes:
        """What the microscope gets."""
        return self._browser.blob(self.choice, self.view, self.view_id, self.own)

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
    model, trouble = words.get("model", models.default()), None
    picture = pictures.sample(words.get("sample", SAMPLES[0].name))
    session = Session(picture, Wish(models.default()), view)
    try:
        session._choose(picture, Wish(model, int(words.get("detail", 1))))
        kind, _, name = words.get("with", "").partition(":")
        if kind == "sample" and any(s.name == name for s in SAMPLES):
            session.compare(pictures.sample(name), model)
        elif kind == "model":
            session.compare(picture, name)
    except PlaygroundError as error:
        trouble = str(error)
    return session, trouble
