#if canImport(Glibc)
  import Glibc
#endif

/// One line back for one line in: `ok …` or `error SYMBOL …`. Line ends inside are written `\n`.
enum Answer: Equatable {
  case ok(String)
  case error(symbol: String, message: String)

  var line: String {
    switch self {
    case .ok(let text): Self.oneLine(text.isEmpty ? "ok" : "ok \(text)")
    case .error(let symbol, let message): Self.oneLine("error \(symbol) \(message)")
    }
  }

  private static func oneLine(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\r", with: "\\r").replacing("\n", with: "\\n")
  }
}

/// A system call that failed.
struct SystemError: Error, Equatable {
  let number: Int32

  /// Of the call that has just failed.
  static var last: SystemError { SystemError(number: errno) }

  var answer: Answer { .error(symbol: symbol, message: message) }

  /// The constant's name, for the errors that an editor meets.
  private var symbol: String {
    switch number {
    case EACCES: "EACCES"
    case EPERM: "EPERM"
    case ENOENT: "ENOENT"
    case ENOTDIR: "ENOTDIR"
    case EISDIR: "EISDIR"
    case EROFS: "EROFS"
    case ELOOP: "ELOOP"
    case ENOSPC: "ENOSPC"
    case ENAMETOOLONG: "ENAMETOOLONG"
    case EEXIST: "EEXIST"
    case ENXIO: "ENXIO"
    case EIO: "EIO"
    default: "E\(number)"
    }
  }

  private var message: String { unsafe String(cString: strerror(number)) }
}
