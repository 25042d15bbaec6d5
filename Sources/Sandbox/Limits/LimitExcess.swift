/// A limit that an app went beyond.
package struct LimitExcess: Equatable, Sendable, CustomStringConvertible {
  package enum Limit: String, CaseIterable, Sendable {
    case memory, cpuTime, wallTime, container, containerFiles
    /// The reserve of the disk that its container is on: the container's growth, and the space that must be left. No field of a
    /// policy.
    case reserve

    /// As a policy has it.
    package var key: String {
      switch self {
      case .memory: "memory"
      case .cpuTime: "cpu_time"
      case .wallTime: "wall_time"
      case .container: "container"
      case .containerFiles: "container_files"
      case .reserve: "reserve"
      }
    }
  }

  package var limit: Limit
  /// The amount used, and the amount permitted: bytes, seconds or files.
  package var value: Int
  package var ceiling: Int

  package init(_ limit: Limit, value: Int, ceiling: Int) {
    self.limit = limit
    self.value = value
    self.ceiling = ceiling
  }

  /// As the end of a sentence that begins with the app's end.
  package var description: String {
    // More than can be counted.
    if value == .max {
      return limit == .memory
        ? "its processes have so many files open that its memory cannot be counted"
        : "its container has folders so deep, or its processes so many files open, that its space cannot be counted"
    }
    if limit == .reserve {
      return
        "its container grew by \(Self.bytes(value)), and less than \(Self.bytes(ceiling)) of its disk were left, which are kept "
        + "for writing down what is taken back from apps. Make room on that disk"
    }
    let amount = "\(Self.text(limit, value)) of \(Self.text(limit, ceiling))"
    let what =
      switch limit {
      case .memory: "it used more memory than it may"
      case .cpuTime: "it used more processor time than it may"
      case .wallTime: "its time was over"
      case .container: "its container took more space than it may"
      case .containerFiles: "its container held more files than it may"
      case .reserve: ""
      }
    return "\(what) (\(amount); \(limit.key) in the policy's [limits])"
  }

  /// An amount in the unit of a limit, for people.
  package static func text(_ limit: Limit, _ value: Int) -> String {
    switch limit {
    case .memory, .container, .reserve: bytes(value)
    case .cpuTime, .wallTime: "\(value) s"
    case .containerFiles: "\(value)"
    }
  }

  /// `512 MiB`, `1.5 GiB`: the largest unit that leaves something before the point, one digit behind it.
  package static func bytes(_ count: Int) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
    guard let (size, name) = units.first(where: { count >= $0.0 }) else { return "\(count) bytes" }
    let tenths = count % size * 10 / size
    return "\(count / size)\(tenths == 0 ? "" : ".\(tenths)") \(name)"
  }
}
