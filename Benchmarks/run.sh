#!/bin/sh
# Sets Ambit beside its peers. usage: run.sh [launch] [crowd] [calls] [scope] [grant] [growth] [io] [resolve] [save] [coordination] [query] [lesson] [picker] [cloud] [provider] [audit-explain]
#   [audit]
#
# Environment: FORMAT=json for one object a line in place of the table; AMBIT_BENCH_DIR for the folder in which files are
# made (by default /var/tmp; it needs 2 GiB); AMBIT_BENCH_FILES for another size of the large tree that documents are moved in;
# AMBIT_BENCH_EVENTS for another number of entries in the large log (by default 10000000, which need 7 GiB there).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
ambit=$here/../.build/release/ambit
if [ ! -x "$ambit" ]; then
  echo "bench: $ambit is not there; build it first: make build" >&2
  exit 1
fi

# The package manager looks for new files in this package alone, not in Ambit's; without its plan it looks again.
rm -f "$here/.build/release.yaml"
# What writes logs is a program of Ambit's own package: it knows what no other may.
"${SWIFT:-swift}" build --package-path "$here/.." -c release --product logload >&2
"${SWIFT:-swift}" build --package-path "$here/.." -c release --product test-provider >&2
export AMBIT_BENCH_PROVIDER="$here/../.build/release/test-provider"
"${SWIFT:-swift}" build --package-path "$here" -c release --product inside >&2
"${SWIFT:-swift}" build --package-path "$here" -c release --product bench >&2
export AMBIT_BENCH_SCRIPTS="$here/../scripts"
exec "$here/.build/release/bench" "$ambit" "$here/.build/release/inside" "$@"
