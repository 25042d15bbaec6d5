internal import Foundation

/// Ambit itself failed: a sentence for the user, and the exit status that says so.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// 125: Ambit failed; 126: the program cannot be run; 127: there is no such program.
  let status: Int32

  init(_ description: String, status: Int32 = 125) {
    self.description = description
    self.status = status
  }

  /// Says it on standard error.
  func report() { FileHandle.standardError.write(Data("ambit: \(description)\n".utf8)) }
}
