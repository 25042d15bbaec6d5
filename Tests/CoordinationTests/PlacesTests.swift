import Paths
import Testing

@testable import Coordination

/// What the arbiter keeps of places that nothing uses.
@Suite struct `Places without use` {
  private func read(_ path: String, _ id: Int) -> Input {
    .request(
      id,
      Request(
        client: 1, party: Party(app: "app", process: 1, purpose: "\(id)"), intents: [Intent(Item(path), .read([]))]))
  }

  @Test func `of many paths only some are kept, and all are as before when they are asked for again`() {
    var arbiter = Arbiter()
    for id in 1...1000 {
      let path = "/home/user/\(id)/letter.txt"
      #expect(arbiter.apply(read(path, id), at: 0) == [.grant(id, paths: [PathKey(path)])])
      _ = arbiter.apply(.done(id), at: 0)
      #expect(arbiter.knownPlaces.count <= 3 + 2 * 65)
    }
  }

  /// A path may have two thousand folders.
  @Test func `a long path is forgotten at once`() {
    var arbiter = Arbiter()
    let path = String(repeating: "/a", count: 1000)
    _ = arbiter.apply(read(path, 1), at: 0)
    #expect(arbiter.knownPlaces.count == 1001)
    _ = arbiter.apply(.done(1), at: 0)
    #expect(arbiter.knownPlaces.isEmpty)
  }

  @Test func `a place that is used again while it is kept stays when the others are forgotten`() {
    var arbiter = Arbiter()
    _ = arbiter.apply(read("/home/first", 1), at: 0)
    _ = arbiter.apply(.done(1), at: 0)
    _ = arbiter.apply(read("/home/first", 2), at: 0)
    for id in 3...100 {
      _ = arbiter.apply(read("/home/\(id)", id), at: 0)
      _ = arbiter.apply(.done(id), at: 0)
    }
    let number = arbiter.knownPlaces[PathKey("/home/first")]
    #expect(number.map { arbiter.places[$0].readers } == [2])
  }
}
