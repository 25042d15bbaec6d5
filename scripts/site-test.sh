#!/bin/sh
# Looks at the pages of `ambit conform --site` and `ambit lesson export` in a real browser; pictures in .build/site.
set -eu

say() { printf 'site-test: %s\n' "$*" >&2; }
fail() { say "$@"; exit 125; }

cd "$(dirname "$0")/.."
folder=${1:-.build/site}
ambit=${AMBIT:-.build/debug/ambit}
[ -x "$ambit" ] || fail "there is no $ambit: make test builds it"
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$chromium" ] || fail "there is no Chromium: sudo apt-get install chromium, or name one with CHROMIUM"
axe=$(find .build/python -name axe.min.js 2>/dev/null | head -n 1)
if [ -z "$axe" ]; then
  say "fetching axe-core into .build/python (for this test alone)"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target .build/python \
    axe-playwright-python >&2 || fail "that failed. By hand: python3 -m pip install --no-deps --target .build/python axe-playwright-python"
  axe=$(find .build/python -name axe.min.js | head -n 1)
fi
rm -rf "$folder"
mkdir -p "$folder/pictures"

say "playing a part of the suite"
"$ambit" conform --under ambit,none,apple --area TOK --user root --format json >"$folder/earlier.json" || true
"$ambit" conform --under ambit,none,apple --area TOK --user root --site "$folder/conform" --since "$folder/earlier.json" >/dev/null || true
"$ambit" lesson export "$folder/lessons" >/dev/null
lesson=$(find "$folder/lessons" -name '01-*.html')
python3 scripts/report-test/site.py "$chromium" "$axe" "$folder/pictures" "$folder/conform/index.html" \
  "$folder/conform/statements/TOK-3.html" "$folder/conform/changes.html" "$folder/lessons/index.html" "$lesson"
