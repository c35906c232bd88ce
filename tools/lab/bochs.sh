#!/bin/sh
# Runs programs on a CPU with AVX-512: tools/lab/bochs.sh DIR [FEATURE...]
#
# Boots Linux under Bochs with DIR as /lab, runs /lab/run there, a script for busybox's shell, and prints what
# it printed. The exit code is the script's, or 125 if it did not come to its end within $BOCHS_SECONDS.
# The guest has no libraries: programs must be static. tools/setup.sh bochs must have run before.
#
# FEATURE is one that the CPU has and the kernel leaves off, by the kernel's name for it: avx512f.
#
# Guest time is counted in instructions, 100 million to the second.
set -eu
lab=$1
shift
deps=${RDK_DEPS_DIR:-build/deps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The whole system is what the kernel finds in memory: busybox, /lab, and this first process. What the serial
# port still holds is lost when the power goes, hence the sleep.
make_initrd() {
    root=$work/root
    mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/tmp"
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp -R "$lab" "$root/lab"
    cat > "$root/init" << 'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
exec > /dev/ttyS0 2>&1
cd /lab
echo '== begin'
sh ./run
printf '\n== end %s\n' $?
sleep 0.3
poweroff -f
INIT
    chmod +x "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet) > "$work/disc/initrd"
}

# xsavec and xsaves are always off: with them Linux gives up XSAVE here, and AVX with it. The kernel reads
# only one list of what is off.
make_disc() {
    off=xsavec,xsaves
    for feature in "$@"; do off=$off,$feature; done
    mkdir -p "$work/disc/isolinux"
    make_initrd
    cp "$deps/vmlinuz" "$work/disc/vmlinuz"
    cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/disc/isolinux"
    cat > "$work/disc/isolinux/isolinux.cfg" << CONFIG
DEFAULT lab
PROMPT 0
LABEL lab
  KERNEL /vmlinuz
  INITRD /initrd
  APPEND quiet loglevel=3 console=ttyS0,115200 8250.nr_uarts=1 panic=-1 noxsaves clearcpuid=$off nokaslr mitigations=off tsc=reliable lpj=1000000 no_timer_check cryptomgr.notests audit=0 selinux=0 apparmor=0
CONFIG
    xorriso -as mkisofs -quiet -o "$work/disc.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
        -no-emul-boot -boot-load-size 4 -boot-info-table "$work/disc" 2> "$work/xorriso.log" ||
        { cat "$work/xorriso.log" >&2; exit 125; }
}

make_machine() {
    cat > "$work/machine" << CONFIG
display_library: nogui
megs: 512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0, ignore_bad_msrs=1
clock: sync=none
boot: cdrom
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=$work/disc.iso, status=inserted
com1: enabled=1, mode=file, dev=$work/serial
panic: action=fatal
error: action=ignore
info: action=ignore
log: $work/log
CONFIG
}

make_disc "$@"
make_machine
: > "$work/serial"
# Bochs calls a power-off a panic; the guest's own words are what counts.
timeout --foreground "${BOCHS_SECONDS:-600}" "$deps/bochs" -q -f "$work/machine" < /dev/null > "$work/out" 2>&1 || true
tr -d '\r' < "$work/serial" > "$work/text"
awk '/^== end /{on = 0} on; /^== begin$/{on = 1}' "$work/text"
code=$(sed -n 's/^== end //p' "$work/text")
if [ -z "$code" ]; then
    echo "bochs.sh: the guest did not come to its end; Bochs said:" >&2
    tail -n 5 "$work/text" "$work/log" >&2
    exit 125
fi
exit "$code"
