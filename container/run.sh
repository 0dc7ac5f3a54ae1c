#!/usr/bin/env bash
# Run a command inside the image that container/build.sh has made. Of what it writes, results/demo is kept, in build/image/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
image=$(buildah from --pull-never localhost/svmselect)
trap 'buildah rm "$image" > /dev/null' EXIT
mkdir -p build/image/demo
buildah run --isolation chroot --volume "$PWD/build/image/demo:/opt/svmselect/results/demo" "$image" -- "$@"
