#!/bin/sh
# Puts the demo apps together: each bundle of Demos, with the program that was built for it.
#
# usage: assemble-demos.sh BUILD-FOLDER DESTINATION
set -eu

build=$1 destination=$2

rm -rf "$destination"
mkdir -p "$destination"
# A part of them would be taken for all.
trap 'rm -rf "$destination"' EXIT
for bundle in Demos/*.app; do
  [ -d "$bundle" ] || { echo "assemble-demos: there are no bundles in Demos" >&2; exit 1; }
  name=$(basename "$bundle" .app)
  cp -R "$bundle" "$destination/"
  # A bundle whose program is a script carries it in the sources; the others get what the package built.
  program=$(sed -n '/<key>CFBundleExecutable<\/key>/{n;s/.*<string>\(.*\)<\/string>.*/\1/p;}' "$bundle/Info.plist")
  program=${program:-$name}
  if [ ! -e "$bundle/$program" ]; then
    if [ ! -x "$build/$program" ]; then
      echo "assemble-demos: $bundle wants the program $program, which is neither in it nor in $build" >&2
      exit 1
    fi
    cp "$build/$program" "$destination/$name.app/$program"
  fi
  chmod +x "$destination/$name.app/$program"
  # An extension has the app's own program.
  for extension in "$destination/$name.app"/PlugIns/*.appex; do
    [ ! -d "$extension" ] || ln "$destination/$name.app/$program" "$extension/$program"
  done
done
trap - EXIT
