#if AMBIT_MUTANTS
  internal import ArgumentParser
  internal import Kernel
  internal import Terminal
  internal import Wire

  /// `ambit mutants`: the deliberate faults of this build, as one JSON array.
  struct MutantsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mutants", abstract: "List the deliberate faults of this build.", shouldDisplay: false)

    func run() throws {
      let faults = Mutant.allCases.map { mutant -> JSONValue in
        [
          "name": .string(mutant.rawValue), "statements": .array(mutant.statements.map { .string($0) }),
          "sentence": .string(mutant.sentence),
        ]
      }
      try Output.standard.write(json: JSONObject(dictionaryLiteral: ("mutants", .array(faults))).text)
    }
  }
#endif
