import Audit
import Foundation
import Kernel
import TestSupport
import Testing

@Suite(.waiting) struct `ambit audit export, killed` {
  private static let count: Int64 = 1500

  @Test(arguments: TestUser.one(.root))
  func `AUD-10: and begun again has handed every event to its reader, in order`(user: TestUser) throws {
    let folder = try TemporaryFolder()
    let log = try madeLog(in: folder, for: user)
    let (socket, state) = ("\(folder.path)/socket", "\(folder.path)/state")
    let listener = try UnixSocket.listen(
      in: try Descriptor.open(folder.path, flags: [.path, .directory]), name: "socket", mode: 0o777)
    try user.own(socket)

    var generator = Seeded(seed: 23)
    var seen: [Int64] = []
    // More than the socket holds, so that the export is in the midst of it when it is killed.
    for round in 0..<5 {
      let export = try ChildProcess(
        [
          try Products.path("ambit-tools"), "audit", "export", "--as", "ocsf", "--to", "unix:\(socket)", "--state",
          state,
          "--log", log,
        ], user: user, environment: ["PATH": "/usr/bin:/bin"], directory: "/")
      var accepted: Descriptor?
      try Deadline.wait(.seconds(120), for: "the export to connect") {
        accepted = try UnixSocket.accept(listener)
        return accepted != nil
      }
      let connection = try #require(accepted)
      var bytes: [UInt8] = []
      if round < 4 {
        bytes = try connection.readAll(limit: .random(in: 1...300_000, using: &generator))
        export.kill()
      }
      bytes += try connection.readAll(limit: 64 << 20)
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      let numbers = lines.compactMap { ExportFormat.ocsf.identifier(inLine: $0)?.sequence }
      #expect(numbers.count == lines.count)
      let first = try #require(numbers.first)
      #expect(first <= (seen.max() ?? 0) + 1, "round \(round) begins no later than the last one got")
      #expect(numbers == Array(first..<(first + Int64(numbers.count))))
      seen += numbers
      if round == 4 { #expect(try export.waitForExit() == .status(0)) }
    }
    #expect(Set(seen) == Set(1...Self.count))
    let kept = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(fileURLWithPath: state)))
    #expect((kept as? [String: Any])?["sequence"] as? Int64 == Self.count)
    #expect(try folder.mode("state") == 0o600)
  }

  private func madeLog(in folder: TemporaryFolder, for user: TestUser) throws -> String {
    let path = "\(folder.path)/audit.sqlite"
    do {
      let log = try AuditLog(path: path)
      try log.append(
        (1...Self.count).map { number in
          AuditEvent(.start, app: "io.example.editor", document: .init(path: "/home/alice/\(number).txt"))
        })
      try log.flush()
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try user.own("\(folder.path)/\(name)")
    }
    return path
  }
}
