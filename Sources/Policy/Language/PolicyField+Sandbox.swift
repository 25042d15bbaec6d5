internal import AppModel
internal import Sandbox

/// The fields about the sandbox: an app's view and reach without a question, and the limits on its use.
extension PolicyField {
  static let sandbox = [
    PolicyField(
      "system", "read_only", [.list(of: [.text("the absolute path of a folder", pattern: "^/[^/]+(/[^/]+)*$")])],
      rule: "SBX-15", example: "[\"/opt/tools\"]",
      narrowing: "a folder has to lie in a folder of both lists",
      .init(
        \.readOnlyPaths, \.readOnlyPaths, decode: PolicyOverrides.folders,
        meet: { ours, theirs, _ in HostFolder.narrowed(ours, theirs) }, text: { $0.quotedTOML }),
      "Folders of the host that an app sees at the same path, read-only, besides those of the system. What a link leads to is not shown."
    ),
    PolicyField(
      "environment", "pass",
      [.list(of: [.text("a variable's name, or the beginning of several with a * behind", pattern: "^[^=*]+\\*?$")])],
      example: "[\"LANG\", \"LC_*\"]", narrowing: "a variable has to be passed by both",
      FieldAccess(
        decode: { (table, overrides) throws(SourceError) in
          overrides.environmentPass = try PolicyOverrides.passed(table)
        },
        isSet: { $0.environmentPass != nil }, copy: { $1.environmentPass = $0.environmentPass },
        apply: { file, result in
          guard let value = file.environmentPass else { return }
          result.environmentPass = value
          if file.environmentSet == nil { for name in value { result.environmentSet[name] = nil } }
        },
        lift: { $1.environmentPass = $0.environmentPass },
        narrow: { mine, other, _ in
          guard let theirs = other.environmentPass else { return }
          mine.environmentPass = mine.environmentPass.map { EnvironmentName.narrowed($0, theirs) } ?? theirs
          // A pattern may be narrowed to a plain name: a variable of that name that is set is not passed.
          if let set = mine.environmentSet { mine.environmentPass?.removeAll { set[$0] != nil } }
        }, text: { $0.environmentPass.quotedTOML }),
      "Variables of your environment that an app gets."),
    PolicyField(
      "environment", "set", [.table(of: .text("any value"), keys: "^[^=*]+$")],
      example: "{ EDITOR = \"vi\" }", narrowing: "cannot be said there: setting a variable takes nothing away",
      FieldAccess(
        decode: { (table, overrides) throws(SourceError) in
          overrides.environmentSet = try PolicyOverrides.set(table, passed: overrides.environmentPass ?? [])
        },
        isSet: { $0.environmentSet != nil }, copy: { $1.environmentSet = $0.environmentSet },
        apply: { file, result in
          guard let value = file.environmentSet else { return }
          result.environmentSet = value
          if file.environmentPass == nil { result.environmentPass.removeAll { value[$0] != nil } }
        },
        lift: { $1.environmentSet = $0.environmentSet }, narrow: { _, _, _ in },
        text: { settings in
          let entries = settings.environmentSet.sorted { $0.key < $1.key }
          return entries.isEmpty
            ? "{}" : "{ " + entries.map { "\($0.quotedTOML) = \($1.quotedTOML)" }.joined(separator: ", ") + " }"
        }),
      "Variables that an app gets, whatever yours are."),
    PolicyField(
      "network", "access", [.words(of: NetworkAccess.self)], rule: "SBX-9", example: "\"loopback\"",
      narrowing: "what both open stays open, to apps with the entitlement and to those without",
      FieldAccess(
        decode: { (table, overrides) throws(SourceError) in
          overrides.network = try table.choice("access", of: NetworkAccess.allCases.map(\.rawValue))
            .flatMap(NetworkAccess.init(rawValue:))
        },
        isSet: { $0.network != nil }, copy: { $1.network = $0.network },
        apply: { if let value = $0.network { $1.network = value } },
        lift: { $1.network = $0.network },
        narrow: { mine, other, _ in mine.narrowNetwork(by: other) },
        text: { $0.network.rawValue.quotedTOML }),
      """
      "none"; "loopback": a network with nobody in it but the app's own processes; "host": the host's; or "entitlement": as the app's \
      entitlements ask, with a client or server entitlement opening what entitled says.
      """),
    PolicyField(
      "network", "entitled", [.words(of: EntitledNetwork.self)], rule: "SBX-9", example: "\"loopback\"",
      narrowing: "\"loopback\" holds",
      .choice("entitled", \.entitledNetwork, \.entitledNetwork, strictestFirst: [.loopback, .host]),
      "What an entitlement for the network opens, where access is \"entitlement\"."),
    PolicyField(
      "files", "execute", [.boolean], rule: "SBX-8", example: "true", narrowing: "false holds",
      .flag("execute", \.execute, \.execute, permits: true),
      "Whether programs in the container and its tmp can be run."),
  ]

