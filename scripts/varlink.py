#!/usr/bin/env python3
"""Writes the Swift messages of the interfaces in Sources/Wire/Interfaces, or compares them.

  varlink.py check    fails if a generated file differs from its interface, or is one too many
  varlink.py write    writes the generated files

A comment in an interface is the documentation of the member or the field after it. The tables below have everything that an interface
cannot say: names, defaults, and the order of fields where it is not that of the interface. Run it from the top of the repository.
"""
import os
import re
import sys
import textwrap

INTERFACES = "Sources/Wire/Interfaces"
GENERATED = "Sources/Wire/Generated"
TABLE = "Tests/WireTests/MessageTable.swift"
WIDTH = 120

# A type that several interfaces share is declared with the first of these that uses it. org.varlink.service is not among them:
# every server answers it by itself (WireService).
ORDER = ["Picker", "Access", "Bookmarks", "Transfer", "Coordination", "Versions", "Query", "Opening", "Index", "Thumbnails", "Provider", "Grants", "Locations", "Inspector", "Launcher", "Cloud"]

# Types outside of any interface's namespace.
SHARED = {"ProviderItemMessage", "ProviderFieldKind", "ProviderFormRow", "ProviderFormField", "ProviderFormButton", "ProviderFormMessage", "ProviderFormReply", "BrowserActionMessage", "DocumentMessage", "HolderMessage", "DocumentKind", "DocumentAccess", "CountedProcess", "AccessWay"}

# Swift names of types, calls and replies, where they differ. Those with the same name have the same fields.
NAMES = {
    "Picker.Document": "DocumentMessage",
    "Picker.Action": "BrowserActionMessage",
    "Launcher.Action": "BrowserActionMessage",
    "Access.Holder": "HolderMessage",
    "Access.PathCall": "ScopeCall",
    "Access.HostPathCall": "ScopeCall",
    "Access.ReleaseCall": "ScopeCall",
    "Bookmarks.Document": "DocumentMessage",
    "Bookmarks.CreateContainedReply": "CreateReply",
    "Bookmarks.ResolveReferenceReply": "ResolveReply",
    "Transfer.Document": "DocumentMessage",
    "Query.Document": "DocumentMessage",
    "Opening.Document": "DocumentMessage",
    "Locations.Item": "ProviderItemMessage",
    "Provider.Item": "ProviderItemMessage",
    "Transfer.PassReply": "Transfer",
    "Transfer.RedeemCall": "Transfer",
    "Locations.FormRow": "ProviderFormRow",
    "Locations.FormField": "ProviderFormField",
    "Locations.FormButton": "ProviderFormButton",
    "Locations.Form": "ProviderFormMessage",
    "Locations.FilledForm": "ProviderFormReply",
    "Provider.FormRow": "ProviderFormRow",
    "Provider.FormField": "ProviderFormField",
    "Provider.FormButton": "ProviderFormButton",
    "Provider.Form": "ProviderFormMessage",
    "Provider.FilledForm": "ProviderFormReply",
    "Launcher.FormRow": "ProviderFormRow",
    "Launcher.FormField": "ProviderFormField",
    "Launcher.FormButton": "ProviderFormButton",
    "Launcher.Form": "ProviderFormMessage",
    "Launcher.FilledForm": "ProviderFormReply",
    "Launcher.Choice": "Question.Choice",
}

