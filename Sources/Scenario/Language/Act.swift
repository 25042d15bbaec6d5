/// The user gives a document to an app, in the way that the system has. Under Ambit the app asks, the user picks, and the app starts
/// the scope.
package struct Give: Equatable, Sendable {
  package var path: Template
  package var app: String
  /// The document's name in later actions; `${NAME}` is its path as the app sees it.
  package var name: String
  package var isReadOnly: Bool
  /// Whether the app can use it at once; otherwise a `start` follows.
  package var isStarted: Bool
}

/// Something that an app does, inside its sandbox. The agent carries it out.
package struct Act: Equatable, Sendable {
  /// The instance.
  package var app: String
  /// Another process of the app, made by `fork`; nil: its first one.
  package var process: String?
  package var word: AppWord
  /// The word's own value.
  package var subject: Value
  package var parameters: [Parameter]
  package var answer: Answer
  /// Name that the document of the answer gets; `${NAME}` is its path as the app sees it.
  package var name: String?
  /// Variable that the answer's text is kept in.
  package var save: String?

  package enum Value: Equatable, Sendable {
    case none
    case text(Template)
    case texts([Template])
    case flag(Bool)
    case number(Int)
  }

  package struct Parameter: Equatable, Sendable {
    /// The agent's name of it.
    package var key: String
    package var value: Value
  }

  package struct Answer: Equatable, Sendable {
    /// nil: it is done. Otherwise it is refused with one of these errors; an empty list: with any.
    package var errors: [String]?
    /// Either of the two is right: done, or refused with one of ``errors``.
    package var mayBeDone = false
    /// On the text of the answer.
    package var expect: TextExpectation = .anything
    /// On its fields, by dotted path.
    package var fields: [TextExpectation.JSONField] = []
  }
}

