# Windows: the suite and the tool, built by MinGW's gcc, run by Wine, which needs no display.
. tools/lab/lib.sh
need windows
RDK_CASES=$(sized 20000 2000)
WINEPREFIX=$(pwd)/$dir/wine WINEDEBUG=-all
export RDK_CASES WINEPREFIX WINEDEBUG
wine cmd /c exit || { skip "all of it" "wine does not start here"; exit 0; }
tools/test.sh windows || true
row windows "64-bit Windows, all suites" "this CPU, Wine"
passed=0 failed=0
says "$(wine build/test/windows/tools/rootdk.exe verify 2>&1)" '^scalar  *softmax .* ok' '^avx2  *softmax .* ok' \
    '^scalar  *attention .* ok' '^avx2  *attention .* ok'
note "rootdk verify, scalar and avx2" --by "this CPU, Wine" --passed $passed --failed $failed
