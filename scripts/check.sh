#!/bin/sh
# The part of `make check` besides Swift: shell syntax, paths that exist on one machine only, deliberate faults, the
# catalogue, and generated messages.
set -eu

status=0
complain() { printf 'check: %s\n' "$*" >&2; status=1; }

# A clone lists what is tracked and what is about to be; a tarball has no such list.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  files=$(git ls-files --cached --others --exclude-standard)
else
  files=$(find . -name .build -prune -o -type f -print | sed 's,^\./,,')
fi

# This checkout and this user's home. A home of `/` or `/root` says nothing.
here=$(pwd)
pattern='^$a'
for folder in "$here" "${HOME:-/}"; do
  case $folder in
    / | /root | /home) ;;
    *) pattern="$pattern|$(printf '%s' "$folder" | sed 's/[].[*^$+?(){}|\\]/\\&/g')(/|[^A-Za-z0-9_.-]|$)" ;;
  esac
done

# Paths are taken apart by bytes, in one room: a name may begin with an accent, which makes the slash before it another character.
slash='(split\(separator|[oO]f): *"/"|contains\("/"\)|has(Pre|Suf)fix\("/|has(Pre|Suf)fix\([^"]*\+ *"/|NSString\)\.[a-zA-Z]*PathComponent'
if found=$(printf '%s\n' $files | grep '^Sources/.*\.swift$' | grep -v '^Sources/Paths/' | xargs grep -nE "$slash"); then
  complain "these look for a slash as a character; Paths has what finds it as a byte:
$found"
fi

# Deliberate faults are in test builds alone (make mutants). The package never sets their condition, and each use stands in it.
if grep -nE 'AMBIT_MUTANT' Package.swift >&2; then complain "Package.swift speaks of AMBIT_MUTANTS"; fi
if found=$(printf '%s\n' $files | grep '^\(Sources\|Tests\|Demos\)/.*\.swift$' | xargs awk '
    FNR == 1 { depth = 0 }
    /^ *#if / { depth++; on[depth] = ($2 == "AMBIT_MUTANTS" && NF == 2); next }
    /^ *#else/ { on[depth] = 0; next }
    /^ *#endif/ { depth--; next }
    /(^|[^A-Za-z])Mutant\./ || /AMBIT_MUTANT/ {
      inside = 0
      for (level = 1; level <= depth; level++) if (on[level]) inside = 1
      if (!inside) print FILENAME ":" FNR ": " $0
    }') && [ -n "$found" ]; then
  complain "these are deliberate faults outside of #if AMBIT_MUTANTS:
$found"
fi

# `make demo` finds each program that it puts together, and `ambit` each program that it starts.
programs=$(sed -n 's/.*case [a-zA-Z]* = "\([a-z-]*\)".*/\1/p' Sources/Folders/Programs.swift)
for bundle in Demos/*.app; do
  name=$(basename "$bundle" .app)
  program=$(sed -n '/<key>CFBundleExecutable<\/key>/{n;s/.*<string>\(.*\)<\/string>.*/\1/p;}' "$bundle/Info.plist")
  program=${program:-$name}
  [ -e "$bundle/$program" ] || programs="$programs
$program"
done
for program in $programs; do
  grep -qE -- "--product $program\$" Makefile || complain "Makefile: make build does not build $program"
done

shells=0
# Names with spaces are not used here, but are survived.
old_ifs=$IFS
IFS='
'
for file in $files; do
  [ -f "$file" ] || continue
  if found=$(grep -InE "$pattern" "$file"); then
    complain "$file has a path of one machine:
$found"
  fi
  case $(head -n 1 "$file" | tr -d '\0') in
    '#!'*bash*)
      shells=$((shells + 1))
      if command -v bash >/dev/null 2>&1; then bash -n "$file" || complain "$file is not valid shell"; fi
      ;;
    '#!'*/sh*)
      shells=$((shells + 1))
      sh -n "$file" || complain "$file is not valid shell"
      ;;
    *) continue ;;
  esac
  [ -x "$file" ] || complain "$file starts with #! and is not executable: chmod +x $file"
done
IFS=$old_ifs

# The catalogue says the same as the program, and as the tests that cite it. The messages are those of the interfaces.
if command -v python3 >/dev/null 2>&1; then
  python3 scripts/catalogue.py check || status=1
  python3 scripts/varlink.py check || status=1
else
  complain "the catalogue and the interfaces need python3 to be compared with the program"
fi

[ $status -ne 0 ] || echo "check: format, $shells shell scripts, paths, the catalogue and the messages are in order"
exit $status
