#!/usr/bin/env bash
# Run a command inside the image that container/build.sh has made; what it writes is lost at the end.
set -euo pipefail
image=$(buildah from --pull-never localhost/svmselect)
trap 'buildah rm "$image" > /dev/null' EXIT
buildah run --isolation chroot "$image" -- "$@"
