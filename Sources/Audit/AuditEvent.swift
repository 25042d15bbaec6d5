package import Foundation
internal import Paths

/// One decision of the broker, or one thing that happened to an app because of it: the app, the act, the way,
/// the rule and the result.
package struct AuditEvent: Equatable, Sendable {
  /// The request or the event. A string, not a closed list: a log may hold kinds that this version has no name for, and they are
  /// read, shown and filtered like the others.
  package struct Kind: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  package enum Result: String, CaseIterable, Codable, Sendable {
    /// It was permitted and took effect.
    case allowed
    /// A rule forbade it; nothing took effect.
    case refused
    /// It was permitted and could not be done; nothing took effect.
    case failed
  }

  /// A document as it was at the time of the event: the path is history, the identity is the fact that it was known by.
  package struct Document: Equatable, Sendable {
    /// Where it was then, on the host.
    package var path: String
    /// The file system that it was on, as the broker names file systems.
    package var volume: String?
    package var inode: UInt64?
    /// When the file was made, in whole microseconds.
    package var birth: Date?

    package init(path: String, volume: String? = nil, inode: UInt64? = nil, birth: Date? = nil) {
      self.path = path
      self.volume = volume
      self.inode = inode
      self.birth = birth.map { Timestamp($0).date }
    }

    /// The path's last component.
    package var name: String {
      path.lastPathName
    }
  }

  /// Place in the log, from 1, without gaps. The log assigns it; 0 before that.
  package var sequence: Int64
  /// When it happened, in whole microseconds.
  package var time: Date
  package var kind: Kind
  package var result: Result
  /// Bundle identifier of the app.
  package var app: String?
  /// One launch of the app.
  package var instance: String?
  /// The app's process id on the host.
  package var pid: Int32?
  package var grant: String?
  package var document: Document?
  /// The way: `user`, `scripted`, `bookmark`, `reference`, …
  package var how: String?
  /// The rule that decided, by its name in the catalogue, for example `LIM-1`.
  package var rule: String?
  /// Why, as a sentence for people.
  package var reason: String?
  /// Further facts, by the names of `AuditEvent.Fact`.
  package var detail: [String: String]

  package init(
    _ kind: Kind, _ result: Result = .allowed, time: Date = Date(), app: String? = nil, instance: String? = nil,
    pid: Int32? = nil, grant: String? = nil, document: Document? = nil, how: String? = nil, rule: String? = nil,
    reason: String? = nil, detail: [String: String] = [:], sequence: Int64 = 0
  ) {
    self.sequence = sequence
    self.time = Timestamp(time).date
    self.kind = kind
    self.result = result
    self.app = app
    self.instance = instance
    self.pid = pid
    self.grant = grant
    self.document = document
    self.how = how
    self.rule = rule
    self.reason = reason
    self.detail = detail
  }
}

extension AuditEvent.Kind {
  /// The kinds that this version writes.
  package enum Known: String, CaseIterable, Sendable {
    case brokerStarted
    case brokerStopped
    case launch
    case attach
    /// A launch in which a layer holds less than the policy requires, or than the plan asks of the kernel.
    case degraded
    /// An app claims an identifier that belongs to another app, or to the same one in another form. `how` has the outcome: `moved`,
    /// `copied`, `updated`, `new`, `replaced`, `forgotten`.
    case identity
    case exit
    /// The user stopped all processes of an app, or let them go on.
    case suspend
    case resume
    case pick
    case pickCancelled
    case grant
    case start
    case stop
    /// Another file has come into a document's place, and is the document from then on.
    case replaced
    case scopeEnded
    case reference
    case bookmarkCreated
    case bookmarkResolved
    case referenceResolved
    /// A descriptor of the document itself was handed over.
    case descriptor
    /// An app asked where on the host a document lies.
    case hostPath
    /// An app passed a right of its own on to another one.
    case passed
    case revoke
    /// An app still has something open of a document that was taken away from it.
    case outlived
    /// Other apps' pickers show an app's Documents from now on, or do not any more (`SBX-6`, `SBX-7`).
    case sharing
    /// A file provider was switched on or off, brought a content, got a changed one, or a content was taken away: `how` is `enabled`,
    /// `disabled`, `brought`, `sent` or `evicted`.
    case provider
    /// The user removed an app.
    case appRemoved
    /// Coordinated access to items was granted, or refused (`AUD-4`).
    case coordinated
    /// A granted access is over.
    case coordinationEnded
    /// A presenter did not answer in time (`COO-8`).
    case presenterSilent
    /// A content of a document was kept, read, forgotten, or a conflict resolved.
    case version
    /// A file appears beside a document for its presenter, or does not any more (`COO-25`): `how` is `shown` or `taken away`.
    case related
    case limit
    case refuse
    case protocolError
    /// The log goes on in another file, with this entry. Entries for all that is in force follow (``carried``).
    case logRotated
    /// A launch, a grant or a scope was in force already when a file of the log began. Nothing has happened.
    case carried
    /// All of these are written. Without the entries before them, the log says the same about access that is in force.
    case carriedAll
    /// The oldest entries are removed, as the owner's retention rule says.
    case logRemoved
  }

