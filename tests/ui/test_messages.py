import pytest

from playground.ui.messages import plain


@pytest.mark.parametrize("sentence", ["The weights of vit_small_patch16_224.dino can't be had.", "3 × 4: no.", "Ende?"])
def test_a_sentence_stays_as_it_is(sentence):
    assert plain(sentence) == sentence


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("![x](https://other.example/x.png)", r"!\[x\](https://other.example/x.png)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("**b** _i_ ~s~ `c` $m$", r"\*\*b\*\* \_i\_ \~s\~ \`c\` \$m\$"),
        (":red[x] :material/delete:", r"\:red\[x\] \:material/delete:"),
        ("a\n\n# b", "a # b"),
        ("\\", "\\\\"),
    ],
)
def test_other_people_s_words_are_no_markdown(words, shown):
    assert plain(words) == shown