# Enumerations: words, documentation, documentation of single words. A field with some of the words is of the same type.
ENUMERATIONS = {
    "DocumentKind": ("file folder package", "The kind of a document.", {"package": "A folder that is one document."}),
    "DocumentAccess": ("readOnly readWrite", "What an app may do with a document.", {}),
    "CountedProcess": ("own parent", "The process of the app that a call counts for: the one that calls, or its parent, as the "
                       "kernel has it.", {}),
    "AccessWay": ("path descriptor", "How an app comes to a document that is started: it opens the path, or the broker hands over "
                  "descriptors.", {}),
    "PickerInterface.Browser.Style": ("white light dark", "The colours of a browser.", {}),
    "AccessInterface.Event.Kind": ("scopeEnded grantEnded replaced lost", "", {}),
    "BookmarksInterface.MatchedBy": ("identity path", "The evidence that found the document.", {}),
    "BookmarksInterface.Kind": ("app implicit document", "The apps that may resolve a bookmark.", {}),
    "CoordinationInterface.Intent.Use": ("read write", "", {}),
    "CoordinationInterface.Question": ("relinquishToReader relinquishToWriter saveChanges accommodateDeletion "
                                       "accommodateSubitemDeletion", "", {}),
    "CoordinationInterface.Message.Kind": ("presenting question withdrawn reacquire changed attributesChanged moved deleted "
                                           "subitemChanged subitemAppeared subitemMoved subitemDeleted versionGained versionLost "
                                           "conflictResolved transferring transferred lost left", "", {}),
    "CoordinationInterface.Canceller": ("caller user suspension", "", {}),
    "VersionsInterface.Version.Kind": ("file package", "", {}),
    "VersionsInterface.Version.Cause": ("saved overwritten conflict", "", {}),
    "GrantsInterface.Origin": ("user scripted passed bookmark", "How it was decided that an app may use a document.", {}),
    "ProviderInterface.Request.Kind": ("enumerate item provide changed stop create move delete placeholder locate identify changes "
                                       "anchor trash untrash thumbnail form submit pick choose dismiss", "", {}),
    "LocationsInterface.AskCall.Kind": ("enumerate item provide create write move delete locate identify changes anchor trash "
                                        "untrash", "", {}),
    "ProviderFieldKind": ("text secret choice rows note", "The kind of a field in a provider's form.", {}),
    "CloudInterface.Item.Kind": ("folder document", "", {}),
    "CloudInterface.Change.Kind": ("create replace move delete", "", {}),
    "CloudInterface.Outcome": ("accepted conflict collision missing cycle overQuota", "", {}),
    "QueryInterface.Scope": ("local external", "", {}),
    "QueryInterface.Update.Phase": ("running gathering gathered changed", "", {}),
    "QueryInterface.Problem": ("syntax unsupported pattern", "", {}),
    "InspectorInterface.Purpose": ("bookmark reference", "", {}),
    "InspectorInterface.GrantState": ("inForce withdrawn unknown", "", {}),
    "InspectorInterface.PresenterQuestion.Outcome": ("answered failed silent left withdrawn", "", {}),
    "InspectorInterface.CoordinatedAccess.Phase": ("waiting asking granted", "", {}),
    "LauncherInterface.Question.Kind": ("identity entitlements", "", {}),
    "LauncherInterface.AppFile": ("folder manifest entitlements executable", "One of the files that say which app is launched.",
                                  {"folder": "The bundle, or the folder that the program lies in."}),
    "LauncherInterface.Given.How": ("give open", "", {}),
    "LauncherInterface.DegradedLayer.Enforcement": ("partial notEnforced", "", {}),
    "LauncherInterface.How": ("user scripted", "How a choice was made.", {}),
    "LauncherInterface.LimitHit.Limit": ("memory cpuTime wallTime container containerFiles reserve", "", {}),
}

# Fields that are strings in the interface, because their words may become more, and enumerations in Swift, which are written by hand.
WORDS = {
    "Picker.PickCall.mode": "PickerInterface.Mode",
    "Bookmarks.ResolveReply.location": "BookmarksInterface.Location",
    "Launcher.PickRequest.mode": "PickerInterface.Mode",
}

# Fields with another name in Swift.
RENAMED = {"Launcher.ReplaceCall.exchange": "exchanges"}

