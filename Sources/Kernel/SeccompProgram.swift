/// A filter as the kernel takes it: an array of `struct sock_filter`, eight bytes each.
package struct SeccompProgram: Equatable, Sendable {
  package let bytes: [UInt8]
  package var instructionCount: Int { bytes.count / 8 }
  package init(bytes: [UInt8]) { self.bytes = bytes }
}
