"""Mutated files and addresses raise only PlaygroundErrors."""

from contextlib import ExitStack

import fuzz_pictures
import pytest
from fuzz import addresses, cifar_folders, for_each, images, packs

from playground.errors import PlaygroundError
from playground.pictures import cifar
from playground.pictures.decoder import Killed, TookTooMuch, Worker
from playground.pictures.images import open_image
from playground.serving import chosen
from playground.tracing import Trace


def test_a_mutated_picture_is_opened_or_refused_in_a_sentence():
    opened_count = 0
    for data in images(150):
        try:
            opened_count += open_image(data).width > 0
        except PlaygroundError:
            continue
    assert 0 < opened_count < 150  # some mutated pictures open, others do not


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz_pictures.KINDS)
def test_a_picture_of_arbitrary_parts_is_opened_or_refused_within_its_time_and_memory(kind):
    successes = []
    with ExitStack() as exit_stack:
        workers = [exit_stack.enter_context(Worker())]

        def try_one(data: bytes) -> None:
            if not workers[-1].can_go_on():
                workers.append(exit_stack.enter_context(Worker()))
            try:
                successes.append(workers[-1].decoded(data, 2**22).width > 0)
            except (Killed, TookTooMuch):
                raise
            except PlaygroundError:
                successes.append(False)

        for_each(fuzz_pictures.KINDS[kind], 60, 0, try_one)
    assert any(successes)


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


@pytest.mark.parametrize("parameters", [{"layer": "9" * 400}, {"model": "a" * 10**5}, {"query": "1,1\n"}], ids=str)
def test_a_parameter_that_is_too_long_or_has_two_lines_is_dropped(parameters):
    assert chosen.read_address(parameters) == ({}, {})


@pytest.mark.slow
def test_a_mutated_pack_is_read_or_refused_in_a_sentence(small_trace):
    successes = []

    def try_one(data: bytes) -> None:
        try:
            loaded_trace = Trace.from_bytes(data)
        except PlaygroundError:
            successes.append(False)
            return
        successes.append(True)
        layer = next(iter(loaded_trace.record))
        assert abs(float(loaded_trace.row(layer, 0, (0, 0)).sum()) - 1) < 1e-3
        assert Trace.from_bytes(loaded_trace.to_bytes()).tokens == loaded_trace.tokens

    for_each(packs(small_trace.to_bytes()), 80, 0, try_one)
    assert 0 < sum(successes) < len(successes)


def test_any_folder_of_cifar_is_read_or_refused_in_a_sentence(tmp_path):
    successes = []

    def try_one(files: dict[str, bytes]) -> None:
        folder = tmp_path / f"{len(successes)}"
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        successes.append(False)
        try:
            data_set = cifar.read(folder)
            assert {data_set.open(number)[0].size for number in range(len(data_set))} == {(32, 32)}
            successes[-1] = True
        except PlaygroundError:
            pass

    for_each(cifar_folders(), 100, 0, try_one)
    assert 0 < sum(successes) < len(successes)
