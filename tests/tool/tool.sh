#!/bin/sh
# The command-line tool, from outside: tool.sh ROOTDK SPOILED, where SPOILED is a build of the tool
# that expects a wrong hash of case 200 of each operation.
tool=$1
spoiled=$2
unset RDK_ISA
passed=0
failed=0
names=$("$(dirname "$0")/../../tools/isas.sh" | cut -d ';' -f 1)
known=$(echo "$names" | wc -l)

check() { # check WHAT COMMAND...: passes if the command succeeds
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL: $what"
        printf '%s\n' "$out" | head -n 5
    fi
}

run() { # run COMMAND...: keeps its output and exit code
    out=$("$@" 2>&1)
    code=$?
}

says() { printf '%s\n' "$out" | grep -q -- "$1"; }
count() { printf '%s\n' "$out" | grep -c -- "$1"; }

exits() { # exits CODE ARGUMENTS...
    want=$1
    shift
    run "$tool" "$@"
    check "rootdk $* exits $want" [ $code -eq "$want" ]
}

exits 0 --help
check "help names verify" says 'rootdk verify'
exits 0 verify --help
exits 0 --version
check "version is a version" says '^rootdk [0-9]*\.[0-9]*\.[0-9]*$'
exits 2
exits 2 nonsense
exits 2 --nonsense
exits 2 info --nonsense
exits 2 verify --nonsense
exits 2 verify --isa
exits 2 verify --isa nonsense
exits 2 verify --isa default
exits 2 verify --generate
exits 2 verify --generate nonsense

exits 0 info --markdown
check "the table has a head, a rule and every ISA" [ "$(count '^|')" -eq $((2 + known)) ]
exits 0 info
check "the list of ISAs has more than scalar" [ "$known" -gt 1 ]
for isa in $names; do
    check "info has one line on $isa" [ "$(count "^  $isa ")" -eq 1 ]
done
check "one ISA is chosen" [ "$(count 'available, chosen$')" -eq 1 ]
check "info names the kernel" says '^  softmax  *rdk_softmax_'
available=$(printf '%s\n' "$out" | sed -n 's/^  \([a-z0-9]*\)  *available.*/\1/p')
why='\(not in this build\|this CPU lacks\|the operating system does not\)'
missing=$(printf '%s\n' "$out" | sed -n "s/^  \([a-z0-9]*\)  *$why.*/\1/p")

run env RDK_ISA=scalar "$tool" info
check "RDK_ISA=scalar is honoured" says '^RDK_ISA .*honoured'
check "RDK_ISA=scalar runs scalar" says 'rdk_softmax_scalar$'
run env RDK_ISA=nonsense "$tool" info
check "RDK_ISA=nonsense is reported" says '^RDK_ISA .*nonsense: .*scalar is chosen'
check "RDK_ISA=nonsense runs scalar" says 'rdk_softmax_scalar$'

operations="softmax attention"
exits 0 verify
isas=$(echo "$available" | wc -l)
verified=$out
check "one line per available ISA and operation" [ "$(count .)" -eq $((2 * isas)) ]
exits 0 verify --list
scalar_list=$out
for op in $operations; do
    out=$verified
    all=$(printf '%s\n' "$out" | sed -n "s/^[a-z0-9]*  *$op  *.*hash \([0-9a-f]*\) .*/\1/p" | sort -u)
    check "one hash of $op for all" [ "$(echo "$all" | grep -c '^[0-9a-f]\{16\}$')" -eq 1 ]
    out=$scalar_list
    cases=$(count "^$op .* [0-9a-f]\{16\}\$")
    check "at least 300 cases of $op" [ "$cases" -ge 300 ]
    for isa in $available; do
        exits 0 verify --isa "$isa"
        check "verify names $isa and $op" says "^$isa  *$op  *$cases cases  hash $all  ok\$"
    done
    exits 0 verify --generate "$op"
    check "$op generates what is listed" [ "$(count '^0x')" -eq $((cases + 1)) ]
    check "and its total" says "^0x$all, /\* all \*/\$"
done
for isa in $available; do
    exits 0 verify --isa "$isa" --list
    check "$isa lists what scalar does" [ "$out" = "$scalar_list" ]
done
for isa in $missing; do
    exits 2 verify --isa "$isa"
done
check "every ISA is available or missing" [ "$(echo $available $missing | wc -w)" -eq "$known" ]
exits 0 verify --help
check "help names every ISA" says "$(echo $names)"

# lines of work and ISA, with a share of a limit or a word on why there is none
share='\(% of\|disturbed: no share of\) \(the FMA peak\|a plain read\|memcpy\)$'
exits 0 bench --quick
check "bench measures every vector ISA" [ "$(count "$share")" -eq $((7 * (isas - 1))) ]
check "beside the FMA peak of each" [ "$(count "^FMA peak .* GFLOP/s (")" -eq $((isas - 1)) ]
check "and decode" [ "$(count ' GB/s .*'"$share")" -eq $((2 * (isas - 1))) ]
exits 0 bench --quick --threads 2 --isa scalar
check "bench says by how many threads" says '^2 threads, '
check "bench measures scalar if asked" [ "$(count '  scalar  ')" -eq 7 ]

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '[mine]\nop = softmax\nrows = 20\ncols = 30\n[layer]\nop = attention\nheads = 4\nkv_heads = 2\nqueries = 1
keys = 40\nd = 8\nlayers = 3\nbatch = 2\n' > "$folder/shapes.ini"
exits 0 bench --quick --shapes "$folder/shapes.ini" --json "$folder/report.json" --threads 3
check "bench measures a file's works" [ "$(count '^mine .*ns/element')$(count '^layer .*GB/s')" = $((isas - 1))$((isas - 1)) ]
out=$(cat "$folder/report.json")
check "and writes them down" [ "$(count '^{"process": "bench", "work": ')" -eq $((2 * (isas - 1))) ]
check "by three threads, limits and all" [ "$(count '"threads": 3')" -eq "$(count '"threads"')" ]
check "with what limits them" [ "$(count '"fractions": {"')" -eq $((2 * (isas - 1))) ]
exits 1 bench --quick --shapes "$folder/shapes.ini" --json "$folder/none/report.json"
echo 'rows = 3' >> "$folder/shapes.ini"
echo 'columns = 3' >> "$folder/shapes.ini"
exits 2 bench --quick --shapes "$folder/shapes.ini"
check "a wrong line is named" says 'shapes.ini:15: '
exits 2 bench --shapes "$folder/none.ini"
exits 2 bench --json
exits 2 bench --threads 0
exits 2 bench --threads 65
exits 2 bench --threads two
exits 2 bench --shapes
exits 2 bench --seconds soon
exits 2 bench --seconds
exits 2 bench --isa nonsense
exits 2 bench --fast

run "$spoiled" verify
check "a wrong expectation exits 1" [ $code -eq 1 ]
check "and names the case" says 'first difference: case 200 '
check "on every ISA and operation" [ "$(count 'DIFFERENT in 1$')" -eq $((2 * isas)) ]

echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
