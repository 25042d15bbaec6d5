internal import CLinux
package import SystemPackage

#if canImport(Glibc)
  internal import Glibc
#endif

/// A system call that failed: its name, its object, and the reason.
package struct KernelError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call's name as its manual page has it, for example `open_tree`.
  package let call: String
  /// The object of the call: a path, a descriptor's meaning, a flag. Empty when the call says it all.
  package let subject: String
  package let errno: Errno

  package init(_ call: String, _ subject: String = "", errno: Errno) {
    self.call = call
    self.subject = subject
    self.errno = errno
  }

  /// The error of the call that has just failed on this thread.
  package static func last(_ call: String, _ subject: String = "") -> KernelError {
    KernelError(call, subject, errno: Errno(rawValue: Glibc.errno))
  }

  package var description: String {
    let on = subject.isEmpty ? "" : " \(subject.shown)"
    return "\(call)\(on): \(errno.description) (\(errno.symbol))"
  }

  /// Why a file could not be read, as the end of a sentence (``Descriptor/content(ofFile:limit:followsLink:)``).
  package var fileFault: String {
    switch errno {
    case .noSuchFileOrDirectory: "there is no such file"
    case .isDirectory: "it is a folder"
    case .invalidArgument: "it is no regular file"
    case .fileTooLarge: "it is too large"
    default: errno.description
    }
  }

  /// Runs a call that answers -1 on failure; repeats it when a signal interrupted it.
  ///
  /// - Parameter subject: evaluated only on failure.
  @discardableResult
  package static func check<Result: SignedInteger & Sendable>(
    _ call: String, _ subject: @autoclosure () -> String = "", _ body: () -> Result
  ) throws(KernelError) -> Result {
    while true {
      let result = body()
      if result != -1 { return result }
      let code = Errno(rawValue: Glibc.errno)
      if code != .interrupted { throw KernelError(call, subject(), errno: code) }
    }
  }

  /// Runs one of Ambit's C functions, which answer a value or `-errno`.
  @discardableResult
  package static func checkNegative<Result: SignedInteger & Sendable>(
    _ call: String, _ subject: @autoclosure () -> String = "", _ body: () -> Result
  ) throws(KernelError) -> Result {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = Errno(rawValue: CInt(-result))
      if code != .interrupted { throw KernelError(call, subject(), errno: code) }
    }
  }
}

extension Errno {
  /// The constant's name as in `errno(3)`, for example `EACCES`.
  package var symbol: String {
    guard let name = unsafe strerrorname_np(rawValue) else { return "errno \(rawValue)" }
    return unsafe String(cString: name)
  }
}
