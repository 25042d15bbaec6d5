/// A policy and the files that it came of.
package struct ResolvedPolicy: Sendable {
  struct Link: Sendable {
    let source: PolicySource
    let overrides: PolicyOverrides
  }

  package let policy: Policy
  /// Nearest first.
  let links: [Link]

  /// Where a value stands.
  package struct Origin: Equatable, Sendable {
    package let file: String
    /// From 1.
    package let line: Int
  }

  /// The file, and the line of it, that a field's value comes from; `nil`: no file says anything of it.
  package func origin(of field: PolicyField) -> Origin? {
    guard let link = links.first(where: { field.access.isSet($0.overrides) }) else { return nil }
    // What could be read once can be read again.
    guard let top = try? StrictTOML.parse(link.source.bytes, file: link.source.file),
      let reader = field.table.map({ try? top.table($0) }) ?? top,
      let node = reader.value(field.key)
    else { return Origin(file: link.source.file, line: 1) }
    return Origin(file: link.source.file, line: node.position.line)
  }

  /// The file that a field's value comes from; `nil`: no file says anything of it.
  package func file(of field: PolicyField) -> String? {
    links.first { field.access.isSet($0.overrides) }?.source.file
  }

  /// The same under machine-wide policies; its values come from where they came from, and the policy says what was taken away.
  package func narrowed(by machines: [MachinePolicy], memory: Int) -> ResolvedPolicy {
    ResolvedPolicy(policy: policy.narrowed(by: machines, memory: memory), links: links)
  }

  /// The fields that some file of it sets and that have no effect in this version.
  package var notInForce: [PolicyField] {
    PolicyField.all.filter { field in
      field.notInForce != nil && links.contains { field.access.isSet($0.overrides) }
    }
  }
}
