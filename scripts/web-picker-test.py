#!/usr/bin/env python3
"""Drives the picker's page as a browser would, and as a page elsewhere would like to.

usage: web-picker-test.py FOLDER-OF-PROGRAMS
"""

import html, http.client, os, re, select, subprocess, sys, tempfile, time, urllib.parse

PROGRAMS = os.path.abspath(sys.argv[1])
failures = 0


def check(holds, claim):
    global failures
    print(("ok      " if holds else "FAILED  ") + claim)
    failures += not holds


class Question:
    """One request of an app's, and the page for it."""

    def __init__(self, world, *words, cancelled=0):
        self.process = subprocess.Popen(
            [f"{PROGRAMS}/ambit", "run", "--web", "--", f"{PROGRAMS}/ambitctl", "pick", *words],
            cwd=world["documents"], env=world["environment"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True)
        line = ""
        while "http://" not in line:
            if not select.select([self.process.stderr], [], [], 60)[0]:
                raise SystemExit("web-picker-test: there is no address after 60 s")
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"web-picker-test: the app ended with {self.process.wait()} before it asked")
        self.host, self.token = re.search(r"http://([^/]+)(/\S+)", line).groups()

    def ask(self, path, form=None, headers=None, method=None):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        body = urllib.parse.urlencode(form) if form is not None else None
        fields = {"Origin": f"http://{self.host}"} if form is not None else {}
        if form is not None:
            fields["Content-Type"] = "application/x-www-form-urlencoded"
        fields.update(headers or {})
        connection.request(method or ("POST" if form is not None else "GET"), path, body, fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def enter(self):
        answer, _ = self.ask(self.token)
        self.base = answer.getheader("Location")
        return answer

    def page(self, query=""):
        return self.ask(self.base + query)[1]

    def end(self):
        output, errors = self.process.communicate(timeout=60)
        return self.process.returncode, output, errors


def values(page):
    return [html.unescape(value) for value in re.findall(r'name="pick" value="([^"]*)"', page)]


with tempfile.TemporaryDirectory(prefix="ambit-web-", ignore_cleanup_errors=True) as folder:
    documents = f"{folder}/home/documents"
    os.makedirs(f"{documents}/sub")
    os.makedirs(f"{documents}/a%41 +b")
    open(f"{documents}/a%41 +b/inner%20.txt", "w").write("inner")
    os.makedirs(f"{folder}/home/big")
    hostile = ['<script>alert(1)</script>', 'quote"\'&amp;.txt', "line\nbreak.txt", "\u202egpj.txt", "x" * 255]
    for name in ["letter.txt", "song.mp3", *hostile]:
        open(f"{documents}/{name.replace('/', '∕')}", "w").write("words\n")
    os.close(os.open(f"{documents}".encode() + b"/\xff\xfe.txt", os.O_CREAT | os.O_WRONLY))
    os.symlink("letter.txt", f"{documents}/link.txt")
    environment = dict(os.environ, HOME=f"{folder}/home", AMBIT_HOME=f"{folder}/ambit", AMBIT_PROVIDER_IDLE="1")
    world = {"documents": documents, "environment": environment}
    try:
        question = Question(world, "--type", "txt")
        check(question.enter().status == 303, "the address leads to the page")
        check(question.ask(question.token)[0].status == 404, "the address works once")
        answer, page = question.ask(question.base)
        policy = answer.getheader("Content-Security-Policy")
        check(answer.status == 200 and "default-src 'none'" in policy, "the page loads nothing from elsewhere")
        check("<script>" not in page and "line\nbreak" not in page and "\u202e" not in page, "names are harmless")
        check(len(values(page)) == 6, f"six documents can be chosen: {len(values(page))}")
        check("song.mp3" in page and "asks for .txt" in page, "the page says why a song cannot be chosen")
        check("leads to" in page, "the page says where a link leads")
        letter = next(value for value in values(page) if value.endswith("/letter.txt"))
        choice = {"at": documents, "do": "choose", "pick": letter}
        check(question.ask(question.base, headers={"Host": "elsewhere.example"})[0].status == 403,
              "another host's name is refused")
        for origin in ["http://elsewhere.example", "null", ""]:
            answer, _ = question.ask(question.base + "choose", choice, {"Origin": origin})
            check(answer.status == 403, f"a choice from {origin or 'no page'} is refused")
        check(question.ask("/choose", choice)[0].status == 404, "a choice without the secret is refused")
        check(question.ask(question.base + "choose", method="GET")[0].status == 405, "a link does not choose")
        answer, text = question.ask(question.base + "choose", dict(choice, pick="1:2:3 " + documents + "/letter.txt"))
        check(answer.status == 409 and "not what was listed" in text, "another file is not chosen")
        answer, text = question.ask(question.base + "choose", dict(choice, pick=letter.split(" ")[0] + " /etc/passwd"))
        check(answer.status == 409, "another path is not chosen")
        check("Choose something" in question.ask(question.base + "choose", {"do": "choose"})[1], "nothing is no choice")
        check("letter.txt" not in question.page("?at=" + urllib.parse.quote(documents) + "&filter=quote"), "names are filtered")
        check("Recent" not in page, "a picker has no recent documents without any")
        answer, text = question.ask(question.base + "choose", choice)
        check(answer.status == 200 and "Chosen." in text, "the letter is chosen")
        status, output, errors = question.end()
        check(status == 0 and "letter.txt" in output, f"the app has it: {output.strip()} {errors.strip()}")

        question = Question(world)
        question.enter()
        question.ask(question.base + "choose", {"do": "cancel"})
        status, output, errors = question.end()
        check(status == 1, f"cancelled: {status}")

        question = Question(world, "--folder")
        question.enter()
        page = question.page("?at=" + urllib.parse.quote(f"{documents}/sub"))
        own = values(page)
        check(len(own) == 1 and own[0].endswith("/sub"), "a folder can be chosen where it is shown")
        question.ask(question.base + "choose", {"do": "choose", "pick": own[0]})
        status, output, errors = question.end()
        check(status == 0 and "sub" in output, "the app has the folder")

        question = Question(world)
        question.enter()
        link = next(link for link in re.findall(r'href="([^"]*)"', question.page()) if "b%25" in link or link.endswith("b"))
        inner = values(question.ask(link)[1])
        check(len(inner) == 1, "a folder of an odd name is entered")
        hostile = [value for value in values(question.page()) if "%0A" in value]
        check(len(hostile) == 1, "a line in a name is one choice")
        question.ask(question.base + "choose", {"do": "choose", "at": documents, "pick": (inner + hostile)[0]})
        status, output, errors = question.end()
        check(status == 0 and "inner" in output, "a document of an odd name is chosen")

        open(f"{documents}/essay.txt", "w").write("words\n")
        question = Question(world)
        question.enter()
        def acts(name):
            links = [html.unescape(link) for link in re.findall(r'href="([^"]*/actions[^"]*)"', question.page())]
            page = question.ask(next(link for link in links if link.endswith("%2F" + name) or link.endswith("/" + name)))[1]
            fields = {key: html.unescape(re.search(f'name="{key}" value="([^"]*)"', page)[1]) for key in ("at", "file")}
            return page, fields
        page, fields = acts("essay.txt")
        check('value="trash"' in page and 'value="open"' not in page, "an app's picker offers acts that start no other app")
        rename = dict(fields, act="rename", line="Ünal & Söhne.txt")
        check(question.ask(question.base + "act", rename, {"Origin": "http://elsewhere.example"})[0].status == 403,
              "an act from another page is refused")
        check(question.ask(question.base + "act", dict(rename, act="open"))[0].status == 409, "an act that is not offered is refused")
        check(question.ask(question.base + "act", dict(rename, line="a/b"))[0].status == 409, "a name with a slash is refused")
        answer, text = question.ask(question.base + "act", rename)
        check(os.path.exists(f"{documents}/Ünal & Söhne.txt") and "is called" in text, "a document gets another name")
        check(question.ask(question.base + "act", rename)[0].status == 409, "a row that is gone does nothing")
        page, fields = acts(urllib.parse.quote("Ünal & Söhne.txt").replace("%", "%25"))
        question.ask(question.base + "act", dict(fields, act="tag", line="red"))
        check(re.search(r"dot red.*red", question.page()) is not None, "a tag is shown")
        open(f"{documents}/other", "w").write("other")
        os.rename(f"{documents}/other", f"{documents}/Ünal & Söhne.txt")
        check(question.ask(question.base + "act", dict(fields, act="trash"))[0].status == 409
              and open(f"{documents}/Ünal & Söhne.txt").read() == "other", "another file under the name is not put away")
        question.ask(question.base + "choose", {"do": "cancel"})
        question.end()

        # A provider's own picker: its forms follow in the same window.
        snippets = f"{os.path.dirname(PROGRAMS)}/demos-debug/Snippets.app"
        subprocess.run([f"{PROGRAMS}/ambit", "provider", "enable", snippets], env=environment, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        question = Question(world)
        question.enter()
        page = question.page()
        own = re.search(r'name="own" value="([^"]*)">Choose with [^<]*, by the provider', page)
        check(own is not None, "the page offers the provider's own picker")
        answer, _ = question.ask(question.base + "choose", {"at": documents, "own": html.unescape(own[1])})
        check(answer.status == 303, "its form follows")
        page = question.page()
        check("asks you something" in page and "This form is the provider&#39;s" in page and "Greeting.txt" in page,
              "the form is in a frame that names the provider")
        check("Greeting.txt" not in question.page("?at=" + urllib.parse.quote(documents)) or "<fieldset>" in page,
              "folders are not shown meanwhile")
        check(question.ask(question.base + "fill", {"button": "0"}, {"Origin": "http://elsewhere.example"})[0].status == 403,
              "answers from another page are refused")
        check(question.ask(question.base + "fill", {"button": "9"})[0].status == 409, "a button that is not there is refused")
        time.sleep(2.5)
        check(question.ask(question.base + "fill", {"button": "1", "f1": "regards"})[0].status == 303,
              "the form is answered after more time than an idle provider has")
        page = question.page()
        check("Closing.txt" in page and "Greeting.txt" not in page, "another form follows: the rows that were looked for")
        check(question.ask(question.base + "fill", {"button": "0"})[0].status == 303, "nothing is sent")
        check("Choose a snippet first" in question.page(), "the provider's refusal is shown above its form")
        answer, text = question.ask(question.base + "fill", {"button": "0", "f0": "0"})
        check(answer.status == 200, f"the last page is the end: {answer.status}")
        status, output, errors = question.end()
        check(status == 0 and "Closing.txt" in output, f"the app has the provider's document: {output.strip()} {errors.strip()}")

        # A provider that goes in the middle of a pick: the user is back in the picker, and told why.
        question = Question(world)
        question.enter()
        own = re.search(r'name="own" value="([^"]*)">Choose with [^<]*, by the provider', question.page())
        question.ask(question.base + "choose", {"at": documents, "own": html.unescape(own[1])})
        check("Greeting.txt" in question.page(), "the provider's form is there")
        subprocess.run([f"{PROGRAMS}/ambit", "provider", "disable", html.unescape(own[1]).partition(":")[2]], env=environment,
                       stdout=subprocess.DEVNULL, timeout=60)
        check(question.ask(question.base + "fill", {"button": "0", "f0": "0"})[0].status == 303, "the list follows")
        page = question.page()
        check('role="alert"' in page and "<fieldset>" in page, "the list says why the provider's picker has ended")
        letter = next(value for value in values(page) if value.endswith("/letter.txt"))
        question.ask(question.base + "choose", {"do": "choose", "at": documents, "pick": letter})
        status, output, errors = question.end()
        check(status == 0 and "letter.txt" in output, f"a document is chosen by hand: {output.strip()} {errors.strip()}")

        question = Question(world)
        question.enter()
        page = question.page()
        letter = next(value for value in values(page) if value.endswith("/letter.txt"))
        os.rename(f"{documents}/song.mp3", f"{documents}/letter.txt")
        answer, text = question.ask(question.base + "choose", {"do": "choose", "at": documents, "pick": letter})
        check(answer.status == 409, "a file that took the letter's place is not chosen")
        question.process.terminate()
        question.process.wait(30)
        try:
            question.ask(question.base)
            check(False, "the page ends with its app")
        except OSError:
            check(True, "the page ends with its app")
    finally:
        subprocess.run([f"{PROGRAMS}/ambit", "broker", "stop"], env=environment, capture_output=True, timeout=60)
print(f"web-picker-test: {failures} failed" if failures else "web-picker-test: all hold")
sys.exit(1 if failures else 0)
