#!/bin/sh
# Installs what the build needs and the system lacks; with --test also what the tests need, with --clickhouse or --otlp what
# the tests of these exports need, with --picker what the tests of the picker need.
#
# Says what is missing and what it does about it. When everything is there it says nothing, asks for no rights and
# touches no network.
set -eu

want_tests=false want_picker=false module='' packages=''
case "${1:-}" in
  --test) want_tests=true module=varlink packages=varlink ;;
  # ClickHouse's engine alone, without the libraries for data frames that its package asks for.
  --clickhouse) module=chdb packages='--no-deps chdb chdb-core' ;;
  --picker) want_picker=true module=pyte packages=pyte ;;
  --otlp) module=opentelemetry.proto.collector packages=opentelemetry-proto ;;
esac

say() { printf 'deps: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
have_header() {
  printf '#include <%s>\n' "$1" | cc -fsyntax-only -x c - 2>/dev/null ||
    printf '#include <%s>\n' "$1" | clang -fsyntax-only -x c - 2>/dev/null
}

# The launcher is linked statically, with its libc.
have_static() {
  for compiler in clang cc; do
    have $compiler || continue
    found=$($compiler -print-file-name="$1" 2>/dev/null) && [ "$found" != "$1" ] && [ -e "$found" ] && return 0
  done
  return 1
}

if ! have swift; then
  say "there is no Swift toolchain on PATH. Ambit needs 6.2 or later: https://www.swift.org/install/linux"
  exit 1
fi

# Each manager names the same things differently.
if have apt-get; then
  manager=apt pkgconf=pkg-config seccomp=libseccomp-dev sqlite=libsqlite3-dev pip=python3-pip curl=libcurl4-openssl-dev
  chafa=libchafa-dev glib=libglib2.0-dev png=libpng-dev nettle=nettle-dev
  libc=libc6-dev libstdcxx=g++ vim=vim-tiny sqlite_shell=sqlite3
  btrfs=btrfs-progs losetup=mount
elif have dnf; then
  manager=dnf pkgconf=pkgconf-pkg-config seccomp=libseccomp-devel sqlite=sqlite-devel pip=python3-pip curl=libcurl-devel
  chafa=chafa-devel glib=glib2-devel png=libpng-devel nettle=nettle-devel
  libc=glibc-static libstdcxx=libstdc++-static vim=vim-minimal sqlite_shell=sqlite
  btrfs=btrfs-progs losetup=util-linux
elif have pacman; then
  manager=pacman pkgconf=pkgconf seccomp=libseccomp sqlite=sqlite pip=python-pip curl=curl
  chafa=chafa glib=glib2 png=libpng nettle=nettle
  libc=glibc libstdcxx=gcc vim=vim sqlite_shell=sqlite
  btrfs=btrfs-progs losetup=util-linux
elif have zypper; then
  manager=zypper pkgconf=pkgconf seccomp=libseccomp-devel sqlite=sqlite3-devel pip=python3-pip curl=libcurl-devel
  chafa=chafa-devel glib=glib2-devel png=libpng16-devel nettle=libnettle-devel
  libc=glibc-devel-static libstdcxx=gcc-c++ vim=vim-small sqlite_shell=sqlite3
  btrfs=btrfsprogs losetup=util-linux
elif have apk; then
  manager=apk pkgconf=pkgconf seccomp=libseccomp-dev sqlite=sqlite-dev pip=py3-pip curl=curl-dev
  chafa=chafa-dev glib=glib-dev png=libpng-dev nettle=nettle-dev
  libc=musl-dev libstdcxx=g++ vim=vim sqlite_shell=sqlite
  btrfs=btrfs-progs losetup=losetup
else
  manager=none pkgconf=pkg-config seccomp=libseccomp-dev sqlite=libsqlite3-dev pip=python3-pip curl=libcurl4-openssl-dev
  chafa=libchafa-dev glib=libglib2.0-dev png=libpng-dev nettle=nettle-dev
  libc=libc6-dev libstdcxx=g++ vim=vim-tiny sqlite_shell=sqlite3
  btrfs=btrfs-progs losetup=mount
fi

missing=''
need() { missing="$missing $1"; }

if ! have pkg-config; then
  need "$pkgconf"
  have_header seccomp.h || need "$seccomp"
  have_header sqlite3.h || need "$sqlite"
  have_header curl/curl.h || need "$curl"
  have_header png.h || need "$png"
  have_header nettle/eddsa.h || need "$nettle"
  # Their headers lie where only pkg-config knows.
  need "$chafa"
  need "$glib"
else
  pkg-config --exists libseccomp || need "$seccomp"
  pkg-config --exists sqlite3 || need "$sqlite"
  pkg-config --exists libcurl || need "$curl"
  pkg-config --exists libpng || need "$png"
  pkg-config --exists hogweed || need "$nettle"
  pkg-config --exists glib-2.0 || need "$glib"
  pkg-config --exists chafa || need "$chafa"
fi

have_static libc.a || need "$libc"
have_static libstdc++.a || need "$libstdcxx"

# Programs that Ambit's authors did not write, to hold it against. A package of the system's serves as well as PyPI's.
python_has_module() { python3 -c "import $module" 2>/dev/null; }
if [ -n "$module" ] && ! python_has_module; then
  if ! have python3; then
    need python3
    need "$pip"
  elif ! python3 -m pip --version >/dev/null 2>&1; then
    need "$pip"
  fi
fi

# Programs that the tests run inside sandboxes.
if $want_tests; then
  have vim.tiny || have vim || have vi || need "$vim"
  have sqlite3 || need "$sqlite_shell"
  have tmux || need tmux
  # Programs that open documents beside an app.
  have git || need git
  have rsync || need rsync
  have python3 || need python3
  # File systems that documents lie on. Root's tests make volumes of them, and nobody else's.
  if [ "$(id -u)" -eq 0 ]; then
    PATH=$PATH:/usr/sbin:/sbin
    have mkfs.ext4 || need e2fsprogs
    have mkfs.xfs || need xfsprogs
    { have mkfs.btrfs && have btrfs; } || need "$btrfs"
    have losetup || need "$losetup"
    have bindfs || need bindfs
  fi
  # Podman's seccomp profile.
  [ $manager != apt ] || [ -e /usr/share/containers/seccomp.json ] || need golang-github-containers-common
fi

# The picker is driven in a terminal, and its filter held against another's.
if $want_picker; then
  have tmux || need tmux
  have fzf || need fzf
fi

if [ -n "$missing" ]; then
  # Word splitting makes the package list; no name has a space.
  case $manager in
    apt) update='apt-get update -q' install="apt-get install -q -y --no-install-recommends$missing" ;;
    dnf) update='' install="dnf install -y$missing" ;;
    pacman) update='' install="pacman -S --needed --noconfirm$missing" ;;
    zypper) update='' install="zypper --non-interactive install$missing" ;;
    apk) update='' install="apk add$missing" ;;
    none)
      say "missing:$missing (their names on Debian). No package manager that is known here; install them by hand."
      exit 1
      ;;
  esac

  as_root=''
  if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    # Without a terminal nobody can type a password; -n makes sudo say so instead of waiting.
    [ -t 0 ] || as_root='sudo -n'
  fi
  if [ -n "$as_root" ] && ! have sudo; then
    say "missing:$missing. You are not root and there is no sudo; have someone run, as root:"
    say "  ${update:+$update && }$install"
    exit 1
  fi
  by_hand="${update:+${as_root:+sudo }$update && }${as_root:+sudo }$install"
  say "missing:$missing"
  [ -z "$as_root" ] || say "installing system packages needs root, so this asks sudo"

  # The list of packages is fetched only now that one is needed. A mirror that is out of reach may still leave
  # the packages in the cache, so its failure alone is not the end.
  if [ -n "$update" ]; then
    say "$as_root $update"
    $as_root env DEBIAN_FRONTEND=noninteractive $update >&2 || say "the package list could not be renewed; going on with the old one"
  fi
  say "$as_root $install"
  if ! $as_root env DEBIAN_FRONTEND=noninteractive $install >&2; then
    say "that failed. Run it by hand, as someone who may: $by_hand"
    exit 1
  fi
fi

if [ -n "$module" ] && ! python_has_module; then
  say "fetching PyPI's ${packages#--no-deps } into .build/python (for the tests alone)"
  # Word splitting makes the arguments.
  # shellcheck disable=SC2086
  if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .build/python $packages >&2; then
    say "that failed. Run it by hand: python3 -m pip install --target .build/python $packages"
    exit 1
  fi
fi

# Docker's seccomp profile, out of a package that would bring much else along. Where it cannot be had, the tests do
# without it.
docker_profile=.build/profiles/docker.json
if $want_tests && [ $manager = apt ] && [ ! -e $docker_profile ]; then
  scratch=$(mktemp -d)
  say "fetching Docker's seccomp profile into .build/profiles (for the tests alone)"
  (
    cd "$scratch"
    apt-get download -q golang-github-docker-docker-dev >/dev/null 2>&1
    dpkg -x golang-github-docker-docker-dev_*.deb . 2>/dev/null
  ) || say "it is not to be had here; going on without"
  found=$scratch/usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json
  if [ -e "$found" ]; then
    mkdir -p .build/profiles
    cp "$found" $docker_profile
  fi
  rm -rf "$scratch"
fi
