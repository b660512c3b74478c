import pytest

from playground.errors import PlaygroundError
from playground.serving import settings
from playground.serving.settings import Settings


def test_without_any_variable_everything_has_its_default():
    assert settings.read({}) == Settings()


def test_every_variable_is_read():
    given = {
        "PLAYGROUND_MODELS": "vit_a  vit_b", "PLAYGROUND_OPEN": "no", "PLAYGROUND_OFFLINE": "yes",
        "PLAYGROUND_DEVICE": "cpu", "PLAYGROUND_AT_ONCE": "2", "PLAYGROUND_CACHE_MB": "1 2 3",
    }  # fmt: skip
    assert settings.read(given) == Settings(("vit_a", "vit_b"), False, True, "cpu", 2, 1, 2, 3)
    assert all(name in settings.__doc__ for name in given)


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPEN", "perhaps"), ("AT_ONCE", "0"), ("AT_ONCE", "two"), ("CACHE_MB", "100"), ("CACHE_MB", "1 2 -3")],
)
def test_a_typing_error_is_named(name, value):
    with pytest.raises(PlaygroundError, match=f"PLAYGROUND_{name}"):
        settings.read({f"PLAYGROUND_{name}": value})
