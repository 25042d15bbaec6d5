internal import AppModel
internal import ArgumentParser
internal import Policy

/// `--allow-entitlement`.
struct EntitlementOptions: ParsableArguments {
  @Option(
    name: .customLong("allow-entitlement"), parsing: .singleValue,
    help: ArgumentHelp(
      "Give the app this entitlement, if its bundle declares it, as in network.client. Once for each; it is remembered.",
      valueName: "name"))
  var names: [String] = []

  var allowEntitlements: [WideningEntitlement] { names.compactMap(WideningEntitlement.init(named:)) }

  func validate() throws {
    for name in names where WideningEntitlement(named: name) == nil {
      throw ValidationError(
        "--allow-entitlement \(name.quoted): there is no such entitlement\(WideningEntitlement.hint(for: name))")
    }
  }
}
