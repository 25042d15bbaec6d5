#!/bin/sh
# Looks at `ambit audit report` in a real browser: a report of real launches, and one of the most hostile log that names can make.
set -eu

usage() {
  cat <<'END'
usage: scripts/report-test.sh [FOLDER]

Runs the tour, writes the report of its log, loads it into Chromium without a window, and checks that nothing is loaded, nothing
is on the console, that keyboard and screen reader get everywhere, that axe-core finds nothing in light and in dark, and that
it prints. Pictures and the pages go to FOLDER (default: .build/report): look at them. Nothing of yours is touched.

It needs ambit (make test builds it; AMBIT names another one), chromium (CHROMIUM), python3, and axe-core, which is fetched from
PyPI into .build/python.
END
}

say() { printf 'report-test: %s\n' "$*" >&2; }
fail() { say "$@"; exit 125; }

case ${1:-} in
  --help | -h) usage; exit 0 ;;
  -*) usage >&2; exit 125 ;;
esac

cd "$(dirname "$0")/.."
folder=${1:-.build/report}
ambit=${AMBIT:-.build/debug/ambit-tools}
[ -x "$ambit" ] || fail "there is no $ambit: make test builds it"
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$chromium" ] || fail "there is no Chromium: sudo apt-get install chromium, or name one with CHROMIUM"
command -v python3 >/dev/null 2>&1 || fail "there is no python3"

axe=$(find .build/python -name axe.min.js 2>/dev/null | head -n 1)
if [ -z "$axe" ]; then
  say "fetching axe-core into .build/python (for this test alone)"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target .build/python \
    axe-playwright-python >&2 || fail "that failed. By hand: python3 -m pip install --no-deps --target .build/python axe-playwright-python"
  axe=$(find .build/python -name axe.min.js | head -n 1)
fi

mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

say "running the tour"
scripts/assemble-demos.sh .build/debug .build/demos-debug
TMPDIR=$scratch "$ambit" scenario run --keep --apps .build/demos-debug Demos/tour.toml >"$scratch/tour.txt" 2>&1 ||
  { cat "$scratch/tour.txt" >&2; fail "the tour does not hold"; }
home=$(sed -n 's/.*(AMBIT_HOME=\(.*\))$/\1/p' "$scratch/tour.txt")
[ -n "$home" ] || fail "the tour does not say where it left its log"

AMBIT_HOME=$home "$ambit" audit report --output "$folder/tour.html"
AMBIT_HOME=$home "$ambit" audit report --format json --output "$folder/tour.json"
python3 scripts/report-test/hostile.py 20000 >"$scratch/hostile.log"
"$ambit" audit report --log "$scratch/hostile.log" --output "$folder/hostile.html"
"$ambit" audit report --log "$scratch/hostile.log" --format json --output "$folder/hostile.json"

rm -f "$folder"/*.png "$folder"/*.pdf
say "looking at the pages"
PYTHONDONTWRITEBYTECODE=1 python3 scripts/report-test/check.py "$chromium" "$axe" "$folder" \
  "$folder/tour.html" "$folder/tour.json" "$folder/hostile.html" "$folder/hostile.json"
say "the pictures are in $folder"
