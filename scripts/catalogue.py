#!/usr/bin/env python3
"""Compares the catalogue with the repository, or writes the Swift file that carries it.

  catalogue.py check    fails if a row is malformed, if the Swift file differs, if a cited identifier does not exist, or if a
                        state is wrong: in force means that a test, a scenario or an entry of the
                        escape battery cites the statement
  catalogue.py write    writes the Swift file

docs/reference/catalogue.md is the one place where statements are written. Run it from the top of the repository.
"""
import os
import re
import sys

PAGE = "docs/reference/catalogue.md"
SWIFT = "Sources/Rulebook/Rulebook+Catalogue.swift"
BATTERY = "Sources/Verification/Entry.swift"
STATES = {"in force": "inForce", "planned": "planned"}

# Where identifiers are cited.
READ = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Sources", "Tests", "docs", "Policies", "Demos", "Conformance", "Lessons"]
ENDINGS = (".swift", ".c", ".h", ".md", ".toml", ".varlink")
# In other people's property lists such words mean something else. Tests of the catalogue itself name identifiers without proving
# them, and some that do not exist.
APART = ("Tests/Fixtures/", "Tests/RulebookTests/", "Tests/AmbitCommandsTests/Rule/")
# Words of other standards that look like identifiers: CVE-2017, ISO-8859, UTF-8.
STANDARDS = {"CVE", "ISO", "UTF", "SHA", "SSH", "UTC", "RFC"}

FAMILY = re.compile(r"## ([A-Z]{3}|[A-Z]): (\S.*)")
ROW = re.compile(r"\| ([A-Z]+-?\d+) \| (\S.*?) \| (\S.*?) \| ([A-D]) \| (\S.*?) \|")
STATEMENT = re.compile(r"(?<![\w-])([A-Z]{3})-([0-9]+)\b")
ESCAPE = re.compile(r"\b[A-I][0-9]{1,2}\b")
# The name of a test or a suite, and a comment.
TEST_NAME = re.compile(r"(?:func|struct|class|enum) (`[^`]*`)|(///?.*)$", re.M)
# The statement that a conformance scenario shows.
ENTRY_LINE = re.compile(r'^entry = "([^"]*)"', re.M)
ENTRY = re.compile(r'Entry\("([^"]*)"')

complaints = []


def complain(message):
    complaints.append(message)


class Family:
    def __init__(self, name, title):
        self.name, self.title, self.rules = name, title, []


def catalogue():
    """The families of the page, in its order."""
    families, seen = [], {}
    for number, line in enumerate(read(PAGE).splitlines(), 1):
        place = f"{PAGE}:{number}"
        if line.startswith("## "):
            match = FAMILY.fullmatch(line)
            families.append(Family(*match.groups()) if match else None)
            continue
        family = families[-1] if families else None
        if family is None or not line.startswith("|") or line.startswith(("| ID |", "| --- |")):
            continue
        match = ROW.fullmatch(line)
        if not match or "|" in match[2] + match[3]:
            complain(f"{place} is no row of an identifier, a statement, a source, a strength (A to D) and a state")
            continue
        identifier, statement, source, strength, state = match.groups()
        name, number = re.fullmatch(r"([A-Z]+)-?(\d+)", identifier).groups()
        if name != family.name or ("-" in identifier) != (len(name) == 3):
            complain(f"{place}: {identifier} is not one of the family {family.name}")
        if family.rules and int(number) <= family.rules[-1][0]:
            complain(f"{place}: {identifier} does not come after the one before it")
        if state not in STATES:
            complain(f"{place}: the state of {identifier} is “{state}”, and has to be one of: {', '.join(STATES)}")
        if identifier in seen:
            complain(f"{place}: {identifier} is there twice, first at {seen[identifier]}")
        seen[identifier] = place
        family.rules.append((int(number), identifier, statement, source, strength, state))
    return [family for family in families if family]


def quoted(text):
    """The text as a literal of Swift's."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def swift(families):
    lines = [
        f"// Made of {PAGE} by scripts/catalogue.py: change that page, and run “make catalogue”.",
        "// swift-format-ignore-file",
        "",
        "extension Rulebook {",
        "  /// The families of the catalogue, in its order.",
        "  package static let families: [RuleFamily] = [",
        *(f"    {constant(family)}," for family in families),
        "  ]",
    ]
    for family in families:
        lines += ["", f"  private static let {constant(family)} = RuleFamily(",
                  f"    {quoted(family.name)}, {quoted(family.title)},", "    ["]
        for _, identifier, statement, source, strength, state in family.rules:
            lines += [f"      Rule({quoted(identifier)}, {quoted(statement)},",
                      f"        source: {quoted(source)}, .{strength.lower()}, .{STATES.get(state, state)}),"]
        lines += ["    ])"]
    return "\n".join(lines + ["}", ""])


def constant(family):
    return "family" + family.name.capitalize()


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        sys.exit(f"check: {path}: {error.strerror}")


def texts():
    """Every file that may cite an identifier, with its text."""
    for top in READ:
        if os.path.isfile(top):
            yield top, read(top)
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                path = f"{folder}/{name}"
                if name.endswith(ENDINGS) and not path.startswith(APART) and path not in (PAGE, SWIFT):
                    yield path, read(path)


def escapes_cited(path, text):
    """Identifiers of escapes in the names of tests, in the comments around them, in the battery's entries and in the comparison.

    Elsewhere such words mean other things: keys, digits, character sets.
    """
    if path == BATTERY:
        return ENTRY.findall(text)
    if path.startswith("docs/"):
        return ESCAPE.findall(text)
    if path.startswith("Tests/") and "@Test" in text:
        return [word for match in TEST_NAME.finditer(text) for word in ESCAPE.findall(match[1] or match[2])]
    return []


def check(families):
    known = {rule[1]: rule[5] for family in families for rule in family.rules}
    tested, unknown = set(), {}
    for path, text in texts():
        cited = {match[0] for match in STATEMENT.finditer(text) if match[1] not in STANDARDS}
        cited.update(escapes_cited(path, text))
        for identifier in cited - known.keys():
            unknown.setdefault(identifier, path)
        if path == BATTERY or (path.startswith("Tests/") and "@Test" in text):
            tested |= cited
        entry = ENTRY_LINE.search(text) if path.startswith("Conformance/") else None
        if entry:
            tested.add(entry[1])
    for identifier, path in sorted(unknown.items()):
        complain(f"{path} cites {identifier}, which is not in {PAGE}")
    for identifier, state in known.items():
        if state == "in force" and identifier not in tested:
            complain(f"{PAGE}: {identifier} is in force, and no test, no scenario and no entry of the escape battery cites it")
        if state == "planned" and identifier in tested:
            complain(f"{PAGE}: {identifier} is planned, and a test cites it: say “in force”")
    if not known:
        complain(f"{PAGE} has no statement")
    if not os.path.exists(SWIFT) or read(SWIFT) != swift(families):
        complain(f"{SWIFT} is not what {PAGE} says: run “make catalogue”")


def main():
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit(__doc__)
    families = catalogue()
    if sys.argv[1] == "check":
        check(families)
    for message in complaints:
        print(f"check: {message}", file=sys.stderr)
    if complaints:
        sys.exit(1)
    if sys.argv[1] == "write":
        with open(SWIFT, "w", encoding="utf-8") as file:
            file.write(swift(families))


main()