# Values of fields that an initializer need not be given. An optional field with a default is not optional in Swift, and is always
# written. Optional fields without one are nil.
DEFAULTS = {
    "Picker.PickCall": {"mode": ".open", "multiple": "false", "kind": ".file", "access": ".readWrite"},
    "Bookmarks.CreateCall": {"readOnly": "false", "kind": ".app", "values": "[]", "minimal": "false"},
    "Bookmarks.CreateContainedCall": {"values": "[]"},
    "Bookmarks.ResolveCall": {"implicitStart": "false", "withoutMounting": "false"},
    "Bookmarks.ResolveReply": {"started": "false", "isPlaceTaken": "false"},
    "Transfer.PassCall": {"access": ".readOnly"},
    "Grants.Grant": {"endsWithLaunch": "false"},
    "Grants.Holder": {"watches": "false"},
    "Grants.RevokeCall": {"all": "false"},
    "Inspector.BookmarkReply": {"values": "[]"},
    "Launcher.Manifest": {
        "passGrants": "false", "executePicked": "false", "appBookmarks": "false", "documentBookmarks": "false",
        "packageTypes": "[]", "relatedTypes": "[]", "sharesDocuments": "false", "publicScope": "false",
        "opensDocuments": "false", "opensInPlace": "false"},
    "Launcher.GrantRules": {
        "mayPass": "false", "endsOutlived": "false", "releasesOldest": "false", "startsPicked": "false",
        "passesSilent": "false", "executesPicked": "false", "tellsHostPaths": "false", "readOnly": "false", "modes": '["open"]', "folders": "true",
        "endsWithLaunch": "false", "makesBookmarks": "true", "documentBookmarks": "true", "implicitBookmarks": "true",
        "missingBookmarks": "[]", "missingSelections": "[]", "syncsFully": "false", "packages": "[]",
        "related": "[]", "opensInPlace": "false", "inbox": "false", "profile": '"unlimited"'},
    "Launcher.Limits": {"cgroup": "false"},
    "Launcher.Capabilities": {"grants": "GrantRules()"},
    "Launcher.PrepareCall": {"limits": "[]", "canAsk": "false", "answers": "[]", "allowEntitlements": "[]", "files": "[]",
        "given": "[]"},
    "Launcher.PrepareReply": {"notices": "[]", "given": "[]"},
    "Launcher.AttachCall": {"grants": "GrantRules()"},
    "Launcher.PickRequest": {"packages": "[]", "places": "[]", "browser": "false", "creates": "false", "recents": "[]", "actions": "[]",
        "hidesExtensions": "false"},
    "Launcher.AnswerCall": {"cancelled": "false", "creates": "false", "paths": "[]"},
    "Launcher.ReplaceCall": {"exchange": "false"},
    "Launcher.EndedReply": {"leaks": "[]"},
    "Provider.Item": {"marks": "[]"},
    "Locations.Item": {"marks": "[]"},
    "Locations.Location": {"acrossDevices": "false"},
    "Locations.EnableCall": {"acrossDevices": "false"},
    "Query.Update": {"present": "[]", "removed": "[]"},
}

# Fields that are left out where they have their default.
OMITTED = {
    "Bookmarks.CreateCall.values": "!values.isEmpty",
    "Bookmarks.CreateContainedCall.values": "!values.isEmpty",
    "Bookmarks.ResolveReply.isPlaceTaken": "isPlaceTaken",
}

# Fields are written in the order of the interface: first those that are always there, then optional ones, then those that may be left
# out. Of these messages some are written behind another field.
BEHIND = {
    "Grants.Grant": {"endsWithLaunch": "appDigest"},
    "Launcher.GrantRules": {
        "packages": "tellsHostPaths", "related": "packages", "opensInPlace": "related", "inbox": "opensInPlace", "profile": "inbox", "quota": "bookmarkLifetime", "recent": "quota"},
    "Launcher.Limits": {"cgroup": "containerFiles"},
    "Launcher.PrepareCall": {"script": "files", "manifest": "seccomp"},
    "Launcher.PickRequest": {"appName": "access"},
}

# Fields whose argument has no label, besides the reason of an error.
UNLABELLED = {
    "Grants.Running.app", "Grants.Running.instances", "Launcher.NeedsAnswer.question", "Launcher.UnknownInstance.instance",
    "Launcher.Choice.key", "Launcher.Choice.label", "Launcher.QuestionAnswer.kind", "Launcher.QuestionAnswer.choice",
}

