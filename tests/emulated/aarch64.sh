#!/usr/bin/env bash
# Tests on an emulated 64-bit Arm processor, in build/aarch64: Debian's packages of that architecture, unpacked; the wheels of
# the locked packages; and svmselect, built by a cross compiler. The arguments are those of pytest.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD/build/aarch64

tools=(mmdebstrap qemu-aarch64-static aarch64-linux-gnu-gcc)
if ! command -v "${tools[@]}" > /dev/null; then
    echo "${tools[*]}: install Debian's mmdebstrap, qemu-user-static, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross" >&2
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
.venv/bin/uv pip install --quiet --python-platform aarch64-manylinux_2_28 --python-version "$version" --only-binary :all: \
    --target "$root/packages" --requirement pyproject.toml --group test --constraint requirements.lock

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
export PATH=$PWD/.venv/bin:$PATH CFLAGS="-I$root/usr/include"
[ -e "$root/build/build.ninja" ] || meson setup --cross-file "$root/cross.ini" "$root/build" \
    "-Dpython.platlibdir=$root/library" "-Dpython.purelibdir=$root/library"
meson install -C "$root/build" --quiet > "$root/build.log" || { cat "$root/build.log"; exit 1; }

export PYTHONPATH=$root/library:$root/packages CC=aarch64-linux-gnu-gcc OPENBLAS_NUM_THREADS=1
"$python" -c 'import platform, svmselect; assert platform.machine() == "aarch64"; print(svmselect.__file__)'
# ten times the seconds of pyproject.toml, as everything takes that much longer
"$python" -m pytest --timeout 12000 -o faulthandler_timeout=15000 "$@"
