"""A figure has the screen's exposure, computed by the browser's modules under Node."""

import json
from dataclasses import replace

import numpy as np
import pytest
from twins import in_javascript

from playground.figures import Spec, layouts
from playground.figures.drawing import prints
from playground.figures.drawing.maps import Subject

LAYER, HEAD, QUERY = 1, 2, (3, 4)
VIEWS = [  # choices of the microscope's view; the others keep their defaults
    {},
    {"scale": "off"},
    {"what": "value"},
    {"what": "value", "direction": "column"},
    {"direction": "column"},
    {"what": "score"},
    {"what": "score", "scale": "0.1"},
    {"ceiling": 0.03},
]


@pytest.fixture
def screen_exposures(small_trace, tmp_path):
    """For each view two exposures (low, high): the large picture's, and the one that all heads share."""
    (tmp_path / "pack.bin").write_bytes(small_trace.to_bytes())
    questions = [
        [
            small_trace.scale_number(view.get("scale", "on")),
            view.get("what", "weight"),
            view.get("direction", "row"),
            view.get("ceiling", "auto"),
        ]
        for view in VIEWS
    ]
    return in_javascript(
        ["core", "answers"],
        f"""return {json.dumps(questions)}.map(([scale, what, direction, ceiling]) => {{
            const pack = core.unpack(new Uint8Array(readFileSync({json.dumps(str(tmp_path / "pack.bin"))})));
            const made = answers.createAnswers(pack);
            answers.prepareColumns(made, [{LAYER}], {HEAD}, scale, 1e9);
            answers.answerLayer(made, {LAYER}, {small_trace.token(QUERY)}, scale, what, direction);
            const at = {HEAD} * pack.tokens;
            return [
              answers.pictureDomain(made.values, at, pack, what, ceiling),
              answers.sharedDomain(made, {LAYER}, scale, what, ceiling),
            ];
        }})""",
    )


def test_one_head_and_all_heads_are_exposed_as_on_the_screen(small_trace, picture, screen_exposures):
    for view, (own_domain, shared_domain) in zip(VIEWS, screen_exposures, strict=True):
        spec = Spec(image="disc.png", model="small", layer=LAYER, head=HEAD, query=QUERY, **view).settled(small_trace)
        for layout, screen_domain in (("head", own_domain), ("heads", shared_domain)):
            if layout == "heads" and spec.what == "score":
                continue  # the screen's range of scores holds for all queries, a figure's only for the figure's maps
            content = layouts.content(replace(spec, layout=layout), Subject(small_trace, picture, ""))
            figure_domain = content.domain
            # loosely, because the browser has q and k in 16 bits
            assert figure_domain.low == pytest.approx(screen_domain["low"], rel=0.02, abs=0.02), (view, layout)
            assert figure_domain.high == pytest.approx(screen_domain["high"], rel=0.02), (view, layout)


def test_colours_of_features_are_the_screen_s_in_two_pictures_that_share_them():
    """The features have components of different strength, which the browser separates within its sixty iterations."""
    random = np.random.default_rng(0)
    strengths = np.array([4, 2, 1, *[0.1] * 9])
    feature_tables = [np.float32(1 + random.normal(size=(count, 12)) * strengths) for count in (60, 90)]
    pixels = in_javascript(
        ["features"],
        f"""
            const raws = {json.dumps([features.ravel().tolist() for features in feature_tables])};
            const made = raws.map((raw) => features.makeFeatures(Float32Array.from(raw), raw.length / 12, 12, 0));
            const found = features.principalComponents(made);
            return made.map((one) => [...features.componentPixels(one, found)]);
        """,
    )
    figure_colours, _ = prints.component_colours(
        [features / np.linalg.norm(features, axis=1, keepdims=True) for features in feature_tables]
    )
    for screen_pixels, our_colours in zip(pixels, figure_colours, strict=True):
        rgb = np.array(screen_pixels, np.uint32).view(np.uint8).reshape(-1, 4)[:, :3]
        assert np.abs(our_colours.astype(int) - rgb).max() <= 2