  static let limits = [
    PolicyField(
      "limits", "processes", [.integer(1...4_194_304)], example: "256", narrowing: "the smaller holds",
      .init(
        \.processes, optional: \.limits.processes,
        // Linux has no more process identifiers.
        decode: { (table) throws(SourceError) in try table.integer("processes", in: 1...4_194_304) }, meet: min,
        text: { "\($0)" }),
      """
      Processes and threads at a time, of this app alone: its user namespace has a count of its own (Linux 5.14; before that, an \
      ordinary user's other processes are counted as well).
      """),
    PolicyField(
      "limits", "open_files", [.integer(16...1_048_576)], example: "512", narrowing: "the smaller holds",
      .init(
        \.openFiles, optional: \.limits.openFiles,
        // Linux hands out no more descriptors unless told to; a program needs a few to start at all.
        decode: { (table) throws(SourceError) in try table.integer("open_files", in: 16...1_048_576) }, meet: min,
        text: { "\($0)" }),
      "Open descriptors of one process."),
    PolicyField(
      "limits", "file_size", [.integer(0...Int.max)], example: "1_073_741_824", narrowing: "the smaller holds",
      .init(
        \.fileSize, optional: \.limits.fileSize,
        decode: { (table) throws(SourceError) in try table.integer("file_size", in: 0...Int.max) }, meet: min,
        text: { "\($0)" }),
      "Bytes of the largest file that may be written."),
    PolicyField(
      "limits", "memory",
      [
        .integer(Amount.smallestSize...Int.max), .size,
        .text("a share of the machine's, 1% to 100%", pattern: "^[0-9]+%$"),
        .noCeiling,
      ], example: "\"512 MiB\"", narrowing: "the smaller holds, a share being what it is of this machine's memory",
      .init(
        \.memory, ceiling: \.limits.memory, decode: PolicyOverrides.memory,
        meet: { $0.narrowed(by: $1, machine: $2.memory) },
        text: {
          switch $0 {
          case .bytes(let bytes): Amount.text(bytes: bytes).quotedTOML
          case .percent(let share): "\(share)%".quotedTOML
          }
        }),
      """
      Memory of all of the app's processes together. One process that asks for more is refused it; an app that has more is ended.
      """),
    PolicyField(
      "limits", "cpu_time", [.integer(1...GrantLifetime.range.upperBound), .duration, .noCeiling], example: "\"10m\"",
      narrowing: "the smaller holds",
      .seconds(\.cpuTime, \.limits.cpuTime, "cpu_time"), "Processor time of all of its processes; a number is seconds."),
    PolicyField(
      "limits", "wall_time", [.integer(1...GrantLifetime.range.upperBound), .duration, .noCeiling],
      example: "\"1h30m\"",
      narrowing: "the smaller holds",
      .seconds(\.wallTime, \.limits.wallTime, "wall_time"), "Time from its start; a number is seconds."),
    PolicyField(
      "limits", "processors", [.number(0.01...8192), .noCeiling], example: "1.5", narrowing: "the smaller holds",
      .init(
        \.processors, ceiling: \.limits.processors, decode: PolicyOverrides.processors,
        meet: { ours, theirs, _ in min(ours, theirs) },
        text: { $0 % 1000 == 0 ? "\($0 / 1000)" : "\(Double($0) / 1000)" }),
      "Processors that it may keep busy. Only control groups can do that."),
    PolicyField(
      "limits", "container", [.integer(Amount.smallestSize...Int.max), .size, .noCeiling], example: "\"10 GiB\"",
      narrowing: "the smaller holds",
      .init(
        \.container, ceiling: \.limits.container, decode: PolicyOverrides.container,
        meet: { ours, theirs, _ in min(ours, theirs) }, text: { Amount.text(bytes: $0).quotedTOML }),
      "What it may keep in its container, in bytes on the disk. An app that keeps more is ended."),
    PolicyField(
      "limits", "container_files", [.integer(1...Int.max), .noCeiling], example: "100_000",
      narrowing: "the smaller holds",
      .init(
        \.containerFiles, ceiling: \.limits.containerFiles, decode: PolicyOverrides.containerFiles,
        meet: { ours, theirs, _ in min(ours, theirs) }, text: { "\($0)" }),
      "Files and folders in its container. An app that keeps more is ended."),
    PolicyField(
      "limits", "cgroup", [.boolean], example: "true", narrowing: "true holds",
      .flag("cgroup", \.cgroup, \.limits.cgroup, permits: false),
      """
      Whether a control group enforces memory, processes and processors, where this user may make one. Entering one costs a launch \
      some milliseconds under version 1; what it enforces is exact.
      """),
  ]

