import Audit
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// A document's place, and the folders on the way to it, swapped for something else as fast as the kernel can, while an app
/// uses the document: never is another one read or written.
@Suite(.serialized, .waiting, .timeLimit(.minutes(120)))
struct SwapTests {
  /// How many of root; a tenth of it by an ordinary user, whose broker has to search each time that something else is in the
  /// document's place. `make races` asks for a hundred thousand.
  private static func rounds(_ user: TestUser) -> Int {
    let all = ProcessInfo.processInfo.environment["AMBIT_SWAP_ROUNDS"].flatMap(Int.init) ?? 10_000
    return user == .root ? all : all / 10
  }

  @Test(arguments: TestUser.all)
  func `BMK-1, TOK-2, SBX-11: whatever is swapped into a document's place, no other is read or written`(user: TestUser)
    throws
  {
    try Workspace.with(user) { world in
      let stage = try SwapStage(world)
      let app = try world.probe(picks: [stage.document])
      try app.pick()
      #expect(try app.start())
      let bookmark = try app.bookmark()
      try app.stop()
      var (done, refused) = (0, 0)
      let ways = SwapStage.Way.allCases.filter { $0.isPossible(for: user) }
      let rounds = Self.rounds(user) / ways.count
      for way in ways {
        let (answer, others) = try stage.swapping(way) {
          try app.tell(
            "race",
            [
              "of": "a", "rounds": .number(Double(rounds)), "expected": .string(SwapStage.granted),
              "bookmark": .string(bookmark),
            ], patience: .seconds(600))
        }
        #expect(answer["wrong"]?.array?.isEmpty == true, "\(way): \(answer.text)")
        done += answer["done"]?.int ?? 0
        refused += answer["refused"]?.int ?? 0
        // Whoever goes by the name found the other one there.
        #expect(others > 100, "\(way)")
      }
      #expect(done > Self.rounds(user) / 20, "\(done) of \(Self.rounds(user)), \(refused) refused")
      #expect(try app.finish() == .status(0))
      #expect(try world.read(stage.document).hasPrefix(SwapStage.granted))
      #expect(try world.read(stage.secret) == SwapStage.kept)
      print("swapped places, \(user): \(done) used, \(refused) refused")
    }
  }

  @Test(arguments: TestUser.all)
  func `SBX-5: what is granted is what the log says was chosen, however fast it is swapped`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let stage = try SwapStage(world)
      let tags = [try stage.inode(stage.document): SwapStage.granted, try stage.inode(stage.secret): SwapStage.kept]
      var seen: [String: Set<String>] = [:]
      for way in SwapStage.Way.allCases where way.isPossible(for: user) {
        let count = 400
        let app = try world.probe(picks: Array(repeating: stage.document, count: count))
        let (answer, _) = try stage.swapping(way) {
          try app.tell("pickAll", ["count": .number(Double(count))], patience: .seconds(300))
        }
        for (grant, texts) in try #require(answer["held"]?.object, "\(answer.text)") {
          seen[grant, default: []].formUnion(texts.strings ?? [])
        }
        #expect(try app.finish() == .status(0))
      }
      let grants = try world.audit(.grant)
      #expect(!seen.isEmpty)
      for (grant, texts) in seen {
        let inode = grants.first { $0.grant == grant }?.document?.inode
        #expect(texts == [try #require(inode.flatMap { tags[$0] })], "\(grant)")
      }
    }
  }
}

/// A granted document and a secret one, in folders of the same shape, and somebody who swaps them.
private final class SwapStage: @unchecked Sendable {
  static let granted = "granted"
  static let kept = "secret!"

  enum Way: CaseIterable {
    case files, fileAndLink, folders, folderAndLink, mount

    /// A broker of an ordinary user's has its own mounts, and nobody else can change them.
    func isPossible(for user: TestUser) -> Bool { self != .mount || user == .root }
  }

  let document: String
  let secret: String
  private let folders: (String, String)
  private let links: (file: String, folder: String)
  private let world: Workspace
  private var own: UInt64 = 0
  private let isOver = Atomic(false)
  private let others = Atomic(0)

  init(_ world: Workspace) throws {
    self.world = world
    document = try world.document("shelf/letter.txt", Self.granted)
    secret = try world.document("safe/letter.txt", Self.kept)
    folders = ("\(world.home)/shelf", "\(world.home)/safe")
    links = ("\(world.home)/shelf/link", "\(world.home)/link")
    for (link, target) in [(links.file, secret), (links.folder, folders.1)] {
      try #require(unsafe symlink(target, link) == 0)
      try world.user.own(link)
    }
    own = try inode(document)
  }

  func inode(_ path: String) throws -> UInt64 {
    var status = stat()
    try #require(unsafe lstat(path, &status) == 0)
    return UInt64(status.st_ino)
  }

  /// Does something while places are swapped; leaves everything where it was. How often somebody who goes by the name found
  /// the other document as well.
  func swapping<Result>(_ way: Way, _ body: () throws -> Result) throws -> (Result, others: Int) {
    isOver.store(false, ordering: .releasing)
    others.store(0, ordering: .relaxed)
    let swapper = try places(of: way).map { try world.start([try Products.path("battery"), "swap", $0.0, $0.1]) }
    if let swapper { #expect(try swapper.readLine() == "ready") }
    let mounts = swapper == nil
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !self.isOver.load(ordering: .acquiring) {
        if mounts { unsafe mount(self.secret, self.document, nil, UInt(MS_BIND), nil) }
        self.look()
        if mounts { unsafe umount2(self.document, Int32(MNT_DETACH)) }
      }
      done.signal()
    }
    let result = Swift.Result { try body() }
    isOver.store(true, ordering: .releasing)
    done.wait()
    swapper?.closeInput()
    #expect(try swapper?.waitForExit() ?? .status(0) == .status(0))
    // The swapper may have stopped in the midst.
    if let places = places(of: way), try inode(document) != own { try exchange(places) }
    return (try result.get(), others.load(ordering: .relaxed))
  }

  private func places(of way: Way) -> (String, String)? {
    switch way {
    case .files: (document, secret)
    case .fileAndLink: (document, links.file)
    case .folders: folders
    case .folderAndLink: (folders.0, links.folder)
    case .mount: nil
    }
  }

  private func exchange(_ places: (String, String)) throws {
    let aside = "\(places.0).aside"
    try world.rename(places.0, to: aside)
    try world.rename(places.1, to: places.0)
    try world.rename(aside, to: places.1)
  }

  private func look() {
    let file = unsafe open(document, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.kept.utf8.count)
    if unsafe read(file, &bytes, bytes.count) == bytes.count, bytes.elementsEqual(Self.kept.utf8) {
      others.add(1, ordering: .relaxed)
    }
  }
}
