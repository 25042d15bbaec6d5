internal import CLinux

/// The names of errnos on this machine (`errno(3)`).
package enum ErrorNumber {
  /// The kernel takes none above this for a system call's failure.
  package static let largest: Int32 = 4095

  package static func name(of number: Int32) -> String? {
    guard number > 0, let name = unsafe ambit_errno_name(number) else { return nil }
    return unsafe String(cString: name)
  }

  package static func number(of name: String) -> Int32? { (1...largest).first { self.name(of: $0) == name } }
}
