/// A life in which all devices that are online settle after each act, so that real processes can do the same and have to end in the same
/// state. Its network loses nothing.
package struct SettledLife: Sendable {
  package let devices: Int
  /// The device's name, a verb, and the verb's words: `["A", "write", "Work/note.txt", "c4"]`. The server's name is `server`.
  package let acts: [[String]]
  /// A line for each item that all devices have in the end: the path, and the content or a slash.
  package let listing: [String]
  /// Contents of the conflict versions.
  package let kept: [String]
  package let failure: Failure?

  /// - Parameter steps: the number of decisions; those about a network that fails are left out.
  package init(seed: UInt64, steps: Int = 240) {
    let (devices, decisions) = Simulation.schedule(seed: seed, steps: steps)
    var world = World(devices: devices, planted: nil, keepsLog: false)
    _ = world.settle(limit: Simulation.restLimit)
    world.acts = []
    for decision in decisions where world.failure == nil {
      let (d, before) = (decision.device, world.acts?.count)
      switch decision.kind {
      case .deliver, .lose, .late, .duplicate, .purge, .wait: continue
      case .crash: world.crash(d)
      case .offline: world.goOffline(d)
      case .online: world.goOnline(d)
      case .restartServer: world.restartServer()
      default: world.take(decision)
      }
      if world.acts?.count != before { _ = world.settle(limit: Simulation.restLimit) }
    }
    for d in 0..<devices where world.failure == nil {
      world.goOnline(d)
      _ = world.settle(limit: Simulation.restLimit)
    }
    _ = world.heal(limit: Simulation.restLimit)
    (self.devices, acts, listing) = (devices, world.acts ?? [], world.cloudListing)
    (kept, failure) = (world.conflictVersions, world.failure)
  }
}
