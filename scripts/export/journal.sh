#!/bin/sh
# journal.sh AMBIT-PROGRAMS HOME: sends HOME's log to a systemd-journald of its own and asks journalctl what has come.
#
# As root, since the journal's place is; in a mount namespace of its own, so that this machine's journal sees nothing of it.
set -eu
if [ "${AMBIT_JOURNAL_APART:-}" = '' ]; then
  if [ ! -x /lib/systemd/systemd-journald ] || ! command -v journalctl >/dev/null 2>&1; then
    echo "this needs systemd-journald and journalctl (Debian's package systemd)" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "this needs root: journald's socket lies in /run/systemd" >&2
    exit 1
  fi
  AMBIT_JOURNAL_APART=1 exec unshare --mount --propagation private -- "$0" "$@"
fi
bin=$1
export AMBIT_HOME=$2
mkdir -p /run/systemd /run/log
mount -t tmpfs none /run/systemd
mount -t tmpfs none /run/log
mkdir -p /run/systemd/journal /run/systemd/journald.conf.d /run/log/journal
# What docs/reference/export.md tells: without it journald drops what comes faster than 10,000 entries in half a minute.
printf '[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n' >/run/systemd/journald.conf.d/ambit.conf

start() {
  /lib/systemd/systemd-journald 2>/dev/null &
  journald=$!
  until [ -S /run/systemd/journal/socket ]; do sleep 0.05; done
}
state=$AMBIT_HOME/journal.state
rm -f "$state" "$state.lock"
start
trap 'kill $journald 2>/dev/null || :; wait' EXIT
"$bin/ambit-tools" audit export --as journal --to unix:/run/systemd/journal/socket --state "$state"
journalctl --sync
"$bin/ambit-tools" audit export --as jsonl --to - >"$AMBIT_HOME/journal.expected"
journalctl -D /run/log/journal MESSAGE_ID=97671ed038904f3dbf12788ab25540e8 -o json --no-pager >"$AMBIT_HOME/journal.found"
python3 - "$AMBIT_HOME/journal.expected" "$AMBIT_HOME/journal.found" <<'EOF'
import json, sys
expected = [json.loads(line) for line in open(sys.argv[1])]
def text(value):
    # journalctl has a value with bytes that are no text as their numbers.
    return bytes(value).decode() if isinstance(value, list) else value
found = [{name: text(value) for name, value in json.loads(line).items()} for line in open(sys.argv[2])]
assert len(found) == len(expected), f"{len(expected)} events, {len(found)} entries"
for event, entry in zip(expected, found):
    assert entry["AMBIT_EVENT"] == f"{event['log']}/{event['sequence']}"
    assert entry["AMBIT_KIND"] == event["kind"] and entry.get("AMBIT_APP") == event.get("app")
    assert entry.get("AMBIT_DOCUMENT") == event.get("document", {}).get("path")
    assert json.loads(entry.get("AMBIT_DETAIL", "{}")) == event.get("detail", {})
    assert entry["PRIORITY"] == {"allowed": "6", "refused": "4", "failed": "3"}[event["result"]]
print(f"journald: {len(found)} events, each once, in the log's order, with their fields")
EOF
echo
journalctl -D /run/log/journal SYSLOG_IDENTIFIER=ambit -n 5 --no-pager
