#!/bin/sh
# Lists the targets of a makefile that carry a `## description`, in colour on a terminal.
set -eu

bold='' colour='' reset=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$(printf '\033[1m') colour=$(printf '\033[36m') reset=$(printf '\033[0m')
fi

printf '%sAmbit%s: a sandbox and permissions simulator\n\n' "$bold" "$reset"
sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)$/\1|\2/p' "$1" |
  while IFS='|' read -r target description; do
    printf '  %smake %-12s%s %s\n' "$colour" "$target" "$reset" "$description"
  done
