import AmbitKit
import CPeers
import Foundation
import Measure

// What runs inside the sandbox. Every number goes to standard output, one a line.
//
//   scope N      picks a document, starts and stops its scope N times: µs a pair
//   grant N      picks N documents: µs a pick
//   coordinate N, round-trip N
//                reads a picked document in coordination N times, with an accessor that does nothing, or asks the broker N times: µs
//   present      presents a picked document, writes “ready”, and for every line has changes that are not saved, and says “changed”
//   scope-turns N, grant-turns N, unmoved-turns N
//                take turns: the same N times for every line that they are sent: µs, in the middle or (grant) on average
//   open N       takes turns: opens, reads 4 KiB of and closes a picked document N times: µs, on average
//   read N       takes turns: reads a picked document through, N times: MiB/s, on average
//                (both write “ready”, and do a turn for every line that they are sent; with a path as well they take
//                that file and ask nobody: so they run outside, for comparison; with “filtered” as well they load a filter
//                first that allows everything)
//   just-open N  the same for opening and closing alone: µs, on average
//   sequential SIZE, random SIZE, mapped SIZE, written SIZE
//                the same for getting at a picked document's bytes in such a way, in pieces of so many bytes: MiB/s
//   document N   opens, and closes, a document of a picked file N times: µs a pair
//   plain N      starts the picked file, reads it through, and stops it, N times: µs
//   call N       takes turns: calls getppid(2) N times: µs, on average
//   bookmark     picks a document and keeps a bookmark of it in the container
//   unmoved N    resolves the kept bookmark N times: µs
//   await N      starts a picked document, and N times: writes “ready”, waits for a line, opens and reads the document until it
//                holds that, and writes when that was (nanoseconds of CLOCK_MONOTONIC)
//   bookmarks N, resolve-all N
//                the same for N documents at once; the latter writes “ready”, waits for a line, and resolves each once: µs
//   query N M    makes N documents, and searches for parts of their names M times: words and numbers
//   resolve N    resolves the kept bookmark N times: writes “ready”, waits for a line, resolves: µs

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

let kept = URL(filePath: NSHomeDirectory() + "/Documents/bookmark")

func pick() throws -> URL {
  guard let url = try DocumentPicker.pick().first else { throw Failure("nothing was picked") }
  return url
}

/// Runs the body while the document can be reached at the URL's path.
func accessing<Answer>(_ url: URL, _ body: (String) throws -> Answer) throws -> Answer {
  try SecurityScope.start(url)
  defer { url.stopAccessingSecurityScopedResource() }
  return try body(try SecurityScope.path(of: url))
}

/// Runs the body with the path of the file that is to be read and a buffer, once for every line that comes, and writes
/// what it answers.
func reading(_ arguments: [String], _ body: (String, borrowing Buffer) throws -> Double) throws {
  func takeTurns(_ path: String) throws {
    // cat(1) reads in pieces of 128 KiB; nobody wants more at a time than 1 MiB.
    let buffer = Buffer(Transfer(rawValue: arguments[0]) == nil ? 128 * 1024 : 1 << 20)
    say("ready")
    while readLine() != nil { say("\(try body(path, buffer))") }
  }
  if arguments.count > 3 {
    let result = cfilter_allow_everything()
    if result < 0 { throw Failure("no filter can be loaded: error \(-result)") }
  }
  if arguments.count > 2 { try takeTurns(arguments[2]) } else { try accessing(try pick(), takeTurns) }
}

/// Starts and stops a document's scope so many times: µs for each.
func pairs(_ url: URL, _ count: Int) throws -> [Double] {
  try (0..<count).map { _ in
    try microseconds {
      try SecurityScope.start(url)
      try SecurityScope.stop(url)
    }
  }
}

/// Coordinated accesses with an accessor that does nothing: µs for each.
func coordinated(_ url: URL, _ count: Int, writing: Bool) throws -> [Double] {
  let coordinator = NSFileCoordinator()
  return try (0..<count).map { _ in
    var error: NSError?
    let elapsed = microseconds {
      if writing {
        unsafe coordinator.coordinate(writingItemAt: url, error: &error) { _ in }
      } else {
        unsafe coordinator.coordinate(readingItemAt: url, error: &error) { _ in }
      }
    }
    if let error { throw error }
    return elapsed
  }
}

