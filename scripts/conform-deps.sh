#!/bin/sh
# Installs what the adapters of Conformance/Adapters need and the system lacks, and builds the agents that they run.
#
# Says what is missing and what it does about it. When everything is there it says nothing, asks for no rights and
# touches no network. An adapter whose system cannot be had says so itself; so this goes on after a failure, and ends with
# status 1.
set -u

cd "$(dirname "$0")/.." || exit 1
built=.build/adapters
status=0

say() { printf 'conform-deps: %s\n' "$*" >&2; }
give_up_on() { say "$*"; status=1; }
have() { command -v "$1" >/dev/null 2>&1; }
have_service() {
  for folder in /usr/libexec /usr/lib /usr/lib/xdg-desktop-portal /usr/local/libexec; do
    [ -x "$folder/$1" ] && return 0
  done
  return 1
}

# WASI's libc lies in a folder of its own, or, on Debian, among the other libraries.
wasi_root() {
  for folder in /usr/share/wasi-sysroot /opt/wasi-sdk/share/wasi-sysroot /usr; do
    [ -e "$folder/lib/wasm32-wasi/libc.a" ] && echo "$folder" && return 0
  done
  return 1
}

# What the compiler needs besides a libc. It belongs to Debian's clang, and fits others.
wasi_builtins() {
  for file in /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a \
    /usr/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a; do
    [ -e "$file" ] && echo "$file" && return 0
  done
  return 1
}

have_linker() { have wasm-ld || [ "$(clang -print-prog-name=wasm-ld 2>/dev/null)" != wasm-ld ]; }

# The names of Debian's packages and, where they differ, those of others.
if have apt-get; then
  manager=apt pip=python3-pip wasi=wasi-libc
  # Its name has the version of the compiler that it belongs to.
  builtins=libclang-rt-14-dev-wasm32
  if ! wasi_builtins >/dev/null; then
    found=$(apt-cache search --names-only '^libclang-rt-[0-9]+-dev-wasm32$' 2>/dev/null | cut -d' ' -f1 | sort -V | head -n 1)
    builtins=${found:-$builtins}
  fi
elif have dnf; then
  manager=dnf pip=python3-pip wasi=wasi-libc-static builtins=compiler-rt
elif have pacman; then
  manager=pacman pip=python-pip wasi=wasi-libc builtins=wasi-compiler-rt
elif have zypper; then
  manager=zypper pip=python3-pip wasi=wasi-libc builtins=compiler-rt
elif have apk; then
  manager=apk pip=py3-pip wasi=wasi-libc builtins=wasi-compiler-rt
else
  manager=none pip=python3-pip wasi=wasi-libc builtins=libclang-rt-14-dev-wasm32
fi

missing=''
need() { missing="$missing $1"; }

have bwrap || need bubblewrap
have firejail || need firejail
{ have_service xdg-document-portal && have_service xdg-permission-store; } || need xdg-desktop-portal
have dbus-daemon || need dbus
have fusermount3 || need fuse3
have python3 || need python3
python3 -m pip --version >/dev/null 2>&1 || need "$pip"
have clang || need clang
have_linker || need lld
wasi_root >/dev/null || need "$wasi"
wasi_builtins >/dev/null || need "$builtins"

if [ -n "$missing" ]; then
  # Word splitting makes the package list; no name has a space.
  case $manager in
    apt) update='apt-get update -q' install="apt-get install -q -y --no-install-recommends$missing" ;;
    dnf) update='' install="dnf install -y$missing" ;;
    pacman) update='' install="pacman -S --needed --noconfirm$missing" ;;
    zypper) update='' install="zypper --non-interactive install$missing" ;;
    apk) update='' install="apk add$missing" ;;
    none) update='' install='' ;;
  esac
  as_root=''
  if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    # Without a terminal nobody can type a password; -n makes sudo say so instead of waiting.
    [ -t 0 ] || as_root='sudo -n'
  fi
  say "missing:$missing"
  if [ -z "$install" ]; then
    give_up_on "no package manager that is known here; install them by hand (these are their names on Debian)"
  elif [ -n "$as_root" ] && ! have sudo; then
    give_up_on "you are not root and there is no sudo; have someone run, as root: ${update:+$update && }$install"
  else
    [ -z "$update" ] || $as_root env DEBIAN_FRONTEND=noninteractive $update >&2 ||
      say "the package list could not be renewed; going on with the old one"
    say "$as_root $install"
    $as_root env DEBIAN_FRONTEND=noninteractive $install >&2 ||
      give_up_on "that failed. Run it by hand, as someone who may: ${update:+$update && }$install"
  fi
fi

# Each package has a folder of its own, so that none is in another's way, and none in that of the system's Python.
fetch() {
  package=$1 module=$2
  shift 2
  target=$built/python/$package
  PYTHONPATH=$target python3 -c "import importlib.util as util, sys; sys.exit(not util.find_spec('$module'))" && return
  say "fetching PyPI's $package into $target"
  rm -rf "$target"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$target" "$@" "$package" >&2 ||
    give_up_on "that failed. Run it by hand: python3 -m pip install --target $target $* $package"
}

mkdir -p $built/python
fetch sandlock sandlock --no-deps
fetch nono-py nono_py
fetch deno deno --no-deps
fetch wasmtime wasmtime
fetch jeepney jeepney --no-deps

# Agents, when their source is newer.
sources='Sources/CAgent Sources/agent-c'
flags='-std=gnu17 -O2 -Wall -Wextra -ISources/CAgent/include'
old() { [ ! -e "$1" ] || [ -n "$(find $sources -type f -newer "$1")" ]; }

if old $built/plain-agent; then
  say "building $built/plain-agent"
  compiler=cc
  ! have clang || compiler=clang
  $compiler -static $flags Sources/CAgent/*.c Sources/agent-c/*.c -o $built/plain-agent || give_up_on "that failed"
fi

if old $built/agent.wasm; then
  say "building $built/agent.wasm"
  if ! root=$(wasi_root) || ! runtime=$(wasi_builtins); then
    give_up_on "there is no libc for WASI"
  else
    # The libraries are named one by one, because a compiler looks for its own version's alone. The stack would be of 64 KiB,
    # and nothing notices its end.
    clang --target=wasm32-wasi --sysroot="$root" -nodefaultlibs -Wl,-z,stack-size=1048576 $flags Sources/CAgent/*.c Sources/agent-c/*.c \
      -lc "$runtime" -o $built/agent.wasm || give_up_on "that failed"
  fi
fi

exit $status
