internal import Paths
package import PickerUI
package import Sandbox

/// The words after `ambit run`, as far as the launcher understands them by itself.
///
/// People wait for `ambit run`, and a parser that knows every command, its help and its mistakes costs more time than a sandbox.
/// Plain words are read here; all others are for the tools' parser, which has the last word on the meaning of an option.
package struct RunArguments: Equatable, Sendable {
  package var policy = "default"
  package var container: String?
  /// One pick for each time the app asks.
  package var picks: [String] = []
  package var trace = false
  /// The picker is lines of text.
  package var face: PickerFace?
  /// Where programs read the events of the launch.
  package var statusDescriptor: Int32?
  package var seccomp: String?
  /// Limits in place of the policy's: `memory=512MiB`.
  package var limits: [String] = []
  /// The layers that may hold in part or not at all, although the policy requires them.
  package var allowDegraded: [Layer] = []
  /// The treatment of an app other than the one that its identifier was given to.
  package var trust: Trust?
  /// The documents that the app is given.
  package var given: [GivenDocument] = []
  package var app = ""
  package var arguments: [String] = []

  /// `nil` if there is anything that is not plain: help, an unknown option, a missing value, a bundle, `--answers`, a layer of no
  /// name.
  package init?(_ words: [String]) {
    var rest = words[...]
    while let word = rest.popFirst() {
      // Behind it comes the app's name; behind that it is the app's own.
      let isEnd = word == "--"
      if isEnd || !word.hasPrefix("-") {
        guard let name = isEnd ? rest.popFirst() : word, !name.isEmpty, !name.hasPrefix("-"), !Self.isBundle(name)
        else { return nil }
        app = name
        arguments = Array(rest)
        return
      }
      if word == "--trace" {
        trace = true
        continue
      }
      if word == "--plain" || word == "--web" {
        face = word == "--web" ? .web : .plain
        continue
      }
      guard let value = rest.popFirst(), !value.hasPrefix("-") else { return nil }
      switch word {
      case "--policy", "-p": policy = value
      case "--container": container = value
      case "--seccomp": seccomp = value
      case "--limit": limits.append(value)
      case "--allow-degraded":
        guard let layer = Layer(rawValue: value) else { return nil }
        allowDegraded.append(layer)
      case "--trust":
        guard let answer = Trust(rawValue: value) else { return nil }
        trust = answer
      case "--pick": picks.append(value)
      case "--json-status-fd":
        guard let number = Int32(value), "\(number)" == value else { return nil }
        statusDescriptor = number
      default:
        guard let how = GivenDocument.How(option: word) else { return nil }
        given.append(.init(how, value))
      }
    }
    return nil
  }

  private static func isBundle(_ word: String) -> Bool {
    word.withoutTrailingSlashes.hasSuffix(".app")
  }
}
