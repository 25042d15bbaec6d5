extension LauncherInterface {
  /// Ceilings on what an app uses (`Limits`); `nil`: none of Ambit's making.
  package struct Limits: WireMessage, Equatable {
    package var processes: Int?
    package var openFiles: Int?
    package var fileSize: Int?
    /// Bytes.
    package var memory: Int?
    /// Seconds.
    package var cpuTime: Int?
    /// Seconds.
    package var wallTime: Int?
    /// Thousandths of one.
    package var processors: Int?
    /// Bytes.
    package var container: Int?
    package var containerFiles: Int?
    /// A control group is to enforce what it can.
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

    package init(json: JSONObject) throws(FieldError) {
      processes = try json.intIfPresent("processes")
      openFiles = try json.intIfPresent("openFiles")
      fileSize = try json.intIfPresent("fileSize")
      memory = try json.intIfPresent("memory")
      cpuTime = try json.intIfPresent("cpuTime")
      wallTime = try json.intIfPresent("wallTime")
      processors = try json.intIfPresent("processors")
      container = try json.intIfPresent("container")
      containerFiles = try json.intIfPresent("containerFiles")
      cgroup = try json.bool("cgroup")
    }

    package var json: JSONObject {
      var json = JSONObject()
      json.set("processes", processes)
      json.set("openFiles", openFiles)
      json.set("fileSize", fileSize)
      json.set("memory", memory)
      json.set("cpuTime", cpuTime)
      json.set("wallTime", wallTime)
      json.set("processors", processors)
      json.set("container", container)
      json.set("containerFiles", containerFiles)
      json["cgroup"] = .bool(cgroup)
      return json
    }
  }

  /// A limit that ended an instance.
  package struct LimitHit: WireMessage, Equatable {
    package enum Limit: String, CaseIterable, Sendable {
      case memory, cpuTime, wallTime, container, containerFiles, reserve
    }

    package var limit: Limit
    /// What was used, and what might be: bytes, seconds or files.
    package var value: Int
    package var ceiling: Int

    package init(limit: Limit, value: Int, ceiling: Int) {
      self.limit = limit
      self.value = value
      self.ceiling = ceiling
    }

    package init(json: JSONObject) throws(FieldError) {
      limit = try json.choice("limit")
      value = try json.int("value")
      ceiling = try json.int("ceiling")
    }

    package var json: JSONObject {
      ["limit": .string(limit.rawValue), "value": JSONValue(value), "ceiling": JSONValue(ceiling)]
    }
  }
}
