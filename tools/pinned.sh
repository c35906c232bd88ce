#!/bin/sh
# Runs a command on one core: tools/pinned.sh COMMAND...
#
# RDK_BENCH_CORE chooses it, by number; the default is the last one that this process may use, which is the furthest
# from the first, which takes most interrupts. Where there is no taskset, it runs anywhere.
set -eu
command -v taskset > /dev/null || exec "$@"
exec taskset -c "${RDK_BENCH_CORE:-$(taskset -cp $$ | sed 's/.*[ ,-]//')}" "$@"
