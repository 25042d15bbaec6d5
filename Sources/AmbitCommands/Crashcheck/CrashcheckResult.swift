internal import CrashRecorder
internal import CrashStates
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// The judgement about all the states of a recording.
struct CrashcheckResult {
  let recording: Recording
  let document: TreePath?
  private let reader: StateReader

  private(set) var counts: [Verdict: Int] = [:]
  private(set) var states = 0
  private(set) var moments = 0
  private(set) var possible = 0.0
  private(set) var isExhaustive = false
  /// Contents that count as whole.
  private(set) var versions = Versions([])
  /// Of each harmful verdict: the state with the shortest story.
  private(set) var worst: [Verdict: (state: CrashState, observation: Observation)] = [:]
  /// Of `--kill`: how often the program was killed, the verdicts, and the first harmful one.
  private(set) var kills: [Verdict: Int]?
  private(set) var harmfulKill: (call: Int, verdict: Verdict)?

  init(_ recording: Recording, document: TreePath?, reader: StateReader) {
    (self.recording, self.document, self.reader) = (recording, document, reader)
  }

  var isHarmful: Bool {
    counts.contains { $0.key.isHarmful && $0.value > 0 }
      || kills?.contains { $0.key.isHarmful && $0.value > 0 } ?? false
  }

  var isIncomplete: Bool { !gaps.isEmpty }

  /// Why the check says less than it should.
  var gaps: [String] {
    var gaps = recording.gaps
    if !recording.trace.steps.contains(where: \.operation.isChange) {
      gaps.append("The program changed nothing in the watched folders.")
    }
    return gaps
  }

  mutating func judge(states most: Int, seed: UInt64, keep kept: KeptStates?) throws {
    let reader = reader
    versions = try Versions(recording.trace, document: document) { try reader.read($0) }
    var enumeration = CrashEnumeration(recording.trace, states: most, seed: seed)
    (possible, isExhaustive, moments) = (enumeration.possible, enumeration.isExhaustive, enumeration.momentCount)
    var kept = kept
    while true {
      var batch: [CrashState] = []
      while batch.count < reader.batch, let state = enumeration.next() { batch.append(state) }
      if batch.isEmpty { break }
      for (state, observation) in zip(batch, try reader.read(batch)) {
        let verdict = versions.verdict(observation, acknowledged: state.acknowledged)
        counts[verdict, default: 0] += 1
        guard verdict.isHarmful else { continue }
        if worst[verdict].map({ Story.length(state) < Story.length($0.state) }) ?? true {
          worst[verdict] = (state, observation)
        }
        try kept?.keep(state, verdict)
      }
    }
    states = enumeration.count
  }

  /// Runs the program again for each of its calls, and kills it before that call. The page cache survives, so this is about
  /// processes that die, and no disk.
  mutating func kill(
    _ program: [String], folders: [WatchedFolder], before: FolderBackup, reader: StateReader
  ) throws {
    var kills: [Verdict: Int] = [:]
    for call in 1...max(1, recording.calls) {
      try before.restore()
      let run = try Recorder.record(
        program, environment: ThisProcess.environment, watching: folders,
        Recorder.Options(killBefore: call, isQuiet: true))
      let verdict = versions.verdict(try reader.readFolders(), acknowledged: run.trace.acknowledgements)
      kills[verdict, default: 0] += 1
      if verdict.isHarmful, harmfulKill == nil { harmfulKill = (call, verdict) }
    }
    self.kills = kills
  }
}

/// Harmful states as folders, for the user to look at.
struct KeptStates {
  private let path: String
  private let folder: Descriptor
  private var count = 0
  private static let most = 100

  /// - Throws: where there is something at the path.
  init(path: String) throws {
    self.path = path
    guard unsafe mkdir(path.kernel, 0o700) == 0 else {
      throw Failure(
        "--keep \(path): \(KernelError.last("mkdir").errno.description); it takes a folder that is still to be made",
        status: 2)
    }
    folder = try Descriptor.open(path, flags: [.read, .directory, .noFollow])
  }

  mutating func keep(_ state: CrashState, _ verdict: Verdict) throws {
    guard count < Self.most else { return }
    count += 1
    let name = "\(verdict.rawValue)-\(count)"
    try folder.makeDirectory(name, mode: 0o700)
    let made = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    try state.tree.lay(in: made)
  }
}

/// A copy of the watched folders, to put them back.
struct FolderBackup {
  private let folders: [WatchedFolder]
  private let scratch: Scratch

  init(of folders: [WatchedFolder]) throws {
    self.folders = folders
    scratch = try Scratch(in: FileManager.default.temporaryDirectory.path)
    for folder in folders {
      _ = try scratch.emptied(folder.name)
      try Self.copy(folder.path, to: scratch.path.path(of: folder.name))
    }
  }

  func restore() throws {
    for folder in folders {
      try folder.descriptor.removeContents()
      try Self.copy(scratch.path.path(of: folder.name), to: folder.path)
    }
  }

  /// Copies with owners, modes, times and attributes; links are copied and never followed.
  private static func copy(_ source: String, to target: String) throws {
    let run = try CapturedCommand(
      ["cp", "-a", "--", "\(source)/.", target], environment: ThisProcess.environment, in: "/", patience: .seconds(600),
      most: 1 << 20)
    guard run.status == 0 else {
      throw Failure(
        "\(source) could not be copied to \(target): \(String(decoding: run.errors.prefix(400), as: UTF8.self))")
    }
  }
}
