#!/usr/bin/env bash
# The wheel for 64-bit Arm, made by a cross compiler in build/aarch64/dist, and tests of it on an emulated processor: with
# its dependencies alone, then those of pytest, whose arguments are given. Python and its libraries are Debian's, unpacked.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD/build/aarch64

tools=(mmdebstrap qemu-aarch64-static aarch64-linux-gnu-gcc update-binfmts)
if ! command -v "${tools[@]}" > /dev/null; then
    echo "${tools[*]}: install Debian's mmdebstrap, qemu-user-static, binfmt-support, gcc-aarch64-linux-gnu and" \
        "libc6-dev-arm64-cross" >&2
    exit 1
fi
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/status ] || mount -t binfmt_misc binfmt_misc $binfmt
[ -e $binfmt/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64

if [ ! -e "$root/usr/bin/python3" ]; then
    mkdir -p "${root%/*}"
    mmdebstrap --quiet --variant=extract --architectures=arm64 --include=python3,libpython3-dev,libstdc++6 bookworm "$root"
fi
# programs for Arm find their libraries below this folder
export QEMU_LD_PREFIX=$root
python=$root/usr/bin/python3
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -e ".venv/lib/python$version" ]; then
    echo "The wheel is for Python $version, which .venv must have: make env PYTHON=python$version" >&2
    exit 1
fi

cat > "$root/cross.ini" << end
[binaries]
strip = 'aarch64-linux-gnu-strip'
c = 'aarch64-linux-gnu-gcc'
cython = '$PWD/.venv/bin/cython'
python = '$python'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
end
rm -rf "$root/dist" "$root/library"
PATH=$PWD/.venv/bin:$PATH CFLAGS="-I$root/usr/include" _PYTHON_HOST_PLATFORM=linux-aarch64 \
    .venv/bin/python -m build --wheel --no-isolation --skip-dependency-check --outdir "$root/dist" \
    "-Csetup-args=--cross-file=$root/cross.ini" "-Cbuild-dir=$root/build" > "$root/build.log" ||
    { cat "$root/build.log"; exit 1; }

function install { # its packages for Arm in a folder: install FOLDER REQUIREMENT...
    .venv/bin/uv pip install --quiet --python-platform aarch64-manylinux_2_28 --python-version "$version" \
        --only-binary :all: --constraint requirements.lock --target "$root/$1" "${@:2}"
}
install library "$root"/dist/*.whl
install packages --requirement pyproject.toml --group test

export CC=aarch64-linux-gnu-gcc OPENBLAS_NUM_THREADS=1
PYTHONPATH=$root/library "$python" tests/packaging/fit.py
export PYTHONPATH=$root/library:$root/packages
"$python" -c 'import platform, svmselect; assert platform.machine() == "aarch64"; print(svmselect.__file__)'
# ten times the seconds of pyproject.toml, as everything takes that much longer
"$python" -m pytest --timeout 12000 -o faulthandler_timeout=15000 "$@"
