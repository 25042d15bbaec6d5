#!/bin/sh
# Runs the tests, or any command, under another kernel: in a virtual machine whose files are this machine's own.
set -eu

usage() {
  cat <<'END'
usage: scripts/kernel-test.sh [OPTION …] [-- COMMAND [ARGUMENT …]]

Boots a kernel in QEMU, with this machine's files read-only below a disk for what is written there, and runs COMMAND as
root in this folder; without one, `swift test --skip-build` with the words of TESTFLAGS. Prints what it prints and ends
with its status, or with 125 and the kernel's messages if the machine did not get so far, or with 124 if the time is over.
There is no network. Afterwards nothing is left of it: what the command has written was the machine's own.

  --kernel FILE     the kernel's image (KERNEL). Default: that of Debian's newest kernel package that apt knows,
                    fetched into .build/kernel
  --modules FOLDER  its modules (MODULES). Default: the one folder in lib/modules beside the folder of the image. A
                    kernel that has virtio, 9p, ext4 and overlay built in needs none
  --cgroup WHICH    v2: the unified hierarchy, as systemd has it (default); v1: a hierarchy for each controller; none
  --user ID         run COMMAND as this user, with a control group that is theirs (as with Delegate=yes)
  --memory MIB      default 4096
  --cpus COUNT      default: as many as there are, at most 4
  --accel WHICH     kvm, or tcg, which needs nothing of the processor and takes some ten times as long. Default: what
                    there is
  --timeout SECONDS default 3600
  --append WORDS    further words for the kernel's command line
  --help            this

It needs qemu-system-x86_64 (Debian: qemu-system-x86), mkfs.ext4 and a C compiler that links statically.
END
}

say() { printf 'kernel-test: %s\n' "$*" >&2; }
fail() { say "$@"; exit 125; }
have() { command -v "$1" >/dev/null 2>&1; }

checkout=$(cd "$(dirname "$0")/.." && pwd -P)
build=$checkout/.build/kernel
kernel=${KERNEL:-} modules=${MODULES:-} groups=v2 user=0 memory=4096 cpus='' accelerator=auto
limit=3600 append=''

while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --) shift; break ;;
    --kernel | --modules | --cgroup | --user | --memory | --cpus | --accel | --timeout | --append)
      [ $# -ge 2 ] || fail "$1 needs a value; --help says which"
      case $1 in
        --kernel) kernel=$2 ;;
        --modules) modules=$2 ;;
        --cgroup) groups=$2 ;;
        --user) user=$2 ;;
        --memory) memory=$2 ;;
        --cpus) cpus=$2 ;;
        --accel) accelerator=$2 ;;
        --timeout) limit=$2 ;;
        --append) append=$2 ;;
      esac
      shift 2
      ;;
    *) fail "“$1” is no option; a command comes after --" ;;
  esac
done
case $groups in v2 | v1 | none) ;; *) fail "--cgroup is v2, v1 or none, and not “$groups”" ;; esac
case $accelerator in auto | kvm | tcg) ;; *) fail "--accel is kvm or tcg, and not “$accelerator”" ;; esac
for number in "$user" "$memory" "$limit" "${cpus:-1}"; do
  case $number in '' | *[!0-9]*) fail "“$number” is no number" ;; esac