  static let layers = [
    PolicyField(
      "audit", "observe", [.boolean], rule: "SBX-16", example: "true", narrowing: "true holds",
      .flag("observe", \.observe, \.observe, permits: false),
      """
      Whether what the app is refused of files that it opens by name, of sockets and of calls that the filter denies is seen while it \
      happens: which path, by which rule, what would have granted it. The refusal is then EPERM, as on macOS. Opening a file by name \
      takes some microseconds more; reading and writing do not. What the kernel refuses by itself, such as making a folder, running a \
      program or sending a signal, is not seen.
      """),
    PolicyField(
      "audit", "sync", [.words(of: AuditSync.self)], rule: "AUD-8", example: "\"full\"", narrowing: "\"full\" holds",
      .choice("sync", \.sync, \.sync, strictestFirst: [.full, .group]),
      """
      When a decision counts as written down. "group": together with others; no death of a process loses it, a power cut costs at most \
      the last tenth of a second. "full": on the disk before its effect is answered.
      """),
    PolicyField(
      "seccomp", "profile",
      [
        .words([.init(SeccompFile.none, "Ambit's own filter alone")]), .text("a file's path"),
        .list(of: [.text("a file's path")]),
      ],
      example: "\"containers.json\"", narrowing: "both profiles have to hold",
      FieldAccess(
        decode: { (table, overrides) throws(SourceError) in
          guard let profiles = try PolicyOverrides.profiles(table) else { return }
          overrides.seccompProfile = profiles.first
          overrides.furtherSeccompProfiles = Array(profiles.dropFirst())
        },
        isSet: { $0.seccompProfile != nil },
        copy: {
          $1.seccompProfile = $0.seccompProfile
          $1.furtherSeccompProfiles = $0.furtherSeccompProfiles
        },
        apply: { file, result in
          if let value = file.seccompProfile { result.seccompProfile = value == SeccompFile.none ? nil : value }
          if let further = file.furtherSeccompProfiles { result.furtherSeccompProfiles = further }
        },
        lift: {
          $1.seccompProfile = $0.seccompProfile ?? SeccompFile.none
          $1.furtherSeccompProfiles = $0.furtherSeccompProfiles
        },
        narrow: { mine, other, _ in mine.narrowProfiles(by: other) },
        text: { settings in
          let profiles = [settings.seccompProfile].compactMap { $0 } + settings.furtherSeccompProfiles
          return profiles.count > 1 ? profiles.quotedTOML : (profiles.first ?? SeccompFile.none).quotedTOML
        }),
      """
      A profile as container engines have it (OCI, Docker, Podman), relative to the policy's own file. It holds besides Ambit's own \
      filter, and can only take away; of an array all hold.
      """),
    PolicyField(
      "landlock", "files", [.boolean], rule: "SBX-2", example: "true", narrowing: "true holds",
      .flag("files", \.landlockFiles, \.landlockFiles, permits: false),
      """
      Whether Landlock repeats for files, each time one is opened, what the mounts say anyhow: a second wall behind the first. Opening \
      a file then takes a quarter more; reading and writing do not. Network, abstract sockets and signals it looks at always.
      """),
    PolicyField(
      "require", "layers", [.list(of: [.words(Layer.allCases.map { .init($0.rawValue, $0.summary) })])],
      example: "[\"seccomp\", \"namespaces\"]", narrowing: "what is in either list is required",
      .init(
        \.requiredLayers, \.requiredLayers, decode: PolicyOverrides.layers,
        meet: { ours, theirs, _ in ours + theirs.filter { !ours.contains($0) } },
        text: { $0.map(\.rawValue).quotedTOML }),
      """
      Layers that have to hold in full on this kernel and for this app, or it is not run; --allow-degraded runs it without the whole of \
      one, and is recorded. “ambit plan” says how far each goes.
      """),
  ]
}

extension FieldAccess {
  fileprivate static func seconds(
    _ file: FilePlace<Ceiling<Int>>,
    _ settings: SettingsPlace<Int?>, _ key: String
  ) -> FieldAccess {
    FieldAccess(
      file, ceiling: settings, decode: { (table) throws(SourceError) in try PolicyOverrides.duration(table, key) },
      meet: { ours, theirs, _ in min(ours, theirs) }, text: { Amount.text(seconds: $0).quotedTOML })
  }
}
