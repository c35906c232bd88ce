# The interface as other programs meet it: which names the libraries export, the header by itself, and the ABI
# against the dump of the last version in docs/abi. Leaves the dump of this one in build/lab/abi/gcc.
. tools/lab/lib.sh
need abi
version=$(tools/version.sh)
header=include/rootdk/rootdk.h

# check WHAT BY COMMAND...: adds a row about a command; its last line says how much there was, or what is wrong.
check() {
    what=$1 by=$2 log=$dir/check.log
    shift 2
    result=--passed said=--cases start=$(date +%s)
    "$@" > "$log" 2>&1 || result=--failed said=--note
    cat "$log"
    sed -n 's/^SKIP: //p' "$log" | while read -r reason; do skip "$what" "$reason"; done
    note "$what" --by "$by" $said "$(tail -n 1 "$log")" --seconds $(($(date +%s) - start)) $result 1
}

# build COMPILER: both libraries in $dir/COMPILER, with the debugging data that abidw reads. Names and types are
# the same at every level of optimisation; -O1 compiles soonest.
build() {
    CC=$1 "$MESON" setup "$dir/$1" -Doptimization=1 -Ddebug=true -Dtests=disabled -Dtool=false &&
        "$MESON" compile -C "$dir/$1" && dump_types "$1"
}

# dump_types COMPILER: what of the header's types and functions is in the library, without any path.
dump_types() {
    abidw --headers-dir include --drop-private-types --drop-undefined-syms --exported-interfaces-only \
        --no-comp-dir-path --no-corpus-path --no-show-locs --no-parameter-names --no-elf-needed \
        --no-architecture --no-write-default-sizes --type-id-style hash "$dir/$1/librootdk.so" > "$dir/$1.abi" &&
        sed "s|path='[./]*|path='|" "$dir/$1.abi" > "$dir/$1/rootdk-$version.abi"
}

# Every enumerator and its value. Most are of enums without a name, whose values no dump of types has.
dump_constants() {
    {
        printf '#include <rootdk/rootdk.h>\n#include <stdio.h>\nint main(void) {\n'
        gcc -E -P -Iinclude "$header" | grep -o '\bRDK_[A-Z0-9_]*' | sort -u |
            sed 's/.*/printf("& %d\\n", &);/'
        echo 'return 0; }'
    } > "$dir/constants.c"
    gcc -Iinclude "$dir/constants.c" -o "$dir/constants" && "$dir/constants" > "$new.constants"
}

# by_version: sorts lines that are versions.
by_version() {
    sort -t. -k1,1n -k2,2n -k3,3n
}

soname() {
    sed -n "1s/.*soname='\([^']*\)'.*/\1/p" "$1"
}

# compare COMMAND...: whether it finds no difference, or one that no program will meet: it asks for the library
# by its soname. An exit code with 1 or 2 in it is not a difference, but an error of abidiff.
compare() {
    code=0
    "$@" || code=$?
    [ $code != 0 ] || return 0
    [ $((code % 4)) = 0 ] && [ "$(soname "$old.abi")" != "$(soname "$new.abi")" ] || return 1
    echo "another soname than $last has, so it may differ"
}

compare_types() {
    new=$dir/$1/rootdk-$version
    compare abidiff --no-added-syms "$old.abi" "$new.abi" || { echo "not the ABI of $last"; return 1; }
    echo "$(grep -c '<elf-symbol ' "$old.abi") functions, $(grep -c '<var-decl ' "$old.abi") fields of $last"
}

# all_still_there OLD NEW: fails as abidiff does if a line of OLD is not in NEW, and prints it.
all_still_there() {
    [ -s "$1" ] && [ -s "$2" ] || return 1
    ! grep -v -x -F -f "$2" "$1" || return 4
}

compare_constants() {
    new=$dir/gcc/rootdk-$version
    dump_constants && compare all_still_there "$old.constants" "$new.constants" ||
        { echo "not the constants of $last"; return 1; }
    echo "$(wc -l < "$old.constants") constants of $last"
}

# A release without its dump would leave nothing to compare the next with.
have_dumps() {
    for release; do
        for kind in abi constants; do
            [ -s "docs/abi/rootdk-$release.$kind" ] || { echo "there is no docs/abi/rootdk-$release.$kind"; return 1; }
        done
    done
    echo "$# releases"
}

last=$(find docs/abi -name "*.abi" | sed -n 's/.*rootdk-\(.*\)\.abi$/\1/p' | by_version | tail -n 1)
old=docs/abi/rootdk-$last

check "the header alone: C99, C11, C++11, C++20" "gcc, clang" sh tests/api/header.sh include
for compiler in gcc clang; do
    build "$compiler"
    check "$compiler, exported are the header's functions, global only rdk_ names" nm \
        sh tests/api/symbols.sh nm "$header" "$dir/$compiler/librootdk.so" "$dir/$compiler/librootdk.a"
    check "$compiler, types and functions against docs/abi" abidiff compare_types "$compiler"
done
check "values of constants against docs/abi" gcc compare_constants
releases=$(sed -n '/(not released)/d; s/^## \([0-9.]*\).*/\1/p' CHANGELOG.md)
if [ -n "$releases" ]; then
    # shellcheck disable=SC2086 # a list of words
    check "a dump for every release in CHANGELOG.md" "" have_dumps $releases
else
    skip "a dump for every release in CHANGELOG.md" "nothing is released yet"
fi
