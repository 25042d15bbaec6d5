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


def tree(browser):
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in nodes
            if not node.get("ignored")]


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
    browser.media(forced_colors="active")
    browser.load(path)
    browser.picture(os.path.join(folder, f"{name}-forced"), 3600)
    browser.media(prefers_color_scheme="light")
    browser.load(path, width=390)
    overflowing(browser, 390)
    browser.picture(os.path.join(folder, f"{name}-narrow"), 3600)
    browser.media("print", prefers_color_scheme="dark")
    browser.load(path, width=690)
    ground = browser.evaluate("getComputedStyle(document.body).color")
    check(ground == "rgb(27, 29, 32)", f"on paper it is light whatever the screen is ({ground})")
    overflowing(browser, 690)
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
