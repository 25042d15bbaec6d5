#!/bin/sh
# The trash of `ambit trash` is the one that other programs see: GLib's “gio trash” puts files in that Ambit lists and takes back, and
# lists those that Ambit has put there. Needs gio and a bus of its own (dbus-run-session, gvfs); without them it fails.
#
#   scripts/trash-test.sh [FOLDER OF THE PROGRAMS]
set -eu

programs=$(cd "${1:-.build/debug}" && pwd)
ambit=$programs/ambit
place=$(mktemp -d)
export LC_ALL=C.UTF-8 HOME="$place" XDG_DATA_HOME="$place/share" AMBIT_HOME="$place/ambit" GVFS_DISABLE_FUSE=1
cleanup() {
  "$ambit" broker stop >/dev/null 2>&1 || true
  rm -rf "$place"
}
trap cleanup EXIT
fail() { printf 'trash-test: %s\n' "$*" >&2; exit 1; }

cd "$place"
name='Über 100% & more.txt'
printf one >"$name"
printf two >second.txt
mkdir folder
printf three >folder/inside

# Ours, seen by GLib.
"$ambit" trash "$name" folder >/dev/null
[ ! -e "$name" ] && [ ! -e folder ] || fail "the files are where they were"
seen=$(dbus-run-session -- gio trash --list 2>/dev/null)
printf '%s\n' "$seen" | grep -qF "trash:///%C3%9Cber%20100%25%20&%20more.txt" || fail "gio does not list “$name”: $seen"
printf '%s\n' "$seen" | grep -qF "$place/folder" || fail "gio does not list the folder: $seen"

# GLib takes ours back.
uri=$(printf '%s\n' "$seen" | grep -F "$place/folder" | cut -f 1)
dbus-run-session -- gio trash --restore "$uri" >/dev/null 2>&1 || fail "gio cannot take the folder back"
[ "$(cat folder/inside)" = three ] || fail "gio took another folder back"

# GLib's, seen by us, and back.
gio trash second.txt
"$ambit" trash list --format json | grep -qF "$place/second.txt" || fail "ambit does not list what gio put away"
"$ambit" trash restore second.txt "$name" >/dev/null
[ "$(cat second.txt)" = two ] && [ "$(cat "$name")" = one ] || fail "what came back is another file"
[ -z "$(dbus-run-session -- gio trash --list 2>/dev/null)" ] || fail "gio still lists files"
[ -z "$(ls "$XDG_DATA_HOME/Trash/info")" ] || fail "a record is left"

# Emptied for both.
"$ambit" trash second.txt >/dev/null
"$ambit" trash empty --force >/dev/null
[ -z "$(dbus-run-session -- gio trash --list 2>/dev/null)" ] || fail "the emptied trash has files"
echo "trash-test: gio and ambit see the same trash"
