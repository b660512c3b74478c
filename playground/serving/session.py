"""What one person has chosen, kept between the runs of their page.

A session knows no widgets: the pages change it through the functions below and mount what `blob` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import urlencode

from playground.errors import PlaygroundError
from playground.names import plain_name
from playground.samples import named
from playground.serving import address, habits, kept, models, opening, pictures, queue, traces
from playground.serving.browser import Browser, Choice, Overlay, pack_id
from playground.serving.pictures import Picture
from playground.serving.traces import Wish

MOST_OWN = 3  # pictures of a person's own that the server keeps; their browser keeps more and sends them again
MOST_FLOWS = 1400  # tokens whose rollouts go to the browser all at once; lens/features.js knows the same number

_view_ids = count(1)  # never the same twice on a server


class Session:
    def __init__(self, picture: Picture, wish: Wish, view: dict[str, str] | None = None):
        self.choice = Choice(picture, wish)
        self.chose_model = False  # until then each picture opens in the model that suits it
        self.missing: str | None = None  # the model that a link asked for and that is not on this machine
        self.advised = False  # a line stands above the microscope and takes some of its height
        self.own = traces.own_cache()  # traces of this person's uploads
        self.names = habits.kept_names()  # of heads, for them
        self.worked = kept.own_cache()  # what lessons work out for this person alone
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
        """In the model that suits it, unless the person chose one; as finely as they chose."""
        wish, before = self.wish, (self.picture, self.wish)
        if not self.chose_model:
            wish = opening.wish(picture)
        if wish.model == self.wish.model and self.wish.detail != opening.detail(self.picture, wish.model):
            wish = self.wish
        elif wish.model == self.wish.model:
            wish = Wish(wish.model, opening.detail(picture, wish.model))
        self._choose(picture, wish)
        if not picture.sample and picture.id != before[0].id:  # a patch locked in one photograph says nothing here
            self.tell_view({key: value for key, value in self.view.items() if key not in ("locked", "query")})
        look = opening.view(self.picture, self.wish)
        if look or self.wish.model != before[1].model:
            self._look(look, before)

    def finish(self) -> bool:
        """The real look after a coarse first one. Says whether there is something new to show."""
        if self.choice.first is None:
            return False
        traces.trace(self.picture, self.wish, self.own, finer=True)
        self.choice = replace(self.choice, first=None)
        return True

    def forget(self) -> None:
        """Keeps none of the person's own pictures, nor what was worked out for them."""
        if self.other is not None and not self.other[0].sample:
            self.choice = replace(self.choice, other=None)
        if not self.picture.sample:
            self.show(pictures.sample(opening.first_sample()))
        self.choice = replace(self.choice, mine=(), other=self.other if self.other and self.other[0].sample else None)
        self.own, self.worked = traces.own_cache(), kept.own_cache()

    def use(self, model: str) -> None:
        before = (self.picture, self.wish)
        self._choose(self.picture, Wish(model, opening.detail(self.picture, model)))
        self.chose_model, self.missing = True, None
        if look := opening.view(self.picture, self.wish):
            self._look(look, before)

    def _look(self, look: dict[str, str], before: tuple[Picture, Wish]) -> None:
        """Goes to this layer and head, or to those that the microscope begins with. The patch stays where it is on the
        same picture."""
        kept = {key: value for key, value in self.view.items() if key not in ("layer", "head")}
        if before[0] is not self.picture:
            kept = {key: value for key, value in kept.items() if key not in ("locked", "query")}
        elif "query" in kept:
            kept["query"] = _moved(kept["query"], traces.grid(*before), traces.grid(self.picture, self.wish))
        self.tell_view(kept | look)

    def refine(self, detail: int) -> None:
        self._choose(self.picture, replace(self.wish, detail=detail))

    def compare(self, picture: Picture, model: str) -> None:
        self._put_beside(picture, model)
        self.tell_view(self.view | {"beside": "compare"})

    def _put_beside(self, picture: Picture, model: str) -> None:
        wish = Wish(model, self.wish.detail if model == self.wish.model else 1)
        traces.answer(picture, wish, self.own)  # says what is wrong before anything has changed
        self.choice = replace(self.choice, other=(picture, wish))

    def go(self, words: dict[str, str], view: dict[str, str], mine: str | None = None) -> None:
        """To a saved scene: its picture, or one of the person's own by its id, its model and its view."""
        picture = next((own for own in self.choice.mine if own.id == mine), None)
        if picture is None and "sample" not in words:
            raise PlaygroundError("The photograph of this scene is not here any more: open it again, and save it anew.")
        picture = picture or pictures.sample(words["sample"])
        wish = Wish(words.get("model", self.wish.model), int(words.get("detail", 1)))
        if words.get("with") != self._place().get("with"):
            self.choice = replace(self.choice, other=None)
        if (picture.id, wish) != (self.picture.id, self.wish):
            self._check_here(wish.model)
            self._choose(picture, wish)
            self.chose_model = wish.model != opening.wish(picture).model
        self._compare_as(words)
        self.tell_view(view)

    def _compare_as(self, words: dict[str, str]) -> None:
        kind, _, name = words.get("with", "").partition(":")
        if kind == "sample" and named(name):
            self.compare(pictures.sample(name), self.wish.model)
        elif kind == "model":
            self._check_here(name)
            self.compare(self.picture, name)

    def alone(self) -> None:
        """Nothing is compared, and the view is the one that a page begins with."""
        self.choice = replace(self.choice, other=None)
        self.tell_view({})

    def _choose(self, picture: Picture, wish: Wish) -> None:
        """PlaygroundError leaves everything as it was."""
        if wish.detail not in models.details(wish.model):  # an address may ask for more than the page offers
            wish = replace(wish, detail=1)
        first = traces.first_look(picture, wish, self.own)
        traces.answer(picture, first or wish, self.own)
        other = self._beside(picture, wish)
        mine = self.choice.mine
        if not picture.sample:
            mine = (*(kept for kept in mine if kept.id != picture.id), picture)[-MOST_OWN:]
        self.choice = Choice(picture, wish, other, first=first, mine=mine)

    def _beside(self, picture: Picture, wish: Wish) -> tuple[Picture, Wish] | None:
        """What is compared with a new choice. Two models are compared on the new picture, two pictures in the new
        model. If the choice is what stood beside, the two change places."""
        if self.other is None:
            return None
        beside, its_wish = self.other
        if beside.id == self.picture.id:
            other = (picture, self.wish if its_wish.model == wish.model else its_wish)
        else:
            other = (self.picture if beside.id == picture.id else beside, wish)
        traces.make(*other, self.own)
        return other

    def arrive(self, words: dict[str, str], view: dict[str, str]) -> str | None:
        """From another page: what the address leaves open stays as it was. Gives a sentence if something in it can't be
        had."""
        self._browser.has_nothing()
        self.tell_view(self.view | view)
        try:
            picture = pictures.sample(words["sample"]) if "sample" in words else self.picture
            if "model" not in words:
                if picture.id != self.picture.id:
                    self.show(picture)
                return None
            same = words["model"] == self.wish.model
            wish = Wish(words["model"], int(words.get("detail", self.wish.detail if same else 1)))
            if (picture.id, wish) != (self.picture.id, self.wish):
                self._check_here(wish.model)
                self._choose(picture, wish)
                self.chose_model = wish.model != opening.wish(picture).model
                if not {"layer", "head"} & view.keys():
                    self.tell_view(self.view | opening.view(picture, wish))
        except PlaygroundError as error:
            return str(error)
        return None

    def _check_here(self, model: str) -> None:
        """Nobody waits before a picture stands there: what is to be fetched first is offered."""
        models.check_name(model)
        self.missing = None if models.is_here(model) else model
        if self.missing:
            raise PlaygroundError(
                f"{plain_name(model)} is not on this machine yet; {plain_name(self.wish.model)} is shown until it is "
                "fetched."
            )

    def take_back(self, former: Session, words: dict[str, str]) -> str | None:
        """What a person had loaded stays theirs when they go back in the browser's history. The address of an upload
        names a model and no sample."""
        mine = former.choice.mine
        self.own, self.worked, self.choice = former.own, former.worked, replace(self.choice, mine=mine)
        if mine and "model" in words and "sample" not in words:
            try:
                self.show(mine[-1])
            except PlaygroundError as error:
                return str(error)
        return None

    # What lessons work out

    def kept(self, what: Hashable, make: Callable[[], Any]) -> Any:
        """`what` was worked out about the picture and its trace; made again if it had to be dropped."""
        return kept.about(self.picture, self.wish, self.worked, what, make)

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
            self.choice = replace(self.choice, whole=whole, verdict=self._verdict(whole))
        elif what in ("features", "flows"):
            self._send_matrix(what, str(asked["pack"]), int(asked.get("layer", 0)))
        elif what == "rollout":
            self.choice = replace(self.choice, overlay=self._rollout(str(asked["query"]), asked.get("scale", "on")))
        elif what == "habits":
            self._send_habits(str(asked["pack"]), int(asked["layer"]))
        elif what == "compare" and self.other is None:
            # Its view is its own: by now it may show something else again.
            self._put_beside(pictures.next_sample(self.picture), self.wish.model)

    def _send_matrix(self, what: str, whose: str, layer: int) -> None:
        """Every token's features after a layer, or every token's rollout: with it the browser answers for any patch."""
        wishes = {pack_id(picture, wish): (picture, wish) for picture, wish in self.choice.pairs()}
        seen = traces.trace(*wishes[whose], self.own)
        if what == "flows" and seen.tokens > MOST_FLOWS:
            raise PlaygroundError(f"The rollout of all {seen.tokens} tokens is too much to send: lock a patch.")
        with queue.turns() as give_way:
            matrix = seen.features(layer) if what == "features" else seen.rollout(give_way=give_way)
        self._browser.gets({"what": what, "pack": whose, "layer": layer}, matrix.numpy())

    def _verdict(self, whole: Wish) -> tuple[tuple[str, float, float], ...]:
        from playground.analysis.scale import changed

        on, off = (traces.trace(self.picture, wish, self.own) for wish in (self.wish, whole))
        return tuple((v.label, round(v.on, 5), round(v.off, 5)) for v in changed(on, off))

    def _send_habits(self, whose: str, first: int) -> None:
        """What is known by now; the browser asks again for the rest."""
        picture, wish = {pack_id(picture, wish): (picture, wish) for picture, wish in self.choice.pairs()}[whose]
        found = habits.ask(picture, wish, self.own, self.names, first)
        self._browser.learns({"pack": whose, "complete": found.complete, "layers": dict(found.layers)})

    def _rollout(self, query: str, scale: float | str) -> Overlay:
        wish = self.wish if scale == "on" else replace(self.wish, scale=float(scale))
        seen = traces.trace(self.picture, wish, self.own)
        parts = query.split(",")
        place = (int(parts[0]), int(parts[1])) if len(parts) == 2 else query
        with queue.turns() as give_way:
            shares = seen.rollout(place, give_way).numpy()
        return Overlay("rollout", query, scale, shares)

    def blob(self) -> bytes:
        """What the microscope gets."""
        place = urlencode(self._place() | ({} if self.picture.sample else {"mine": self.picture.id}))
        return self._browser.blob(self.choice, place, self.view, self.view_id, self.own, self.advised)

    def words(self, view: bool = True) -> dict[str, str]:
        """What stands in the address now; the microscope's `view` only on its page."""
        words = self._place()
        if not view:
            words.pop("with", None)
        return words | (self.view if view else {})

    def _place(self) -> dict[str, str]:
        """The picture, the model and what they are compared with, as in the address."""
        words = {"model": self.wish.model}
        if self.picture.sample:
            words["sample"] = self.picture.name
        if self.wish.detail > 1:
            words["detail"] = str(self.wish.detail)
        if self.other is not None:
            picture, wish = self.other
            if picture.id == self.picture.id:
                words["with"] = f"model:{wish.model}"
            elif picture.sample:
                words["with"] = f"sample:{picture.name}"
        return address.readable(words)