# Calls and replies without fields have no type, besides these.
EMPTY = {"Grants.IdentitiesCall"}

PLAIN = {"bool": "Bool", "int": "Int", "string": "String"}


class Parser:
    """Reads an interface (https://varlink.org/Interface-Definition).

    A type is a name, (“?”, type), (“[]”, type), (“[string]”, type), or the words of an enumeration as (“words”, (…)).
    """

    TOKEN = re.compile(r"#[^\n]*|[A-Za-z][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*|->|\[string\]|\[\]|[?(),:]|\S")

    def __init__(self, path):
        self.path, self.tokens, self.position, self.comment = path, self.TOKEN.findall(read(path)), 0, []
        self.expect("interface")
        self.documentation, self.name = self.taken(), self.next()
        self.members = []
        while self.peek() is not None:
            keyword, documentation, name = self.next(), self.taken(), self.next()
            if keyword not in ("type", "method", "error"):
                self.fail(keyword)
            fields = [self.structure()]
            if keyword == "method":
                self.expect("->")
                fields.append(self.structure())
            self.members.append((keyword, name, documentation, fields))

    def fail(self, token):
        sys.exit(f"varlink: {self.path}: “{token}” was not expected")

    def peek(self):
        while self.position < len(self.tokens) and self.tokens[self.position].startswith("#"):
            self.comment.append(self.tokens[self.position][1:].strip())
            self.position += 1
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def next(self):
        token = self.peek()
        self.position += 1
        return token

    def taken(self):
        """The comment before the token that was read last, by paragraphs."""
        comment, self.comment = self.comment, []
        return [part.strip() for part in " ".join(line or "\n" for line in comment).split("\n") if part.strip()]

    def expect(self, token):
        found = self.next()
        if found != token:
            self.fail(found)

    def structure(self):
        """The fields: name, type, documentation."""
        fields = []
        self.expect("(")
        while self.peek() != ")":
            if fields:
                self.expect(",")
            name = self.next()
            documentation = self.taken()
            self.expect(":")
            fields.append((name, self.type(), documentation))
        self.expect(")")
        return fields

    def type(self):
        token = self.next()
        if token in ("?", "[]", "[string]"):
            return (token, self.type())
        if token != "(":
            return token
        words = [self.next()]
        while self.peek() == ",":
            self.expect(",")
            words.append(self.next())
        self.expect(")")
        return ("words", tuple(words))


class Field:
    """A field of a message: its name on the wire and in Swift, its type, and how it is read."""

    def __init__(self, owner, name, kind, documentation, interface):
        key = f"{owner}.{name}"
        self.wire, self.documentation = name, documentation
        self.swift = RENAMED.get(key, name)
        self.default = DEFAULTS.get(owner, {}).get(name)
        self.condition = OMITTED.get(key)
        self.labelled = key not in UNLABELLED
        is_optional = kind[0] == "?"
        self.type, reader = read_as(WORDS[key] if key in WORDS else kind[1] if is_optional else kind, interface, key in WORDS)
        self.read = f'try json.{reader.replace("(", "IfPresent(") if is_optional else reader}"{name}")'
        self.is_optional = is_optional and self.default is None
        if is_optional and self.default:
            self.read += f" ?? {self.default}"

    def declared(self, within):
        return shortened(self.type, within) + ("?" if self.is_optional else "")

    def parameter(self, within, labelled):
        value = self.default or ("nil" if self.is_optional else None)
        label = "" if labelled else "_ "
        return f"{label}{self.swift}: {self.declared(within)}" + (f" = {value}" if value else "")

    def written(self):
        line = f'json.set("{self.wire}", {self.swift})'
        return f"if {self.condition} {{ {line} }}" if self.condition else line


