# The bench's page in Chromium, as wide as a phone and as a desk, light and dark: that every plot is drawn, nothing runs
# out of the window, no script fails and nothing is asked of the network. Leaves pictures in build/lab/report.
. tools/lab/lib.sh
need bench
need report
chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --dump-dom about:blank ||
    { skip "all of it" "chromium does not start here"; exit 0; }
rm -rf "$dir/profile"

# look WHAT REPORT: draws the page of a report and opens it.
look() {
    start=$(date +%s)
    pages=$dir/$(echo "$1" | tr " " -)
    mkdir -p "$pages"
    {
        "$PYTHON" -B bench/page/page.py "$2" "$pages/report.html" &&
            "$PYTHON" tools/lab/browser.py chromium "$pages/report.html" "$pages"
    } > "$pages/log" 2>&1 || true
    cat "$pages/log"
    note "the page of $1: 390 and 1280 pixels, light and dark" --by "$(chromium --version | cut -d ' ' -f 1-2)" \
        --log "$pages/log" --seconds $(($(date +%s) - start))
}

# A small run of the bench itself, in a build that is kept from run to run.
quick_report() {
    bench=build/lab/build-report
    [ -f $bench/build.ninja ] || "$MESON" setup $bench --buildtype=release -Dtests=disabled -Dbench=enabled
    "$NINJA" -C $bench bench/bench
    $bench/bench/bench bench/shapes.ini --quick --command "a quick run" --json "$dir/quick.json"
}

"$PYTHON" tests/page/sample.py "$dir/sample.json"
look "a sample" "$dir/sample.json"
quick_report > "$dir/quick.log" 2>&1 || cat "$dir/quick.log"
look "a quick run" "$dir/quick.json"
