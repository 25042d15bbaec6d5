"""Exports a log and loads it into ClickHouse (PyPI's chdb, ClickHouse's engine in a process), with programs that are killed
in between, and checks that no event is missing and none is counted twice.

  clickhouse.py BIN HOME FOLDER
"""

import json
import os
import random
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))

# A loader as a cron job would be it: loads what is in the file, and dies where it is told to.
loader = """
import sys
from chdb import session
database, table, file, shape = sys.argv[1:5]
db = session.Session(database)
for statement in open(sys.argv[5]).read().split(";"):
    if statement.strip():
        db.query(statement)
print("ready", flush=True)
db.query(f"INSERT INTO {table} SELECT * FROM file('{file}', {shape}) SETTINGS input_format_null_as_default = 1, "
         "input_format_skip_unknown_fields = 1, date_time_input_format = 'best_effort'")
print("loaded", flush=True)
"""


def main(binaries, home, folder):
    environment = {**os.environ, "AMBIT_HOME": home}
    os.makedirs(folder, exist_ok=True)
    chance = random.Random(5)
    kills = 0
    # What an export is that nobody disturbs.
    whole = {}
    for form in ["jsonl", "ocsf"]:
        whole[form] = expected = subprocess.run(
            [f"{binaries}/ambit-tools", "audit", "export", "--as", form, "--to", "-"],
            env=environment, check=True, capture_output=True,
        ).stdout
        file = f"{folder}/events.{form}"
        export = [f"{binaries}/ambit-tools", "audit", "export", "--as", form, "--to", file]
        # Killed until it has come through: at a time of its own each, and once with a torn line left behind.
        for pause in [0.0, 0.004, 0.008, 0.016, None]:
            process = subprocess.Popen(export, env=environment, stderr=subprocess.DEVNULL)
            if pause is not None:
                time.sleep(pause)
                process.kill()
                kills += 1
            process.wait()
            if pause == 0.008:
                with open(file, "ab") as torn:
                    torn.write(expected[:12])
        assert process.returncode == 0
        with open(file, "rb") as written:
            content = written.read()
        assert content == expected, "the file is not what one export writes"
        # The loader dies as well: before, while, and after it has loaded. Then it loads again.
        table, shape = ("ambit_event", "JSONEachRow") if form == "jsonl" else ("ambit_ocsf", "JSONAsString, 'event String'")
        for death in ["ready", "ready", "loaded", None]:
            process = subprocess.Popen(
                [sys.executable, "-c", loader, f"{folder}/database", table, file, shape, f"{here}/clickhouse.sql"],
                stdout=subprocess.PIPE, text=True,
            )
            if death:
                for line in process.stdout:
                    if line.strip() == death:
                        break
                if death == "ready":
                    time.sleep(chance.uniform(0, 0.05))
                process.kill()
                kills += 1
            process.wait()
        assert process.returncode == 0, "the loader failed"

    from chdb import session

    db = session.Session(f"{folder}/database")

    def rows(query):
        return [json.loads(line) for line in str(db.query(query, "JSONEachRow")).splitlines() if line]

    events = [json.loads(line) for line in whole["jsonl"].splitlines()]
    counted = rows("SELECT count() AS n, countDistinct(log, sequence) AS d, max(sequence) AS last FROM ambit_event FINAL")[0]
    ocsf = rows("SELECT count() AS n, countDistinct(uid) AS d FROM ambit_ocsf FINAL")[0]
    assert {int(value) for value in counted.values()} == {len(events)}, counted
    assert {int(value) for value in ocsf.values()} == {len(events)}, ocsf
    kept = rows("SELECT sequence, kind, toString(result) AS result, app, document.path AS path, detail, "
                "formatDateTime(time, '%Y-%m-%dT%H:%i:%S.%fZ') AS time FROM ambit_event FINAL ORDER BY sequence")
    for event, row in zip(events, kept, strict=True):
        assert int(row["sequence"]) == event["sequence"] and row["kind"] == event["kind"]
        assert row["result"] == event["result"] and row["app"] == event.get("app", "")
        assert row["path"] == event.get("document", {}).get("path", "") and row["detail"] == event.get("detail", {})
        assert row["time"] == event["time"], (row["time"], event["time"])
    print(f"ClickHouse: {len(events)} events as JSON Lines and as OCSF, {kills} programs killed; none is missing, none is double\n")
    for query in [
        "SELECT kind, result, count() AS events FROM ambit_event FINAL GROUP BY kind, result ORDER BY events DESC, kind LIMIT 5",
        "SELECT type_uid, any(JSONExtractString(event, 'type_name')) AS type, count() AS events "
        "FROM ambit_ocsf FINAL GROUP BY type_uid ORDER BY events DESC, type_uid LIMIT 5",
    ]:
        print(query + "\n")
        print(db.query(query, "PrettyCompactMonoBlock"))


if __name__ == "__main__":
    main(*sys.argv[1:])
