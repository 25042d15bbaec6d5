internal import Foundation
internal import Paths

/// How exposed an app leaves its user and the machine, from 0 to 100: a sum of named weights, each with its reason and its remedy.
/// Less is better.
///
/// Each verb of the vocabulary has a weight, and contributes the part of it that its extent reaches. It contributes nothing if it
/// is impossible, a quarter if the user is asked first, half if only an app that asks has it, and all if there is no limit. An
/// amount contributes something in between, by its order of magnitude. Contributions only grow with extents, so that an app under a
/// stricter policy never scores worse. Abilities of every app (the container itself, requests for documents) weigh nothing.
package struct Exposure: Equatable, Sendable {
  package struct Part: Equatable, Sendable {
    package let verb: Ability.Verb
    /// Tenths of a point.
    package let tenths: Int
    /// The ability of that verb that reaches the most: the reason for the points.
    package let ability: Ability
    /// The most that it could be, in points.
    package let weight: Int
    /// The change that would lower it; `nil` if no change can, or none is needed.
    package let remedy: String?
  }

  /// One for each verb that weighs something, the heaviest first.
  package let parts: [Part]

  /// The sum, in tenths of a point, 0 to 1000.
  package var tenths: Int { parts.reduce(0) { $0 + $1.tenths } }

  package init(_ explanation: Explanation) {
    let entries = Dictionary(grouping: explanation.entries, by: \.ability.verb)
    parts = Ability.Verb.allCases.compactMap { verb -> Part? in
      guard verb.weight > 0 else { return nil }
      let entries = entries[verb] ?? []
      let tenths = Int((Double(verb.weight) * 10 * verb.share(of: entries)).rounded())
      return Part(
        verb: verb, tenths: tenths, ability: Self.heaviest(entries, of: verb), weight: verb.weight,
        remedy: tenths > 0 ? verb.remedy : nil)
    }
    .enumerated().sorted { ($1.element.tenths, $0.offset) < ($0.element.tenths, $1.offset) }.map(\.element)
  }

  /// Of several that reach as far, the first.
  private static func heaviest(_ entries: [Explanation.Entry], of verb: Ability.Verb) -> Ability {
    let shares = entries.map { verb.share(of: [$0]) }
    let most = shares.max() ?? 0
    return shares.firstIndex(of: most).map { entries[$0].ability } ?? Ability(verb)
  }

  package subscript(_ verb: Ability.Verb) -> Part? { parts.first { $0.verb == verb } }

  /// The changes that would lower the score, by how many tenths, the most first.
  package var remedies: [(remedy: String, tenths: Int)] {
    var sums: [(remedy: String, tenths: Int)] = []
    for part in parts {
      guard let remedy = part.remedy else { continue }
      if let index = sums.firstIndex(where: { $0.remedy == remedy }) {
        sums[index].tenths += part.tenths
      } else {
        sums.append((remedy, part.tenths))
      }
    }
    return sums.enumerated().sorted { ($1.element.tenths, $0.offset) < ($0.element.tenths, $1.offset) }.map(\.element)
  }

  /// The score in one word.
  package enum Level: String, Sendable, CaseIterable { case tight, moderate, exposed, open }

  package var level: Level {
    switch tenths {
    case ..<350: .tight
    case ..<550: .moderate
    case ..<750: .exposed
    default: .open
    }
  }

  /// `34.5`.
  package static func text(_ tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)" }
}

extension Ability.Verb {
  /// Points of the whole ability. They make 100 together; a test sees to that.
  package var weight: Int {
    switch self {
    // Data that leaves the machine cannot be taken back, and services on it were not made for an app's eyes.
    case .connectOut: 12
    case .hostLoopback: 7
    case .listenIn: 4
    case .ownLoopback: 1
    // Files that no user picked, and programs that no one has checked.
    case .readPath: 7
    case .runOwn: 6
    case .runPicked: 4
    // Rights that reach far, last, travel or tell more than the document.
    case .changePicked, .passGrants: 4
    case .pickFolders, .outliveScope: 3
    case .pickTypes, .useGrants, .keepGrants, .learnHostPaths: 2
    case .pickDocuments, .makeBookmarks, .useBookmarks, .documentBookmarks, .implicitBookmarks, .showDocuments,
      .followReplaced, .startDocuments, .startPicked, .keepReferences:
      1
    case .seeVariable: 4
    // The cost of a faulty app to all other programs.
    case .memory: 3
    case .processes: 2
    case .writeContainer, .containerFiles, .largestFile, .openFiles, .processorTime, .wallTime, .processors,
      .overshoot:
      1
    // Second barriers, and the chance to notice a breach.
    case .unrecorded, .singleWall: 3
    case .loseRecords, .systemCalls, .runWithout, .shareKeyring: 1
    case .hostSockets, .writePath, .givenVariable, .seeUser, .seeProcesses, .coordinate, .gainPrivileges: 0
    }
  }

