internal import ArgumentParser
internal import Policy
internal import Terminal

/// `ambit policy reference`.
struct PolicyReferenceCommand: ParsableCommand {
  enum Format: String, CaseIterable, ExpressibleByArgument { case markdown, schema }

  static let configuration = CommandConfiguration(
    commandName: "reference", abstract: "Print what a policy can say: every field, its values and what it does.",
    discussion: """
        ambit policy reference | less
        ambit policy reference --format schema >policy.schema.json

      The second is a JSON Schema (draft 2020-12); editors of TOML complete and check with it.
      """)

  @Option(help: "markdown, for people; schema, for editors.")
  var format: Format = .markdown

  func run() throws {
    try Output.standard.write(format == .markdown ? PolicyReference.markdown : PolicySchema.text)
  }
}
