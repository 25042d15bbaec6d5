#!/bin/sh
# Runs the commands of README that are marked to be run, in their order, in a home of their own; stops at the first that fails.
#
# A block is marked by its first line, ```sh run. One shell runs all of them, in the folder that holds README, so that a later block
# sees the variables of an earlier one. `make demo` and `make test` are left out: they are checked by themselves.
#
# usage: readme-test.sh [FILE]
set -eu

file=${1:-README.md}
scratch=$(mktemp -d)
commands=$scratch/commands
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# Before each command stands the number of its line. A command that ends with a backslash goes on in the next line.
awk '
  /^```/ { marked = !inside && $0 == "```sh run"; inside = !inside; next }
  !marked || /^make (demo|test)$/ || /^ *(#|$)/ { next }
  !goes_on { printf "line=%d; printf \"%%s\\n\" \"readme: line $line\" >&2\n", NR; count++ }
  { print; goes_on = /\\$/ }
  END { print "line=done"; exit !count }
' "$file" >"$commands" || { echo "readme-test: $file has no block that begins with \`\`\`sh run" >&2; exit 1; }

# The broker belongs to this home alone, and is stopped with it. Nothing here asks a person.
mkdir "$scratch/home"
status=0
env HOME="$scratch/home" AMBIT_HOME="$scratch/ambit" PATH="$PWD/.build/release:$PATH" sh -c '
  trap "failed=\$?
    ambit broker stop >/dev/null 2>&1
    [ \$line = done ] || { echo \"readme-test: line \$line of $1 failed with status \$failed\" >&2; exit 1; }" EXIT
  line=0
  set -e
  . "$2"
' sh "$file" "$commands" </dev/null || status=$?

[ "$status" -ne 0 ] || echo "readme-test: every command of $file works"
exit "$status"
