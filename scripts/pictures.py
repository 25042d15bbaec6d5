#!/usr/bin/env python3
"""Makes the pictures of the picker's faces for docs/explanation/pictures.

usage: pictures.py FOLDER-OF-PROGRAMS

tmux shows the terminal's faces, and Chromium the page.
"""
import html, os, re, subprocess, sys, tempfile, time

programs = os.path.abspath(sys.argv[1])
target = os.path.abspath(os.path.join(os.path.dirname(__file__), "../docs/explanation/pictures"))
chromium = os.environ.get("CHROMIUM", "chromium")
COLOURS = ["#222", "#b3261e", "#1b7f37", "#8a6100", "#2457c5", "#8b2fa8", "#0b7285", "#555"]


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def picture(lines, file):
    """A terminal's lines, with their colours, as SVG."""
    width = 82 * 8.4
    body = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{len(lines) * 19 + 24}" '
            'font-family="ui-monospace, monospace" font-size="14">',
            '<rect width="100%" height="100%" rx="8" fill="#fdfdfb" stroke="#ccc"/>']
    for row, line in enumerate(lines):
        column, style, y = 0, {}, 26 + row * 19
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b["):
                for number in (int(word or 0) for word in part[2:-1].split(";")):
                    if number == 0: style = {}
                    elif number == 1: style["bold"] = True
                    elif number == 2: style["dim"] = True
                    elif number == 4: style["under"] = True
                    elif number == 7: style["inverse"] = True
                    elif 30 <= number <= 37: style["colour"] = COLOURS[number - 30]
                    elif 90 <= number <= 97: style["colour"] = COLOURS[number - 90]
                    elif number in (22, 27, 39): style = {}
                continue
            if not part: continue
            x, colour = 10 + column * 8.4, style.get("colour", "#222")
            if style.get("inverse"):
                body.append(f'<rect x="{x:.1f}" y="{y - 14}" width="{len(part) * 8.4:.1f}" height="19" fill="{colour}"/>')
                colour = "#fff"
            body.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(part) * 8.4:.1f}" xml:space="preserve" fill="{colour}"'
                        + (' font-weight="bold"' if style.get("bold") else "")
                        + (' opacity="0.55"' if style.get("dim") else "") + f">{html.escape(part)}</text>")
            column += len(part)
    with open(os.path.join(target, file), "w") as out:
        out.write("\n".join(body + ["</svg>", ""]))


os.makedirs(target, exist_ok=True)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as base:
    home = f"{base}/home"
    documents = f"{home}/Documents"
    os.makedirs(f"{documents}/Letters")
    for name, size in [("Budget.csv", 1800), ("Essay.txt", 4200), ("Notes.md", 900), ("Song.mp3", 90000), ("Trip.txt", 700)]:
        with open(f"{documents}/{name}", "wb") as file: file.write(b"x" * size)
        os.utime(f"{documents}/{name}", (time.time() - 7200 * len(name),) * 2)
    environment = dict(os.environ, HOME=home, AMBIT_HOME=f"{base}/ambit", TMUX_TMPDIR=base, TERM="xterm-256color",
                       PATH=f"{programs}:{os.environ['PATH']}", PS1="$ ")
    pick = "ambit run{} -- ambitctl pick --type txt --type md --message 'Choose a letter to read aloud.'"

    def tmux(*words): return run("tmux", "-f", "/dev/null", *words, env=environment)

    try:
        for face, option, keys in [("screen", "", ["Down", "Down"]), ("plain", " --plain", [])]:
            tmux("new-session", "-d", "-s", face, "-x", "80", "-y", "16" if face == "screen" else "13", "-c", documents, "sh")
            time.sleep(0.5)
            tmux("send-keys", "-t", face, "clear; " + pick.format(option), "Enter")
            time.sleep(4)
            for key in keys:
                tmux("send-keys", "-t", face, key)
                time.sleep(0.5)
            picture(tmux("capture-pane", "-e", "-p", "-t", face).rstrip("\n").split("\n"), f"{face}.svg")
            tmux("send-keys", "-t", face, "C-c")
            time.sleep(1)
        app = subprocess.Popen(["sh", "-c", pick.format(" --web")], cwd=documents, env=environment, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = ""
        while "http://" not in line: line = app.stderr.readline()
        address = re.search(r"http://\S+", line).group()
        subprocess.run([chromium, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=760,520", "--virtual-time-budget=3000",
                        f"--user-data-dir={base}/browser", f"--screenshot={target}/web.png", address], check=True, capture_output=True,
                       env=environment, timeout=90)
        app.terminate()
        app.wait(30)
    finally:
        subprocess.run(["tmux", "kill-server"], env=environment, capture_output=True)
        subprocess.run([f"{programs}/ambit", "broker", "stop"], env=environment, capture_output=True, timeout=60)
print(f"the pictures are in {os.path.relpath(target)}")
