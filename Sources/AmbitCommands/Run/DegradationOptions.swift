internal import AppModel
internal import ArgumentParser
internal import Policy
internal import Sandbox

/// `--allow-degraded`.
struct DegradationOptions: ParsableArguments {
  @Option(
    name: .customLong("allow-degraded"), parsing: .singleValue,
    help: ArgumentHelp(
      "Run the app even if this layer, which the policy requires, does not hold in full. Once for each layer.",
      valueName: "layer"))
  var names: [String] = []

  var allowDegraded: [Layer] { names.compactMap(Layer.init(rawValue:)) }

  func validate() throws {
    for name in names where Layer(rawValue: name) == nil {
      throw ValidationError("--allow-degraded \(name.quoted): there is no such layer\(Layer.hint(for: name))")
    }
  }
}
