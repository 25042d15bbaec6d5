#!/bin/sh
# run.sh clickhouse|otlp|journal PROGRAMS: builds, lets an app make a log of real events, and tries one export with it.
set -eu
part=$1
for product in ambit ambit-tools ambitctl; do "${SWIFT:-swift}" build --product $product >&2; done
bin=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
"$here/history.sh" "$bin" "$home" "${EVENTS:-300}"
case $part in
  clickhouse) python3 "$here/clickhouse.py" "$bin" "$home" "$home/clickhouse" ;;
  otlp) python3 "$here/otlp_receiver.py" "$bin" "$home" ;;
  journal) "$here/journal.sh" "$bin" "$home" ;;
esac
