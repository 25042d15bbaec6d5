/// A filter as the kernel takes it: an array of `struct sock_filter`, eight bytes each.
package struct SeccompProgram: Equatable, Sendable {
  package let bytes: [UInt8]
  package var instructionCount: Int { bytes.count / 8 }
  /// The kernel takes as many instructions (`BPF_MAXINSNS`), and at least one.
  package var isLoadable: Bool { bytes.count % 8 == 0 && (1...4096).contains(instructionCount) }
  package init(bytes: [UInt8]) { self.bytes = bytes }
}
