#!/bin/sh
# RDK_ISA is ignored in a setuid program: setuid.sh PROGRAM, with PROGRAM = test_environment.
set -eu
[ "$(id -u)" = 0 ] || { echo "SKIP: only root can make a program of another user"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp "$1" "$dir/program"
chown nobody "$dir/program" || { echo "SKIP: there is no user nobody"; exit 77; }
chmod 4755 "$dir/program"
RDK_ISA=scalar RDK_TEST_SETUID=1 "$dir/program"
