internal import CrashRecorder
internal import CrashStates
internal import Dispatch
internal import Foundation
internal import Kernel
internal import Paths
internal import Scenario
internal import Synchronization
internal import SystemPackage
internal import Wire

/// Finds out what stands in a document: by its bytes, or by a command.
final class StateReader: Sendable {
  private let document: TreePath?
  private let command: String?
  private let folders: [WatchedFolder]
  private let jobs: Int
  /// States are laid out here; one folder for each job.
  private let scratch: Scratch

  /// The longest that a command may take.
  private static let patience: Duration = .seconds(60)
  /// The most that it may say.
  private static let mostOutput = 64 << 20

  /// - Parameter extent: bytes that a state takes, about.
  init(document: TreePath?, command: String?, folders: [WatchedFolder], jobs: Int, extent: Int) throws {
    (self.document, self.command, self.folders, self.jobs) = (document, command, folders, jobs)
    let chosen = ThisProcess.environment["TMPDIR"] ?? ""
    scratch =
      chosen.isEmpty
      ? try Scratch.inMemory(holding: extent * jobs, or: FileManager.default.temporaryDirectory.path)
      : try Scratch(in: FileManager.default.temporaryDirectory.path)
  }

  /// States that are worth being read together.
  var batch: Int { command == nil ? 256 : jobs * 16 }

  /// Of a whole tree.
  func read(_ tree: FileTree) throws -> Observation {
    guard let command else {
      guard let document else { return .absent }
      return Observation(tree, at: document)
    }
    try scratch.lay(tree, at: "0")
    return try run(command, in: scratch.path.path(of: "0"), roots: nil)
  }

  /// Of several states, in their order.
  func read(_ states: [CrashState]) throws -> [Observation] {
    try Self.checkInterruption()
    guard let command else { return states.map { state in document.map { state.observation(at: $0) } ?? .absent } }
    let results = Mutex([Result<Observation, any Error>?](repeating: nil, count: states.count))
    let next = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: min(jobs, states.count)) { job in
      while true {
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        guard number < states.count else { return }
        let result = Result<Observation, any Error> {
          try Self.checkInterruption()
          try scratch.lay(states[number].tree, at: "\(job)")
          return try run(command, in: scratch.path.path(of: "\(job)"), roots: nil)
        }
        results.withLock { $0[number] = result }
      }
    }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }

  /// Of the watched folders themselves, as they are now.
  func readFolders() throws -> Observation {
    try Self.checkInterruption()
    guard let command else { return try read(FolderReader.tree(of: folders)) }
    return try run(command, in: folders[0].path, roots: folders)
  }

  private static func checkInterruption() throws(Interrupted) {
    if let signal = Interruption.signal { throw Interrupted(signal: signal) }
  }

  /// - Parameter roots: the watched folders where they lie; `nil`: copies of them below `folder`.
  private func run(_ command: String, in folder: String, roots: [WatchedFolder]?) throws -> Observation {
    func path(of root: String) -> String {
      roots?.first { $0.name.isSamePath(as: root) }?.path ?? folder.path(of: root)
    }
    let first = path(of: folders[0].name)
    let target = document.map { $0.names.reduce(path(of: $0.root)) { $0.path(of: $1) } } ?? first
    let words = command.replacing("{}", with: "'\(target.replacing("'", with: "'\\''"))'")
    var environment = ThisProcess.environment
    for (number, watched) in folders.enumerated() {
      environment["AMBIT_CRASHCHECK_WATCH_\(number + 1)"] = path(of: watched.name)
    }
    do throws(KernelError) {
      let run = try CapturedCommand(
        ["/bin/sh", "-c", words], environment: environment, in: first, patience: Self.patience, most: Self.mostOutput)
      guard run.status == 0 else {
        let said = String(decoding: run.errors.prefix(2000), as: UTF8.self).split(separator: "\n").first.map(
          String.init)
        return .unreadable(said.map { $0.replacing(folder, with: "") } ?? "exit status \(run.status)")
      }
      return .content(ContentDigest(run.output))
    } catch {
      switch error.errno {
      case .timedOut: return .unreadable("the command took longer than \(Self.patience)")
      case .fileTooLarge: return .unreadable("the command said more than \(Self.mostOutput >> 20) MiB")
      default: throw error
      }
    }
  }
}