/// So many threads, each a client of its own, that coordinate one document for two seconds: the accesses of each.
func crowd(_ url: URL, clients: Int, writing: Bool) throws {
  try SecurityScope.start(url)
  say("ready")
  guard readLine() != nil else { return }
  let end = nanoseconds() + 2_000_000_000
  let lock = NSLock()
  nonisolated(unsafe) var counts: [Int] = []
  let group = DispatchGroup()
  for _ in 0..<clients {
    group.enter()
    Thread.detachNewThread {
      var done = 0
      while nanoseconds() < end {
        guard (try? coordinated(url, 1, writing: writing)) != nil else { break }
        done += 1
      }
      lock.withLock { unsafe counts.append(done) }
      group.leave()
    }
  }
  group.wait()
  for count in unsafe counts { say("\(count)") }
}

/// A document that keeps its bytes.
final class Bytes: Document {
  private var bytes = Data()
  override func contents(forType typeName: String) throws -> Any { bytes }
  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    bytes = contents as? Data ?? Data()
  }
}

/// Shows a document, and lets go of it or saves it as soon as it is asked.
final class Window: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()

  init(_ url: URL) { presentedItemURL = url }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    var refusal: NSError?
    var failure: (any Error)?
    if let url = presentedItemURL {
      unsafe NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: &refusal) { url in
        do { try Data("a document\n".utf8).write(to: url) } catch { failure = error }
      }
      NSFileCoordinator.setHasUnsavedChanges(false, for: self)
    }
    completionHandler(refusal ?? failure)
  }
}

func present(_ url: URL) throws {
  try SecurityScope.start(url)
  let window = Window(url)
  NSFileCoordinator.addFilePresenter(window)
  say("ready")
  while let word = readLine() {
    NSFileCoordinator.setHasUnsavedChanges(word == "change", for: window)
    say(word)
  }
}

func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

