internal import Paths

/// Something that an app may be able to do: a verb of a closed vocabulary, and its object.
///
/// One vocabulary for declarations, for the kernel's enforcement and for past events, so that the three can be compared. A policy's
/// line is no ability: two lines can open the same thing, and one line can open several.
package struct Ability: Hashable, Sendable {
  package let verb: Verb
  private let key: PathKey

  package init(_ verb: Verb, _ subject: String = "") {
    self.verb = verb
    key = PathKey(subject)
  }

  /// A path, a variable or a pattern of such, a layer; empty where the verb says it all.
  package var subject: String { key.text }

  /// Whether this ability includes the other one: a folder includes its contents, `LC_*` has `LC_ALL`.
  package func covers(_ other: Ability) -> Bool {
    guard verb == other.verb else { return false }
    if key == other.key { return true }
    switch verb.subjects {
    case .paths: return other.subject.lies(below: subject)
    case .variables: return subject.hasSuffix("*") && other.subject.hasPrefix(subject.dropLast())
    case .extensions: return subject == "*" || other.subject.hasSuffix("." + subject)
    case .none, .names: return false
    }
  }
}

extension Ability {
  /// The headings under which people read about abilities, in their order.
  package enum Group: String, CaseIterable, Sendable, Codable {
    case network, files, documents, host, resources, kernel

    package var title: String {
      switch self {
      case .network: "Network"
      case .files: "Files and programs"
      case .documents: "Documents that the user picks"
      case .host: "The host and its user"
      case .resources: "What it may use up"
      case .kernel: "What holds it"
      }
    }
  }

  /// The kind of a verb's object.
  package enum Subjects: Sendable {
    case none
    /// Absolute paths; a folder has all that lies in it.
    case paths
    /// Names of environment variables; one ending in `*` has all that begin so.
    case variables
    /// Extensions of names, without dot; `gz` has `tar.gz`, and an asterisk has all.
    case extensions
    case names
  }

  package enum Verb: String, CaseIterable, Sendable, Codable {
    // Network
    case connectOut, listenIn, hostLoopback, ownLoopback, hostSockets
    // Files and programs
    case readPath, writePath, writeContainer, containerFiles, largestFile, runOwn
    // Documents
    case pickDocuments, pickTypes, pickFolders, changePicked, startDocuments, startPicked, useGrants, keepGrants
    case keepReferences, makeBookmarks, useBookmarks, documentBookmarks, implicitBookmarks, followReplaced, passGrants
    case runPicked, learnHostPaths, outliveScope, showDocuments, coordinate
    // The host and its user
    case seeVariable, givenVariable, seeUser, seeProcesses
    // The app's use of resources
    case processes, openFiles, memory, processorTime, wallTime, processors, overshoot
    // The app's confinement
    case systemCalls, singleWall, unrecorded, loseRecords, runWithout, shareKeyring, gainPrivileges
  }
}

extension Ability.Verb {
  package var group: Ability.Group {
    switch self {
    case .connectOut, .listenIn, .hostLoopback, .ownLoopback, .hostSockets: .network
    case .readPath, .writePath, .writeContainer, .containerFiles, .largestFile, .runOwn: .files
    case .pickDocuments, .pickTypes, .pickFolders, .changePicked, .startDocuments, .startPicked, .useGrants,
      .keepGrants, .keepReferences, .makeBookmarks, .useBookmarks, .documentBookmarks, .implicitBookmarks,
      .followReplaced, .passGrants, .runPicked, .learnHostPaths, .outliveScope, .showDocuments, .coordinate:
      .documents
    case .seeVariable, .givenVariable, .seeUser, .seeProcesses: .host
    case .processes, .openFiles, .memory, .processorTime, .wallTime, .processors, .overshoot: .resources
    case .systemCalls, .singleWall, .unrecorded, .loseRecords, .runWithout, .shareKeyring, .gainPrivileges:
      .kernel
    }
  }

  package var subjects: Ability.Subjects {
    switch self {
    case .readPath: .paths
    case .seeVariable: .variables
    case .pickTypes: .extensions
    case .pickDocuments, .givenVariable, .runWithout: .names
    default: .none
    }
  }

  package var unit: AbilityUnit {
    switch self {
    case .writeContainer, .largestFile, .memory: .bytes
    case .processorTime, .wallTime, .useGrants, .useBookmarks, .coordinate: .seconds
    case .processors: .milliprocessors
    default: .count
    }
  }

