/// One life of a few devices with a cloud: its events, and whether all invariants held.
package struct Life: Sendable {
  package let seed: UInt64
  package let planted: PlantedFault?
  /// The number of devices.
  package let devices: Int
  /// The decisions, step by step.
  package let decisions: [Decision]
  /// The number of steps, those after the faults included.
  package let steps: Int
  package let failure: Failure?
  /// The steps as text. It is empty if the life was run without a log.
  package let log: [String]
}

/// Runs the real engine and the real ledger against a model of disks, network and users, from one seed.
package enum Simulation {
  /// The steps that a life may take to come to rest.
  static let restLimit = 2_000

  /// The same seed leads to the same life. A life that fails is run again with a log.
  ///
  /// - Parameter steps: the number of steps with faults in them.
  package static func run(seed: UInt64, planted: PlantedFault? = nil, steps: Int = 240) -> Life {
    let (devices, decisions) = schedule(seed: seed, steps: steps)
    let life = play(decisions, devices: devices, seed: seed, planted: planted, keepsLog: false)
    if life.failure == nil { return life }
    return play(decisions, devices: devices, seed: seed, planted: planted, keepsLog: true)
  }

  /// The log of a life, whether it fails or not.
  ///
  /// - Parameter restore: how a device that starts again loads its saved state.
  package static func log(
    seed: UInt64, planted: PlantedFault? = nil, steps: Int = 240,
    restore: @escaping @Sendable (SavedSync) -> SyncEngine = { $0.engine }
  ) -> [String] {
    let (devices, decisions) = schedule(seed: seed, steps: steps)
    return play(
      decisions, devices: devices, seed: seed, planted: planted, keepsLog: true, restore: restore
    ).log
  }

  static func schedule(seed: UInt64, steps: Int) -> (devices: Int, decisions: [Decision]) {
    var chance = Chance(seed: seed)
    let devices = 2 + chance.below(2)
    return (devices, (0..<steps).map { _ in Decision(&chance, devices: devices) })
  }

  package static func play(
    _ decisions: [Decision], devices: Int, seed: UInt64, planted: PlantedFault?, keepsLog: Bool,
    restore: @escaping @Sendable (SavedSync) -> SyncEngine = { $0.engine }
  ) -> Life {
    var world = World(devices: devices, planted: planted, keepsLog: keepsLog, restore: restore)
    var steps = 0
    for decision in decisions {
      steps += 1
      world.take(decision)
      if world.failure != nil { break }
    }
    if world.failure == nil { steps += world.heal(limit: restLimit) }
    return Life(
      seed: seed, planted: planted, devices: devices, decisions: decisions, steps: steps, failure: world.failure,
      log: world.log)
  }

  /// A shorter schedule that breaks the same invariant.
  ///
  /// - Parameter goesOn: asked before each life, with the number of decisions that are left; where it says no, the shortest so far is it.
  /// - Returns: also whether it is at its shortest: no decision of it can be left out.
  package static func shrink(
    _ life: Life, while goesOn: (Int) -> Bool = { _ in true }
  ) -> (life: Life, isShortest: Bool) {
    guard life.failure != nil else { return (life, true) }
    let invariant = life.failure?.invariant
    func fails(_ decisions: [Decision]) -> Bool {
      let shorter = play(
        decisions, devices: life.devices, seed: life.seed, planted: life.planted, keepsLog: false)
      return shorter.failure?.invariant == invariant
    }
    var rest = life.decisions
    var size = max(rest.count / 2, 1)
    var isShortest = true
    shrinking: while true {
      var start = 0
      var hasShrunk = false
      while start < rest.count {
        guard goesOn(rest.count) else {
          isShortest = false
          break shrinking
        }
        let shorter = Array(rest[..<start] + rest[min(start + size, rest.count)...])
        if fails(shorter) {
          rest = shorter
          hasShrunk = true
        } else {
          start += size
        }
      }
      if size > 1 { size /= 2 } else if !hasShrunk { break }
    }
    return (play(rest, devices: life.devices, seed: life.seed, planted: life.planted, keepsLog: true), isShortest)
  }
}