func run(_ arguments: [String]) throws {
  let count = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
  switch arguments.first {
  case "scope":
    let url = try pick()
    // The first ones fill caches. Told at the end: whoever reads them would be woken by each.
    _ = try pairs(url, min(count, 1000))
    say(try pairs(url, count).map { "\($0)" }.joined(separator: "\n"))
  case "coordinate":
    // Reads that do nothing: what coordination adds.
    let url = try pick()
    try SecurityScope.start(url)
    _ = try coordinated(url, min(count, 1000), writing: false)
    say(try coordinated(url, count, writing: false).map { "\($0)" }.joined(separator: "\n"))
  case "document":
    let url = try pick()
    try MainActor.assumeIsolated {
      for turn in 0..<(count + 100) {
        let elapsed = try microseconds {
          let document = Bytes(fileURL: url)
          try document.openAndWait()
          try document.closeAndWait()
        }
        if turn >= 100 { say("\(elapsed)") }
      }
    }
  case "plain":
    let url = try pick()
    for turn in 0..<(count + 100) {
      let elapsed = try microseconds {
        try accessing(url) { path in _ = try Data(contentsOf: URL(fileURLWithPath: path)) }
      }
      if turn >= 100 { say("\(elapsed)") }
    }
  case "round-trip":
    for _ in 0..<1000 { _ = try SecurityScope.status() }
    say(
      try (0..<count).map { _ in "\(try microseconds { _ = try SecurityScope.status() })" }.joined(separator: "\n"))
  case "coordinate-crowd":
    try crowd(try pick(), clients: count, writing: arguments.count > 2)
  case "present":
    try present(try pick())
  case "query": try queries(count, arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0)
  case "scope-turns":
    let url = try pick()
    say("ready")
    while readLine() != nil { say("\(try pairs(url, count).median ?? 0)") }
  case "grant-turns":
    say("ready")
    while readLine() != nil { say("\(try microseconds { for _ in 0..<count { _ = try pick() } } / Double(count))") }
  case "unmoved-turns":
    let bookmark = try Data(contentsOf: kept)
    var isStale = false
    say("ready")
    while readLine() != nil {
      let samples = try (0..<count).map { _ in
        try microseconds { _ = try URL(resolvingBookmarkData: bookmark, bookmarkDataIsStale: &isStale) }
      }
      say("\(samples.median ?? 0)")
    }
  case "grant":
    for _ in 0..<count { say("\(try microseconds { _ = try pick() })") }
  case "open":
    try reading(arguments) { try openReadClose($0, $1, count: count) }
  case "read":
    try reading(arguments) { path, buffer in
      try (0..<count).reduce(0) { sum, _ in try sum + readThrough(path, buffer) } / Double(count)
    }
  case "just-open":
    try reading(arguments) { path, _ in try openClose(path, count: count) }
  case let name? where Transfer(rawValue: name) != nil:
    var turn = 0
    try reading(arguments) { path, buffer in
      defer { turn += 1 }
      return try Transfer(rawValue: name)?.run(path, buffer, size: count, turn: turn) ?? 0
    }
  case "call":
    say("ready")
    while readLine() != nil { say("\(microseconds { for _ in 0..<count { _ = getppid() } } / Double(count))") }
  case "bookmark":
    let url = try pick()
    try SecurityScope.start(url)
    try url.bookmarkData().write(to: kept)
  case "bookmarks":
    for index in 0..<count {
      let url = try pick()
      try SecurityScope.start(url)
      try url.bookmarkData().write(to: kept.appendingPathExtension("\(index)"))
      try SecurityScope.stop(url)
    }
  case "resolve-all":
    say("ready")
    guard readLine() != nil else { throw Failure("nobody has moved the documents") }
    for index in 0..<count {
      let bookmark = try Data(contentsOf: kept.appendingPathExtension("\(index)"))
      var found: BookmarkResolution?
      let elapsed = try microseconds { found = try BookmarkResolution(resolving: bookmark) }
      guard found?.matchedBy == .identity else { throw Failure("the bookmark led to another file") }
      say("\(elapsed)")
    }
  case "unmoved":
    let bookmark = try Data(contentsOf: kept)
    var isStale = false
    for _ in 0..<count {
      say("\(try microseconds { _ = try URL(resolvingBookmarkData: bookmark, bookmarkDataIsStale: &isStale) })")
    }
  case "await":
    try accessing(try pick()) { path in
      for _ in 0..<count {
        say("ready")
        guard let wanted = readLine() else { return }
        while (try? Data(contentsOf: URL(filePath: path))) != Data(wanted.utf8) {}
        say("\(nanoseconds())")
      }
    }
  case "resolve":
    let bookmark = try Data(contentsOf: kept)
    var last: URL?
    // Connecting, and whatever is only done the first time, is no part of it.
    for _ in 0..<20 { _ = try? BookmarkResolution(resolving: Data([1])) }
    for _ in 0..<count {
      say("ready")
      guard readLine() != nil else { throw Failure("nobody moves the document any more") }
      var isStale = false
      let elapsed = try microseconds {
        last = try URL(resolvingBookmarkData: bookmark, bookmarkDataIsStale: &isStale)
      }
      say("\(elapsed)")
    }
    // A quick answer is worth nothing if it is not the document.
    guard let last else { return }
    let content = try accessing(last) { try String(contentsOfFile: $0, encoding: .utf8) }
    guard content == "a document\n" else { throw Failure("the bookmark led to another file") }
  default:
    throw Failure(
      "usage: inside scope|grant|scope-turns|grant-turns|unmoved-turns|open|just-open|read|sequential|random|mapped|written|call|bookmark|bookmarks|unmoved|await|resolve|resolve-all [N]"
    )
  }
}

do {
  try run(Array(CommandLine.arguments.dropFirst()))
} catch {
  FileHandle.standardError.write(Data("inside: \(error)\n".utf8))
  exit(1)
}