def start(words: dict[str, str], view: dict[str, str]) -> tuple[Session, str | None]:
    """A session from an address; beside it a sentence, if the address asked for something that can't be had."""
    trouble = None
    try:
        picture = pictures.sample(words.get("sample") or opening.first_sample(words.get("model")))
    except PlaygroundError as error:  # a photograph that was not fetched
        picture, trouble = pictures.sample(opening.first_sample()), str(error)
    wish = suits = opening.wish(picture)
    session = Session(picture, suits, view)
    try:
        if "model" in words:
            session._check_here(words["model"])
            wish = Wish(words["model"], int(words.get("detail", 1)))
        elif "detail" in words:
            wish = replace(suits, detail=int(words["detail"]))
        session._choose(picture, wish)
        session.chose_model = wish.model != suits.model
        session._compare_as(words)
    except PlaygroundError as error:
        trouble = str(error)
    if not {"layer", "head"} & view.keys():
        session.tell_view(session.view | opening.view(picture, session.wish))
    return session, trouble


def _moved(query: str, before: tuple[int, int], now: tuple[int, int]) -> str:
    """The same place on another grid; a prefix token stays what it is."""
    parts = query.split(",")
    if len(parts) != 2:
        return query
    return ",".join(
        str(min(to - 1, int((int(part) + 0.5) * to / was))) for part, was, to in zip(parts, before, now, strict=True)
    )
