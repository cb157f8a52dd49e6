"""Vocabularies and vectors of words; expected values are those of MXNet 1.9.1."""

from __future__ import annotations

import doctest
from collections import Counter

import pytest

from refengine import nd
from refengine.contrib.text import embedding, utils, vocab

WORDS = Counter(["a", "b", "b", "c", "c", "c", "some_word$"])
Vocabulary = vocab.Vocabulary


@pytest.mark.parametrize("module", [embedding, utils, vocab])
def test_the_examples(module):
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_tokens_are_counted():
    count = utils.count_tokens_from_str
    assert count("a b b\nc A a") == {"a": 2, "b": 2, "c": 1, "A": 1}
    assert count("<td>a<td>b<d>b", "<td>", "<d>") == {"b": 2, "a": 1}
    assert count("a..b.b|c", ".", "|") == {}                     # delimiters are regular expressions
    counter = Counter("z")
    assert count("z z", counter_to_update=counter) is counter
    assert counter == {"z": 3}


@pytest.mark.parametrize(("options", "tokens"), [
    ({}, ["<unk>", "c", "b", "a", "some_word$"]),
    ({"min_freq": 2}, ["<unk>", "c", "b"]),
    ({"most_freq_count": 2, "unknown_token": "<u>", "reserved_tokens": ["b"]}, ["<u>", "b", "c", "a"]),
    ({"most_freq_count": 1, "reserved_tokens": ["c"]}, ["<unk>", "c", "b"]),
    ({"most_freq_count": 0, "reserved_tokens": ["x", "y"]}, ["<unk>", "x", "y"]),
    ({"most_freq_count": -1}, ["<unk>", "c", "b", "a", "some_word$"]),
    ({"most_freq_count": 2, "unknown_token": "c"}, ["c", "b", "a"]),
])
def test_tokens_are_numbered(options, tokens):
    assert Vocabulary(WORDS, **options).idx_to_token == tokens


def test_numbers_of_tokens_and_back():
    words = Vocabulary(WORDS)
    assert len(words) == 5
    assert words.to_indices("c") == 1
    assert words.to_indices(["c", "q"]) == [1, 0]
    assert words.to_tokens([0, 2]) == ["<unk>", "b"]
    with pytest.raises(ValueError, match="Token index 9 in the provided `indices` is invalid."):
        words.to_tokens(9)
    with pytest.raises(AssertionError, match="must be set to a positive value"):
        Vocabulary(WORDS, min_freq=0)
    with pytest.raises(AssertionError, match="cannot contain duplicate"):
        Vocabulary(WORDS, reserved_tokens=["x", "x"])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text("hello 1 2 3\nworld 4 5 6\nfoo 7 8 9\n")
    (tmp_path / "b.txt").write_text("hello,1,2\nbar,3,4\n")
    return tmp_path


def test_vectors_of_a_file(files):
    words = embedding.CustomEmbedding(str(files / "a.txt"))
    assert words.idx_to_token == ["<unk>", "hello", "world", "foo"]
    assert words.idx_to_vec.asnumpy().tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert words.get_vecs_by_tokens("hello").asnumpy().tolist() == [1, 2, 3]
    assert words.get_vecs_by_tokens(["hello", "HELLO"]).asnumpy().tolist() == [[1, 2, 3], [0, 0, 0]]
    assert words.get_vecs_by_tokens(["HELLO"], lower_case_backup=True).asnumpy().tolist() == [[1, 2, 3]]
    words.update_token_vectors(["hello", "<unk>"], nd.array([[1, 1, 1], [9, 9, 9]]))
    assert words.get_vecs_by_tokens(["hello", "zzz"]).asnumpy().tolist() == [[1, 1, 1], [9, 9, 9]]
    with pytest.raises(ValueError, match="Token zz is unknown. To update the embedding vector"):
        words.update_token_vectors("zz", nd.ones(3))


def test_a_header_and_a_repeated_token_are_skipped(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("3 3\nhello 1 2 3\nhello 4 5 6\n<unk> 9 9 9\n")
    with pytest.warns(UserWarning, match="likely a header"), pytest.warns(UserWarning, match="a duplicate embedding"):
        words = embedding.CustomEmbedding(str(path))
    assert words.idx_to_vec.asnumpy().tolist() == [[9, 9, 9], [1, 2, 3]]
    path.write_text("hello 1 2 3\nworld 4 5\n")
    with pytest.raises(AssertionError, match="At line 2 .* the dimension of token world is 2 but the dimension"):
        embedding.CustomEmbedding(str(path))


def test_vectors_for_a_vocabulary(files):
    words = Vocabulary(Counter(["hello", "q", "q"]), reserved_tokens=["<p>"])
    single = embedding.CustomEmbedding(str(files / "a.txt"), vocabulary=words)
    assert single.idx_to_token == ["<unk>", "<p>", "q", "hello"]
    assert single.idx_to_vec.asnumpy().tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 2, 3]]
    other = embedding.CustomEmbedding(str(files / "b.txt"), ",", init_unknown_vec=nd.ones)
    both = embedding.CompositeEmbedding(words, [embedding.CustomEmbedding(str(files / "a.txt")), other])
    assert both.vec_len == 5
    assert both.idx_to_vec.asnumpy().tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [1, 2, 3, 1, 2]]


def test_classes_are_made_by_name(files):
    @embedding.register
    class OfThisTest(embedding._TokenEmbedding):
        def __init__(self, path, **kwargs):
            super().__init__(**kwargs)
            self._load_embedding(path, " ", nd.zeros)

    assert embedding.create("ofthistest", path=str(files / "a.txt")).vec_len == 3
    with pytest.raises(AssertionError, match="nope is not registered"):
        embedding.create("nope")
    with pytest.raises(KeyError, match="Cannot find `embedding_name` nope"):
        embedding.get_pretrained_file_names("nope")


def test_published_vectors_are_read_from_this_machine(files, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(files))
    folder = files / "embeddings" / "glove"
    folder.mkdir(parents=True)
    (files / "a.txt").rename(folder / "glove.6B.50d.txt")
    assert embedding.get_pretrained_file_names("glove") == ["glove.6B.50d.txt"]
    assert embedding.create("glove", pretrained_file_name="glove.6B.50d.txt").vec_len == 3
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        embedding.create("fasttext")
