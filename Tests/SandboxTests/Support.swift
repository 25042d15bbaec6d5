import Foundation
import Kernel
import Testing

@testable import Sandbox

/// A folder that everybody may use, and that is removed with everything in it when the last reference goes.
final class Folder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appendingPathComponent("ambit-sandbox-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @discardableResult
  func folder(_ name: String) throws -> String {
    let made = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: made, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: made)
    return made
  }

  @discardableResult
  func write(_ name: String, _ content: String, mode: Int = 0o644) throws -> String {
    try Data(content.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    return "\(path)/\(name)"
  }
}

/// What a program in a real sandbox said, and how it ended.
struct Outcome {
  var output = ""
  var status: Int32?
  var signal: Int32?
  var failure: String?
  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Launches a plan as Ambit does, and lets it run to its end.
func run(_ plan: SandboxPlan) throws -> Outcome {
  let folder = try Folder()
  let output = try Descriptor.open("\(folder.path)/output", flags: [.readWrite, .create], mode: 0o666)
  let input = try Descriptor.open("/dev/null", flags: .read)
  let launched = try SandboxLauncher(cache: SeccompCache(folder: nil)).start(
    plan, standardStreams: [input, output, output])
  var outcome = Outcome()
  messages: while true {
    switch try launched.receive() {
    case .ready: try launched.go()
    case .failed(let stage, let errno, let step): outcome.failure = "\(stage) \(step): \(errno)"
    case .exited(let status, let signal): (outcome.status, outcome.signal) = (status, signal)
    case .ended: break messages
    case .started, .stopped: break
    }
  }
  var entries = [PollEntry(launched.process, .read)]
  try #require(try Poll.wait(&entries, timeout: .seconds(30)) == 1)
  #expect(launched.reap())
  let bytes = FileManager.default.contents(atPath: "\(folder.path)/output") ?? Data()
  outcome.output = String(decoding: bytes, as: UTF8.self)
  return outcome
}

/// Who an app is on the host when root launches it; an ordinary user's apps are the user.
let hostID: UInt32? = geteuid() == 0 ? 0x7000_7777 : nil

/// A small generator with a known sequence, so that a failure can be repeated.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
