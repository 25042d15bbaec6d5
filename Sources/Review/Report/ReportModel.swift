package import Foundation

/// The whole content of a report, as a value. `ambit audit report` writes it as a page, and as JSON with `--format json`.
///
/// Its size is bounded by `ReportLimits`, however long the log was; omitted and combined items are counted in their place. Texts
/// are as apps, files and the log gave them. Moments are RFC 3339 text in JSON.
package struct ReportModel: Equatable, Sendable, Codable {
  package var source: Source
  package var totals: Totals
  package var apps: [App]
  /// Apps beyond the limit: their decisions count in `totals`.
  package var appsLeftOut: Int
  package var places: [Place]
  /// How documents became `places`.
  package var folding: Folding
  package var reaches: [Reach]
  /// Launches that have a figure, the oldest first.
  package var launches: [Launch]
  /// Launches without a figure.
  package var launchesLeftOut: Int
  package var denials: [Denial]
  /// Denials for reasons beyond the limit.
  package var denialsLeftOut: Int
  package var leaks: [Leak]
  package var leaksLeftOut: Int
  package var policies: [PolicyWords]
  package var policiesLeftOut: Int

  /// The source of the report, and the requested part of it.
  package struct Source: Equatable, Sendable, Codable {
    package var log: String
    /// Entries that the report tells of, and all that were read.
    package var entries: Int64
    package var read: Int64
    package var first: Date?
    package var last: Date?
    package var app: String?
    package var since: Date?
    package var until: Date?
    package var integrity: Integrity
    /// The log's first entries are not there: statements about the time before them are inferred.
    package var isWhole: Bool
  }

  /// The result of a check of the whole log.
  package struct Integrity: Equatable, Sendable, Codable {
    package enum Verdict: String, Equatable, Sendable, Codable {
      case verified, damaged, unchecked
    }

    package var verdict: Verdict
    /// In words, for people.
    package var detail: String

    package init(_ verdict: Verdict, _ detail: String) {
      self.verdict = verdict
      self.detail = detail
    }
  }

  package struct Totals: Equatable, Sendable, Codable {
    package var apps = 0
    package var launches = 0
    package var documents = 0
    /// Starts of scopes that were allowed.
    package var starts = 0
    package var refused = 0
    package var failed = 0
    package var leaks = 0
  }

  package struct App: Equatable, Sendable, Codable {
    package var id: String
    /// Its name for people.
    package var name: String?
    package var policies: [String]
    package var launches: Int
    package var starts: Int
    package var refused: Int
    package var leaks: Int
  }

  /// A document, or a folder that stands for all documents below it.
  package struct Place: Equatable, Sendable, Codable {
    /// Where it was last seen.
    package var path: String
    /// Documents that it stands for; a folder's are counted once each.
    package var documents: Int
    package var isFolded: Bool
  }

  package struct Folding: Equatable, Sendable, Codable {
    package var documents: Int
    package var most: Int
    package var isFolded: Bool { documents > most }
  }

  /// The relation of one app to one place. Both are indices of this model's.
  package struct Reach: Equatable, Sendable, Codable {
    package enum Outcome: String, Equatable, Sendable, Codable {
      /// A scope was started, or a descriptor handed over.
      case used
      /// It had the right, and made no use of it.
      case granted
      /// It asked, and got nothing.
      case refused
    }

    package var app: Int
    package var place: Int
    package var outcome: Outcome
    /// The widest right: `readOnly`, `readWrite`; nil where the log does not say.
    package var access: RecordedAccess?
    /// The origins of its grants, sorted: `user`, `bookmark`, …
    package var how: [String]
    package var documents: Int
    package var starts: Int
    package var refused: Int
    package var leaks: Int
    package var first: Date
    package var last: Date
  }

  /// One launch with its scopes and their times.
  package struct Launch: Equatable, Sendable, Codable {
    package var id: String
    package var app: String
    package var name: String?
    package var policy: String?
    /// The app's path on the host, and the digest of its files; nil where the log does not say.
    package var path: String?
    package var digest: String?
    /// Slots of each process; nil where the log does not say.
    package var limit: Int?
    package var since: Date
    /// Nil when it still ran at the end of the log.
    package var until: Date?
    /// False where the log does not say when it ended, and `until` is the latest that can be.
    package var isEndKnown: Bool
    package var ending: String
    /// Its started documents, one lane each, the most used first. The last lane combines those beyond the limit.
    package var lanes: [Lane]
    /// Slots in use of the process that used most, from each moment on.
    package var inUse: [Level]
    package var mostInUse: Int
    package var leaks: Int
    package var refusals: [Mark]
    package var refusalsLeftOut: Int
  }

  /// The scopes of one document in one launch.
  package struct Lane: Equatable, Sendable, Codable {
    /// Nil for all documents beyond the limit.
    package var path: String?
    package var documents: Int
    package var access: RecordedAccess?
    package var how: [String]
    /// The last caller in the app, as the app names it.
    package var caller: String?
    package var starts: Int
    /// How long they were open, together; where the log does not say when one ended, as long as is certain.
    package var seconds: Double
    package var leaks: Int
    /// How the last one ended, in words.
    package var ending: String
    package var bars: [Bar]
  }

  /// From a start to its end; those that lie close together in a long launch are one.
  package struct Bar: Equatable, Sendable, Codable {
    package var since: Date
    package var until: Date?
    /// Where the log does not say when it ended, and `until` is the latest that can be: when it was open for certain.
    package var certain: Date?
    package var isLeak: Bool
  }

  package struct Level: Equatable, Sendable, Codable {
    package var time: Date
    package var used: Int
  }

  package struct Mark: Equatable, Sendable, Codable {
    package var time: Date
    package var rule: String?
    package var what: String
    package var sequence: Int64
  }

  /// Decisions against an app that had the same reason.
  package struct Denial: Equatable, Sendable, Codable {
    package var rule: String?
    /// The request, in words.
    package var what: String
    /// The rule in words.
    package var why: String
    /// The remedy.
    package var remedy: String
    package var isFailure: Bool
    package var count: Int
    package var apps: [String]
    package var first: Date
    package var last: Date
    /// The newest one's own words, and its number.
    package var example: String
    package var sequence: Int64
  }

  package struct Leak: Equatable, Sendable, Codable {
    package enum Kind: String, Equatable, Sendable, Codable {
      /// A scope that the app started and never stopped.
      case unstopped
      /// Something of a document stayed open beyond its scope.
      case outlived
    }

    package var kind: Kind
    package var app: String
    package var launch: String?
    package var path: String
    package var since: Date
    package var until: Date?
    package var detail: String
    package var sequence: Int64
  }

  /// A policy that launches went by, in words.
  package struct PolicyWords: Equatable, Sendable, Codable {
    package var name: String
    /// Its text at that time, as the launch's entry has it; nil where the log has its name alone.
    package var text: String?
    /// The latest launch that went by it, of those that are meant here, and its entry.
    package var launch: String?
    package var entry: Int64?
    /// The apps that were last launched under it.
    package var apps: [String]
    /// Those of them of which other launches went by another one.
    package var varied: [String]
    package var sections: [Section]
    /// Why there are none, where there are none.
    package var note: String?

    package struct Section: Equatable, Sendable, Codable {
      package var title: String
      package var abilities: [Ability]

      package init(title: String, abilities: [Ability]) { (self.title, self.abilities) = (title, abilities) }
    }

    package struct Ability: Equatable, Sendable, Codable {
      /// The end of a sentence that begins with “It can”.
      package var phrase: String
      package var extent: String
      /// The decision behind it.
      package var by: String
      /// Nothing of it is possible.
      package var isClosed: Bool

      package init(phrase: String, extent: String, by: String, isClosed: Bool) {
        (self.phrase, self.extent, self.by, self.isClosed) = (phrase, extent, by, isClosed)
      }
    }
  }
}

/// How much a report shows, so that a page stays one that a person can look at and a browser can load.
package struct ReportLimits: Equatable, Sendable {
  package var apps = 24
  package var places = 40
  package var launches = 12
  package var lanes = 16
  package var marks = 200
  /// Bars of a lane, and steps of the line of scopes in use.
  package var bars = 256
  package var levels = 1000
  package var denials = 30
  package var leaks = 200
  package var policies = 12
  /// Unicode scalars of a text of the log's; more is cut in the middle, and says so.
  package var text = 400

  package init() {}
}
