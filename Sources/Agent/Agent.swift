internal import Foundation

/// The loop of a line-driven app: one request a line, `{"do": "start", "of": "a"}`, and one JSON object a line in answer.
///
/// A request that makes no sense is answered with `usage`, an act of another name with `unsupported`; everything else with the
/// words of Foundation and the kernel.
package enum Agent {
  package static func run(additions: [Session.Addition] = []) {
    var session = Session(additions: additions)
    while let line = nextLine(session) { print(session.answer(to: line)) }
  }

  /// With documents the main queue is served meanwhile: their presenters answer there.
  private static func nextLine(_ session: Session) -> String? {
    if session.hasDocuments { serveMainQueue() }
    return readLine()
  }

  /// Until there is something to read.
  private static func serveMainQueue() {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, 0) == 0 else { return }
    // Each act ends a run of the loop, and so does a line.
    let line = DispatchSource.makeReadSource(fileDescriptor: 0, queue: .main)
    line.setEventHandler {}
    line.resume()
    while unsafe poll(&entry, 1, 0) == 0 { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    line.cancel()
  }

  /// Writes one answer.
  package static func print(_ object: [String: Any]) {
    let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    // Straight to the descriptor: the asker waits for the line.
    try? FileHandle.standardOutput.write(contentsOf: (data ?? Data(#"{"usage": "no JSON"}"#.utf8)) + Data("\n".utf8))
  }
}
