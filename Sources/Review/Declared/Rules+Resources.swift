internal import Policy
internal import Sandbox

extension Rules {
  var resources: [Entry] {
    let limits = settings.limits
    return [
      Entry(
        Ability(.processes), Extent(ceiling: limits.processes),
        by: decided("limits.processes") + (limits.processes == nil ? [] : kernel(.processes))),
      Entry(Ability(.openFiles), Extent(ceiling: limits.openFiles), by: decided("limits.open_files")),
      // As the plan has it: a share is of this machine's memory.
      Entry(Ability(.memory), Extent(ceiling: plan.usage.memory), by: decided("limits.memory")),
      Entry(Ability(.processorTime), Extent(ceiling: limits.cpuTime), by: decided("limits.cpu_time")),
      Entry(Ability(.wallTime), Extent(ceiling: limits.wallTime), by: decided("limits.wall_time")),
      Entry(Ability(.processors), Extent(ceiling: limits.processors), by: decided("limits.processors")),
      overshoot,
    ]
  }

  /// Limits without a control group are checked from time to time, and can be exceeded in between.
  private var overshoot: Entry {
    let isExact = limits.cgroup && layers[.cgroup].enforcement.isFull
    return Entry(
      Ability(.overshoot), Extent(!isExact),
      by: decided("limits.cgroup") + (limits.cgroup ? kernel(.cgroup) : []))
  }

  private var limits: Capabilities.Limits { settings.limits }
}
