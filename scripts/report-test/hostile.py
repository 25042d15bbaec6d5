"""A log as hostile as apps and file names can make one, as `ambit audit log --format json` would write it.

usage: hostile.py ENTRIES >log.json
"""

import json
import random
import sys

PIECES = [
    "</script><script>document.title='broken'</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "<!--",
    "-->", "]]>", "&lt;", "'", "\"", "\u202egnp.exe", "\u2066", "\u200f", "\x00", "\x1b[31m", "\n", "\r", "\u2028", "e\u0301",
    "é", "日本語", "שלום", "مرحبا", "👩‍👩‍👧", "javascript:alert(1)", "https://example.org/", "</title>", "</style>", "a", " ", ".txt", "%00",
    "x" * 300, "Z\u0335\u0322\u0321" * 8,
]


def main():
    entries, choose = int(sys.argv[1]), random.Random(7)

    def text():
        return "".join(choose.choice(PIECES) for _ in range(choose.randint(1, 5)))

    folders = ["Mail", "Taxes", "Pictures/2024", "Notes"] + [text().replace("/", "") for _ in range(20)]
    apps = [f"org.example.app{number}{text()}" for number in range(40)]
    number, time = 0, 1_750_000_000_000_000

    def write(kind, result="allowed", **facts):
        nonlocal number, time
        number += 1
        time += choose.randint(1_000, 900_000)
        seconds, micro = divmod(time, 1_000_000)
        day, rest = divmod(seconds - 1_749_945_600, 86_400)
        moment = f"2025-06-{15 + day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.{micro:06}Z"
        json.dump({"sequence": number, "time": moment, "kind": kind, "result": result, **facts}, sys.stdout)
        sys.stdout.write("\n")

    write("brokerStarted")
    launch = 0
    while number < entries - 40:
        launch += 1
        app, instance = choose.choice(apps), f"i{launch}"
        write("launch", app=app, instance=instance, pid=launch,
              detail={"limit": "8", "policy": choose.choice(["teach", "default", text()]), "name": text()})
        documents = []
        for each in range(choose.randint(1, 10)):
            folder = choose.choice(folders)
            place = {"path": f"/home/alice/{folder}/{launch}-{each}{text().replace('/', '')}", "volume": "v", "inode": number + 1}
            grant = f"g{launch}.{each}"
            write("grant", app=app, instance=instance, grant=grant, document=place, how=choose.choice(["user", "bookmark"]),
                  detail={"access": choose.choice(["readOnly", "readWrite"]), "kind": "file"})
            documents.append((grant, place))
        used = 0
        for grant, place in documents:
            if choose.random() < 0.15:
                continue
            common = {"app": app, "instance": instance, "grant": grant, "document": place}
            if used == 8:
                write("start", "refused", rule="LIM-1", reason=f"all 8 scope slots are in use, by {text()}", **common,
                      detail={"used": "8", "limit": "8", "process": "2", "caller": text()})
                continue
            used += 1
            write("start", how="user", **common,
                  detail={"used": str(used), "limit": "8", "count": "1", "process": "2", "caller": text()})
            if choose.random() < 0.7:
                used -= 1
                write("stop", **common, detail={"used": str(used), "limit": "8", "count": "0", "process": "2"})
            elif choose.random() < 0.3:
                write("outlived", rule="TOK-16", reason=text(), **common, detail={"holders": text()})
        write("refuse", "refused", app=app, instance=instance, rule=choose.choice(["SBX-1", "SBX-2", "TOK-15", text()]),
              reason=text(), how="observed", detail={"operation": f"read {text()}", "remedy": choose.choice(["the user picks it", text()])})
        write("exit", app=app, instance=instance, detail={"status": "0"})


main()
