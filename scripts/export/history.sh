#!/bin/sh
# history.sh AMBIT-PROGRAMS HOME COUNT: lets an app use a document COUNT times, for real, so that HOME has an audit log of
# about twice as many events; some of its starts are refused.
set -eu
bin=$1 home=$2 count=$3
mkdir -p "$home/files"
# A name that every format has to carry unharmed.
document="$home/files/$(printf 'notes "of" May\n2025 – Grüße.txt')"
echo content >"$document"
AMBIT_HOME=$home PATH=$bin:$PATH ambit run --pick "$document" --pick "$document" -- /bin/sh -c '
  url=$(ambitctl pick) || exit 1
  n=0
  while [ $n -lt '"$count"' ]; do
    ambitctl with "$url" -- true
    n=$((n + 1))
  done
  ambitctl release "$url"
  ambitctl start "$url" 2>/dev/null || true
' >/dev/null
# Its last event is written now, and not while somebody counts.
AMBIT_HOME=$home "$bin/ambit" broker stop >/dev/null