def read_as(kind, interface, is_word=False):
    """The Swift type, and the beginning of the call that reads it from a JSONObject."""
    if is_word:
        return kind, "choice("
    if kind in PLAIN:
        return PLAIN[kind], kind + "("
    if isinstance(kind, str):
        return swift_name(interface, kind), "message("
    wrapper, inner = kind
    if wrapper == "words":
        return enumeration(inner), "choice("
    name, reader = read_as(inner, interface)
    if wrapper == "[]" and reader in ("string(", "int(", "choice(", "message("):
        return f"[{name}]", reader.replace("(", "s(")
    if wrapper == "[string]" and name == "String":
        return "[String: String]", "strings(by: "
    sys.exit(f"varlink: there is no Swift type for {kind}")


def enumeration(words):
    for fits in (lambda others: tuple(others) == words, lambda others: set(words) < set(others)):
        for name, (others, _, _) in ENUMERATIONS.items():
            if fits(others.split()):
                return name
    sys.exit(f"varlink: the enumeration ({', '.join(words)}) has no Swift name")


def swift_name(interface, name):
    """The full Swift name of a type, a call or a reply."""
    name = NAMES.get(f"{interface}.{name}", name)
    return name if name in SHARED else f"{interface}Interface.{name}"


def shortened(name, within):
    """The name as it is written inside of the type `within`."""
    bare = name.strip("[]")
    while within:
        if bare.startswith(within + "."):
            return name.replace(bare, bare[len(within) + 1:])
        within = within.rpartition(".")[0]
    return name


def lower(name):
    return name[0].lower() + name[1:]


