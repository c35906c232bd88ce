# Calls built from bytes (tests/fuzz/), on every path: libFuzzer with AddressSanitizer, from the committed corpus on;
# and ten times the random cases of `make test`, of the same seed.
. tools/lab/lib.sh
need fuzz
seconds=$(sized 300 60)
# UndefinedBehaviorSanitizer would take minutes to compile; the leg "sanitizers" has it.
build_in fuzz clang -Doptimization=1 -Dfuzz=enabled -Db_sanitize=address -Db_lundef=false \
    -Dc_args=-fsanitize=fuzzer-no-link
"$NINJA" -C "$built" tests/fuzz/fuzz tests/softmax/test_bits tests/attention/test_bits

mkdir -p "$dir/seeds" "$dir/corpus" "$dir/found"
"$PYTHON" - "$dir/seeds" << 'EOF'
import pathlib, sys
lines = pathlib.Path("tests/fuzz/corpus.txt").read_text().splitlines()
for i, line in enumerate(lines):
    if line and not line.startswith("#"):
        pathlib.Path(sys.argv[1], f"{i:04}").write_bytes(bytes.fromhex(line))
EOF

export ASAN_OPTIONS=detect_leaks=0
status=0
"$built/tests/fuzz/fuzz" -max_total_time="$seconds" -max_len=160 -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$dir/found/" "$dir/corpus" "$dir/seeds" \
    > "$dir/fuzz.log" 2>&1 || status=$?
tail -n 30 "$dir/fuzz.log"
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/fuzz.log")
# titles EMULATED: the vector ISAs that x86-64 runs natively (0) or through SIMDe (1), by their titles.
titles() {
    tools/isas.sh | awk -F ';' -v emulated="$1" '
        $1 != "scalar" && $5 == emulated && (emulated || $3 == "x86_64") { printf "%s%s", comma, $2; comma = ", " }'
}
by="$(titles 0) native; $(titles 1): SIMDe"
if [ "$status" = 0 ] && [ -n "$runs" ]; then
    note "libFuzzer, clang, ASan" --by "$by" --cases "$runs calls on each path" --passed 1 --seconds "$seconds"
else
    # What was found goes into tests/fuzz/corpus.txt, in hexadecimal, and is a test from then on.
    for found in "$dir"/found/*; do
        [ ! -f "$found" ] || echo "FAIL: $(od -An -v -tx1 "$found" | tr -d ' \n')"
    done
    note "libFuzzer, clang, ASan" --by "$by" --failed 1 --note "see $dir/fuzz.log and $dir/found"
fi

cases=$(sized 200000 20000) bad=0 start=$(date +%s)
for test in softmax/test_bits attention/test_bits; do
    "$built/tests/$test" --cases "$cases" >> "$dir/cases.log" 2>&1 || bad=$((bad + 1))
done
cat "$dir/cases.log"
note "$cases random cases of either operation, clang, ASan" --by "$by" --log "$dir/cases.log" --failed $bad \
    --seconds $(($(date +%s) - start))
