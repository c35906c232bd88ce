# The bench's page in Chromium, as wide as a phone and as a desk, light and dark: that every plot is drawn, nothing runs
# out of the window, no script fails and nothing is asked of the network. Leaves pictures in build/lab/report.
. tools/lab/lib.sh
need report
chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --dump-dom about:blank ||
    { skip "all of it" "chromium does not start here"; exit 0; }
rm -rf "$dir/profile"

# look WHAT REPORT: draws the page of a report and opens it.
look() {
    start=$(date +%s)
    mkdir -p "$dir/$1"
    {
        "$PYTHON" -B bench/page/page.py "$2" "$dir/$1/report.html" &&
            "$PYTHON" tools/lab/browser.py chromium "$dir/$1/report.html" "$dir/$1"
    } > "$dir/$1/log" 2>&1 || true
    cat "$dir/$1/log"
    note "the page of $1: 390 and 1280 pixels, light and dark" --by "$(chromium --version | cut -d ' ' -f 1-2)" \
        --log "$dir/$1/log" --seconds $(($(date +%s) - start))
}

"$PYTHON" tests/page/sample.py "$dir/sample.json"
look sample "$dir/sample.json"
