import Foundation

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

  /// The system's error that lies underneath gives the symbol; where there is none, Foundation's does.
  init(_ error: any Error) {
    switch error {
    case let error as SystemError: self = .error(symbol: error.symbol, message: error.message)
    case let error as Refusal: self = .error(symbol: "EINVAL", message: error.message)
    case let error as CocoaError:
      let symbol =
        if let posix = error.underlying as? POSIXError {
          SystemError(number: posix.code.rawValue).symbol
        } else {
          switch error.code {
          case .userCancelled: "CANCELLED"
          case .fileReadCorruptFile: "CORRUPT"
          case .featureUnsupported: "UNSUPPORTED"
          case .fileReadNoSuchFile, .fileNoSuchFile: "ENOENT"
          default: "FAILED"
          }
        }
      self = .error(symbol: symbol, message: error.localizedDescription)
    default: self = .error(symbol: "FAILED", message: "\(error)")
    }
  }
}

/// A command that makes no sense now.
struct Refusal: Error, Equatable {
  let message: String
  init(_ message: String) { self.message = message }
}

/// A system call that failed.
struct SystemError: Error, Equatable {
  let number: Int32

  /// Of the call that has just failed.
  static var last: SystemError { SystemError(number: errno) }

  /// The constant's name, for the errors that an editor meets.
  var symbol: String {
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
    case EMFILE: "EMFILE"
    case ENXIO: "ENXIO"
    case EIO: "EIO"
    default: "E\(number)"
    }
  }

  var message: String { unsafe String(cString: strerror(number)) }
}
