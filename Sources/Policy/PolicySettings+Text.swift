/// Settings as one text, from which they can be read again: the log's record of the policy of a launch.
extension PolicySettings {
  /// A line a field, as a policy file without tables would have it: `scopes.limit = 256`. It has every field, so that it means the
  /// same to a version with other defaults.
  package var text: String {
    PolicyField.all.compactMap { field in field.text(in: self).map { "\(field.name) = \($0)\n" } }.joined()
  }

  /// - Parameter file: its name in errors.
  package init(text: String, file: String) throws(SourceError) {
    self = Self.closed.overridden(by: try PolicyOverrides(StrictTOML.parse(text, file: file)))
  }
}
