/// Why an app's policy refuses something, with the rule that it is about.
package struct Refusal: Error, Equatable {
  package let rule: String
  /// The end of a sentence. An app is told as well: it says nothing of the user's files.
  package let reason: String

  package init(rule: String, reason: String) { (self.rule, self.reason) = (rule, reason) }
}
