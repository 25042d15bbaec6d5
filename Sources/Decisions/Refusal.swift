/// Why an app's policy refuses something.
package struct Refusal: Error, Equatable, Sendable {
  /// The field of the policy, as its file has it: `picker.types`. Empty where the policy has no say.
  package let field: String
  /// The statement of the catalogue that it is about.
  package let rule: String
  /// The end of a sentence. An app is told as well: it says nothing of the user's files.
  package let reason: String

  package init(field: String = "", rule: String, reason: String) {
    (self.field, self.rule, self.reason) = (field, rule, reason)
  }
}
