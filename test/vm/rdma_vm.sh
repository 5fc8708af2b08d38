#!/usr/bin/env bash
# rdma_vm.sh [--share=DIR] [--limit=SECONDS] COMMAND [ARGUMENT…]
#
# Boots Debian's own kernel in qemu, with its software RDMA stack (soft-RoCE) loaded, and
# runs COMMAND in it as root. The guest sees the host's files at the same paths; what it
# writes is thrown away, except under DIR. Ends with COMMAND's status; 77 and a line
# `SKIPPED: reason` where this machine lacks what is needed; 125 if the guest broke down.
#
# Emulates the processor, so it needs no KVM and is about ten times slower than the host. The kernel comes from
# its Debian package, which is downloaded once and never installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

skip() {
  echo "SKIPPED: $*"
  exit 77
}

share='' limit=300
while [[ ${1:-} == --* ]]; do
  case $1 in
    --share=*) share=$(realpath "${1#*=}") ;;
    --limit=*) limit=${1#*=} ;;
    *) echo "rdma_vm.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
[ $# -gt 0 ] || { echo "usage: rdma_vm.sh [--share=DIR] [--limit=SECONDS] COMMAND…" >&2; exit 2; }

PATH=$PATH:/usr/sbin:/sbin
for tool in qemu-system-x86_64 busybox modprobe depmod rdma tc python3 dpkg-deb flock; do
  command -v $tool >/dev/null || skip "no $tool (packages: qemu-system-x86 seabios busybox-static kmod iproute2)"
done
[ "$(uname -m)" = x86_64 ] || skip "the virtual machine is for x86_64"
ls /usr/lib/*/libibverbs/librxe-*.so >/dev/null 2>&1 ||
  skip "no driver of soft-RoCE (package: ibverbs-providers)"

# download VERSION: leaves the kernel and its modules in $cache/VERSION.
download() {
  local version=$1 work
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  if ! (cd "$work" && apt-get download -qq "linux-image-$version") >"$work/log" 2>&1; then
    rm -rf "$work"
    return 1
  fi
  dpkg-deb -x "$work"/linux-image-*.deb "$work/tree"
  depmod -b "$work/tree" "$version"
  # Unpacking it here takes a second, in the guest half a minute.
  python3 "$here/extract_vmlinux.py" "$work/tree/boot/vmlinuz-$version" "$work/tree/vmlinux"
  rm -rf "${cache:?}/$version"
  mv "$work/tree" "$cache/$version"
  rm -rf "$work"
}

# Sets $modules to the folder with the newest kernel and its modules. If that cannot be
# downloaded, a kernel from an earlier run is used.
fetch_kernel() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/coll/vm version kernel
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  version=$(apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n 's/.*Depends: linux-image-//p' | head -1) || true
  modules=$cache/$version
  if [ -z "$version" ] || { [ ! -e "$modules/vmlinux" ] && ! download "$version"; }; then
    kernel=$(ls -t "$cache"/*/vmlinux 2>/dev/null | head -1) || true
    [ -n "$kernel" ] || skip "the package linux-image-amd64 cannot be downloaded"
    modules=${kernel%/vmlinux}
  fi
  exec 9>&-
}

# The first files of the guest: its init, the modules in loading order, the command.
build_initramfs() {
  local root=$1 name file
  shift
  mkdir -p "$root"/{bin,modules,proc,host,rw,new}
  cp "$(command -v busybox)" "$root/bin/busybox"
  install -m 755 "$here/guest_init.sh" "$root/init"
  for name in crc32_generic virtio_pci 9pnet_virtio 9p overlay rdma_rxe ib_uverbs sch_netem veth dummy; do
    modprobe -d "$modules" -S "${modules##*/}" --show-depends "$name"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
    cp "$file" "$root/modules/"
    basename "$file" >>"$root/modules/order"
  done
  printf '%s\n' "$share" >"$root/share_path"
  {
    echo 'export HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    echo 'ulimit -l unlimited'
    printf 'cd %q\n' "$PWD"
    printf 'exec'
    printf ' %q' "$@"
    echo
  } >"$root/command"
  (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$root.cpio"
}

fetch_kernel
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
build_initramfs "$temporary/root" "$@"

disks=(-virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap)
if [ -n "$share" ]; then
  disks+=(-virtfs "local,path=$share,mount_tag=share,security_model=none,multidevs=remap")
fi
# no_timer_check: on a busy machine the emulated timer may tick late, which the kernel's check takes for a broken one.
timeout -k 5 "$limit" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max \
  -smp 2 -m 1024 -nodefaults -display none -no-reboot -serial stdio -kernel "$modules/vmlinux" \
  -initrd "$temporary/root.cpio" -append 'console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable clocksource=tsc random.trust_cpu=on no_timer_check' \
  "${disks[@]}" </dev/null 2>&1 | tee "$temporary/log" | grep --line-buffered -v '^GUEST_STATUS=' || true

# Qemu fails with 1, as many commands do; only the status that the guest printed counts.
status=$(tr -d '\r' <"$temporary/log" | sed -n 's/^GUEST_STATUS=\([0-9]*\)$/\1/p' | tail -1)
if [ -z "$status" ]; then
  echo "rdma_vm.sh: the guest did not end by itself within $limit s" >&2
  exit 125
fi
exit "$status"
