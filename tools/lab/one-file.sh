# The library as one file, by both compilers, at all levels and for the CPU at hand; for AArch64, under qemu-aarch64,
# and for Windows, under Wine; and the reference alone.
. tools/lab/lib.sh
runs=0

# try WHAT BY COMPILER OPTION...: a row of what tests/api/one_file.py counts.
try() {
    what=$1 by=$2 compiler=$3 start=$(date +%s) runs=$((runs + 1))
    shift 3
    "$PYTHON" tests/api/one_file.py "$@" . "$compiler" > "$dir/$runs.log" 2>&1 || true
    cat "$dir/$runs.log"
    note "$what" --by "$by" --log "$dir/$runs.log" --seconds $(($(date +%s) - start))
}

for compiler in gcc clang; do
    try "reference, $compiler" "this CPU" "$compiler" --reference
    for flags in $(sized "-O0 -O2 -O3" "-O0"); do
        try "$compiler $flags" "this CPU" "$compiler" --flags="$flags"
    done
done
for compiler in $(sized "gcc clang" clang); do
    try "$compiler -O2 -march=native" "this CPU" "$compiler" --flags="-O2 -march=native"
done
try "gcc, AArch64" "qemu-aarch64 -cpu max" aarch64-linux-gnu-gcc \
    --run "qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu"

windows="gcc, Windows"
WINEPREFIX=$(pwd)/$dir/wine WINEDEBUG=-all
export WINEPREFIX WINEDEBUG
if ! reason=$(tools/setup.sh windows 2>&1); then
    skip "$windows" "$(printf '%s' "$reason" | tr '\n' ' ' | cut -c 1-200)"
elif ! wine cmd /c exit; then
    skip "$windows" "wine does not start here"
else
    try "$windows" "this CPU, Wine" "x86_64-w64-mingw32-gcc -static" --run wine
fi
