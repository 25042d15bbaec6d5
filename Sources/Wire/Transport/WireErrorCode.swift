internal import Kernel

extension WireError {
  /// The system's error number behind this error, when there is one (`errno(3)`).
  package var systemCode: Int32? {
    if case .kernel(let error) = self { error.errnoCode } else { nil }
  }
}
