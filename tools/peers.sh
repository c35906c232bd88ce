#!/bin/sh
# Measures the library beside those that Python packages:
#
#   tools/peers.sh [DRIVER OPTION...]         how fast they are
#   tools/peers.sh error [ERROR.PY OPTION...] how far attention is from the exact result
#
# The peers go into an environment of their own, which all clones share; one that cannot be installed is left
# out, and the report says why. The driver is bench/peers/python/drive.py; it is run for one thread, then for two.
# Errors are measured by error.py beside it. tools/setup.sh peers must have run before.
set -eu

cd "$(dirname "$0")/.."
env=${RDK_DEPS_DIR:-build/deps}/env
[ -f "$env" ] || { echo "peers.sh: run tools/setup.sh peers first" >&2; exit 2; }
. "$env"

build=build/bench
log=build/peers.log
absent=build/peers.absent
venv=${XDG_CACHE_HOME:-$HOME/.cache}/rootdk/peers
numpy=numpy==2.4.6

# ---- the peers ---------------------------------------------------------------------------------

make_venv() {
    "$venv/bin/python" -m pip --version > $log 2>&1 && return 0
    echo "peers: making $venv"
    rm -rf "$venv"
    "$PYTHON" -m venv "$venv" > $log 2>&1 || { cat $log >&2; exit 1; }
}

# add PEER REQUIREMENT...: what is there already is not looked for again. numpy is named each time, so that no
# peer brings another one.
add() {
    peer=$1
    shift
    echo "peers: $peer ($*)"
    if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$numpy" "$@" > $log 2>&1; then
        printf '%s\tdid not install: %s\n' "$peer" "$(tail -n 1 $log)" >> $absent
    fi
}

mkdir -p build
: > $absent
make_venv
add numpy "$numpy"
[ ! -s $absent ] || { cat $log >&2; exit 1; } # the driver itself needs it
add "ONNX Runtime" onnxruntime==1.31.1 onnx==1.23.2
add PyTorch torch==2.13.0 # 2.13.0+cpu where pip finds it: it brings no libraries for GPUs
add OpenVINO openvino==2026.4.1

# ---- the runs --------------------------------------------------------------------------------------

tools/bench-build.sh # this library, the machine's limits and plain loops
if [ "${1-}" = error ]; then
    shift
    exec "$venv/bin/python" bench/peers/python/error.py --build $build --absent $absent "$@"
fi
failed=0
for threads in 1 2; do
    "$venv/bin/python" bench/peers/python/drive.py --threads $threads --build $build --absent $absent "$@" ||
        failed=$?
done
exit $failed
