internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage
internal import Terminal
internal import Wire

/// Calls of `io.ambit.Versions` for the user's side.
enum VersionCall {
  static func call<Answer: WireMessage>(
    _ method: String, _ call: some WireMessage, answer: Answer.Type = Answer.self
  ) throws -> Answer {
    try asking { try Answer(json: $0.call(method, call.json).parameters) }
  }

  static func call(_ method: String, _ call: some WireMessage) throws {
    try asking { _ = try $0.call(method, call.json) }
  }

  static func contents(of version: VersionsInterface.Version) throws -> [String] {
    let reply: VersionsInterface.ContentsReply = try call(
      VersionsInterface.contents, VersionsInterface.ContentsCall(version: version.id))
    return reply.paths
  }

  /// Opens a version, or a file in one.
  static func open(_ version: VersionsInterface.Version, _ path: String?) throws -> Descriptor {
    try asking {
      let call = VersionsInterface.OpenCall(version: version.id, path: path)
      return Descriptor(owning: try $0.call(VersionsInterface.open, call.json).takeDescriptor())
    }
  }

  private static func asking<Value>(_ body: (WireClient) throws -> Value) throws -> Value {
    do { return try BrokerConnection.ask(UserSide.folders, body) } catch WireError.remote(let name, let parameters) {
      let reason = (try? parameters.string("reason")) ?? name
      switch name {
      case VersionsInterface.Failure.notKnownName:
        let path = (try? parameters.string("path")) ?? ""
        throw Failure("\(printable(path)) is no document: no file or folder is there.", status: 1)
      case VersionsInterface.Failure.noSuchVersionName: throw Failure("There is no such version any more.", status: 1)
      case VersionsInterface.Failure.notKeptName:
        throw Failure("The content is not kept as a version: \(reason). Nothing was changed.")
      case VersionsInterface.Failure.unavailableName: throw Failure("The version cannot be read: \(reason).")
      default: throw Failure(reason)
      }
    }
  }
}

/// The content of a version on its way to the document's place.
struct RestoredVersion {
  private let version: VersionsInterface.Version

  init(_ version: VersionsInterface.Version) { self.version = version }

  /// Writes it beside the document, and lets the two change places.
  func put(at path: String) throws {
    let folder = try Descriptor.open(path.parentPath ?? "/", flags: [.path, .directory])
    let name = path.lastPathName
    let new = ".\(UUID().uuidString)"
    do {
      if version.kind == .package {
        try writePackage(new, in: folder)
      } else {
        try writeFile(try VersionCall.open(version, nil), new, in: folder, like: name)
      }
      try folder.exchange(new, with: name, in: folder)
    } catch {
      discard(new, folder)
      throw error
    }
    try? Descriptor.open(".", below: folder, flags: [.read, .directory]).synchronize()
    discard(new, folder)
  }

  private func discard(_ name: String, _ folder: Descriptor) {
    if (try? folder.removeFile(name)) == nil { try? folder.removeTree(name) }
  }

  private func writeFile(
    _ content: Descriptor, _ name: String, in folder: Descriptor, like former: String? = nil
  ) throws(KernelError) {
    let file = try Descriptor.open(
      name, below: folder, flags: [.readWrite, .create, .exclusive, .noFollow], mode: 0o666)
    try content.copyContent(to: file)
    if let former, let old = try? Descriptor.open(former, below: folder, flags: [.read, .noFollow, .nonBlocking]) {
      try old.copyAttributes(to: file)
    }
    try file.synchronize()
  }

  private func writePackage(_ name: String, in folder: Descriptor) throws {
    try folder.makeDirectory(name, mode: 0o777)
    let root = try Descriptor.open(name, below: folder, flags: [.read, .directory, .noFollow])
    for path in try VersionCall.contents(of: version) {
      var place = root
      for part in path.pathNames.dropLast() {
        try? place.makeDirectory(part, mode: 0o777)
        place = try Descriptor.open(part, below: place, flags: [.read, .directory, .noFollow])
      }
      try writeFile(try VersionCall.open(version, path), path.lastPathName, in: place)
    }
    try root.synchronize()
  }
}
