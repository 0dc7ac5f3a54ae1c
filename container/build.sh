#!/usr/bin/env bash
# Build the image svmselect from Debian's packages, the locked packages and the committed files, in build/image; as root, on
# Debian with mmdebstrap and buildah. No image is pulled, and nothing inside needs a network.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/image
mkdir -p $folder
mapfile -t packages < <(grep -v '^#' container/packages.txt)
if [ ! -e $folder/root.tar ] || [ container/packages.txt -nt $folder/root.tar ]; then
    include=$(IFS=,; echo "${packages[*]}")
    mmdebstrap --quiet --variant=apt --include="$include" bookworm $folder/root.tar
fi
# built here, as some of the locked packages have no wheel
if [ ! -e $folder/wheels ] || [ requirements.lock -nt $folder/wheels ]; then
    .venv/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url pyproject.toml --group build --group workflow \
        --constraint requirements.lock --output-file $folder/packages.txt
    .venv/bin/python -m pip --disable-pip-version-check wheel --quiet --require-hashes --no-deps \
        --wheel-dir $folder/wheels --requirement $folder/packages.txt
fi
git archive HEAD > $folder/svmselect.tar

image=$(buildah from scratch)
trap 'buildah rm "$image" > /dev/null' EXIT
buildah add --quiet "$image" $folder/root.tar / > /dev/null
buildah add --quiet "$image" $folder/svmselect.tar /opt/svmselect > /dev/null
buildah run --isolation chroot --volume "$PWD/$folder/wheels:/opt/wheels:ro" "$image" -- \
    bash /opt/svmselect/container/install.sh /opt/wheels
buildah config --env PATH=/opt/svmselect/.venv/bin:/usr/local/bin:/usr/bin:/bin --workingdir /opt/svmselect \
    --cmd "svmselect --help" "$image"
buildah commit --quiet "$image" svmselect > /dev/null
buildah push --quiet svmselect "oci-archive:$folder/svmselect.oci.tar:svmselect"
echo "$folder/svmselect.oci.tar"
