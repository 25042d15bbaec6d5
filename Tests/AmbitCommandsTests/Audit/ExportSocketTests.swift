import Foundation
import Kernel
import TestSupport
import Testing

@testable import AmbitCommands
@testable import Audit

@Suite struct `An export to a socket` {
  @Test func `AUD-10: counts as delivered what was read, and delivers the rest again to whoever listens next`() throws {
    let log = try SmallLog(30)
    let (socket, state) = ("\(log.folder.path)/socket", "\(log.folder.path)/state")
    let listener = try UnixSocket.listen(
      in: try Descriptor.open(log.folder.path, flags: [.path, .directory]), name: "socket")
    var run = ExportRun(
      reader: log.reader, encoder: ExportEncoder(.jsonl, log.source), follows: true,
      destination: StreamDestination.socket(path: socket), stateFile: try StateFile(path: state), rest: { _ in true })
    run.batch = 7
    var (rests, received, notes) = (0, [UInt8](), 0)
    // Whoever reads acts while the export rests: the whole log fits into the socket.
    var connection: Descriptor?
    run.rest = { _ in
      rests += 1
      switch rests {
      case 1:
        // Goes away without having read anything.
        _ = try UnixSocket.accept(listener)
      case 2: #expect(try StateFile.sequence(at: state) == nil)
      default:
        if connection == nil { connection = try UnixSocket.accept(listener) }
        if let connection {
          var piece = [UInt8](repeating: 0, count: 65536)
          var entries = [PollEntry(connection, .read)]
          if try Poll.wait(&entries, timeout: .zero) > 0 {
            received += piece[..<(try connection.readSome(&piece))]
          }
        }
      }
      return try StateFile.sequence(at: state) != 30
    }
    run.note = { _ in notes += 1 }
    try run.resume()
    try run.run()
    #expect(received == log.whole(.jsonl), "all of it came again, once")
    #expect(notes == 1)
  }

  @Test func `that nobody listens at is an error that names it, and nothing counts as delivered`() throws {
    let log = try SmallLog(3)
    let state = "\(log.folder.path)/state"
    var run = try log.run(.jsonl, to: StreamDestination.socket(path: "\(log.folder.path)/none"), state: state)
    try run.resume()
    let gone = try #require(throws: ConsumerGone.self) { try run.run() }
    #expect(gone.sentence.contains("\(log.folder.path)/none"))
    #expect(try run.settled == 0 && StateFile.sequence(at: state) == nil)
  }

  @Test func `whose reader goes away without reading is no delivery`() throws {
    let log = try SmallLog(3)
    var ends: (Descriptor, Descriptor)? = try UnixSocket.pair()
    var destination = StreamDestination.standardOutput(try #require(ends?.0))
    let encoder = ExportEncoder(.jsonl, log.source)
    try destination.send(log.events, encoder)
    #expect(try !destination.settles(within: .zero), "it is in the socket, and nobody has read it")
    var piece = [UInt8](repeating: 0, count: 65536)
    #expect(try ends?.1.readSome(&piece) == log.whole(.jsonl).count)
    #expect(try destination.settles(within: .seconds(60)))
    try destination.send(log.events, encoder)
    ends = nil
    // A process that another test is starting may have the other end for a moment still.
    try Deadline.wait(for: "the reader's end to be noticed") {
      do {
        let isRead = try destination.settles(within: .zero)
        #expect(!isRead, "nobody has read it")
        return false
      } catch is ConsumerGone {
        return true
      }
    }
  }
}

@Suite struct `What a collector answers` {
  private func answer(_ text: String) -> HTTPAnswer? { HTTPAnswer(Array(text.utf8)) }

  @Test func `is read by its length, in chunks, or to the end`() throws {
    #expect(answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}x")?.body == Array("{}".utf8))
    #expect(answer("HTTP/1.0 200 OK\r\n\r\nabc")?.body == Array("abc".utf8))
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
    #expect(answer(chunks)?.body == Array("abc0123456789".utf8))
    let busy = try #require(answer("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\n\r\nfull"))
    #expect(busy.status == 503 && busy.pause == .seconds(7) && busy.detail == " (full)")
    let partial = answer(
      "HTTP/1.1 200 OK\r\n\r\n{\"partialSuccess\":{\"rejectedLogRecords\":\"3\",\"errorMessage\":\"too old\"}}")
    #expect(partial?.refusedRecords == "did not take 3 records: too old")
    #expect(answer("HTTP/1.1 200 OK\r\n\r\n{\"partialSuccess\":{}}")?.refusedRecords == nil)
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "SSH-2.0\r\n\r\n",
    "HTTP/1.1 x OK\r\n\r\n", "HTTP/1.1 99999999999999999999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nabc\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
  ])
  func `counts for nothing when it is not whole`(text: String) {
    #expect(answer(text) == nil)
  }

  @Test func `whatever its bytes are, is read or is not`() throws {
    var generator = Seeded(seed: 41)
    let pieces = [
      "HTTP/1.1 ", "200", " OK", "\r\n", "\r\n\r\n", "Content-Length: ", "5", "-", "chunked", "Transfer-Encoding: ",
      ":", "ffff",
    ]
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 1...9, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? ""
      }
      _ = HTTPAnswer(Array(("HTTP/1.1 200 OK\r\n" + text.joined()).utf8))
    }
  }

  @Test(arguments: [
    ("http://127.0.0.1:4318/v1/logs", "http://127.0.0.1:4318/v1/logs"),
    ("http://localhost", "http://127.0.0.1:4318/v1/logs"),
    ("http://localhost:9/", "http://127.0.0.1:9/v1/logs"), ("http://[::1]:1/x/y", "http://[::1]:1/x/y"),
    ("https://127.0.0.1", nil), ("http://192.0.2.1/v1/logs", nil), ("http://example.org", nil),
    ("http://a@127.0.0.1", nil),
    ("http://127.0.0.1:0", nil), ("http://127.0.0.1:70000", nil), ("127.0.0.1:4318", nil), ("", nil),
    ("http://127.0.0.1/a b", nil), ("http://127.0.0.1/?x", nil), ("http://127.0.0.1/\r\nHost: x", nil),
  ])
  func `comes from this machine alone`(text: String, address: String?) {
    #expect(CollectorAddress(text)?.description == address)
  }
}
