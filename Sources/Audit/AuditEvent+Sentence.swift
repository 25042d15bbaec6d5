extension AuditEvent {
  /// The event for people, as the words after the app's name: `started scope on notes.txt (1 of 8 slots)`,
  /// `refused: start scope on notes.txt (8 of 8 slots)`.
  ///
  /// Holds names and words as apps and files gave them: make it printable before it goes to a terminal.
  package var sentence: String {
    switch result {
    case .allowed: return phrase.done + (standsForOthers ? repetition : "")
    case .refused: return "refused: \(phrase.attempted)\(repetition)"
    case .failed: return "failed: \(phrase.attempted)\(repetition)"
    }
  }

  /// For an entry that stands for many: `, 812 times from 2025-06-01T09:30:00.000250Z to 2025-06-01T09:30:00.998000Z`.
  private var repetition: String {
    guard let first = detail[Fact.first], let last = detail[Fact.last] else { return "" }
    return occurrences == 1 ? " at \(first)" : ", \(occurrences) times from \(first) to \(last)"
  }

  /// A start of a document that its process has started already, or a stop that leaves it started: the access stays as it is.
  package var isNested: Bool {
    guard result == .allowed, let count = detail[Fact.count].flatMap({ Int($0) }) else { return false }
    return kind == .start ? count > 1 : kind == .stop && count > 0
  }

  /// It was written for things like it that were counted, later than they happened: it says nothing new
  /// about the rights in force.
  package var standsForOthers: Bool { detail[Fact.suppressed] != nil }

  /// How many things that happened this entry stands for: itself, and those like it that were only counted. No more than can be
  /// added up over a whole log, even if the log states more: a log may be forged for its reader.
  package var occurrences: Int {
    1 + min(max(0, detail[Fact.suppressed].flatMap { Int($0) } ?? 0), Self.mostOccurrences)
  }

  /// More than a launcher counts between two entries, of which it writes one a second.
  private static let mostOccurrences = 1 << 32

  /// The reason with the rule before it, for people; empty when neither was recorded.
  package var explanation: String {
    [rule, reason].compactMap(\.self).joined(separator: ": ")
  }

  /// The act when it was allowed, and the request when it was not.
  private var phrase: (done: String, attempted: String) {
    guard let known = kind.asKnown else { return (spelledOut, spelledOut) }
    switch known {
    case .brokerStarted: return ("broker started", "start the broker")
    case .brokerStopped: return ("broker stopped", "stop the broker")
    case .launch:
      let policy = detail[Fact.policy].map { " under policy \($0)" } ?? ""
      // Withheld entitlements explain later refusals.
      let withheld = detail[Fact.withheld].map { ", not given \($0)" } ?? ""
      return ("launched\(policy)\(withheld)", "launch\(policy)")
    case .attach: return ("attached to the broker", "attach to the broker")
    case .degraded:
      let layers = detail[Fact.layers].map { " of \($0)" } ?? ""
      return ("runs without the whole\(layers)", "run without the whole\(layers)")
    case .exit: return (ending, "end")
    case .suspend where how == "memory pressure":
      return ("was ended, since memory was short", "end the suspended app")
    case .suspend:
      let count = detail[Fact.processes].map { $0 == "1" ? "1 process" : "\($0) processes" }
      return ("was suspended\(facts(count))", "suspend the app")
    case .resume: return ("was resumed", "resume the app")
    case .pick: return ("\(chooser) picked \(subject)", "pick \(subject)")
    case .pickCancelled: return ("\(chooser) cancelled the picker", "cancel the picker")
    case .grant: return ("was granted \(subject)\(facts(access))", "grant \(subject)\(facts(access))")
    case .start:
      return ("started scope on \(subject)\(facts(nesting, slots))", "start scope on \(subject)\(facts(slots))")
    case .stop:
      return ("stopped scope on \(subject)\(facts(nesting, slots))", "stop scope on \(subject)\(facts(slots))")
    case .replaced: return replacement
    case .scopeEnded: return ("scope on \(subject) ended\(facts(slots))", "end scope on \(subject)")
    case .reference: return ("was given a reference to \(subject)", "give a reference to \(subject)")
    case .bookmarkCreated: return ("made a bookmark of \(subject)", "make a bookmark of \(subject)")
    case .bookmarkResolved: return found("bookmark")
    case .referenceResolved: return found(how == "query" ? "query's item" : "reference")
    case .revoke: return ("lost its grant of \(subject)", "revoke the grant of \(subject)")
    case .descriptor:
      return ("was handed \(subject) as a descriptor\(facts(access))", "hand over \(subject) as a descriptor")
    case .hostPath:
      return detail[Fact.known] == "false"
        ? ("asked where \(subject) lies, which is not known", "tell where \(subject) lies")
        : ("was told where \(subject) lies", "tell where \(subject) lies")
    case .passed:
      let other = detail["to"].map { " to \($0)" } ?? ""
      return ("passed its right to \(subject) on\(other)\(facts(access))", "pass its right to \(subject) on\(other)")
    case .outlived:
      let holders = facts(detail[Fact.holders])
      return (
        "a descriptor outlived the scope on \(subject)\(holders)", "keep \(subject) open beyond its scope\(holders)"
      )
    case .sharing:
      return detail[Fact.shown] == "true"
        ? ("shows its Documents in other apps' pickers", "show its Documents in other apps' pickers")
        : ("does not show its Documents in other apps' pickers any more", "stop showing its Documents")
    case .provider:
      switch how {
      case "enabled": return ("was enabled as a file provider", "be enabled as a file provider")
      case "disabled": return ("was disabled as a file provider", "be disabled as a file provider")
      case "sent": return ("was sent the changed content of \(subject)", "take the changed content of \(subject)")
      case "cancelled": return ("need not bring \(subject): it was cancelled", "bring \(subject)")
      case "created": return ("was sent \(subject), which is new", "take \(subject), which is new")
      case "moved": return ("was told of the new place of \(subject)", "be told of the new place of \(subject)")
      case "deleted": return ("was told that \(subject) is deleted", "be told that \(subject) is deleted")
      case "evicted": return ("had the content of \(subject) evicted", "have the content of \(subject) evicted")
      default: return ("brought the content of \(subject)", "bring the content of \(subject)")
      }
    case .coordinated:
      return how == "write"
        ? ("coordinated writing of \(subject)\(facts(user, waiting))", "coordinate writing of \(subject)\(facts(user))")
        : ("coordinated reading of \(subject)\(facts(user, waiting))", "coordinate reading of \(subject)\(facts(user))")
    case .coordinationEnded:
      return ("ended \(how == "write" ? "writing" : "reading") \(subject)\(facts(user))", "end an access")
    case .presenterSilent: return ("answered as the presenter of \(subject)", "answer as the presenter of \(subject)")
    case .version: return version
    case .related:
      return how == "taken away"
        ? ("lost \(subject) beside its document", "lose \(subject)")
        : ("was shown \(subject) beside its document\(facts(access))", "have \(subject) beside its document")
    case .identity: return identity
    case .appRemoved: return ("was removed", "remove the app")
    case .limit: return ("met its limit on \(excess)", "more \(excess)")
    case .refuse:
      let operation = detail[Fact.operation] ?? "a request"
      return ("refused: \(operation)", operation)
    case .protocolError: return ("sent a broken message", "take a broken message")
    case .logRotated: return ("the log goes on in another file", "go on with the log in another file")
    case .carried: return ("still has \(carriedThing)", "carry \(carriedThing) on")
    case .carriedAll:
      return (
        "all that is in force was carried into the log's new file\(facts(count(of: "entry", "entries")))", "carry it"
      )
    case .logRemoved:
      let through = detail[Fact.through].map { " up to entry \($0)" } ?? ""
      return ("the oldest of the log was removed\(through)\(facts(mostly))", "remove the oldest of the log\(through)")
    }
  }

  /// An earlier content of a document.
  private var version: (done: String, attempted: String) {
    switch how {
    case "read": ("read a version of \(subject)", "read a version of \(subject)")
    case "removed": ("removed a version of \(subject)", "remove a version of \(subject)")
    case "resolved": ("resolved a conflict about \(subject)", "resolve a conflict about \(subject)")
    default: ("kept a version of \(subject)\(facts(detail[Fact.cause]))", "keep a version of \(subject)")
    }
  }

  /// A program of the user's own, which is no app.
  private var user: String? { app == nil ? detail[Fact.caller].map { "by \($0)" } : nil }

  /// How long an access waited, if that was long enough to be felt.
  private var waiting: String? {
    guard let waited = detail[Fact.waited].flatMap({ Int64($0) }), waited >= 1_000_000 else { return nil }
    return "after \(waited / 1_000_000) ms"
  }

  /// An app saved a document, or the host did, or a lookup found another file in the document's place (`BMK-12`).
  private var replacement: (done: String, attempted: String) {
    switch how {
    case "sidecar": ("left \(subject) beside its database", "leave \(subject)")
    case "host": ("follows \(subject), which was replaced", "follow \(subject)")
    case nil where detail[Fact.matchedBy] != nil:
      ("follows \(subject) to the file that took its place", "follow \(subject) to another file")
    default:
      detail[Fact.inPlace] == "true"
        ? ("saved \(subject) in place", "save \(subject) in place") : ("replaced \(subject)", "replace \(subject)")
    }
  }

  private func found(_ what: String) -> (done: String, attempted: String) {
    let evidence = detail[Fact.matchedBy].map { "found by \($0)" }
    let stale = detail[Fact.stale] == "true" ? "stale" : nil
    let location = detail[Fact.location].map { "in the \($0)" }
    let taken = detail[Fact.taken].map { _ in "another file stands at its old place" }
    return ("resolved a \(what) to \(subject)\(facts(evidence, stale, location, taken))", "resolve a \(what)\(target)")
  }

  private var identity: (done: String, attempted: String) {
    let (here, there) = (detail[Fact.path] ?? "another place", detail[Fact.formerPath] ?? "another place")
    let done =
      switch how {
      case "moved": "lies at \(here) now, and lay at \(there)"
      case "copied": "was launched from \(here), and is the same as at \(there)"
      case "updated": "was changed at \(here)"
      case "new": "is another app than the one at \(there), and runs as a new one"
      case "replaced": "is another app than the one at \(there), and has taken its place"
      case "forgotten": "is not remembered any more: the next app that claims the identifier has it"
      default: "claims an identifier"
      }
    return (done, "run \(here), which is another app than the one at \(there)")
  }

  private var carriedThing: String {
    switch detail[Fact.carries] {
    case "launch": "its launch\(detail[Fact.policy].map { " under policy \($0)" } ?? "")"
    case "scope": "its scope on \(subject)\(facts(access))"
    default: "its grant of \(subject)\(facts(access))"
    }
  }

  private var mostly: String? {
    guard let app = detail[Fact.mostly], let count = detail[Fact.mostlyEntries], let all = detail[Fact.entries] else {
      return count(of: "entry", "entries")
    }
    return "\(all) entries, \(count) of \(app)"
  }

  private func count(of one: String, _ many: String) -> String? {
    detail[Fact.entries].map { $0 == "1" ? "1 \(one)" : "\($0) \(many)" }
  }

  /// The document's name, or another fact of the event about it.
  private var subject: String {
    document?.name ?? grant.map { "grant \($0)" } ?? "a document"
  }

  /// For an event that may have been refused before its document was known.
  private var target: String {
    document == nil && grant == nil ? "" : " to \(subject)"
  }

  /// A limit with the used part of it, in the words of people.
  private var excess: String {
    let limit = detail[Fact.exceeded] ?? "limit"
    let (name, unit) =
      switch limit {
      case "memory": ("memory", " bytes")
      case "cpuTime": ("processor time", " s")
      case "wallTime": ("time", " s")
      case "container": ("space in its container", " bytes")
      case "containerFiles": ("files in its container", "")
      case "reserve": ("the room that is left on its container's disk", "")
      default: (limit, "")
      }
    if limit == "reserve" { return name }
    guard let value = detail[Fact.value].flatMap({ Int($0) }), let ceiling = detail[Fact.ceiling].flatMap({ Int($0) })
    else { return name }
    if unit == " bytes" { return "\(name) (\(mebibytes(value)) of \(mebibytes(ceiling)) MiB)" }
    return "\(name) (\(value)\(unit) of \(ceiling)\(unit))"
  }

  /// With one digit behind the point where there is something.
  private func mebibytes(_ bytes: Int) -> String {
    let tenths = bytes % (1 << 20) * 10 / (1 << 20)
    return "\(bytes >> 20)\(tenths == 0 ? "" : ".\(tenths)")"
  }

  private var chooser: String { how == "scripted" ? "script" : "user" }

  private var slots: String? {
    guard let used = detail[Fact.used], let limit = detail[Fact.limit] else { return nil }
    return "\(used) of \(limit) slots"
  }

  private var nesting: String? {
    guard let count = detail[Fact.count].flatMap({ Int($0) }), count > (kind == .stop ? 0 : 1) else { return nil }
    return kind == .stop ? "\(count) more to stop" : "started \(count) times"
  }

  private var access: String? {
    switch detail[Fact.access] {
    case "readOnly": return "read only"
    case "readWrite": return "read and write"
    case let other: return other
    }
  }

  private var ending: String {
    if let signal = detail[Fact.signal], signal != "0" {
      return "was ended by \(Int(signal).flatMap { signalNames[$0] } ?? "signal \(signal)")"
    }
    return detail[Fact.status].map { "exited with status \($0)" }
      ?? (how == Self.recovery ? "was found to have ended" : "exited")
  }

  /// The facts that there are, in brackets; nothing when there are none.
  private func facts(_ facts: String?...) -> String {
    let known = facts.compactMap(\.self)
    return known.isEmpty ? "" : " (\(known.joined(separator: ", ")))"
  }

  /// A kind of another version, in words: `scopeMoved` becomes `scope moved`, with the document if there is one.
  private var spelledOut: String {
    let words = kind.rawValue.reduce(into: "") { text, character in
      text += character.isUppercase ? " \(character.lowercased())" : String(character)
    }
    return document.map { "\(words) \($0.name)" } ?? words
  }
}

/// Signals that commonly end programs, by the numbers that they have on x86 and ARM.
private let signalNames: [Int: String] = [
  1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
  9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
  24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
]
