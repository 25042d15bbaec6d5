internal import Audit
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import SystemPackage

/// How far an export has got: the last event that is certain to have been delivered.
struct ExportState: Equatable {
  /// The base of the log's identity.
  enum Naming: Int {
    /// Its first entry, as earlier versions had it.
    case byFirst = 1
    case byKey = 2
  }

  var naming = Naming.byKey
  let event: EventIdentifier
  /// `AuditEvent.digest()` of that event: a log in which that number is another event is another log.
  let digest: String
}

extension ExportState {
  /// One line of JSON.
  var text: String {
    #"{"ambitExport":\#(naming.rawValue),"digest":"\#(digest)","log":"\#(event.log)","sequence":\#(event.sequence)}"#
      + "\n"
  }

  /// Nil when the bytes are not in the form that `text` writes.
  init?(_ bytes: [UInt8]) {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any],
      let naming = (object["ambitExport"] as? Int).flatMap({ Naming(rawValue: $0) }),
      let digest = object["digest"] as? String, digest.utf8.count == 64,
      let log = (object["log"] as? String).flatMap({ LogIdentity($0) }),
      let sequence = (object["sequence"] as? NSNumber)?.int64Value, sequence > 0
    else { return nil }
    self.init(naming: naming, event: EventIdentifier(log: log, sequence: sequence), digest: digest)
  }
}

/// The file that a state is kept in: whole at any time, mode 0600, one export's at a time.
struct StateFile {
  let path: String
  private let folder: Descriptor
  private let name: String
  /// Held for as long as this value lives.
  private let lock: FileLock

  /// Opens the folder and takes the lock, a file beside it.
  init(path: String) throws {
    self.path = path
    guard let last = path.pathParts.last, !last.isEmpty, last != ".", last != ".." else {
      throw Failure("--state takes the path of a file; \"\(path)\" names none.")
    }
    let parent = path.parentPath ?? "."
    name = last
    do throws(KernelError) {
      folder = try Descriptor.open(parent, flags: [.read, .directory])
      let beside = try Descriptor.open(
        name + ".lock", below: folder, flags: [.readWrite, .create, .noFollow], mode: 0o600)
      guard let lock = try FileLock(of: beside) else { throw KernelError("flock", path, errno: .wouldBlock) }
      self.lock = lock
    } catch {
      if error.errno == .wouldBlock {
        throw Failure("Another export is using the state \(path). End it, or give this one a state of its own.")
      }
      throw Failure("The state \(path) cannot be kept: \(error). Name a file in a folder that you may write to.")
    }
  }

  /// Its content; nil when there is none yet.
  func read() throws -> ExportState? {
    let bytes: [UInt8]
    do throws(KernelError) {
      bytes = try Descriptor.open(name, below: folder, flags: [.read, .noFollow, .nonBlocking]).readAll(limit: 4096)
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw Failure("The state \(path) cannot be read: \(error).")
    }
    guard let state = ExportState(bytes) else {
      throw Failure(
        "\(path) is not the state of an export (expected one line with \"ambitExport\", \"log\", \"sequence\" and "
          + "\"digest\"). It was left as it is. Name another file, or remove it to deliver everything from the beginning."
      )
    }
    return state
  }

  /// Puts a state in the place of the last one: after a power failure it is the one or the other.
  func write(_ state: ExportState) throws {
    let new = name + ".new"
    do throws(KernelError) {
      // Left by an export that died here.
      try? folder.removeFile(new)
      let file = try Descriptor.open(
        new, below: folder, flags: [.write, .create, .exclusive, .noFollow], mode: 0o600)
      try file.writeAll(Array(state.text.utf8))
      try file.synchronizeFully()
      try folder.move(new, to: folder, as: name)
      try folder.synchronizeFully()
    } catch {
      throw Failure("The state \(path) could not be written: \(error). What was delivered since is delivered again.")
    }
  }
}
