"""Loads reports in a real browser and looks at them as their readers do: by eye, by keyboard, by what a screen reader is told.

usage: check.py BROWSER AXE OUTPUT REPORT.html MODEL.json [REPORT.html MODEL.json …]
"""

import json
import os
import re
import sys

from browser import Browser, Failed

findings = []


def check(holds, what):
    print(f"  {'ok' if holds else 'FAILED'}  {what}")
    if not holds:
        findings.append(what)


def quiet(browser, path):
    said = [each["params"] for each in browser.events
            if each.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    check(not said, f"nothing on the console {json.dumps(said)[:300] if said else ''}")
    asked = [each["params"]["request"]["url"] for each in browser.events
             if each.get("method") == "Network.requestWillBeSent"]
    check(asked == [f"file://{path}"], f"nothing is loaded but the page ({len(asked)} request)")
    check(not any(each.get("method") == "Page.javascriptDialogOpening" for each in browser.events), "no dialog opens")


class Heard:
    """One node of the accessibility tree, with those in it, as a screen reader comes to them."""

    def __init__(self, node, children):
        def value(key):
            return node.get(key, {}).get("value", "")
        self.role, self.name, self.words = value("role"), value("name"), value("description")
        self.level = next((each["value"].get("value") for each in node.get("properties", []) if each["name"] == "level"), 0)
        self.children = children

    def all(self, *roles):
        found = [self] if self.role in roles else []
        for child in self.children:
            found += child.all(*roles)
        return found

    def each(self):
        yield self
        for child in self.children:
            yield from child.each()


def heard(browser):
    nodes = {node["nodeId"]: node for node in browser.call("Accessibility.getFullAXTree")["nodes"]}

    def build(number):
        node = nodes[number]
        children = [child for each in node.get("childIds", []) if each in nodes for child in build(each)]
        # What is ignored is not heard, and what is in it is.
        return children if node.get("ignored") else [Heard(node, children)]
    return build(next(iter(nodes)))[0]


def tree(browser):
    return [(node.role, node.name) for node in heard(browser).each()]


SECTIONS = ["Apps and documents", "Scopes over time", "Refusals", "Leaks", "Policies in words"]


def in_order(browser, model):
    """What a screen reader says from the top to the bottom: headings, tables, pictures, in words and in their order."""
    page = heard(browser)
    headings = page.all("heading")
    levels = [each.level for each in headings]
    check(levels[:1] == [1] and levels.count(1) == 1, "the first heading is the page's, and there is one of it")
    jumps = [headings[at].name for at in range(1, len(levels)) if levels[at] > levels[at - 1] + 1]
    check(not jumps, f"no heading skips a level {jumps[:3] if jumps else ''}")
    check([each.name for each in headings if each.level == 2] == SECTIONS + ["How to read this"], "the sections come in order")
    check(all(each.name for each in headings), f"each of {len(headings)} headings says something")
    check([each.name for each in page.all("region")] == SECTIONS, "the sections are the landmarks, and nothing else is")

    tables = page.all("table")
    for table in tables:
        rows = [[cell for cell in row.children if cell.role in ("columnheader", "rowheader", "cell", "gridcell")]
                for row in table.all("row")]
        columns, body = rows[0] if rows else [], rows[1:]
        holds = (
            table.name and len(columns) > 1 and all(each.role == "columnheader" and each.name for each in columns)
            and body and all(len(row) == len(columns) for row in body)
            and all([cell.role for cell in row].count("rowheader") == 1 for row in body)
            and all(cell.name for row in body for cell in row))
        if not holds:
            check(False, f"the table “{table.name}” has a name, a heading for each column and each row, and no empty cell")
    check(len(tables) > 1, f"each of {len(tables)} tables has a name, headings for columns and rows, and no empty cell")
    names = [table.name for table in tables]
    check(len(set(names)) == len(names), "no two tables have one name")

    pictures = [each for each in page.all("image", "img", "graphics-document", "SvgRoot")]
    graph = [each for each in page.all("group") if each.name == "Which app reached which document"]
    check(len(graph) == (1 if model["reaches"] else 0), "the graph is one group")
    for each in pictures + graph:
        if not (each.name and len(each.words) > 20 and any(sign.isdigit() for sign in each.words)):
            check(False, f"the picture “{each.name}” is told in words ({each.words})")
    check(len({each.name for each in pictures}) == len(pictures), f"{len(pictures)} pictures have words, and names of their own")
    twice = [each.name for each in page.all("link") if each.words]
    check(not twice, f"no link is said twice {twice[:2] if twice else ''}")
    if graph:
        links = [each.name for each in graph[0].all("link")][len(model["apps"]):]
        silent = [each for each in links if not any(word in each for word in ("used by", "refused to"))]
        check(not silent, f"each document in the graph says who reached it {silent[:2] if silent else ''}")
    # A path that the model has whole and that has nothing odd in it is heard whole.
    plain = [place["path"].rsplit("/", 1)[0] for place in model["places"]]
    plain = [each for each in plain if each and len(each) < 200 and re.fullmatch(r"[A-Za-z0-9_./-]+", each)]
    said = [cell.name for table in tables for cell in table.all("cell", "gridcell", "rowheader")]
    missing = [each for each in plain if not any(each in name for name in said)]
    check(not missing, f"each of {len(plain)} plain paths is heard in one piece {missing[:2] if missing else ''}")


def accessible(browser, model):
    nodes = tree(browser)
    named = set(nodes)
    for role, name in [("heading", "Who reached what"), ("navigation", "Sections"), ("table", "Apps"),
                       ("heading", "Apps and documents"), ("heading", "Scopes over time"), ("heading", "Refusals"),
                       ("heading", "Leaks"), ("heading", "Policies in words"), ("heading", "How to read this")]:
        check((role, name) in named, f"a screen reader hears of the {role} “{name}”")
    roles = [role for role, _ in nodes]
    for role in ("main", "banner", "contentinfo"):
        check(roles.count(role) == 1, f"there is one landmark {role}")
    if model["reaches"]:
        check(("table", "What apps reached") in named, "the graph's facts are a table")
        check(any(name == "Which app reached which document" for _, name in nodes), "the graph has a name")
    pictures = [name for role, name in nodes if role in ("image", "img") and name.startswith("Scopes of ")]
    check(len(pictures) == len(model["launches"]), f"each of {len(model['launches'])} timelines is a picture with a name")
    links = [name for role, name in nodes if role == "link"]
    check(all(links), f"each of {len(links)} links has a name")
    boxes = len([app for app in model["apps"]]) + len(model["places"]) if model["reaches"] else 0
    check(len(links) == 1 + 6 + boxes, f"each of {boxes} boxes of the graph is a link to its row")


FORCED = """(() => {
  const named = (name) => { const it = document.createElement("i"); it.style.color = name; document.body.append(it);
    const value = getComputedStyle(it).color; it.remove(); return value };
  const known = ["Canvas", "CanvasText", "LinkText", "Highlight", "GrayText"].map(named);
  const odd = new Set(), seen = new Set();
  for (const it of document.querySelectorAll("svg path, svg rect, svg text")) {
    const style = getComputedStyle(it);
    if (style.display === "none") continue;
    for (const paint of [style.stroke, style.fill]) {
      if (paint === "none" || paint === "rgba(0, 0, 0, 0)") continue;
      (known.includes(paint) ? seen : odd).add(paint + " of ." + it.getAttribute("class"));
    }
  }
  return [[...odd], seen.size, named("Canvas")] })()"""


def forced(browser, path, folder, name):
    """Colours of the reader's own choice: everything in the pictures takes them, on a light ground and on a dark one."""
    grounds = set()
    for scheme in ("light", "dark"):
        browser.media(forced_colors="active", prefers_color_scheme=scheme)
        browser.load(path)
        odd, seen, ground = browser.evaluate(FORCED)
        grounds.add(ground)
        check(not odd and (seen > 0), f"in forced colours, {scheme}, the pictures have those alone {odd[:4] if odd else ''}")
        browser.picture(os.path.join(folder, f"{name}-forced-{scheme}"), 3600)
    check(len(grounds) == 2, f"on two grounds ({', '.join(sorted(grounds))})")


BROKEN = """(() => {
  const broken = [], range = document.createRange();
  for (const cell of document.querySelectorAll("td, th")) {
    const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = words.nextNode(); text; text = words.nextNode()) {
      if (text.parentElement.closest(".path, svg, .where")) continue;
      // What a log quotes may be of any length, and breaks anywhere.
      if (text.parentElement.closest("bdi") && !/^[A-Za-z ,]{1,40}$/.test(text.data)) continue;
      for (const word of text.data.matchAll(/[A-Za-z0-9]{2,12}(?![A-Za-z0-9:./-])/g)) {
        range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
        if (word.index > 0 && /[A-Za-z0-9:./-]/.test(text.data[word.index - 1])) continue;
        const tops = new Set([...range.getClientRects()].map((each) => Math.round(each.top)));
        if (tops.size > 1) broken.push(word[0]);
      }
    }
  }
  return broken })()"""


ORDER = """(() => { const all = [...document.querySelectorAll("a[href],input,[tabindex]")];
  return all.map((each) => each.getAttribute("aria-label") || each.textContent.trim() || each.id) })()"""
HERE = """(() => { const all = [...document.querySelectorAll("a[href],input,[tabindex]")];
  const it = document.activeElement, box = it.closest("svg a")?.querySelector("rect"), style = getComputedStyle(it);
  const seen = box ? parseFloat(getComputedStyle(box).strokeWidth) >= 2.5
    : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const place = it.getBoundingClientRect();
  return [all.indexOf(it), seen, place.width > 0 && place.bottom > 0 && place.top < innerHeight] })()"""


def keyboard(browser):
    order = browser.evaluate(ORDER)
    places, unseen, outside = [], [], []
    for _ in order:
        browser.press("Tab", 9)
        place, seen, inside = browser.evaluate(HERE)
        places.append(place)
        if not seen:
            unseen.append(order[place])
        if not inside:
            outside.append(order[place])
    strays = [each for each, place in enumerate(places) if place != each]
    check(not strays, f"Tab goes through all {len(order)} stops, in the order of the page {strays[:5] if strays else ''}")
    check(not unseen, f"the focus is seen at each of them {unseen[:3] if unseen else ''}")
    check(not outside, f"and is scrolled to {outside[:3] if outside else ''}")


def skipping(browser):
    browser.press("Tab", 9)
    for kind in ("rawKeyDown", "char", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    check(browser.evaluate("location.hash") == "#main", "the first stop skips to the report")


def filtering(browser):
    rows = "document.querySelectorAll('#reaches tbody tr:not([hidden])').length"
    before = browser.evaluate(rows)
    if before < 9:
        return
    browser.evaluate("document.getElementById('filter-reaches').focus()")
    browser.call("Input.insertText", text="no such thing at all")
    check(browser.evaluate(rows) == 0, "the filter hides what does not fit")
    check(browser.evaluate("document.querySelector('[role=status]').textContent") == f"0 of {before} rows", "and says how much")


def unscripted(browser, path, text):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.load(path)
    root = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    body = browser.call("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    check(body.count("<tr") == text.count("<tr") and "class=\"filter\"" not in body, "without scripts everything is there")


def axe(browser, source, scheme):
    browser.evaluate(source)
    result = browser.evaluate(
        "axe.run(document,{resultTypes:['violations']}).then((found) => found.violations.map((each) => "
        "({rule: each.id, impact: each.impact, where: each.nodes.slice(0, 3).map((node) => node.target.join(' ')), "
        "count: each.nodes.length})))")
    for each in result:
        print(f"        {each['rule']} ({each['impact']}): {each['count']}× {each['where']}")
    check(not result, f"axe-core finds nothing, {scheme}")


def overflowing(browser, width):
    wide = browser.evaluate("document.documentElement.scrollWidth")
    check(wide <= width, f"at {width} pixels nothing is cut off at the side (the page is {wide} wide)")


def look_at(browser, source, folder, path, model):
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    print(f"{name}: {len(text.encode())} bytes")
    browser.media(prefers_color_scheme="light")
    browser.load(path)
    quiet(browser, path)
    accessible(browser, model)
    in_order(browser, model)
    overflowing(browser, 1280)
    axe(browser, source, "in light")
    browser.load(path)
    keyboard(browser)
    browser.load(path)
    skipping(browser)
    browser.load(path)
    filtering(browser)
    unscripted(browser, path, text)

    for scheme in ("light", "dark"):
        browser.media(prefers_color_scheme=scheme)
        browser.load(path)
        if scheme == "dark":
            axe(browser, source, "in dark")
        browser.picture(os.path.join(folder, f"{name}-{scheme}"))
    forced(browser, path, folder, name)
    browser.media(prefers_color_scheme="light")
    browser.load(path, width=390)
    overflowing(browser, 390)
    browser.picture(os.path.join(folder, f"{name}-narrow"), 3600)
    browser.media("print", prefers_color_scheme="dark")
    browser.load(path, width=690)
    ground = browser.evaluate("getComputedStyle(document.body).color")
    check(ground == "rgb(27, 29, 32)", f"on paper it is light whatever the screen is ({ground})")
    overflowing(browser, 690)
    broken = browser.evaluate(BROKEN)
    check(not broken, f"on paper no short word is broken {sorted(set(broken))[:6] if broken else ''}")
    browser.picture(os.path.join(folder, f"{name}-print"), 5400)
    browser.media(prefers_color_scheme="light")
    browser.load(path)
    pdf = browser.pdf(os.path.join(folder, f"{name}.pdf"))
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    check(pages > 0, f"it prints ({pages} pages)")


def main():
    program, library, folder, *reports = sys.argv[1:]
    with open(library, encoding="utf-8") as file:
        source = file.read()
    with Browser(program) as browser:
        for path, model in zip(reports[::2], reports[1::2]):
            with open(model, encoding="utf-8") as file:
                look_at(browser, source, folder, os.path.abspath(path), json.load(file))
    for each in findings:
        print(f"report-test: FAILED: {each}", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(f"report-test: {error}")
