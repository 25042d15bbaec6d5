/// Something that stands between an app and the rest of the machine, by the name that policies and reports use.
package enum Layer: String, CaseIterable, Codable, Sendable {
  case namespaces
  case network
  case fileTree = "file-tree"
  case proc
  case seccomp
  case landlock
  case capabilities
  case rlimits
  case processes
  case memory
  case cpuTime = "cpu-time"
  case wallTime = "wall-time"
  case cgroup
  case containerSize = "container-size"
  case sockets
  case keyring
  case hostname
  case observer

  /// Its effect where it holds in full, in a few words.
  package var summary: String {
    switch self {
    case .namespaces: "users, mounts, processes, IPC, host name and control groups of its own"
    case .network: "a network of its own, with nobody in it but the app"
    case .fileTree: "a root of its own, built by descriptor; nothing of the host's but what the tree above shows"
    case .proc: "its own processes; the kernel's keys, addresses and hardware hidden, its settings read-only"
    case .seccomp: "default deny; foreign architectures end the process"
    case .landlock:
      "what the plan permits of files, TCP, abstract sockets and signals, once more and apart from the mounts"
    case .capabilities: "none, the bounding set empty, securebits locked, no_new_privs"
    case .rlimits: "core files, open files and the size of files, for each process"
    case .processes: "processes and threads at a time, counted for this app alone"
    case .memory: "memory of the whole app"
    case .cpuTime: "processor time"
    case .wallTime: "how long it may run"
    case .cgroup: "a control group of its own"
    case .containerSize: "what it may keep in its container"
    case .sockets: "no Unix socket but its own and the broker's"
    case .keyring: "a session key ring of its own, and no call that reaches any"
    case .hostname: "a name that says nothing of the machine"
    case .observer: "what the app is refused is seen and recorded"
    }
  }
}

/// How far a layer goes in one launch.
package enum Enforcement: Equatable, Sendable {
  case full
  /// Some of the layer's protection does not hold. The reason is the end of a sentence.
  case partial(String)
  /// The layer does not hold. The reason is the end of a sentence.
  case notEnforced(String)

  /// The word that reports use.
  package var name: String {
    switch self {
    case .full: "full"
    case .partial: "partial"
    case .notEnforced: "notEnforced"
    }
  }

  /// The word, for people.
  package var words: String {
    switch self {
    case .full: "full"
    case .partial: "partial"
    case .notEnforced: "not enforced"
    }
  }

  package var reason: String? {
    switch self {
    case .full: nil
    case .partial(let reason), .notEnforced(let reason): reason
    }
  }

  package var isFull: Bool { self == .full }
}
