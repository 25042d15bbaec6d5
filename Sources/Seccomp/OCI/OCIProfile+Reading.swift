internal import Kernel
internal import SystemPackage
internal import Wire

extension OCIProfile {
  /// Docker's own has 20 kB.
  package static let maximumSize = 1 << 20

  /// Reads a profile strictly: its content is taken as it is meant, or refused with the place and the remedy.
  package init(contentsOf path: String) throws(OCIProfileError) {
    let bytes: [UInt8]
    do throws(KernelError) {
      bytes = try Descriptor.regularFile(path).readAll(limit: Self.maximumSize + 1)
    } catch {
      let reason =
        [.invalidArgument, .isDirectory].contains(error.errno) ? "is no regular file" : "cannot be read (\(error))"
      throw OCIProfileError(file: path, place: "", reason: "\(reason). Name a seccomp profile in JSON.")
    }
    try self.init(parsing: bytes, file: path)
  }

  /// - Parameter file: its name in messages.
  package init(parsing bytes: [UInt8], file: String) throws(OCIProfileError) {
    guard bytes.count <= Self.maximumSize else {
      throw OCIProfileError(
        file: file, place: "", reason: "is larger than \(Self.maximumSize) bytes, which no seccomp profile is")
    }
    let root: JSONValue
    do throws(JSONError) { root = try JSONValue(parsing: bytes, depth: 16) } catch {
      throw OCIProfileError(file: file, place: Self.place(of: error.offset, in: bytes), reason: "\(error.reason)")
    }
    do throws(OCINode.Fault) { try self.init(OCINode(value: root, place: "")) } catch {
      throw OCIProfileError(file: file, place: error.place, reason: error.reason)
    }
  }

  private static func place(of offset: Int, in bytes: [UInt8]) -> String {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return "line \(line), column \(offset - start + 1)"
  }

  private init(_ root: OCINode) throws(OCINode.Fault) {
    let top = try root.fields([
      "defaultAction", "defaultErrnoRet", "defaultErrno", "archMap", "architectures", "flags", "listenerPath",
      "listenerMetadata", "syscalls",
    ])
    guard let action = top["defaultAction"] else {
      throw root.fault("has no defaultAction. Say what happens to calls that nothing names, such as SCMP_ACT_ERRNO")
    }
    for name in ["listenerPath", "listenerMetadata"] {
      if let node = top[name] {
        throw node.fault("belongs to SCMP_ACT_NOTIFY, which Ambit does not take from a profile; take it out")
      }
    }
    if let node = top["architectures"], let other = top["archMap"] {
      throw node.fault("there is also \(other.place), which says the same; take one of them out")
    }
    // Calls of other architectures end the process, even if the profile lists them; the names have to be right all the same.
    _ = try top["architectures"]?.words(Self.architectureWords) { Self.architectures.contains($0) ? $0 : nil }
    for node in try top["archMap"]?.elements() ?? [] {
      let map = try node.fields(["architecture", "subArchitectures"])
      guard let main = map["architecture"] else { throw node.fault("names no architecture") }
      _ = try main.word(Self.architectureWords) { Self.architectures.contains($0) ? $0 : nil }
      _ = try map["subArchitectures"]?.words(Self.architectureWords) { Self.architectures.contains($0) ? $0 : nil }
    }
    defaultAction = try Self.action(action, number: top["defaultErrnoRet"], name: top["defaultErrno"])
    flags =
      try top["flags"]?.words("one of \(Self.knownFlags.joined(separator: ", "))") {
        Self.knownFlags.contains($0) ? $0 : nil
      } ?? []
    entries = []
    for node in try top["syscalls"]?.elements() ?? [] { entries.append(try Entry(node)) }
  }

  private static let knownFlags = [
    "SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
  ]

  private static let architectureWords = "an architecture, such as SCMP_ARCH_X86_64 or SCMP_ARCH_AARCH64"
  private static let architectures: Set<String> = Set(
    """
    X86 X86_64 X32 ARM AARCH64 MIPS MIPS64 MIPS64N32 MIPSEL MIPSEL64 MIPSEL64N32 PPC PPC64 PPC64LE S390 S390X
    PARISC PARISC64 RISCV64 LOONGARCH64 M68K SH SHEB NATIVE
    """.split(whereSeparator: \.isWhitespace).map { "SCMP_ARCH_\($0)" })

  /// An action with the errno that belongs to it: a number, as the OCI has it, or a name, as Podman adds. Without one
  /// `EPERM`, as every runtime has it.
  fileprivate static func action(_ node: OCINode, number: OCINode?, name: OCINode?) throws(OCINode.Fault)
    -> SeccompAction
  {
    let word = try node.string()
    if word == "SCMP_ACT_NOTIFY" {
      throw node.fault(
        "SCMP_ACT_NOTIFY asks a listener, and the only one here is Ambit's own observer (--trace). Use SCMP_ACT_ERRNO")
    }
    let plain: [String: SeccompAction] = [
      "SCMP_ACT_ALLOW": .allow, "SCMP_ACT_KILL": .killThread, "SCMP_ACT_KILL_THREAD": .killThread,
      "SCMP_ACT_KILL_PROCESS": .kill, "SCMP_ACT_TRAP": .trap, "SCMP_ACT_LOG": .log,
    ]
    if let action = plain[word] {
      // The specification wants it refused: its author meant another action.
      if let extra = number ?? name {
        throw extra.fault("\(word) has no errno; take it out, or use SCMP_ACT_ERRNO")
      }
      return action
    }
    guard word == "SCMP_ACT_ERRNO" || word == "SCMP_ACT_TRACE" else {
      throw node.wrong("one of \((plain.keys + ["SCMP_ACT_ERRNO", "SCMP_ACT_TRACE"]).sorted().joined(separator: ", "))")
    }
    var errno: Int32?
    if let number { errno = Int32(try number.integer(in: 0...Int64(ErrorNumber.largest))) }
    if let name, try name.string() != "" {
      let named = try name.word("the name of an errno, such as EPERM", ErrorNumber.number)
      if let errno, errno != named {
        throw name.fault("is \(named) on this machine, and the number beside it is \(errno); take one of them out")
      }
      errno = named
    }
    return word == "SCMP_ACT_ERRNO" ? .fail(errno ?? 1) : .trace(errno ?? 1)
  }
}

