#!/bin/sh
# Provides what a job needs: tools/setup.sh JOB, a job of the Makefile or a leg of the lab that needs more than
# the tests.
#
# Looks for commands and headers, installs only the Debian packages that are missing, and does
# nothing when nothing is. It leaves $RDK_DEPS_DIR (build/deps by default) with
#   env            which meson, ninja and python3 to run; the Makefile and tools/ read it
#   include/       for `test`: greatest.h and simde/, one include directory for both
#   bochs          for `bochs`: Bochs 3.0, a PC in software that has AVX-512
#   vmlinuz        for `bochs`: a Linux kernel to boot there
set -eu

jobs="build test bench peers format abi bochs fuzz other-machines report sanitizers static-performance windows"
job=${1:-build}
case " $jobs " in
    *" $job "*) ;;
    *) echo "usage: tools/setup.sh JOB, one of: $jobs" >&2; exit 2 ;;
esac

cd "$(dirname "$0")/.."
deps=${RDK_DEPS_DIR:-build/deps}
mkdir -p "$deps"
deps=$(cd "$deps" && pwd)

greatest_file="fzy_1.0.orig.tar.gz 80257fd74579e13438b05edf50dcdc8cf0cdb1870b4a2bc5967bd1fdbed1facf"
greatest_hash=4ecd1c1c1b1d2cd7f0c8b0c9d87f92030b9ef7910da3a8197076b17d13076940
simde_file="libsimde-dev_0.8.2-3_all.deb \
277dcde3fb84223b7026174042646e236da42adce2fcb77031807ede8166a51e"
bochs_file="bochs_3.0+dfsg.orig.tar.xz \
78f6c73d4a6472d5130a87ab9dc306d02c7c71ed8e25b3a8ef642e2a7acd282b"
bochs_options="--with-nogui --enable-cpu-level=6 --enable-x86-64 --enable-avx --enable-evex --enable-fpu \
--enable-pci --enable-cdrom --enable-long-phy-address --enable-all-optimizations --disable-docbook \
--disable-plugins"

# ---- programs and headers ---------------------------------------------------------------------

# at_least WANTED GOT: compares dotted version numbers.
at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$1" ]
}

# pick NAME WANTED: prints the first NAME in PATH that runs and is new enough. The first one in PATH
# may be a version manager's shim that only says that nothing is behind it.
pick() {
    old_ifs=$IFS
    IFS=:
    for dir in $PATH:/usr/bin; do
        [ -x "$dir/$1" ] || continue
        got=$("$dir/$1" --version 2>/dev/null | sed 's/^Python //; s/[^0-9.].*//; q')
        if [ -n "$got" ] && at_least "$2" "$got"; then
            IFS=$old_ifs
            echo "$dir/$1"
            return 0
        fi
    done
    IFS=$old_ifs
    return 1
}

# Starting these takes longer than everything else here, so the answer is kept. A variable that stays
# empty is a program that is missing.
find_runners() {
    MESON='' NINJA='' PYTHON=''
    if [ -f "$deps/env" ]; then . "$deps/env"; fi
    if [ -x "$MESON" ] && [ -x "$NINJA" ] && [ -x "$PYTHON" ]; then return 0; fi
    PYTHON=$(pick python3 3.7) || PYTHON=''
    NINJA=$(pick ninja 1.8.2) || NINJA=''
    MESON=$(pick meson 1.0.1) || MESON=''
    if [ -z "$MESON" ] || [ -z "$NINJA" ] || [ -z "$PYTHON" ]; then return 0; fi
    printf "MESON='%s'\nNINJA='%s'\nPYTHON='%s'\nexport MESON NINJA PYTHON\n" \
        "$MESON" "$NINJA" "$PYTHON" > "$deps/env.$$"
    mv "$deps/env.$$" "$deps/env"
}

have() { command -v "$1"; }
have_headers() { have "$1" && printf '#include <math.h>\n#include <stdio.h>\n' | "$1" -E -; }
have_c_compiler() {
    for compiler in ${CC:-} cc gcc clang; do
        have_headers "$compiler" && return 0
    done
    return 1
}
have_clang() { have clang && at_least 14 "$(clang -dumpversion)"; }
have_cmake() { at_least 3.16 "$(cmake --version | sed -n 's/^cmake version //p')"; }
have_all() {
    for program in "$@"; do
        have "$program" || return 1
    done
}
static_busybox() { have busybox && ! ldd "$(command -v busybox)"; }
# clang_links SANITIZERS: clang has their libraries, which are a package of their own on Debian.
clang_links() {
    linked=0
    echo 'int main(void) { return 0; }' | clang -x c "-fsanitize=$1" -o "$deps/linked.$$" - || linked=1
    rm -f "$deps/linked.$$"
    return $linked
}
# The package's name has clang's version; there is none as long as there is no clang.
clang_libraries() { clang -dumpversion 2> /dev/null | sed 's/[.].*//; s/.*/libclang-rt-&-dev/'; }
have_benchmark() { pkg-config --exists benchmark; }
# have_header NAME: whatever C compiler there is finds it.
have_header() {
    for compiler in ${CC:-} cc gcc clang; do
        have "$compiler" && echo "#include <$1>" | "$compiler" -E - && return 0
    done
    return 1
}

