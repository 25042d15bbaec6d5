import Foundation
import Kernel
import Seccomp
import TestSupport
import Testing

@testable import Sandbox

/// What a program in a real sandbox said, and how it ended.
struct Outcome {
  var output = ""
  var status: Int32?
  var signal: Int32?
  var failure: String?
  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Launches a plan as Ambit does, and lets it run to its end.
///
/// - Parameter foreign: profiles of others, which hold as well.
func run(
  _ plan: SandboxPlan, under profile: SeccompProfile = .standard(network: false), foreign: [SeccompProfile] = []
) throws -> Outcome {
  let folder = try TemporaryFolder()
  let output = try Descriptor.open("\(folder.path)/output", flags: [.readWrite, .create], mode: 0o666)
  let input = try Descriptor.open("/dev/null", flags: .read)
  let filter = try SeccompCache(folder: nil).program(for: profile)
  let others = try foreign.map { try SeccompCache(folder: nil).program(for: $0, by: .strictest) }
  let launched = try SandboxLauncher.start(
    plan, filter: filter, profiles: others, standardStreams: [input, output, output])
  var outcome = Outcome()
  messages: while true {
    switch try launched.receive() {
    case .ready: try launched.go()
    case .failed(let stage, let errno, let step): outcome.failure = "\(stage) \(step): \(errno)"
    case .exited(let status, let signal, _, _): (outcome.status, outcome.signal) = (status, signal)
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
