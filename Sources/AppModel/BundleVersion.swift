/// A bundle's version (`CFBundleVersion`) as something that can increase: numbers between dots, of which the first that differ decide.
///
/// The text behind a part's number counts for nothing, and a part that is missing is 0: `1` is not less than `1.0`.
package struct BundleVersion: Comparable, Sendable {
  private let parts: [UInt64]

  /// - Parameter text: `nil` and a text without numbers are the lowest.
  package init(_ text: String?) {
    var parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).prefix(16).map { part in
      UInt64(part.prefix { $0.isASCII && $0.isNumber }) ?? 0
    }
    while parts.last == 0 { parts.removeLast() }
    self.parts = parts
  }

  package static func < (left: BundleVersion, right: BundleVersion) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }
}
