#!/bin/sh
# Installs what was built under a prefix, or removes it again.
#
# usage: install.sh PREFIX
#        install.sh --remove PREFIX
set -eu

release=.build/release
manual=.build/man

if [ "$1" = --remove ]; then
  prefix=$2
  rm -f "$prefix/bin/ambit" "$prefix/bin/ambitctl" "$prefix/libexec/ambit/ambit-tools"
  rm -f "$prefix/share/man/man1/ambit.1" "$prefix/share/man/man1/ambitctl.1"
  rm -f "$prefix/libexec/ambit/battery" "$prefix/libexec/ambit/ambit-web" "$prefix/libexec/ambit/ambit-draw" "$prefix/libexec/ambit/ambit-agent" "$prefix/libexec/ambit/plain-agent"
  rm -rf "$prefix/share/ambit/policies" "$prefix/share/ambit/conformance" "$prefix/share/ambit/lessons" "$prefix/share/ambit/demos"
  rmdir "$prefix/share/ambit" "$prefix/libexec/ambit" 2>/dev/null || true
  echo "removed ambit from $prefix"
  exit 0
fi
prefix=$1

# `sudo make install` after `make docs`: root must not leave files of its own in a user's build folder.
if [ -n "${SUDO_USER:-}" ] && [ "$(id -u)" -eq 0 ]; then
  if [ ! -x $release/ambit ] || [ ! -x $release/battery ] || [ ! -f $manual/ambit.1 ]; then
    echo "install: build first, without sudo: make docs" >&2
    exit 1
  fi
else
  ${MAKE:-make} docs
fi

install -d "$prefix/bin" "$prefix/libexec/ambit" "$prefix/share/man/man1" "$prefix/share/ambit/policies"
install -m 755 $release/ambit $release/ambitctl "$prefix/bin/"
# The program for all verbs but a launch, the server of the picker's page, and the one that draws pictures. None is a command.
install -m 755 $release/ambit-tools $release/ambit-web $release/ambit-draw "$prefix/libexec/ambit/"
# Run by `ambit verify`, and by nobody else.
install -m 755 $release/battery "$prefix/libexec/ambit/"
install -m 644 $manual/*.1 "$prefix/share/man/man1/"
if [ -d Policies ]; then
  # Policies may be sorted into folders.
  (cd Policies && find . -type f -name '*.toml' -o -type f -name '*.json') | while IFS= read -r policy; do
    install -D -m 644 "Policies/$policy" "$prefix/share/ambit/policies/$policy"
  done
fi
# The suite, the lessons, and the app that scenarios act with.
install -m 755 $release/ambit-agent $release/plain-agent "$prefix/libexec/ambit/"
rm -rf "$prefix/share/ambit/demos"
scripts/assemble-demos.sh $release "$prefix/share/ambit/demos"
for folder in Conformance Lessons; do
  name=$(echo $folder | tr 'A-Z' 'a-z')
  rm -rf "$prefix/share/ambit/$name"
  cp -R $folder "$prefix/share/ambit/$name"
done

echo "installed ambit, ambitctl, their manual pages and the policies under $prefix"
