package import Kernel

/// Ceilings on a sandbox's use of resources; `nil`: none of Ambit's making.
package struct UsageLimits: Equatable, Sendable {
  /// Processes and threads at a time.
  package var processes: Int?
  /// Open descriptors of one process.
  package var openFiles: Int?
  /// Bytes of the largest file that may be written.
  package var fileSize: Int?
  /// Bytes of memory of all processes together, files in memory that they hold included.
  package var memory: Int?
  /// Seconds of processor time of all processes together.
  package var cpuTime: Int?
  /// Seconds from the start.
  package var wallTime: Int?
  /// Thousandths of a processor that may be kept busy.
  package var processors: Int?
  /// Bytes that the container takes on the disk.
  package var container: Int?
  /// Files and folders in the container.
  package var containerFiles: Int?
  /// A control group is to enforce the limits that it can.
  package var cgroup: Bool

  package init(
    processes: Int? = nil, openFiles: Int? = nil, fileSize: Int? = nil, memory: Int? = nil, cpuTime: Int? = nil,
    wallTime: Int? = nil, processors: Int? = nil, container: Int? = nil, containerFiles: Int? = nil,
    cgroup: Bool = false
  ) {
    self.processes = processes
    self.openFiles = openFiles
    self.fileSize = fileSize
    self.memory = memory
    self.cpuTime = cpuTime
    self.wallTime = wallTime
    self.processors = processors
    self.container = container
    self.containerFiles = containerFiles
    self.cgroup = cgroup
  }

  /// Seconds between the signal that asks an app to end and the one that ends it (`SIGXCPU` or `SIGTERM`, then `SIGKILL`).
  package static let grace: UInt64 = 1

  /// The limits that the kernel can enforce for each process by itself, at no cost. No process may have more than all together, so
  /// these are the same numbers.
  package var ofEachProcess: [ResourceLimit] {
    var limits: [ResourceLimit] = []
    func add(_ kind: ResourceLimit.Kind, _ value: Int?) {
      if let value { limits.append(ResourceLimit(kind, UInt64(value))) }
    }
    add(.processes, processes)
    add(.openFiles, openFiles)
    // Not the container's ceiling: a document that was granted may be larger.
    add(.fileSize, fileSize)
    add(.data, memory)
    add(.cpuTime, cpuTime)
    return limits
  }

  /// Whether a control group is asked for: nothing else can hold an app to some of the processors.
  package var wantsGroup: Bool { cgroup || processors != nil }

  /// The limits that a control group can enforce.
  package var ofGroup: ControlGroup.Limits {
    ControlGroup.Limits(memory: memory, processes: processes, processors: processors)
  }

  /// Whether there is anything that has to be looked at while the app runs.
  package var needsWatching: Bool {
    [memory, cpuTime, wallTime, container, containerFiles].contains { $0 != nil }
  }
}
