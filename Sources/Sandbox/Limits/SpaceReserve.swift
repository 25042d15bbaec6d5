/// The space that apps must leave on the disk of their containers, so that a revoked access can be recorded there (`AUD-12`).
///
/// If less than that is left, an app is ended if its own container has grown meanwhile, by more than a quarter of the reserve. An
/// app that has not filled the disk is left alone, no matter which program has filled it.
///
/// The container is measured when the reserve comes near, and again when there is less than the reserve. A value without a kernel;
/// numbers are bytes.
package struct SpaceReserve: Equatable, Sendable {
  /// 64 MiB, or a sixteenth of a disk that is smaller than a gibibyte.
  package let reserve: Int
  /// Less than this left: the container's size is noted, to know later by how much it has grown.
  private let near: Int
  /// How much a container may grow while there is less than the reserve, and before.
  package var slack: Int { reserve / 4 }
  /// The container's size when the reserve came near, or the least that it has been since.
  private var known: Int?
  private var available = Int.max
  /// The space left at the last measurement of the container.
  private var measured: Int?

  package init(ofDisk size: Int) {
    reserve = min(64 << 20, max(0, size) / 16)
    near = 16 * reserve
  }

  /// - Parameter available: the space left for programs without privilege.
  /// - Returns: whether the container has to be measured.
  package mutating func look(available: Int) -> Bool {
    self.available = available
    guard available < near else {
      known = nil
      measured = nil
      return false
    }
    if known == nil { return true }
    // As long as nothing is given out, nothing has grown.
    return available < reserve && available != measured
  }

  /// - Parameter size: of the container.
  package mutating func measured(_ size: Int) -> LimitExcess? {
    measured = available
    guard let before = known else {
      known = size
      return nil
    }
    known = min(before, size)
    guard available < reserve, size - before > slack else { return nil }
    return LimitExcess(.reserve, value: size - before, ceiling: reserve)
  }

  /// How much can be given out until the container has to be measured; `nil`: that is far.
  package var room: Int { known == nil ? max(0, available - near) : max(0, available - reserve) }
}