  /// The end of a sentence that begins with “It can”. `%` stands for the subjects.
  var phrase: String {
    switch self {
    case .connectOut: "connect to the local network and the internet"
    case .listenIn: "be connected to from outside"
    case .hostLoopback: "connect to what listens on the host's loopback"
    case .ownLoopback: "have its own processes talk over a loopback"
    case .hostSockets: "connect to Unix sockets of the host's programs"
    case .readPath: "read %"
    case .writePath: "write outside its container and what was picked"
    case .writeContainer: "fill the disk by its container"
    case .containerFiles: "have files and folders in its container"
    case .largestFile: "write a single file of any size"
    case .runOwn: "run programs that it has written itself"
    case .pickDocuments: "ask the user to % documents"
    case .pickTypes: "be given documents of these types: %"
    case .pickFolders: "be given whole folders"
    case .changePicked: "change what the user picked"
    case .useGrants: "use a document after the user decided on it"
    case .makeBookmarks: "make bookmarks of documents"
    case .useBookmarks: "resolve a bookmark after it was made"
    case .documentBookmarks: "make and open bookmarks that go with a document"
    case .implicitBookmarks: "make and open bookmarks that any app can open"
    case .coordinate: "wait for others that use a document"
    case .loseRecords: "have decisions about it lost by a power cut"
    case .startDocuments: "have documents started at once, in each process"
    case .startPicked: "use what is picked without starting it"
    case .keepGrants: "keep access to documents after it has ended"
    case .keepReferences: "find picked documents again by references"
    case .followReplaced: "use the file that took a picked document's place"
    case .passGrants: "pass its rights on to other apps"
    case .runPicked: "run programs that the user picked"
    case .learnHostPaths: "learn where on the host a document lies"
    case .outliveScope: "go on using what it has open after its scope has ended"
    case .showDocuments: "have its Documents shown in other apps' pickers"
    case .seeVariable: "see the host's variables %"
    case .givenVariable: "find the variable %"
    case .seeUser: "see the user's name, the host's name, other users"
    case .seeProcesses: "see or signal processes outside its sandbox"
    case .processes: "have processes and threads at a time"
    case .openFiles: "have files open in one process"
    case .memory: "use memory"
    case .processorTime: "use processor time"
    case .wallTime: "go on running"
    case .processors: "keep processors busy"
    case .overshoot: "use more than that until somebody looks"
    case .systemCalls: "make any system call that Ambit's filter lets through"
    case .singleWall: "reach a file if the mounts alone should fail to hold"
    case .unrecorded: "be refused a file that it opens, a socket or a call without a record of it"
    case .runWithout: "be run where one of these does not hold in full: %"
    case .shareKeyring: "come with the launcher's session key ring"
    case .gainPrivileges: "gain privileges or capabilities"
    }
  }

  /// - Parameter subjects: of many the first few are named.
  package func phrase(of subjects: [String], atMost count: Int = 6) -> String {
    guard phrase.contains("%") else { return phrase }
    if self == .pickTypes, subjects == ["*"] { return "be given documents of any type" }
    guard !subjects.isEmpty else { return phrase.replacing("%", with: "").trimmingSuffix() }
    let rest = subjects.count - count
    let named =
      rest > 1 ? subjects.prefix(count).joined(separator: ", ") + " and \(rest) more" : subjects.joined(separator: ", ")
    return phrase.replacing("%", with: named)
  }

  /// How far, for people.
  package func text(_ extent: Extent) -> String {
    switch extent {
    case .no: "no"
    case .ifAllowed: "if you allow it"
    case .ifAsked: "if it asks"
    case .upTo(let amount): "up to \(unit.text(amount))"
    case .yes: hasCeiling ? "without limit" : "yes"
    }
  }

  /// Whether it is one of amounts rather than of yes and no.
  var hasCeiling: Bool {
    switch self {
    case .writeContainer, .containerFiles, .largestFile, .startDocuments, .keepGrants, .useGrants, .useBookmarks,
      .coordinate, .processes, .openFiles, .memory,
      .processorTime, .wallTime, .processors:
      true
    default: false
    }
  }
}

extension String {
  fileprivate func trimmingSuffix() -> String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