  package init(_ known: Known) { self.init(rawValue: known.rawValue) }

  /// The kind as one that this version writes; `nil`: it comes from another version.
  package var asKnown: Known? { Known(rawValue: rawValue) }

  /// The kinds that this version writes.
  package static let known = Known.allCases.map(Self.init)

  package static let brokerStarted = Self(.brokerStarted)
  package static let brokerStopped = Self(.brokerStopped)
  package static let launch = Self(.launch)
  package static let attach = Self(.attach)
  package static let degraded = Self(.degraded)
  package static let identity = Self(.identity)
  package static let exit = Self(.exit)
  package static let suspend = Self(.suspend)
  package static let resume = Self(.resume)
  package static let pick = Self(.pick)
  package static let pickCancelled = Self(.pickCancelled)
  package static let grant = Self(.grant)
  package static let start = Self(.start)
  package static let stop = Self(.stop)
  package static let replaced = Self(.replaced)
  package static let scopeEnded = Self(.scopeEnded)
  package static let reference = Self(.reference)
  package static let bookmarkCreated = Self(.bookmarkCreated)
  package static let bookmarkResolved = Self(.bookmarkResolved)
  package static let referenceResolved = Self(.referenceResolved)
  package static let descriptor = Self(.descriptor)
  package static let hostPath = Self(.hostPath)
  package static let passed = Self(.passed)
  package static let revoke = Self(.revoke)
  package static let outlived = Self(.outlived)
  package static let sharing = Self(.sharing)
  package static let provider = Self(.provider)
  package static let appRemoved = Self(.appRemoved)
  package static let coordinated = Self(.coordinated)
  package static let coordinationEnded = Self(.coordinationEnded)
  package static let presenterSilent = Self(.presenterSilent)
  package static let version = Self(.version)
  package static let related = Self(.related)
  package static let limit = Self(.limit)
  package static let refuse = Self(.refuse)
  package static let protocolError = Self(.protocolError)
  package static let logRotated = Self(.logRotated)
  package static let carried = Self(.carried)
  package static let carriedAll = Self(.carriedAll)
  package static let logRemoved = Self(.logRemoved)
}

