internal import Kernel
internal import Paths

#if canImport(Glibc)
  internal import Glibc
#endif

/// Ambit's own programs, found from the one that is running: beside it in a build folder, and in `bin` and
/// `libexec/ambit` of one prefix when it is installed.
package enum Programs: String, Sendable {
  /// The launcher, and the word that people type.
  case ambit
  /// The other commands, the broker among them.
  case tools = "ambit-tools"
  /// The command line inside sandboxes.
  case control = "ambitctl"
  /// The program that serves the picker as a page.
  case web = "ambit-web"
  /// The program that draws pictures with characters, inside a sandbox.
  case draw = "ambit-draw"
  /// The program that `ambit verify` runs inside.
  case battery
  /// The app of scenarios: carries acts out, with AmbitKit.
  case agent = "ambit-agent"
  /// The same without AmbitKit, for other systems.
  case plainAgent = "plain-agent"

  /// Where the program lies; `nil` if it is in none of these places.
  package var path: String? {
    guard let folder = ThisProcess.program?.parentPath else { return nil }
    return Self.candidates(for: rawValue, beside: folder).first { unsafe access($0, X_OK) == 0 }
  }

  static func candidates(for name: String, beside folder: String) -> [String] {
    var places = ["\(folder)/\(name)"]
    if folder.pathNames.suffix(2) == ["libexec", "ambit"] {
      places.append("\(folder.dropLast("/libexec/ambit".count))/bin/\(name)")
    } else if folder.lastPathName == "bin" {
      places.append("\(folder.dropLast("/bin".count))/libexec/ambit/\(name)")
    }
    return places
  }
}