def documented(paragraphs, indent):
    lines = []
    for paragraph in paragraphs:
        wrapped = textwrap.wrap(paragraph, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
        lines += ([indent + "///"] if lines else []) + [f"{indent}/// {line}" for line in wrapped]
    return lines


def call(start, arguments, end, indent):
    """A declaration with its parameters: on one line, or on as few as hold them."""
    line = f"{indent}{start}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH:
        return [line]
    lines, row = [f"{indent}{start}("], indent + " "
    for number, argument in enumerate(arguments):
        piece = " " + argument + ("," if number + 1 < len(arguments) else "")
        if len(row + piece) > WIDTH:
            lines.append(row)
            row = indent + " "
        row += piece
    return lines + [row, f"{indent}){end}"]


def declared_enumeration(name, indent):
    words, documentation, single = ENUMERATIONS[name]
    words = words.split()
    start = f"{indent}package enum {name.rpartition('.')[2]}: String, CaseIterable, Sendable {{"
    lines = documented([documentation] if documentation else [], indent)
    line = f"{start} case {', '.join(words)} }}"
    if not single and len(line) <= WIDTH:
        return lines + [line]
    lines.append(start)
    plain = [word for word in words if word not in single]
    cases = [([], f"case {', '.join(plain)}")] + [([single[word]], f"case {word}") for word in words if word in single]
    for comment, text in sorted(cases, key=lambda each: words.index(each[1].split()[1].rstrip(","))):
        lines += documented(comment, indent + "  ") + textwrap.wrap(
            text, WIDTH, initial_indent=indent + "  ", subsequent_indent=indent + "    ")
    return lines + [indent + "}"]


def order(owner, fields):
    """The fields in the order in which they are written."""
    result = sorted(fields, key=lambda field: 2 if field.condition else 1 if field.is_optional else 0)
    for name, before in BEHIND.get(owner, {}).items():
        field = next(field for field in result if field.wire == name)
        result.remove(field)
        result.insert([field.wire for field in result].index(before) + 1, field)
    return result


class Message:
    """A type, the parameters of a method, or its answer."""

    def __init__(self, owner, name, fields, documentation, interface):
        self.owner, self.name, self.documentation = owner, name, documentation
        # “parameters” or “answer”, with the methods.
        self.uses = {}
        self.fields = [Field(owner, *field, interface) for field in fields]

    def shape(self):
        return [(field.wire, field.type, field.is_optional) for field in self.fields]

    def swift(self, indent, nested):
        inner, within = indent + "  ", self.name
        uses = [f"{use} of " + ", ".join(f"`{method}`" for method in methods) for use, methods in self.uses.items()]
        lines = documented([f"The {'; the '.join(uses)}."] if uses else self.documentation, indent)
        lines.append(f"{indent}package struct {self.name.rpartition('.')[2]}: WireMessage {{")
        for part in nested:
            lines += part + [""]
        for field in self.fields:
            lines += documented(field.documentation, inner)
            lines.append(f"{inner}package var {field.swift}: {field.declared(within)}")
        if not self.fields:
            return lines + [f"{inner}package init() {{}}", f"{inner}package init(json: JSONObject) throws(FieldError) {{}}",
                            f"{inner}package var json: JSONObject {{ [:] }}", indent + "}"]
        parameters = [field.parameter(within, field.labelled) for field in self.fields]
        lines += ["", *call("package init", parameters, " {", inner)]
        lines += [f"{inner}  self.{field.swift} = {field.swift}" for field in self.fields]
        lines += [inner + "}", "", f"{inner}package init(json: JSONObject) throws(FieldError) {{"]
        lines += [f"{inner}  {field.swift} = {field.read}" for field in self.fields]
        lines += [inner + "}", "", f"{inner}package var json: JSONObject {{", f"{inner}  var json = JSONObject()"]
        lines += [f"{inner}  {field.written()}" for field in order(self.owner, self.fields)]
        return lines + [f"{inner}  return json", inner + "}", indent + "}"]


class Interface:
    def __init__(self, short):
        self.short = short
        self.path = f"{INTERFACES}/io.ambit.{short}.varlink"
        parsed = Parser(self.path)
        self.name, self.documentation = parsed.name, parsed.documentation
        self.methods, self.errors, self.messages = [], [], []
        # The member that describes each message, as the tests name it, and the message.
        self.places = []
        self.mechanical = set()
        for keyword, name, documentation, fields in parsed.members:
            if keyword == "type":
                self.add(name, name, fields[0], documentation)
            elif keyword == "error":
                self.errors.append((name, documentation, [Field(f"{short}.{name}", *field, short) for field in fields[0]]))
            else:
                self.methods.append((name, documentation))
                self.add(name + "Call", name, fields[0], use="parameters", sign="(")
                self.add(name + "Reply", name, fields[1], use="answer", sign=")")

    def add(self, mechanical, member, fields, documentation=(), use=None, sign=""):
        owner = f"{self.short}.{mechanical}"
        if use and not fields and owner not in EMPTY:
            return
        self.mechanical.add(owner)
        name = swift_name(self.short, mechanical)
        self.places.append((f"{self.name}.{member}{sign}", name))
        # The tables name calls and replies as Swift does.
        if use:
            owner = f"{self.short}.{name.rpartition('.')[2]}"
        message = Message(owner, name, fields, documentation, self.short)
        same = next((other for other in self.messages if other.name == name), None)
        if same is None:
            self.messages.append(message)
            same = message
        elif same.shape() != message.shape():
            sys.exit(f"varlink: {self.path}: {mechanical} and another {name} differ")
        if use:
            same.uses.setdefault(use, []).append(member)

    def swift(self, declared):
        """The text of the file. `declared` has the names of types outside of interfaces that other files have."""
        namespace = f"{self.short}Interface"
        used = [field.type.strip("[]") for message in self.messages for field in message.fields]
        lines = [f"// Generated by scripts/varlink.py from {self.path}; do not edit.", ""]
        lines += documented(self.documentation, "") + [f"package enum {namespace} {{"]
        lines.append(f'  package static let name = "{self.name}"')
        for name, documentation in self.methods:
            lines += documented(documentation, "  ") + [f'  package static let {lower(name)} = "{self.name}.{name}"']
        for name in ENUMERATIONS:
            if name.rpartition(".")[0] == namespace:
                lines += [""] + declared_enumeration(name, "  ")
        for message in self.messages:
            if message.name.rpartition(".")[0] == namespace:
                lines += [""] + message.swift("  ", self.nested(message.name))
        if self.errors:
            lines += ["", f"  /// Errors of `{self.name}`.", "  package enum Failure {", *self.failures(namespace), "  }"]
        lines.append("}")
        for name in ENUMERATIONS:
            if name in SHARED and name in used and name not in declared:
                declared.add(name)
                lines += [""] + declared_enumeration(name, "")
        for message in self.messages:
            if message.name in SHARED and message.name not in declared:
                declared.add(message.name)
                lines += [""] + message.swift("", [])
        return "\n".join(lines + [""])

    def nested(self, name):
        """Declarations inside of a message."""
        parts = [declared_enumeration(other, "    ") for other in ENUMERATIONS if other.rpartition(".")[0] == name]
        return parts + [other.swift("    ", []) for other in self.messages if other.name.rpartition(".")[0] == name]

    def failures(self, namespace):
        lines = [f'    package static let {lower(name)}Name = "{self.name}.{name}"' for name, _, _ in self.errors]
        for name, documentation, fields in self.errors:
            lines += [""] + documented(documentation, "    ")
            if not fields:
                lines.append(f"    package static let {lower(name)} = ErrorReply({lower(name)}Name)")
                continue
            parameters = [field.parameter(namespace, field.labelled and field.wire != "reason") for field in fields]
            lines += call(f"package static func {lower(name)}", parameters, " -> ErrorReply {", "    ")
            lines.append("      var json = JSONObject()")
            lines += [f"      {field.written()}" for field in order(f"{self.short}.{name}", fields)]
            lines += [f"      return ErrorReply({lower(name)}Name, json)", "    }"]
        return lines


def table(interfaces):
    """A Swift file for the tests, with every message."""
    lines = [
        "// Generated by scripts/varlink.py; do not edit.",
        "",
        "@testable import Wire",
        "",
        "/// Every message, with the member that describes it: a type; or a method, with `(` for the parameters and `)` for the answer.",
        "let messageTable: [(member: String, type: any WireMessage.Type)] = [",
    ]
    for interface in interfaces:
        lines += [f'  ("{place}", {name}.self),' for place, name in interface.places]
    return "\n".join(lines + ["]", ""])


def compare_tables(interfaces):
    """The tables name nothing that is not there, and shared types are the same everywhere."""
    messages = [message for interface in interfaces for message in interface.messages]
    owners = {message.owner for message in messages}
    fields = {f"{message.owner}.{field.wire}" for message in messages for field in message.fields}
    fields |= {f"{interface.short}.{name}.{field.wire}" for interface in interfaces for name, _, each in interface.errors
               for field in each}
    named = {f"{owner}.{name}" for table in (DEFAULTS, BEHIND) for owner in table for name in table[owner]}
    wrong = sorted((named | set(RENAMED) | set(WORDS) | set(OMITTED) | UNLABELLED) - fields)
    wrong += sorted(EMPTY - owners) + sorted(set(NAMES) - {each for interface in interfaces for each in interface.mechanical})
    if wrong:
        sys.exit(f"varlink: the tables name what no interface has: {', '.join(wrong)}")
    for name in SHARED:
        if len({str(message.shape()) for message in messages if message.name == name}) > 1:
            sys.exit(f"varlink: the fields of {name} differ between interfaces")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        sys.exit(f"varlink: {path}: {error.strerror}")


def main():
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit(__doc__)
    interfaces = [Interface(short) for short in ORDER]
    compare_tables(interfaces)
    declared, files = set(), {}
    for interface in interfaces:
        files[f"{GENERATED}/{interface.short}Interface.swift"] = interface.swift(declared)
    files[TABLE] = table(interfaces)
    if sys.argv[1] == "write":
        os.makedirs(GENERATED, exist_ok=True)
        for path, text in files.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return
    there = [f"{GENERATED}/{name}" for name in os.listdir(GENERATED)] if os.path.isdir(GENERATED) else []
    wrong = [path for path, text in files.items() if not os.path.exists(path) or read(path) != text]
    for path in wrong:
        print(f"check: {path} is not what {INTERFACES} says: run “make messages”", file=sys.stderr)
    extra = sorted(set(there) - set(files))
    for path in extra:
        print(f"check: {path} is not generated from any interface: remove it", file=sys.stderr)
    if wrong or extra:
        sys.exit(1)


main()
