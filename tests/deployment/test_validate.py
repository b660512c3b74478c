"""Checks the Kubernetes files and compose.yaml against schemas, which are downloaded. Skipped without a network."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("yaml")
_spec = importlib.util.spec_from_file_location(
    "validate", Path(__file__).parent.parent.parent / "deploy" / "validate.py"
)
validate = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(validate)


@pytest.fixture(scope="module")
def schemas(tmp_path_factory):
    try:
        return validate.fetch_schemas(tmp_path_factory.mktemp("schemas"))
    except validate.Unreachable as error:
        pytest.skip(str(error))


def test_our_files_fit_their_schemas(schemas):
    assert list(validate.troubles(validate.our_documents(), *schemas)) == []