extension AuditEvent {
  /// Names of facts in `detail` that reports understand. Others may be recorded; they are shown as they are.
  package enum Fact {
    /// Scope slots that the process uses after the event, and how many each process has.
    package static let used = "used"
    package static let limit = "limit"
    /// The process's starts of the document that are not balanced yet, after the event.
    package static let count = "count"
    /// The identifier of a kept version of a document, and the reason for which it was kept.
    package static let version = "version"
    package static let cause = "cause"
    /// The caller in the app, by its own account.
    package static let caller = "caller"
    /// The kind of document of a grant: `file`, `folder` or `package`.
    package static let documentKind = "kind"
    /// The app's request to the picker, when `pick` is the kind and the user was not asked: `open`.
    package static let mode = "mode"
    /// The app's own action in its browser, when `pick` is the kind.
    package static let action = "action"
    /// How the user's decision that a grant goes back to came about, where that is not how the grant itself did.
    package static let origin = "origin"
    /// The event that ends a grant at the latest, in words.
    package static let until = "until"
    /// The grant that one was made from.
    package static let parent = "parent"
    /// `true` when the app had the grant, or the reference, already.
    package static let kept = "kept"
    /// The app's name for people, when `launch` or `attach` is the kind.
    package static let name = "name"
    /// Which process of the app a scope is of, as its sandbox numbers processes.
    package static let process = "process"
    /// When a scope was started that the app never stopped; when `resume` is the kind, when the app was suspended.
    package static let since = "since"
    /// How many processes were stopped, when `suspend` is the kind.
    package static let processes = "processes"
    /// Bytes.
    package static let memory = "memory"
    /// The holders of a document, and their uses of it, when `outlived` is the kind.
    package static let holders = "holders"
    /// Where an app lies on the host, and the digest of its manifest, its entitlements and its program; when `identity` is the kind,
    /// those of the app that is launched.
    package static let path = "path"
    package static let digest = "digest"
    /// Those of the app that the identifier belonged to, when `identity` is the kind.
    package static let formerPath = "formerPath"
    package static let formerDigest = "formerDigest"
    /// The interpreter that runs a script, which is the app.
    package static let interpreter = "interpreter"
    /// Name of the policy that a launch is under.
    package static let policy = "policy"
    /// The content of that policy, a line a field, and the entitlements of the app that it goes by: for the question how another
    /// policy would have decided.
    package static let settings = "settings"
    package static let entitlements = "entitlements"
    /// Entitlements that the app declares and was not given, in the same words.
    package static let withheld = "withheld"
    /// The user's answers, with this launch, about the access that the app's entitlements open: `network=yes by=user`.
    package static let answered = "answered"
    /// When a bookmark was made, when `bookmarkResolved` is the kind.
    package static let made = "made"
    /// The seccomp profile that holds besides Ambit's own; `standard`: none.
    package static let seccomp = "seccomp"
    /// The layers that hold in part or not at all, when `degraded` is the kind, and those of them that the user allowed to.
    /// How far each goes is the fact `layer.NAME`.
    package static let layers = "layers"
    package static let allowed = "allowed"
    /// `false` when `hostPath` is the kind and no path leads to the document.
    package static let known = "known"
    /// How an app ended: its exit status, or the number of the signal.
    package static let status = "status"
    package static let signal = "signal"
    /// `readOnly` or `readWrite`.
    package static let access = "access"
    /// Which evidence found a document: `identity` or `path`; and `true` if something about it had changed.
    package static let matchedBy = "matchedBy"
    /// The number of a coordinated access, and its items with their uses, one a line.
    package static let coordination = "coordination"
    package static let uses = "uses"
    package static let purpose = "purpose"
    /// Nanoseconds that it waited.
    package static let waited = "waited"
    /// Nanoseconds that it was under way, when `coordinationEnded` is the kind.
    package static let held = "held"
    /// `true`: presenters are asked, and nothing is held.
    package static let prepares = "prepares"
    /// The presenters that were asked for it, and the questions.
    package static let asked = "asked"
    /// Others that it went before (`COO-30`).
    package static let before = "before"
    /// The facts by which it was decided, and the moves that were told in it: JSON, as `io.ambit.Inspector` describes them.
    package static let arbitration = "arbitration"
    package static let moves = "moves"
    /// Those that asked a presenter.
    package static let asker = "asker"
    package static let stale = "stale"
    /// The numbers of the files before and after, when `replaced` is the kind.
    package static let oldInode = "oldInode"
    package static let newInode = "newInode"
    /// When those files were made, as RFC 3339 writes it; absent where their file system does not say.
    package static let oldBirth = "oldBirth"
    package static let newBirth = "newBirth"
    /// `true` when `replaced` is the kind and the document's own file was written, for a program that waited to open it.
    package static let inPlace = "inPlace"
    /// `trash`, when the document lies there.
    package static let location = "location"
    /// Where the document was, when another file stands there by now (`BMK-13`).
    package static let taken = "taken"
    /// The apps that may resolve a bookmark: `app`, `implicit`, `document`.
    package static let scope = "scope"
    /// How many events a broker that died had not moved to the database, when `brokerStarted` is the kind.
    package static let takenOver = "takenOver"
    /// The part of the log that the broker found gone, or found in excess, when `brokerStarted` is the kind: in words.
    package static let doubt = "doubt"
    /// The kernel's name for the time since the machine was started, when `brokerStarted` is the kind: all that ran
    /// under another one is over.
    package static let boot = "boot"
    /// Which grants' store the log goes with, when `brokerStarted` or `brokerStopped` is the kind; for Ambit itself.
    package static let store = "store"
    /// Launches that ran under the previous broker and whose end the starting broker has still to hear of: they may still run.
    package static let awaited = "awaited"
    /// The limit that an app went beyond, its use and its allowance: bytes, seconds or files. When `limit` is the kind.
    package static let exceeded = "exceeded"
    package static let value = "value"
    package static let ceiling = "ceiling"
    /// Whether its Documents are shown, when `sharing` is the kind.
    package static let shown = "shown"
    /// The request, when `refuse` is the kind.
    package static let operation = "operation"
    /// How many more like it an entry stands for, and when the first and the last of them all were, as RFC 3339 writes it. A
    /// launcher counts the refusals of its sandbox without these times.
    package static let suppressed = "suppressed"
    package static let first = "first"
    package static let last = "last"
    /// The thing that is carried into another file of the log: `launch`, `grant` or `scope`.
    package static let carries = "carries"
    /// The number of the log's file that begins; of the last entry before it, or of the last one that is removed.
    package static let segment = "segment"
    package static let through = "through"
    /// How many entries were carried, or are removed.
    package static let entries = "entries"
    /// The app that most of the removed entries are about, and how many of them.
    package static let mostly = "mostly"
    package static let mostlyEntries = "mostlyEntries"
  }
}

extension AuditEvent {
  /// `how`, of `revoke` and `exit`: a starting broker found this of one that died, and wrote it down.
  package static let recovery = "recovery"
}

extension AuditEvent {
  /// `how`, when `scopeEnded` is the kind: the cause of the end of a scope that the app did not stop.
  package enum ScopeEnd {
    /// The process that had started it ended.
    package static let process = "processEnded"
    /// The app ended.
    package static let app = "appEnded"
    /// The grant ended.
    package static let withdrawn = "withdrawn"
    /// The broker ended, or an app was taken over from one that had died.
    package static let broker = "brokerEnded"
  }
}
