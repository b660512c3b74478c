#!/usr/bin/env bash
# What pages.yml publishes, on any machine: deploy/pages.sh OUT [BASE]
# The playground without a server in the folder OUT, and the documentation beside it at OUT/docs. BASE is the path below
# which a host serves it, such as /name-of-the-project, or its whole address, so that links have previews and the
# documentation a map; left out, it is the root.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?"deploy/pages.sh OUT [BASE]: name a folder to write to"}
python=${PYTHON:-.venv/bin/python}
"$python" -m playground site "$out" --base "${2:-}/"
DOCS_APP=../ DOCS_BASE="${2:-}/docs/" "$python" -m sphinx -W -q -c docs docs/pages "$out/docs"
cp "$out/docs/llms.txt" "$out/llms.txt"
