#!/usr/bin/env bash
# Inside an image: the environment of /opt/svmselect, from a folder of wheels, or from the package index where none is given.
set -euo pipefail
cd /opt/svmselect
if [ $# -gt 0 ]; then
    python3 -m venv .venv
    .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-index --no-deps "$1"/*.whl
    # what make would make
    pwd -P > ".venv/.python-$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
    touch .venv/.packages
fi
make env
rm -rf build
