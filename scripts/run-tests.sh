#!/bin/sh
# Runs the tests that were built: first the rules, in two processes; then the real launches, in a process of their own.
#
# They are apart because of Swift Testing's exit tests: after the first one a thread of the test process asks the kernel again and
# again about every child that has ended, and the launches have thousands of children.
# Kills, swaps, races and large numbers have a target of their own, `make races`; they are the suites that end in these words.
# AMBIT_TEST_USERS=all runs every launch for both users, also where one is enough for the rule.
#
# usage: run-tests.sh [ARGUMENT OF swift test ...]; with arguments, one run of the tests that they select
set -u

swift=${SWIFT:-swift}
[ $# -gt 0 ] && exec $swift test --skip-build "$@"

status=0
rest='(KillTests|SwapTests|RaceTests)'
files='^(AuditTests|ScopedAccessTests|CrashRecorderTests|KernelTests|SandboxTests)\.|LeakTests'
# What writes files and starts programs waits for them, and what computes goes on meanwhile. Neither builds anything: they need no
# lock. Both take about as long.
said=$(mktemp)
beside=
trap 'rm -f "$said"; [ -z "$beside" ] || kill "$beside"' EXIT
trap 'exit 130' INT TERM
$swift test --skip-build --ignore-lock --filter "$files" --skip "$rest" >"$said" 2>&1 &
beside=$!
# Both look into the package manager's database as they start, and one that finds it locked runs no test.
tries=0
while [ ! -s "$said" ] && [ "$tries" -lt 40 ]; do
  sleep 0.5
  tries=$((tries + 1))
done
$swift test --skip-build --ignore-lock --skip ConformanceTests --skip "$files" --skip "$rest" || status=$?
wait "$beside" || status=$?
beside=
cat "$said"
$swift test --skip-build --filter '^ConformanceTests\.' --skip "$rest" || status=$?
exit "$status"
