package import Policy
package import Sandbox

/// The machine that an explanation is given for. A value: asked for once, however many apps are explained.
package struct Ground: Equatable, Sendable {
  /// The part of the host's system that a sandbox shows.
  package var layout: SystemLayout
  package var features: SystemFeatures
  /// Bytes of memory, of which a policy may give a share.
  package var memory: Int

  package init(layout: SystemLayout, features: SystemFeatures, memory: Int) {
    self.layout = layout
    self.features = features
    self.memory = memory
  }
}

extension Capabilities {
  /// The plan that a launch with these would carry out, with placeholders for the program and the container, which only a launch
  /// knows.
  package func plan(on ground: Ground) -> SandboxPlan { plan(on: ground.layout, memory: ground.memory) }

  /// - Parameter whole: bytes of memory that the machine has.
  func plan(on layout: SystemLayout, memory whole: Int) -> SandboxPlan {
    let memory: Int? =
      switch limits.memory {
      case .bytes(let bytes): bytes
      case .percent(let share): whole / 100 * share
      case nil: nil
      }
    return SandboxPlan(
      SandboxRequest(
        program: .file(path: "/usr/bin/true"), bundleIdentifier: "org.example.explained",
        container: "/container", readOnlyPaths: readOnlyPaths, execute: execute, executePicked: executesPicked,
        network: network, observe: observe, landlockFiles: landlockFiles, environment: environmentSet,
        usage: UsageLimits(
          processes: limits.processes, openFiles: limits.openFiles, fileSize: limits.fileSize, memory: memory,
          cpuTime: limits.cpuTime, wallTime: limits.wallTime, processors: limits.processors,
          container: limits.container, containerFiles: limits.containerFiles, cgroup: limits.cgroup)), on: layout
    )
  }
}
