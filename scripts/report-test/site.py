"""Loads pages of `ambit conform --site` and `ambit lesson export` in a real browser: nothing is loaded, keyboard and screen reader get
everywhere, axe-core finds nothing in light and in dark. Pictures go to the output folder.

usage: site.py BROWSER AXE OUTPUT PAGE.html…
"""

import json
import os
import sys

from browser import Browser
from check import check, findings, heard, quiet


def audit(browser, axe, scheme):
    browser.media(prefers_color_scheme=scheme)
    browser.evaluate(axe + ";0")
    found = browser.evaluate(
        "axe.run(document).then(r => r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]))")
    check(not found, f"axe-core finds nothing in {scheme} {json.dumps(found)[:400] if found else ''}")


def reading(browser):
    page = heard(browser)
    headings = page.all("heading")
    levels = [each.level for each in headings]
    check(levels[:1] == [1] and levels.count(1) == 1, "the first heading is the page's, and there is one of it")
    jumps = [headings[at].name for at in range(1, len(levels)) if levels[at] > levels[at - 1] + 1]
    check(not jumps, f"no heading skips a level {jumps[:3] if jumps else ''}")
    for table in page.all("table"):
        check(bool(table.name), "the table has a name")
    # A mark alone is not heard: every cell's link says the system and the verdict.
    links = [each.name for each in page.all("link")]
    check(all(links) and not any(name in "✓✗!–" for name in links), f"each of {len(links)} links says where it leads")


def keyboard(browser):
    browser.press("Tab", 9)
    check(browser.evaluate("document.activeElement.className") == "skip", "the first Tab reaches the way to the content")
    # A page with few links is left by the last Tab.
    for _ in range(min(8, browser.evaluate("document.querySelectorAll('a,[tabindex]').length") - 1)):
        browser.press("Tab", 9)
    seen = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check(seen not in ("none", ""), f"what has the focus is seen ({seen})")


def main():
    program, axe, output, pages = sys.argv[1], open(sys.argv[2], encoding="utf-8").read(), sys.argv[3], sys.argv[4:]
    with Browser(program) as browser:
        browser.call("Page.setBypassCSP", enabled=False)
        for page in pages:
            path, name = os.path.abspath(page), "-".join(page.removesuffix(".html").split("/")[-2:])
            print(name)
            browser.load(path)
            quiet(browser, path)
            reading(browser)
            keyboard(browser)
            for scheme in ("light", "dark"):
                browser.media(prefers_color_scheme=scheme)
                browser.picture(f"{output}/{name}-{scheme}", most=3600)
            # axe-core is no part of the page: the page's own policy would keep it out.
            browser.call("Page.setBypassCSP", enabled=True)
            browser.load(path)
            for scheme in ("light", "dark"):
                audit(browser, axe, scheme)
            browser.call("Page.setBypassCSP", enabled=False)
    print(f"{len(findings)} findings" if findings else "all holds")
    sys.exit(1 if findings else 0)


main()