/// A word for the acts of an app: one row of the language's table.
package struct AppWord: Equatable, Sendable {
  /// The meaning of the word's value.
  package enum Subject: Equatable, Sendable {
    /// `true`: the act has no object.
    case none
    /// The name of a document that the app was given.
    case document
    /// A path, as the app sees it.
    case path
    /// Text, under this name in the agent's request.
    case text(String)
    case number(String)
    /// Paths on the host, which the user answers the app's question with. They are not told to the app.
    case answer
  }

  package enum Kind: Equatable, Sendable { case text, texts, flag, number, document, documents }

  package var word: String
  /// The agent's name of the act.
  package var act: String
  package var subject: Subject
  package var keys: [Key]
  package var needs: Capability?
  package var says: String

  package struct Key: Equatable, Sendable {
    package var name: String
    package var kind: Kind
    /// The agent's name of it: the same in its own spelling.
    package var parameter: String {
      if name == "bits" { return "mode" }
      let words = name.split(separator: "_")
      return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
  }

  init(
    _ word: String, _ subject: Subject, act: String? = nil, needs: Capability? = nil, _ says: String
  ) {
    self.init(word, subject, [:], act: act, needs: needs, says)
  }

  init(
    _ word: String, _ subject: Subject, _ keys: KeyValuePairs<String, Kind>, act: String? = nil,
    needs: Capability? = nil, _ says: String
  ) {
    self.word = word
    self.act = act ?? Key(name: word, kind: .flag).parameter
    self.subject = subject
    self.keys = keys.map { Key(name: $0.key, kind: $0.value) }
    self.needs = needs
    self.says = says
  }
}

extension AppWord {
  /// Every act of an app. The reader, the JSON Schema and the reference come from this table.
  package static let all: [AppWord] = [
    // Documents.
    AppWord(
      "pick", .answer,
      [
        "kind": .text, "type": .text, "multiple": .flag, "read_only": .flag, "mode": .text, "sources": .texts,
      ], needs: .picker,
      """
      asks for documents, and the user picks these; `as` names the first, and with a number each further one; `mode` is `import`, `export` \
      or `move`, the last two with `sources`
      """),
    AppWord("cancel", .none, ["kind": .text], act: "pick", needs: .picker, "asks for a document, and the user cancels"),
    AppWord(
      "opened", .none, needs: .commands,
      "takes the next document that was opened with it: `inPlace`, `isStarted`, `name`; `as` names it"),
    AppWord(
      "index", .text("title"),
      ["identifier": .text, "domain": .text, "text": .text, "keywords": .texts, "of": .document],
      needs: .commands, "has its user find an item, about the document `of`"),
    AppWord("unindex", .text("identifier"), needs: .commands, "has its user find an item no more"),
    AppWord("discard", .path, needs: .commands, "deletes a document in its Inbox"),
    // The document browser. The answer is what its delegate was told, a line each.
    AppWord(
      "browse", .answer, ["type": .text, "multiple": .flag, "creates": .flag, "action": .text], needs: .picker,
      """
      shows its browser, and the user opens these documents; with `action` the app has the actions `count` (several text documents) and \
      `settings` (a button), and the user chooses that one for the documents
      """),
    AppWord("leave_browser", .none, act: "browse", needs: .picker, "shows its browser, and the user leaves it"),
    AppWord(
      "new_document_in", .answer,
      ["file": .text, "mode": .text, "beside": .document, "creates": .flag], act: "browseCreate", needs: .picker,
      """
      shows its browser, and the user asks for a new document in this folder, or, with an empty list, in no folder; the app hands over `file` \
      with the `mode` `copy`, `move` or `none`, `beside` another document
      """),
    AppWord("rename_document", .document, ["name": .text], needs: .picker, "gives a document another name"),
    AppWord(
      "reveal", .path, ["import": .flag], needs: .picker,
      "has the browser show a document; with `import` one of the Inbox becomes the user's"),
    AppWord("start", .document, needs: .scopes, "turns the access on"),
    AppWord("stop", .document, needs: .scopes, "turns the access off"),
    AppWord(
      "counted_start", .document, ["caller": .text], needs: .scopes,
      "the same, told with the number of starts: `count`; `caller` names the place in the app's code"),
    AppWord("counted_stop", .document, needs: .scopes, "the stop for it"),
    AppWord("scopes", .none, act: "status", needs: .scopes, "asks for the used slots and the limit: `used`, `limit`"),
    AppWord("copy_url", .document, act: "copy", needs: .scopes, "copies the URL object; the copy is named by `as`"),
    AppWord("url_from_path", .document, act: "fromPath", needs: .scopes, "makes a URL of the document's path"),
    AppWord("url_from_text", .text("string"), act: "fromString", needs: .scopes, "makes a URL of a text"),
    AppWord("child", .document, ["name": .text], needs: .folders, "makes the URL of an item in a granted folder"),
    AppWord(
      "bookmark", .document, ["options": .texts, "read_only": .flag, "relative_to": .document, "keys": .texts],
      needs: .bookmarks, "makes a bookmark; `save` keeps it"),
    AppWord(
      "resolve", .text("bookmark"), ["options": .texts, "relative_to": .document], needs: .bookmarks,
      "resolves a bookmark: `stale`, `matchedBy`, `location`, `started`, `taken`"),
    AppWord("values", .text("bookmark"), ["keys": .texts], needs: .bookmarks, "reads values stored with a bookmark"),
    AppWord("references", .none, needs: .references, "lists the references in the container"),
    AppWord("resolve_reference", .path, needs: .references, "resolves a reference"),
    AppWord(
      "replace", .path, ["with": .text], needs: .scopes, "replaces a document by another file, with `replaceItem`"),
    AppWord("release", .document, needs: .transfer, "gives its own grant up"),
    AppWord("pass", .document, ["to": .text, "write": .flag], needs: .transfer, "passes its right on to another app"),
    AppWord("redeem", .text("transfer"), needs: .transfer, "takes a right that was passed on"),
    AppWord("display_name", .document, needs: .scopes, "asks for the name to show"),
    AppWord("host_path", .document, needs: .scopes, "asks for the place on the host"),
    AppWord(
      "open_descriptor", .document, ["write": .flag, "as": .text], needs: .scopes, "takes a descriptor, no path"),
    AppWord(
      "background", .none, ["open": .documents, "should_save": .flag, "note": .text], needs: .restoration,
      "goes to the background with these documents open"),
    AppWord(
      "restore", .none, ["should_restore": .flag, "failures": .flag], needs: .restoration,
      "opens the documents of the last time; `failures` lists those that are not to be had, a line each"),
    // File coordination. Presenters, accesses and coordinators have names.
    AppWord(
      "present", .path,
      [
        "as": .text, "text": .text, "delay": .number, "silent": .flag, "error": .text, "primary": .text,
        "inside": .text,
      ], needs: .coordination,
      "presents an item to others; answers at once, after `delay` milliseconds, never (`silent`), or with an `error`"),
    AppWord(
      "edit", .text("presenter"), ["text": .text], needs: .coordination, "types a text that the presenter has to save"),
    AppWord("leave", .text("presenter"), needs: .coordination, "presents it no longer"),
    AppWord(
      "messages", .text("presenter"), ["askers": .flag], needs: .coordination,
      "lists the messages that a presenter got, a line each; `askers` names app, process and purpose of those who ask"),
    AppWord(
      "coordinate", .text("name"),
      [
        "read": .texts, "write": .texts, "options": .texts, "text": .text, "append": .flag, "to": .text,
        "remove": .flag,
        "purpose": .text, "presenter": .text, "coordinator": .text, "async": .flag, "prepare": .flag, "hold": .flag,
        "lasts": .number, "wait": .flag, "inside": .text,
      ], needs: .coordination,
      "reads and writes items in turn with other apps; the answer is the content; `hold` stays until `finish`"),
    AppWord(
      "access", .text("name"), needs: .coordination, "asks for an access: `waiting`, `running`, `done`, or its error"),
    AppWord("finish", .text("name"), needs: .coordination, "ends an accessor, and waits for the end of the access"),
    AppWord("cancel_access", .text("name"), needs: .coordination, "cancels the coordinator of an access"),
    // The document class. Documents have names; their text is one string.
    AppWord(
      "new_document", .text("document"), ["of": .document, "file": .text, "package": .flag], needs: .documents,
      "makes a document that is not open, `of` a granted document or of a `file` in the container"),
    AppWord(
      "open_document", .text("document"), ["of": .document, "file": .text, "package": .flag], needs: .documents,
      "makes a document and opens it: `state`, `path`, `unsaved`; the answer is its text"),
    AppWord("type_text", .text("document"), ["text": .text], needs: .documents, "types a text over the document's"),
    AppWord("undo_document", .text("document"), needs: .documents, "takes a step back"),
    AppWord("redo_document", .text("document"), needs: .documents, "takes the step again"),
    AppWord(
      "save_document", .text("document"), ["to": .text, "ending": .text, "error": .text, "autosave": .flag],
      needs: .documents,
      "saves it: `to` another file, with another `ending` of its name, or only if it has changed (`autosave`)"),
    AppWord("close_document", .text("document"), needs: .documents, "saves and closes it"),
    AppWord("revert_document", .text("document"), needs: .documents, "reads its file again"),
    AppWord(
      "document", .text("document"), ["events": .flag], needs: .documents,
      "asks for its text, `state` and `path`; with `events` for what has happened to it, a line each"),
    AppWord(
      "versions", .path, needs: .documents,
      "lists the versions of a document, newest first, a line each: `count`, `conflicts`"),
    AppWord(
      "version", .path, ["number": .number, "conflict": .flag, "act": .text], needs: .documents,
      "does something with a version, 1 the newest, 0 the current one: `read`, `resolve`, `remove`, `replace`; with `conflict` they are "
        + "those of conflicts that are not resolved"),
    // Queries have names.
    AppWord(
      "query", .text("name"),
      ["where": .text, "scopes": .texts, "sort": .texts, "batching": .number, "again": .flag], needs: .queries,
      "starts a query with a predicate over `local` and `external` documents; `again` starts one of that name once more"
    ),
    AppWord(
      "results", .text("name"), ["keys": .texts], needs: .queries,
      "lists a query's results, a line each: their names, or the values of these keys"),
    AppWord(
      "item", .text("name"), ["file": .text], needs: .queries,
      "takes a result's URL, named by `as`: `external`, `container`, `reference`, `size`"),
    AppWord("notifications", .text("name"), needs: .queries, "lists a query's notifications, a line each"),
    AppWord("barrier", .text("name"), needs: .queries, "waits until all that happened before is in the results"),
    AppWord("disable_updates", .text("name"), needs: .queries, "keeps a query's results as they are"),
    AppWord("enable_updates", .text("name"), needs: .queries, "takes over what has changed since"),
    AppWord("stop_query", .text("name"), needs: .queries, "stops a query"),
    // Files, with plain system calls.
    AppWord("read", .path, "reads a file"),
    AppWord("foundation_read", .path, needs: .scopes, "reads a file with Foundation: `domain`, `code`, `posix`"),
    AppWord("write", .path, ["text": .text], "writes over a file that exists"),
    AppWord("append", .path, ["text": .text], "writes at the end of a file"),
    AppWord("create", .path, ["text": .text], "makes a file that was not there"),
    AppWord(
      "save_file", .path, ["text": .text], act: "save",
      "saves as editors do: a temporary file beside it, and a rename over it"),
    AppWord("list", .path, "lists a folder"),
    AppWord("stat", .path, "asks for `kind`, `size`, `mode`, `inode`, `modified`"),
    AppWord("make_folder", .path, "makes a folder"),
    AppWord("remove", .path, "removes a file or an empty folder"),
    AppWord("rename", .path, ["to": .text], "renames or moves"),
    AppWord("hard_link", .path, ["to": .text], "makes a second name of a file"),
    AppWord("link", .path, ["text": .text], "makes a symbolic link with this text"),
    AppWord("read_link", .path, "reads a symbolic link"),
    AppWord("truncate", .path, "makes a file empty"),
    AppWord("mode", .path, ["bits": .text], "changes the mode bits, in octal"),
    AppWord("times", .path, "changes the times"),
    AppWord("attribute", .path, ["name": .text, "text": .text], "sets an extended attribute and reads it back"),
    AppWord("unnamed", .path, ["text": .text], "makes a file without a name in this folder (`O_TMPFILE`)"),
    AppWord("hold", .path, ["write": .flag, "as": .text], "opens and keeps the descriptor"),
    AppWord("held_read", .text("held"), "reads through a descriptor that is held"),
    AppWord("held_write", .text("held"), ["text": .text], "writes through it"),
    AppWord("held_path", .text("held"), "asks the kernel for its name"),
    AppWord("drop", .text("held"), "closes it"),
    AppWord("map_write", .path, ["text": .text], "writes through a shared mapping"),
    AppWord("lock", .path, ["how": .text], "takes an exclusive lock, `flock` or `fcntl`, without waiting"),
    AppWord("connect", .path, "connects to a Unix socket"),
    AppWord("watch", .path, "watches a file or folder (`inotify`)"),
    AppWord("watched", .number("seconds"), "takes the changes that the watch has seen"),
    AppWord("descriptors", .none, needs: .commands, "lists the names of its open descriptors"),
    AppWord("mounts", .none, needs: .commands, "reads its mount table"),
    AppWord("environment", .text("name"), "reads a variable of its environment"),
    AppWord("run", .path, ["args": .texts], needs: .processes, "runs a program to its end"),
    AppWord("raw", .text("text"), needs: .picker, "sends a message of its own making to the broker"),
    // Processes.
    AppWord("fork", .text("who"), act: "second", needs: .processes, "starts another process of the app"),
    AppWord(
      "end_process", .text("who"), ["signal": .number], act: "endSecond", needs: .processes, "ends that process"),
    AppWord("pid", .none, "asks for its own number"),
    AppWord("exit", .number("status"), "ends by itself"),
  ]

  package static func named(_ word: String) -> AppWord? { all.first { $0.word == word } }
}

extension Verb {
  /// What a system needs to have for this.
  package var needs: Set<Capability> {
    switch self {
    case .write, .read, .move, .remove, .present, .absent, .replace, .append, .copy, .trash, .link, .makeFolder, .mode,
      .pause, .kill, .close, .wait:
      return []
    case .launch(let launch):
      var needs: Set<Capability> = launch.program == nil ? [] : [.commands]
      if launch.policy != nil { needs.insert(.policies) }
      if !launch.manifest.isEmpty || !launch.entitlements.isEmpty || !launch.options.isEmpty { needs.insert(.commands) }
      return needs
    case .give(let give):
      var needs: Set<Capability> = give.isReadOnly ? [.readOnly] : []
      if !give.isStarted { needs.insert(.scopes) }
      return needs
    case .revoke: return [.revoke]
    case .suspend: return [.suspension]
    case .act(let act): return act.word.needs.map { [$0] } ?? []
    case .policy: return [.policies]
    case .tell, .run, .keys, .screen: return [.commands]
    case .audit, .never: return [.log]
    }
  }
}
