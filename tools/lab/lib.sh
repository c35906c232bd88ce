# Shared by the legs; read by each leg's script, which runs in the project's root.
#
#   $leg        its name
#   $dir        build/lab/LEG, for its files; empty when it begins
#   $LAB_SIZE   full or ci
set -eu
leg=$(basename "$0" .sh)
dir=build/lab/$leg
: "${LAB_SIZE:=full}"
. "${RDK_DEPS_DIR:-build/deps}/env"

# note WHAT [OPTION...]: adds a row to the table; report.py tells the options.
note() {
    what=$1
    shift
    "$PYTHON" tools/lab/report.py note "$leg" --what "$what" "$@"
}

# skip WHAT REASON: this did not run.
skip() {
    note "$1" --skipped 1 --note "$2"
}

# need PART...: has tools/setup.sh install what the leg needs. Without it the whole leg is skipped.
need() {
    reason=$(tools/setup.sh "$@" 2>&1) && return 0
    echo "$reason"
    skip "all of it" "$(printf '%s' "$reason" | tr '\n' ' ' | cut -c 1-200)"
    exit 0
}

# sized FULL CI: whichever is for this size.
sized() {
    [ "$LAB_SIZE" = ci ] && echo "$2" || echo "$1"
}

# variant NAME WHAT BY: builds and tests a variant of tools/test.sh, and adds its row.
variant() {
    tools/test.sh "$1" || true
    row "$@"
}

# row NAME WHAT BY: adds the row of a variant that tools/test.sh has run.
row() {
    note "$2" --by "$3" --variant "$1"
}

# says OUTPUT PATTERN...: counts the patterns that are, and are not, in OUTPUT; sets passed and failed.
passed=0 failed=0
says() {
    output=$1
    shift
    for pattern in "$@"; do
        if printf '%s\n' "$output" | grep -q -- "$pattern"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'FAIL: no line "%s" in\n%s\n' "$pattern" "$output"
        fi
    done
}

# build_in NAME CC OPTION...: configures a build with its tests in build/lab/build-NAME, which is kept
# from run to run, and sets built to it. What to compile is up to the leg.
build_in() {
    built=build/lab/build-$1
    lab_cc=$2
    shift 2
    [ -z "${RDK_DEPS_DIR:-}" ] || set -- "$@" "-Ddeps_dir=$(cd "$RDK_DEPS_DIR" && pwd)"
    set -- "$@" -Dtests=enabled -Dbench=disabled -Ddebug=false
    if [ ! -f "$built/build.ninja" ] || ! "$MESON" setup --reconfigure "$built" "$@"; then
        rm -rf "$built"
        CC=$lab_cc "$MESON" setup "$built" "$@"
    fi
}