# Debian has both modules in a package of their own; without ensurepip, venv is there and fails.
have_venv() { "$PYTHON" -c 'import ensurepip, venv'; }

# need PACKAGES WHAT CHECK...: notes both when CHECK fails.
packages='' wanted=''
need() {
    need_packages=$1 need_what=$2
    shift 2
    "$@" > /dev/null 2>&1 && return 0
    packages="$packages $need_packages"
    wanted="$wanted
  $need_what"
}

# want PACKAGES CHECK...: as need, but the job can do without.
optional=''
want() {
    want_packages=$1
    shift
    "$@" > /dev/null 2>&1 || optional="$optional
$want_packages"
}

# need_cross TRIPLE DEBIAN_NAME: gcc for another CPU.
need_cross() {
    need "gcc-$1 libc6-dev-$2-cross" "$1-gcc and its C library's headers" have_headers "$1-gcc"
}

# Libraries to measure beside this one.
want_peers() {
    want libdnnl-dev have_header dnnl.h
    want "libxnnpack-dev libpthreadpool-dev" have_header xnnpack.h
    want libopenblas-serial-dev pkg-config --exists openblas
}

look() {
    packages='' wanted='' optional=''
    case $job in
        test) need "gcc libc6-dev" "gcc and the C library's headers" have_headers gcc ;;
        *) need "gcc libc6-dev" "a C compiler and the C library's headers" have_c_compiler ;;
    esac
    find_runners
    need python3 "python3 >= 3.7" test -n "$PYTHON"
    need ninja-build "ninja >= 1.8.2" test -n "$NINJA"
    need meson "meson >= 1.0.1" test -n "$MESON"
    case $job in
        test)
            need pkg-config "pkg-config" have pkg-config
            need cmake "cmake >= 3.16" have_cmake
            need make "make" have make
            need g++ "g++" have g++
            need libbenchmark-dev "Google Benchmark >= 1.7 (found by pkg-config)" have_benchmark
            want_peers
            need clang "clang >= 14" have_clang
            need "$(clang_libraries)" "clang's AddressSanitizer and UndefinedBehaviorSanitizer" \
                clang_links address,undefined
            need binutils "nm (binutils)" have nm
            need qemu-user "qemu-aarch64 (QEMU user mode)" have qemu-aarch64
            need_cross aarch64-linux-gnu arm64
            ;;
        bench)
            need pkg-config "pkg-config" have pkg-config
            need g++ "g++" have g++
            need libbenchmark-dev "Google Benchmark >= 1.7 (found by pkg-config)" have_benchmark
            want_peers
            ;;
        peers)
            need python3-venv "python3's venv and ensurepip" have_venv
            ;;
        bochs)
            need "g++ make" "g++ and make" have_all g++ make
            need xz-utils "xz" have xz
            need cpio "cpio" have cpio
            need xorriso "xorriso" have xorriso
            need busybox-static "busybox, static" static_busybox
            need bochsbios "the BIOS of Bochs" test -f /usr/share/bochs/BIOS-bochs-latest
            need vgabios "a VGA BIOS" test -f /usr/share/vgabios/vgabios.bin
            need isolinux "isolinux.bin" test -f /usr/lib/ISOLINUX/isolinux.bin
            need syslinux-common "ldlinux.c32" test -f /usr/lib/syslinux/modules/bios/ldlinux.c32
            ;;
        other-machines)
            need qemu-user "qemu-s390x and others (QEMU user mode)" have qemu-s390x
            need_cross riscv64-linux-gnu riscv64
            need_cross s390x-linux-gnu s390x
            need_cross i686-linux-gnu i386
            need_cross arm-linux-gnueabihf armhf
            ;;
        report)
            need chromium "chromium" have chromium
            ;;
        windows)
            need gcc-mingw-w64-x86-64 "x86_64-w64-mingw32-gcc" have_headers x86_64-w64-mingw32-gcc
            need "wine wine64" "wine" have wine
            ;;
        fuzz)
            need clang "clang >= 14" have_clang
            need "$(clang_libraries)" "clang's libFuzzer and AddressSanitizer" clang_links address
            ;;
        sanitizers)
            need clang "clang >= 14" have_clang
            need "$(clang_libraries)" "clang's sanitizers" clang_links memory
            need valgrind "valgrind" have valgrind
            ;;
        format)
            need clang-format "clang-format >= 14" have clang-format
            ;;
        abi)
            need abigail-tools "abidw and abidiff (abigail-tools)" have abidiff
            ;;
        static-performance)
            need clang-19 "clang-19" have clang-19
            need llvm-19 "llvm-mca-19 (llvm-19)" have llvm-mca-19
            need gcc-12 "gcc-12" have gcc-12
            ;;
    esac
}

