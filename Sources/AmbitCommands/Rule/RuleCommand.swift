internal import ArgumentParser
internal import Rulebook
internal import Terminal
internal import Wire

/// `ambit rule`: the catalogue of Ambit's promises.
struct RuleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rule",
    abstract: "Look up a rule of the catalogue: what it promises, where it comes from, whether it is in force.",
    discussion: """
      Ambit's promises are a catalogue of short statements, each with an identifier. The audit log, “ambit why”, error \
      messages and the tests cite them. Without a name the families are listed, each with the number of its rules.

      A rule is in force when a test cites it or “ambit verify” tries it. A planned one is not promised yet. The families \
      A to I are ways out of a sandbox; “ambit verify” tries them on this machine.

      A source is short: S18@36:30 is minute 36:30 of WWDC 2018, session 216; S14:L279 and S17:L293 are lines of the \
      transcripts of WWDC 2014, session 234, and WWDC 2017, session 229. AD is Apple's documentation of that symbol. FC.h, \
      FP.h and FV.h are comments in Apple's headers for coordinators, presenters and versions. XDP is xdg-desktop-portal, \
      CTS and AOSP are Android, OR is a report in Open Radar. open_tree(2) is a manual page.

      EXAMPLES
        What does the rule say that a message cites?
          ambit rule PCK-9

        What does Ambit promise about limits, and about escapes by the terminal?
          ambit rule LIM A

        What is still missing?
          ambit rule --planned

        The same for a program:
          ambit rule --format json PCK |
            jq -r '.rules[] | select(.state == "planned") | .rule'

      Exit status: 64 if a name is in the catalogue neither as a rule nor as a family.
      """)

  @Argument(help: ArgumentHelp("Rules or families: PCK-9, LIM, A1. In any case.", valueName: "name"))
  var names: [String] = []

  @Flag(help: "Only rules that are not in force yet; without names, of all families.")
  var planned = false

  @Option(help: "table, for people; json, one object, for programs.")
  var format: OutputFormat = .table

  func run() throws {
    if names.isEmpty && !planned {
      let list = CatalogueFamilies(Rulebook.families)
      switch format {
      case .json: try Output.standard.write(json: list.json.text)
      case .table: try Output.standard.write(list.text(Table(CatalogueFamilies.columns, for: 1)))
      }
      return
    }
    let report = try CatalogueReport(names, onlyPlanned: planned)
    switch format {
    case .json: try Output.standard.write(json: report.json.text)
    case .table: try Output.standard.write(report.text(Style(for: 1), width: WindowSize.columns(of: 1)))
    }
  }
}
