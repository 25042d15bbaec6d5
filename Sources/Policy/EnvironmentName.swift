/// The rules for variables that a policy passes or sets.
enum EnvironmentName {
  /// Set by the sandbox itself, for every app.
  private static let reserved: Set<String> = ["HOME", "TMPDIR", "AMBIT_ADDRESS"]

  /// Make the loader run code of the launcher's choosing in the app, and look in places that the app does not have.
  private static let loader: Set<String> = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"]

  /// Why a variable cannot be named, as the end of a sentence; `nil` when it can.
  static func check(_ name: String) -> String? {
    if name.isEmpty { return "the name is empty" }
    if name.utf8.contains(UInt8(ascii: "=")) { return "a name cannot have '=' in it" }
    let isPlain = name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    if !isPlain, name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == " " }) {
      return "a name cannot have spaces or control characters in it"
    }
    if reserved.contains(name) { return "the sandbox sets it itself" }
    if loader.contains(name) { return "it would load other code into the app" }
    return nil
  }

  /// The same for an entry of `environment.pass`, which may end in one `*`.
  static func checkPattern(_ pattern: String) -> String? {
    guard pattern.hasSuffix("*") else {
      return pattern.utf8.contains(UInt8(ascii: "*")) ? "a '*' can only stand at the end" : check(pattern)
    }
    let prefix = String(pattern.dropLast())
    if prefix.isEmpty { return "it would pass the whole environment; name the variables, or groups such as \"LC_*\"" }
    if prefix.utf8.contains(UInt8(ascii: "*")) { return "a '*' can only stand at the end" }
    if prefix.hasPrefix("LD_") { return "it would load other code into the app" }
    return reserved.contains(prefix) ? nil : check(prefix)
  }

  static func matches(_ pattern: String, _ name: String) -> Bool {
    pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
  }
}