# How to become root: nothing, sudo, or "no" when there is no way.
if [ "$(id -u)" = 0 ]; then
    root=''
elif command -v sudo > /dev/null; then
    root=sudo
else
    root=no
fi

# Once per run: a second update would find nothing new. A foreign source that does not answer is no
# reason to stop; the installation says what is really missing.
updated=no
update_lists() {
    [ $updated = no ] && [ "$root" != no ] || return 0
    updated=yes
    $root apt-get -qq update >> "$deps/apt.log" 2>&1 || true
}

can_install() { command -v apt-get > /dev/null && [ "$root" != no ]; }

# install APT_OPTION_OR_PACKAGE...
install() {
    : > "$deps/apt.log"
    update_lists
    $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 --no-install-recommends install "$@" >> "$deps/apt.log" 2>&1 ||
        grep '^E:' "$deps/apt.log" | head -n 5 >&2
}

# Each line on its own, so that one that is not to be had keeps no other out; nothing is removed for it.
install_optional() {
    echo "$optional" | while read -r line; do
        [ -n "$line" ] || continue
        echo "setup: installing $line (optional)"
        # shellcheck disable=SC2086 # a list of words
        install --no-remove $line < /dev/null
    done
}

look
# Twice, since the packages that clang lacks are known only once clang is there.
tried=''
while [ -n "$packages" ] && [ "$packages" != "$tried" ] && can_install; do
    tried=$packages
    echo "setup: installing$packages"
    # shellcheck disable=SC2086 # a list of words
    install $packages
    look
done
if [ -n "$optional" ] && can_install; then
    update_lists # once, not in each round of the loop
    install_optional
    look
fi
if [ -n "$packages" ]; then
    printf 'setup: missing for "%s":%s\nDebian packages:%s\n' "$job" "$wanted" "$packages" >&2
    exit 1
fi
if [ -n "$optional" ]; then
    # shellcheck disable=SC2086 # a list of words
    echo "setup: \"$job\" goes on without these Debian packages:" $optional
fi

# ---- headers for the tests ---------------------------------------------------------------------
# Both come from the mirror that this machine's apt uses; a file is trusted by its hash alone.
# A file in include/ without a stamp was put there by hand and is left alone.

# is_there FILE STAMP HASH
is_there() {
    [ -f "$1" ] && { [ ! -f "$2" ] || [ "$(cat "$2")" = "$3" ]; }
}

hash_is() {
    [ -f "$1" ] && echo "$2  $1" | sha256sum -c --status -
}

mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' \
        'Origin: Debian' 'Label: Debian' | head -n 1
}

# fetch DIRECTORY FILE HASH: leaves FILE in the cache, verified.
fetch() {
    hash_is "$cache/$2" "$3" && return 0
    rm -f "$cache/$2"
    helper=/usr/lib/apt/apt-helper
    [ -x $helper ] || return 1
    uri=$(mirror)
    # A system image often comes without package lists; then apt cannot name its mirror yet.
    [ -n "$uri" ] || { update_lists && uri=$(mirror); }
    [ -n "$uri" ] || return 1
    # apt checks the hash too. Its own user cannot write to our cache, hence the sandbox option.
    $helper -qq -o APT::Sandbox::User=root download-file "${uri%/}/$1/$2" "$cache/$2.$$" \
        "SHA256:$3" > /dev/null && mv "$cache/$2.$$" "$cache/$2"
    rm -f "$cache/$2.$$" "$cache/$2.$$.FAILED"
    hash_is "$cache/$2" "$3"
}

provide_greatest() {
    # shellcheck disable=SC2086 # two words
    set -- $greatest_file
    is_there "$deps/include/greatest.h" "$deps/greatest.stamp" "$2" && return 0
    fetch pool/main/f/fzy "$1" "$2" || return 1
    tar -xzf "$cache/$1" -C "$scratch" fzy-1.0/deps/greatest/greatest.h || return 1
    hash_is "$scratch/fzy-1.0/deps/greatest/greatest.h" $greatest_hash || return 1
    mv "$scratch/fzy-1.0/deps/greatest/greatest.h" "$deps/include/greatest.h"
    echo "$2" > "$deps/greatest.stamp"
}

