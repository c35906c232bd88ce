# AVX-512 as real instructions: all suites in a Linux guest under Bochs, which is a Skylake-X in software; and
# what the dispatcher chooses there by itself, and where the kernel does not enable the registers.
. tools/lab/lib.sh
need bochs
by="Bochs 3.0, Skylake-X"

# build COMPILER DIRECTORY: static programs.
build() {
    "$MESON" setup "$2" --cross-file "tools/cross/guest-$1.ini" -Doptimization=2 -Ddebug=false \
        -Dtests=enabled -Dsimde=disabled -Dwerror=true &&
        "$MESON" compile -C "$2"
}

# boot GUESTS: one guest per core at a time.
boot() {
    find "$1" -mindepth 1 -maxdepth 1 -type d | sort | BOCHS_SECONDS=1800 xargs -I GUEST -P "$(nproc)" \
        sh -c 'tools/lab/bochs.sh GUEST > GUEST.out 2>&1 || echo "exit code $?" >> GUEST.out'
}

# suites COMPILER
suites() {
    name=bochs-$1 start=$(date +%s) stage=compile
    rm -rf "build/test/$name" "build/test/$name.status"
    mkdir -p build/test
    if build "$1" "build/test/$name" > "build/test/$name.log" 2>&1; then
        stage="done"
        "$PYTHON" tools/lab/guest_tests.py stage "build/test/$name" "$dir/$1"
        start=$(date +%s)
        boot "$dir/$1"
        "$PYTHON" tools/lab/guest_tests.py collect "build/test/$name" "$dir/$1"
    fi
    echo "$stage $(($(date +%s) - start)) $1 $("$1" -dumpversion)" > "build/test/$name.status"
    note "$1, all suites" --by "$by" --variant "$name"
}

suites gcc
