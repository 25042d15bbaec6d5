/// Decides, while an app runs, when to look at its use, which quantities to measure, and when it has exceeded a limit. Knows no
/// kernel: readings go in, demands come out.
package struct UsageRule: Sendable {
  /// The quantities that are read in microseconds.
  package struct Reading: Equatable, Sendable {
    /// Bytes that all processes together have in memory at the most.
    package var memory: Int
    /// Nanoseconds of processor time of all live processes, and of the children that they have waited for.
    package var cpuTime: Int64
    /// Bytes and files that the container's file system has given out, to whomever.
    package var spaceTaken: Int
    package var filesTaken: Int
    /// Bytes that are left there for programs without privilege.
    package var spaceLeft: Int

    package init(
      memory: Int = 0, cpuTime: Int64 = 0, spaceTaken: Int = 0, filesTaken: Int = 0, spaceLeft: Int = .max
    ) {
      self.memory = memory
      self.cpuTime = cpuTime
      self.spaceTaken = spaceTaken
      self.filesTaken = filesTaken
      self.spaceLeft = spaceLeft
    }
  }

  package enum Demand: Equatable, Sendable {
    case measureMemory
    case measureContainer
    /// Its time is over: it may tidy up.
    case askToEnd(LimitExcess)
    case end(LimitExcess)
  }

  private let limits: UsageLimits
  private let start: Int64
  private let processors: Int
  /// The kernel enforces the limit on memory, and tells of it when it has.
  private let isMemoryHeld: Bool
  private var memory: LimitGauge?
  private var space: LimitGauge?
  private var files: LimitGauge?
  private var reserve: SpaceReserve?
  /// Memory was found to be too much, once.
  private var isSuspect = false
  private var cpuTime: Int64 = 0
  private var isAsked = false
  private var last: Reading
  /// The number of looks with the same result as the last one, for memory and for the disk.
  private var quiet: (memory: Int64, disk: Int64) = (0, 0)

  private static let second: Int64 = 1_000_000_000
  private static let grace = Int64(UsageLimits.grace) * second
  /// No look follows another sooner, nor later while there is memory or a container to look at.
  private static let pauses: ClosedRange<Int64> = 10_000_000...second
  /// The longest pause between looks at an app that does nothing, however near to its limits it is.
  private static let quietPause: Int64 = 250_000_000
  /// The most that one processor can take in a second: bytes of memory or of files, and files.
  private static let rates = (bytes: 4 << 30, files: 500_000)

  /// - Parameters:
  ///   - processors: how many this machine has.
  ///   - isMemoryHeld: a control group enforces the limit on memory; it is not measured then.
  ///   - disk: bytes of the container's file system; `nil`: nothing is left of it.
  ///   - reading: the quantities at the start.
  package init(
    _ limits: UsageLimits, processors: Int, isMemoryHeld: Bool = false, disk: Int? = nil, start: Int64,
    reading: Reading
  ) {
    reserve = disk.map { SpaceReserve(ofDisk: $0) }
    self.isMemoryHeld = isMemoryHeld
    self.limits = limits
    self.processors = max(1, processors)
    self.start = start
    last = reading
    memory = isMemoryHeld ? nil : limits.memory.map { LimitGauge(boundWithCeiling: $0, recheck: 5 * Self.second) }
    space = limits.container.map {
      LimitGauge(
        relativeWithCeiling: $0, cheap: reading.spaceTaken, unmeasured: 64 << 20, recheck: Self.second, start: start)
    }
    files = limits.containerFiles.map {
      LimitGauge(
        relativeWithCeiling: $0, cheap: reading.filesTaken, unmeasured: 10_000, recheck: Self.second, start: start)
    }
  }

  /// Takes a reading.
  package mutating func look(_ reading: Reading, now: Int64) -> [Demand] {
    var demands: [Demand] = []
    if let excess = time(reading, now: now) { demands.append(excess) }
    let isSuspicious = memory?.needsMeasuring(cheap: reading.memory, now: now) ?? false
    if isSuspicious || isSuspect { demands.append(.measureMemory) }
    let space = space?.needsMeasuring(cheap: reading.spaceTaken, now: now) ?? false
    let files = files?.needsMeasuring(cheap: reading.filesTaken, now: now) ?? false
    let isScarce = reserve?.look(available: reading.spaceLeft) ?? false
    if space || files || isScarce { demands.append(.measureContainer) }
    quiet.memory = reading.memory == last.memory ? quiet.memory + 1 : 0
    quiet.disk =
      reading.spaceTaken == last.spaceTaken && reading.filesTaken == last.filesTaken ? quiet.disk + 1 : 0
    last = reading
    return demands
  }

  private mutating func time(_ reading: Reading, now: Int64) -> Demand? {
    // The use of a process that no parent waited for is gone with it; the use that was seen stays counted.
    cpuTime += max(0, reading.cpuTime - last.cpuTime)
    if let seconds = limits.cpuTime, cpuTime > Int64(seconds) * Self.second + Self.grace {
      return .end(LimitExcess(.cpuTime, value: Int(cpuTime / Self.second), ceiling: seconds))
    }
    guard let seconds = limits.wallTime else { return nil }
    let past = now - start
    let excess = LimitExcess(.wallTime, value: Int(past / Self.second), ceiling: seconds)
    if past >= Int64(seconds) * Self.second + Self.grace { return .end(excess) }
    guard past >= Int64(seconds) * Self.second, !isAsked else { return nil }
    isAsked = true
    return .askToEnd(excess)
  }

  /// Takes the answer to ``Demand/measureMemory``.
  ///
  /// One measurement is not enough: a process that is starting another program shares all of its memory with it for a
  /// moment, and the kernel tells it twice.
  package mutating func measured(memory value: Int, now: Int64) -> LimitExcess? {
    guard var gauge = memory else { return nil }
    defer { memory = gauge }
    let isExceeded = gauge.isExceeded(by: value, cheap: last.memory, now: now)
    defer { isSuspect = isExceeded }
    return isExceeded && isSuspect ? LimitExcess(.memory, value: value, ceiling: gauge.ceiling) : nil
  }

  /// Takes the answer to ``Demand/measureContainer``.
  ///
  /// - Parameter cost: nanoseconds of work that it took.
  package mutating func measured(space: Int, files: Int, now: Int64, cost: Int64 = 0) -> LimitExcess? {
    let tooLarge = self.space?.isExceeded(by: space, cheap: last.spaceTaken, now: now, cost: cost) ?? false
    let tooMany = self.files?.isExceeded(by: files, cheap: last.filesTaken, now: now, cost: cost) ?? false
    let scarcity = reserve?.measured(space)
    if tooLarge, let ceiling = limits.container { return LimitExcess(.container, value: space, ceiling: ceiling) }
    if tooMany, let ceiling = limits.containerFiles {
      return LimitExcess(.containerFiles, value: files, ceiling: ceiling)
    }
    return scarcity
  }

  /// Nanoseconds until the next look: the sooner the less room there is, by this machine's greatest possible use in the meantime.
  package func pause(now: Int64) -> Int64 {
    var pause = Int64.max
    func consider(_ room: Int?, _ rate: Int, _ quiet: Int64) {
      guard let room else { return }
      let time = min(Int64(Double(room) / Double(rate * processors) * Double(Self.second)), Self.pauses.upperBound)
      pause = min(pause, max(time, min(Self.quietPause, Self.pauses.lowerBound << min(quiet, 10))))
    }
    consider(memory?.room(cheap: last.memory), Self.rates.bytes, isSuspect ? 0 : quiet.memory)
    consider(space?.room(cheap: last.spaceTaken), Self.rates.bytes, quiet.disk)
    consider(files?.room(cheap: last.filesTaken), Self.rates.files, quiet.disk)
    consider(reserve?.room, Self.rates.bytes, quiet.disk)
    if isMemoryHeld { pause = min(pause, Self.quietPause) }
    if let seconds = limits.cpuTime {
      let room = Int64(seconds) * Self.second + Self.grace - cpuTime
      pause = min(pause, max(room / Int64(processors), Self.pauses.lowerBound))
    }
    if let seconds = limits.wallTime {
      let due = start + Int64(seconds) * Self.second + (isAsked ? Self.grace : 0)
      pause = min(pause, max(due - now, 0))
    }
    return pause
  }
}
