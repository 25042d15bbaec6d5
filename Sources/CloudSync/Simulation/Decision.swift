/// One step of a life, chosen before the life begins.
///
/// The numbers pick among those that are there at the time, modulo their count. A step that finds none does nothing, so a schedule
/// stays valid when steps are taken out of it.
package struct Decision: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    // The users'. To nest is to move a folder into a folder.
    case create, edit, saveAsNewFile, rename, move, delete, createFolder, deleteFolder, nest
    // The surroundings'.
    case deliver, lose, late, duplicate, crash, offline, online, restartServer, purge, wait
  }

  package let kind: Kind
  package let device: Int
  package let first: Int
  package let second: Int

  private static let weights: [(Kind, Int)] = [
    (.create, 7), (.edit, 8), (.saveAsNewFile, 2), (.rename, 5), (.move, 5), (.delete, 4), (.createFolder, 4),
    (.deleteFolder, 2), (.nest, 4), (.deliver, 130), (.lose, 5), (.late, 4), (.duplicate, 4), (.crash, 4),
    (.offline, 2),
    (.online, 4), (.restartServer, 2), (.purge, 1), (.wait, 6),
  ]
  private static let wheel = weights.flatMap { Array(repeating: $0.0, count: $0.1) }

  init(_ chance: inout Chance, devices: Int) {
    kind = Self.wheel[chance.below(Self.wheel.count)]
    device = chance.below(devices)
    first = chance.below(1 << 16)
    second = chance.below(1 << 16)
  }

  init(_ kind: Kind, device: Int = 0, first: Int = 0, second: Int = 0) {
    (self.kind, self.device, self.first, self.second) = (kind, device, first, second)
  }
}
