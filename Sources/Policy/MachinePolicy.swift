internal import AppModel

/// The most that a machine's owner lets any user's policy permit.
///
/// It has the form of a policy, and each of its fields is an upper bound: a field that it does not have is not narrowed, and
/// nothing in it widens anything. So a second one, of any origin, can do no harm.
package struct MachinePolicy: Equatable, Sendable {
  package let file: String
  let overrides: PolicyOverrides
  /// The texts that it was read from, nearest first.
  let texts: [PolicyText]

  /// - Parameters:
  ///   - bytes: the text.
  ///   - file: its name in messages.
  package init(_ bytes: [UInt8], file: String) throws(PolicyError) {
    let source = PolicySource(name: nil, file: file, place: .path, bytes: bytes)
    // A user's own policies have no say in it.
    try self.init(contentsOf: try PolicyLibrary(directories: []).resolve(file: source, name: "machine"))
  }

  /// Takes a policy for a machine-wide one.
  package init(contentsOf resolved: ResolvedPolicy) throws(PolicyError) {
    file = resolved.policy.file
    let links = resolved.links
    texts = links.map { PolicyText(file: $0.source.file, bytes: $0.source.bytes) }
    overrides = links.reversed().reduce(PolicyOverrides()) { $0.laid(under: $1.overrides) }
    if let link = links.first(where: { $0.overrides.environmentSet != nil }) {
      do throws(SourceError) {
        let table = try StrictTOML.parse(link.source.bytes, file: link.source.file).table("environment")
        throw SourceError(
          file: link.source.file, position: table?.value("set")?.position ?? .start,
          message:
            "environment.set cannot stand in a machine-wide policy, which only takes away; put it into the users' policies"
        )
      } catch { throw .invalid(error) }
    }
  }

  init(overrides: PolicyOverrides, file: String) {
    self.overrides = overrides
    self.file = file
    texts = []
  }
}

/// A value that a machine-wide policy has made stricter.
package struct Narrowing: Equatable, Sendable, Codable {
  /// `scopes.limit`.
  package let field: String
  /// As TOML has them.
  package let from: String
  package let to: String
  /// The machine-wide policy.
  package let file: String
  /// Where it says so, if that was asked for.
  package var line: Int?

  /// For people.
  package var place: String { line.map { "\(file):\($0)" } ?? file }
}

extension PolicySettings {
  /// The settings that both these and a machine-wide policy permit.
  ///
  /// - Parameter memory: the machine's memory in bytes.
  package func narrowed(by machine: MachinePolicy, memory: Int) -> PolicySettings {
    .closed.overridden(by: PolicyOverrides(self).narrowed(by: machine.overrides, on: .init(memory: memory)))
  }
}

extension Policy {
  /// The policy under machine-wide ones, with the record of their narrowing.
  ///
  /// - Parameter isLocated: the lines are wanted as well, for which the files are looked through once more.
  package func narrowed(by machines: [MachinePolicy], memory: Int, isLocated: Bool = false) -> Policy {
    machines.reduce(self) { policy, machine in
      let settings = policy.settings.narrowed(by: machine, memory: memory)
      let origins = isLocated ? PolicyOrigins(of: machine) : nil
      let narrowings = PolicyField.all.compactMap { field -> Narrowing? in
        let (from, to) = (field.text(in: policy.settings), field.text(in: settings))
        guard from != to else { return nil }
        return Narrowing(
          field: field.name, from: from ?? "none", to: to ?? "none", file: machine.file,
          // The entitled network is also narrowed by the network of all apps.
          line: (origins?[field.name] ?? (field.name == "network.entitled" ? origins?["network.access"] : nil))?
            .position.line)
      }
      return policy.with(settings, narrowings: narrowings)
    }
  }
}

extension PolicyOverrides {
  /// Both combined; where both have a setting, the other's.
  fileprivate func laid(under other: PolicyOverrides) -> PolicyOverrides {
    var result = self
    for field in PolicyField.all where field.access.isSet(other) { field.access.copy(other, &result) }
    return result
  }
}