  /// The change that would lower it, in the words of a policy or an app.
  package var remedy: String? {
    switch self {
    case .connectOut, .listenIn, .hostLoopback, .ownLoopback: "[network] access = \"none\""
    case .readPath: "[system] read_only: fewer folders, or folders further in"
    case .writeContainer: "[limits] container: less"
    case .containerFiles: "[limits] container_files: fewer"
    case .largestFile: "[limits] file_size"
    case .runOwn: "[files] execute = false"
    case .pickDocuments: "[picker] modes without \"open\""
    case .pickTypes: "[picker] types: those that it is for"
    case .pickFolders: "[picker] folders = false"
    case .changePicked: "[grants] access = \"read-only\""
    case .useGrants: "[grants] lifetime = a time"
    case .makeBookmarks: "[bookmarks] create = false"
    case .useBookmarks: "[bookmarks] lifetime = a time"
    case .documentBookmarks: "[bookmarks] document_scoped = false"
    case .implicitBookmarks: "[bookmarks] implicit = false"
    case .loseRecords: "[audit] sync = \"full\""
    case .startDocuments: "[scopes] limit: fewer"
    case .startPicked: "[scopes] start_picked = false"
    case .keepGrants: "[grants] persisted = a number, or lifetime = \"launch\""
    case .keepReferences: "[scopes] references = false"
    case .followReplaced: "[bookmarks] replaced = \"refuse\""
    case .passGrants: "[grants] pass = \"none\""
    case .runPicked: "[grants] execute = \"none\""
    case .learnHostPaths: "[grants] host_paths = false"
    case .outliveScope: "[scopes] outlived = \"end\""
    case .showDocuments: "an Info.plist that does not share its Documents"
    case .seeVariable: "[environment] pass: fewer, and names rather than patterns"
    case .processes: "[limits] processes: fewer"
    case .openFiles: "[limits] open_files"
    case .memory: "[limits] memory: less"
    case .processorTime: "[limits] cpu_time"
    case .wallTime: "[limits] wall_time"
    case .processors: "[limits] processors"
    case .overshoot: "[limits] cgroup = true"
    case .systemCalls: "[seccomp] profile"
    case .singleWall: "[landlock] files = true"
    case .unrecorded: "[audit] observe = true"
    case .runWithout: "[require] layers"
    case .shareKeyring: "a session where keyctl(2) is allowed"
    case .hostSockets, .writePath, .givenVariable, .seeUser, .seeProcesses, .coordinate, .gainPrivileges: nil
    }
  }

  /// The part of its weight that the app's entries reach, 0 to 1. It must not fall when an app has more.
  func share(of entries: [Explanation.Entry]) -> Double {
    let possible = entries.filter(\.extent.isPossible)
    switch self {
    case .readPath:
      // The system's own folders are the same for everybody. By the broadest, not by how many: two folders in one are less
      // than the one.
      return possible.filter { !$0.isByDesign }.map { Self.breadth(ofPath: $0.ability.subject) }.max() ?? 0
    case .pickTypes:
      // Not by how many: one type has narrower ones in it without end.
      return possible.isEmpty ? 0 : possible.contains { $0.ability.subject == "*" } ? 1 : 0.5
    case .seeVariable:
      let names = min(0.5, 0.05 * Double(possible.count { !$0.ability.subject.hasSuffix("*") }))
      return possible.contains { $0.ability.subject.hasSuffix("*") } ? max(0.6, names) : names
    case .runWithout:
      return entries.isEmpty ? 0 : Double(possible.count) / Double(entries.count)
    default: return possible.map { share(of: $0.extent) }.max() ?? 0
    }
  }

  private func share(of extent: Extent) -> Double {
    switch extent {
    case .no: return 0
    case .ifAllowed: return 0.25
    case .ifAsked: return 0.5
    case .yes: return 1
    case .upTo(let amount):
      guard let (low, high) = range else { return 0.8 }
      // Orders of magnitude; a limit, however high, is better than none.
      let place = (log2(Double(max(1, amount))) - log2(low)) / (log2(high) - log2(low))
      return 0.8 * min(1, max(0, place))
    }
  }

  /// An amount that weighs nothing, and one that weighs as much as an amount can.
  private var range: (Double, Double)? {
    let mebibyte = Double(1 << 20)
    switch self {
    case .startDocuments: return (1, 4096)
    case .keepGrants: return (8, 10_000)
    case .processes: return (8, 4096)
    case .openFiles: return (64, 1_048_576)
    case .containerFiles: return (100, 10_000_000)
    case .largestFile, .writeContainer: return (mebibyte, mebibyte * mebibyte)
    case .memory: return (16 * mebibyte, 65536 * mebibyte)
    case .useGrants, .useBookmarks: return (3600, 31_536_000)
    case .processorTime: return (10, 86_400)
    case .wallTime: return (60, 604_800)
    case .processors: return (100, 64_000)
    default: return nil
    }
  }

  /// Folders of people and of settings weigh more than others, and a folder more than its contents.
  private static func breadth(ofPath path: String) -> Double {
    let depth = path.pathNames.count
    if ["/home", "/root", "/etc", "/var"].contains(where: path.lies(below:)) { return depth <= 3 ? 0.9 : 0.8 }
    return depth <= 1 ? 1 : depth == 2 ? 0.6 : 0.4
  }
}

extension Explanation.Entry {
  /// Whether no policy and no app had a part in it.
  package var isByDesign: Bool {
    decisions.allSatisfy { if case .ambit = $0 { true } else { false } }
  }
}
