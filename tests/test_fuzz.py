"""Mutated files and addresses raise only PlaygroundErrors."""

import pytest
from fuzz import addresses, mutated, pictures

from playground.errors import PlaygroundError
from playground.pictures.images import open_image
from playground.serving import chosen
from playground.tracing import Trace


def test_a_mutated_picture_is_opened_or_refused_in_a_sentence():
    opened_count = 0
    for data in mutated(pictures(), 150):
        try:
            opened_count += open_image(data).width > 0
        except PlaygroundError:
            continue
    assert 0 < opened_count < 150  # some mutated pictures open, others do not


def test_a_mutated_address_is_answered_with_a_picture_or_a_sentence():
    refusals = []
    for parameters in addresses(150):
        for read_parameters in (parameters, chosen.read_address(parameters)[0]):  # as a route and as a page reads them
            try:
                picture, setup = chosen.read(read_parameters, None)
            except PlaygroundError as error:
                refusals.append((str(error), parameters))
            else:
                assert not picture.name.startswith(("/", ".")), parameters
                assert setup.detail in (1, 2, 3, 4), parameters
    assert [refusal for refusal in refusals if not refusal[0].endswith((".", "!"))] == []


@pytest.mark.slow
def test_a_mutated_pack_is_read_or_refused_in_a_sentence(small_trace):
    read_count = 0
    for data in mutated([small_trace.to_bytes()], 400):
        try:
            loaded_trace = Trace.from_bytes(data)
        except PlaygroundError:
            continue
        read_count += 1
        layer = next(iter(loaded_trace.record))
        assert abs(float(loaded_trace.row(layer, 0, (0, 0)).sum()) - 1) < 1e-3
        assert Trace.from_bytes(loaded_trace.to_bytes()).tokens == loaded_trace.tokens
    assert 0 < read_count < 400
