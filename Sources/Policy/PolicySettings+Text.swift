/// Settings as one text, from which they can be read again: what the log keeps of the policy that a launch was under.
extension PolicySettings {
  /// A line a field, as a policy file without tables would have it: `scopes.limit = 256`. Says every field, so that it means the
  /// same to a version whose defaults are others.
  package var text: String {
    PolicyField.all.compactMap { field in field.text(in: self).map { "\(field.name) = \($0)\n" } }.joined()
  }

  /// - Parameter file: what errors call it.
  package init(text: String, file: String) throws(SourceError) {
    self = Self.closed.overridden(by: try PolicyOverrides(StrictTOML.parse(text, file: file)))
  }
}