# clang has __mmask64 as unsigned long long and refuses a second typedef to another type.
patch_simde() {
    types=$1/x86/avx512/types.h
    if grep -q 'typedef uint64_t __mmask64;' "$types"; then
        sed 's/typedef uint64_t __mmask64;/typedef unsigned long long __mmask64;/' "$types" \
            > "$types.new" && mv "$types.new" "$types"
    fi
    grep -q 'typedef unsigned long long __mmask64;' "$types" &&
        ! grep -q 'typedef uint64_t __mmask64;' "$types"
}

provide_simde() {
    # shellcheck disable=SC2086 # two words
    set -- $simde_file
    if is_there "$deps/include/simde/x86/avx512.h" "$deps/simde.stamp" "$2"; then
        patch_simde "$deps/include/simde"
        return
    fi
    fetch pool/main/s/simde "$1" "$2" || return 1
    dpkg-deb -x "$cache/$1" "$scratch/simde" || return 1
    patch_simde "$scratch/simde/usr/include/simde" || return 1
    rm -rf "$deps/include/simde"
    mv "$scratch/simde/usr/include/simde" "$deps/include/simde"
    echo "$2" > "$deps/simde.stamp"
}

# ---- a PC with AVX-512 ----------------------------------------------------------------------------

# is_by_hand FILE: no link of ours, so it is left alone.
is_by_hand() { [ -f "$1" ] && [ ! -L "$1" ]; }

# Built once for all clones; the name says from what and how.
provide_bochs() {
    is_by_hand "$deps/bochs" && return 0
    # shellcheck disable=SC2086 # two words
    set -- $bochs_file
    built=$cache/bochs-$(echo "$2 $bochs_options" | sha256sum | cut -c 1-16)
    if [ ! -x "$built" ]; then
        fetch pool/main/b/bochs "$1" "$2" || return 1
        echo "setup: building Bochs 3.0, which takes minutes"
        mkdir "$scratch/bochs" && tar -xJf "$cache/$1" -C "$scratch/bochs" --strip-components 1 || return 1
        # shellcheck disable=SC2086 # a list of words
        (cd "$scratch/bochs" && CC=gcc CXX=g++ CFLAGS=-O2 CXXFLAGS=-O2 ./configure $bochs_options &&
            make -j "$(nproc)" && strip bochs) > "$deps/bochs.log" 2>&1 || return 1
        mv "$scratch/bochs/bochs" "$built.$$" && mv "$built.$$" "$built" || return 1
    fi
    ln -sf "$built" "$deps/bochs"
}

kernel_package() {
    apt-cache depends linux-image-cloud-amd64 2> /dev/null |
        sed -n 's/.*Depends: \(linux-image-[0-9].*-cloud-amd64\)$/\1/p; /Depends/q'
}

download_kernel() {
    package=$(kernel_package)
    [ -n "$package" ] && (cd "$scratch" && apt-get -qq -o APT::Sandbox::User=root download "$package")
}

# Any kernel will do, since no case depends on it, so an older one is kept. apt verifies its downloads.
provide_kernel() {
    is_by_hand "$deps/vmlinuz" && return 0
    kernel=$(find "$cache" -name 'vmlinuz-*-cloud-amd64' | sort | tail -n 1)
    if [ -z "$kernel" ]; then
        download_kernel || { update_lists && download_kernel; } || return 1
        dpkg-deb -x "$scratch/$package"_*.deb "$scratch/kernel" || return 1
        kernel=$cache/vmlinuz-${package#linux-image-}
        mv "$scratch"/kernel/boot/vmlinuz-* "$kernel.$$" && mv "$kernel.$$" "$kernel" || return 1
    fi
    ln -sf "$kernel" "$deps/vmlinuz"
}

# ---- what this job needs besides packages -----------------------------------------------------------

# The cache outlives the tree, so that a second clone needs no network.
open_cache() {
    cache=${XDG_CACHE_HOME:-${HOME:-$deps}/.cache}/rootdk
    mkdir -p "$cache" 2> /dev/null && [ -w "$cache" ] || { cache=$deps/cache && mkdir -p "$cache"; }
    scratch=$deps/scratch.$$
    trap 'rm -rf "$scratch"' EXIT
    mkdir -p "$deps/include" "$scratch"
}

absent=''
case $job in
    test)
        open_cache
        provide_greatest || absent="$absent
  include/greatest.h (greatest 1.3.1)"
        provide_simde || absent="$absent
  include/simde/ (SIMDe 0.8.2)"
        ;;
    bochs)
        open_cache
        provide_bochs || absent="$absent
  bochs (Bochs 3.0; $deps/bochs.log may say why)"
        provide_kernel || absent="$absent
  vmlinuz (of linux-image-cloud-amd64)"
        ;;
esac
if [ -n "$absent" ]; then
    printf 'setup: cannot get these; put them in %s by hand (docs/building.md):%s\n' "$deps" "$absent" >&2
    exit 1
fi