done
# Words of TESTFLAGS are the shell's, as in the Makefile.
[ $# -gt 0 ] || eval "set -- swift test --skip-build ${TESTFLAGS:-}"

have qemu-system-x86_64 || fail "there is no qemu-system-x86_64; on Debian: apt-get install qemu-system-x86"
PATH=$PATH:/usr/sbin:/sbin
have mkfs.ext4 || fail "there is no mkfs.ext4; on Debian: apt-get install e2fsprogs"
compiler=''
for candidate in clang cc gcc; do ! have $candidate || { compiler=$candidate; break; }; done
[ -n "$compiler" ] || fail "there is no C compiler"

mkdir -p "$build"

# MARK: The kernel

# Debian's, once: the package says by its name which one it is.
fetch() {
  have apt-get && have dpkg || fail "without apt there is no kernel to fetch; name one with --kernel"
  package=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9]\)/\1/p')
  [ -n "$package" ] || fail "apt knows no linux-image-amd64 (apt-get update); name a kernel with --kernel"
  place=$build/$package
  if [ ! -d "$place" ]; then
    say "fetching $package into .build/kernel"
    rm -rf "$place.part"
    mkdir "$place.part"
    (
      cd "$place.part"
      apt-get -o APT::Sandbox::User=root download -q "$package" >&2 && dpkg -x ./*.deb . && rm ./*.deb
    ) || fail "that failed; name a kernel with --kernel"
    mv "$place.part" "$place"
  fi
  kernel=$(echo "$place"/boot/vmlinuz-*)
}

[ -n "$kernel" ] || fetch
[ -f "$kernel" ] || fail "there is no kernel $kernel"
if [ -z "$modules" ]; then
  modules=$(dirname "$kernel")/../lib/modules
  [ ! -d "$modules" ] || modules=$(find "$modules" -mindepth 1 -maxdepth 1 -type d | head -n 1)
fi

# MARK: Who computes

# In a virtual machine there can be a /dev/kvm that takes only kernels made for it: what the processor offers says which.
if [ $accelerator = auto ]; then
  accelerator=tcg
  if [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then accelerator=kvm; fi
fi
case $accelerator in
  kvm) accelerator='kvm -cpu host' ;;
  tcg)
    accelerator='tcg,thread=multi -cpu max'
    export AMBIT_TEST_PATIENCE="${AMBIT_TEST_PATIENCE:-10}"
    ;;
esac

# MARK: What the machine starts with

run=$(mktemp -d "$build/run.XXXXXX")
machine=''
# Not the shell's “trap … EXIT” alone: dash ends without it when a signal comes.
finish() {
  trap - EXIT HUP INT TERM
  [ -z "$machine" ] || { kill "$machine" 2>/dev/null && wait "$machine" || :; }
  rm -rf "$run"
}
trap finish EXIT
trap 'finish; exit 129' HUP
trap 'finish; exit 130' INT
trap 'finish; exit 143' TERM

mkdir "$run/modules"
index=100
loaded=' '
# add NAME: a module after those that it needs. What is not there is built in, or the machine will say what it misses.
add() {
  case $loaded in *" $1 "*) return 0 ;; esac
  loaded="$loaded$1 "
  [ -d "$modules" ] || return 0
  found=$(find "$modules" -name "$(echo "$1" | sed 's/[-_]/[-_]/g').ko*" | head -n 1)
  case $found in
    '') return 0 ;;
    *.xz) xz -dc "$found" >"$run/module" ;;
    *.zst) zstd -qdc "$found" >"$run/module" ;;
    *.gz) gzip -dc "$found" >"$run/module" ;;
    *) cp "$found" "$run/module" ;;
  esac
  mv "$run/module" "$run/module.$1"
  for needed in $(tr '\0' '\n' <"$run/module.$1" | sed -n 's/^depends=//p' | tr ',' ' '); do add "$needed"; done
  index=$((index + 1))
  mv "$run/module.$1" "$run/modules/$index-$1"
}
# ext4 asks for its checksum by a name that no dependency tells of.
for name in virtio_pci virtio_blk virtio_console virtio_rng 9pnet_virtio 9p crc32c_generic ext4 overlay fuse; do
  add $name
done

"$compiler" -static -Os -Wall -o "$run/init" "$checkout/scripts/kernel-test/init.c" ||
  fail "the machine's first program cannot be built; a static libc may be missing (Debian: libc6-dev)"

# pad SIZE: zeros up to a multiple of four.
pad() { head -c $(((4 - $1 % 4) % 4)) /dev/zero; }
inode=0
# entry NAME MODE [FILE]: one entry of an archive as initramfs takes it (`newc`, cpio(5)).
entry() {
  size=0
  [ -z "${3:-}" ] || size=$(wc -c <"$3")
  inode=$((inode + 1))
  printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\0' \
    $inode $(($2)) 0 0 1 0 "$size" 0 0 0 0 $((${#1} + 1)) 0 "$1"
  pad $((110 + ${#1} + 1))
  [ -z "${3:-}" ] || { cat "$3"; pad "$size"; }
}
printf %s "$run/job" >"$run/path"
{
  entry init 0100755 "$run/init"
  entry job 0100644 "$run/path"
  entry modules 0040755
  for file in "$run"/modules/*; do [ ! -f "$file" ] || entry "modules/${file##*/}" 0100644 "$file"; done
  entry 'TRAILER!!!' 0
} >"$run/initramfs"

# A word as the shell reads it.
quote() { printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
{
  for name in PATH HOME PYTHONPATH LANG CI $(env | sed -n 's/^\(AMBIT_[A-Z_]*\)=.*/\1/p'); do
    eval "value=\${$name:-}"
    [ -z "$value" ] || printf 'export %s=%s\n' $name "$(quote "$value")"
  done
  printf 'exec /bin/sh '
  for word in "$checkout/scripts/kernel-test/inside.sh" "$groups" "$user" "$(pwd)" "$checkout" "$@"; do
    quote "$word"
  done
  echo
} >"$run/job"

truncate -s 16G "$run/disk"
mkfs.ext4 -q -F -m 0 "$run/disk" >&2

# MARK: The machine

if [ -z "$cpus" ]; then
  cpus=$(getconf _NPROCESSORS_ONLN)
  [ "$cpus" -le 4 ] || cpus=4
fi
# Through a pipe, which the reader empties to its end. This shell holds it as well: the machine may not come to open it.
mkfifo "$run/output"
cat "$run/output" &
reader=$!
exec 3>"$run/output"
# shellcheck disable=SC2086 # the accelerator is several words
timeout --foreground -k 5 "$limit" qemu-system-x86_64 \
  -nodefaults -no-user-config -machine q35 -accel $accelerator -smp "$cpus" -m "$memory" -display none -no-reboot \
  -kernel "$kernel" -initrd "$run/initramfs" -append "console=ttyS0 quiet panic=-1 $append" \
  -serial "file:$run/console" \
  -drive "file=$run/disk,format=raw,if=virtio,cache=unsafe,discard=unmap" \
  -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
  -device virtio-9p-pci,fsdev=host,mount_tag=host \
  -device virtio-rng-pci -device virtio-serial-pci \
  -chardev "file,id=output,path=$run/output" -device virtserialport,chardev=output,name=output \
  -chardev "file,id=status,path=$run/status" -device virtserialport,chardev=status,name=status \
  </dev/null >"$run/complaints" 2>&1 &
machine=$!
ended=0
wait "$machine" || ended=$?
machine=''
exec 3>&-
wait "$reader" || :

if [ -s "$run/status" ]; then exit "$(cat "$run/status")"; fi
sed 's/^/kernel-test: qemu: /' "$run/complaints" >&2
status=125
if [ $ended -eq 124 ] || [ $ended -eq 137 ]; then
  status=124
  say "the time is over ($limit s). The machine's console:"
else
  say "the machine ended (qemu: $ended) before the command did. Its console:"
fi
tail -n 40 "$run/console" 2>/dev/null | tr -d '\r' >&2 || :
exit $status