extension OCIProfile.Entry {
  fileprivate init(_ node: OCINode) throws(OCINode.Fault) {
    let fields = try node.fields([
      "names", "name", "action", "errnoRet", "errno", "args", "includes", "excludes", "comment",
    ])
    func call(_ text: String) -> String? {
      // A name goes on as a C string; nothing may end it early.
      let isName =
        !text.isEmpty
        && text.utf8.allSatisfy {
          $0 == UInt8(ascii: "_") || Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber
        }
      return isName && text.utf8.allSatisfy { $0 < 128 } ? text : nil
    }
    names = try fields["names"]?.words("the name of a system call", call) ?? []
    if let name = fields["name"], try name.string() != "" {
      guard fields["names"] == nil else { throw name.fault("there are also names; take one of them out") }
      names = [try name.word("the name of a system call", call)]
    }
    guard !names.isEmpty else { throw node.fault("names no system call. Say which in names, or take the entry out") }
    guard let action = fields["action"] else { throw node.fault("has no action, such as SCMP_ACT_ALLOW") }
    self.action = try OCIProfile.action(action, number: fields["errnoRet"], name: fields["errno"])
    for element in try fields["args"]?.elements() ?? [] {
      let condition = try SeccompCondition(element)
      // Runtimes differ from the expectation: they take two of the same argument as alternatives.
      guard !conditions.contains(where: { $0.argument == condition.argument }) else {
        throw element.fault(
          "argument \(condition.argument) is compared twice in one entry. If either is enough, write an entry for each; both "
            + "at once cannot be asked for")
      }
      conditions.append(condition)
    }
    includes = try fields["includes"].map { node throws(OCINode.Fault) in try .init(node) } ?? .init()
    excludes = try fields["excludes"].map { node throws(OCINode.Fault) in try .init(node) } ?? .init()
    comment = try fields["comment"]?.string() ?? ""
  }
}

extension SeccompCondition {
  /// An element of `args`.
  fileprivate init(_ node: OCINode) throws(OCINode.Fault) {
    let fields = try node.fields(["index", "value", "valueTwo", "op"])
    func required(_ name: String) throws(OCINode.Fault) -> OCINode {
      guard let field = fields[name] else { throw node.fault("has no \(name); a comparison needs index, value and op") }
      return field
    }
    let index = try required("index").integer(in: 0...5)
    let value = try required("value").word64()
    let second = try fields["valueTwo"].map { node throws(OCINode.Fault) in try node.word64() } ?? 0
    let comparisons: [String: Comparison] = [
      "SCMP_CMP_NE": .notEqual(value), "SCMP_CMP_LT": .less(value), "SCMP_CMP_LE": .lessOrEqual(value),
      "SCMP_CMP_EQ": .equal(value), "SCMP_CMP_GE": .greaterOrEqual(value), "SCMP_CMP_GT": .greater(value),
      "SCMP_CMP_MASKED_EQ": .masked(mask: value, value: second),
    ]
    let known = "one of \(comparisons.keys.sorted().joined(separator: ", "))"
    let comparison = try required("op").word(known) { comparisons[$0] }
    if let extra = fields["valueTwo"], second != 0 {
      guard case .masked = comparison else {
        throw extra.fault("is for SCMP_CMP_MASKED_EQ alone; take it out")
      }
      guard second & ~value == 0 else {
        throw extra.fault("has bits that the mask (value) has not, so that it is never equal; mend one of them")
      }
    }
    self.init(argument: UInt32(index), .whole(comparison))
  }
}

extension OCIProfile.Requirements {
  fileprivate init(_ node: OCINode) throws(OCINode.Fault) {
    let fields = try node.fields(["caps", "arches", "minKernel"])
    capabilities =
      try fields["caps"]?.words("a capability, such as CAP_SYS_ADMIN") { text in
        let isName = text.utf8.dropFirst(4).allSatisfy { (65...90).contains($0) || (48...57).contains($0) || $0 == 95 }
        return text.hasPrefix("CAP_") && text.utf8.count > 4 && isName ? text : nil
      } ?? []
    architectures =
      try fields["arches"]?.words("an architecture as Go calls it, such as amd64 or arm64") {
        Self.knownArchitectures.contains($0) ? $0 : nil
      } ?? []
    if let node = fields["minKernel"], try node.string() != "" {
      minimumKernel = try node.word("a kernel's version, such as 4.8") { KernelVersion($0) }
    }
  }

  /// One of them is a slip of the pen that Docker's own profile has had for years.
  private static let knownArchitectures: Set<String> = Set(
    """
    mips3l64n32
    386 x86 amd64 x32 arm arm64 mips mipsle mips64 mips64le mips64n32 mipsel mipsel64 mipsel64n32 mips64p32 mips64p32le
    ppc ppc64 ppc64le s390 s390x riscv riscv64 loong64 loongarch64 parisc parisc64 sparc sparc64 m68k sh sheb
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}
