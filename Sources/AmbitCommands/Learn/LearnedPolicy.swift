internal import Policy
internal import Scenario
internal import Terminal
internal import Wire

/// The smallest policy that would have let an app do the things that it was refused, written as a policy file.
///
/// A value: refusals go in, a text comes out. Lines that hand out more than they look like are marked RISKY. For an access that no
/// policy can grant, there is a comment with its remedy.
struct LearnedPolicy {
  /// Something that was refused, as `--json-status-fd` tells of it.
  struct Refusal: Hashable {
    let operation: String
    let subject: String
    let rule: String
    let remedy: String

    init(operation: String, subject: String, rule: String, remedy: String) {
      self.operation = operation
      self.subject = subject
      self.rule = rule
      self.remedy = remedy
    }

    /// `nil` for an entry that is not a refusal of one thing.
    init?(_ event: JSONObject) {
      guard (try? event.string("event")) == "denied", let operation = try? event.string("operation"),
        operation != "more",
        let rule = try? event.string("rule"), let remedy = try? event.string("remedy")
      else { return nil }
      let subject = ((try? event.stringIfPresent("path")) ?? nil) ?? ((try? event.stringIfPresent("call")) ?? nil) ?? ""
      self.init(operation: operation, subject: subject, rule: rule, remedy: remedy)
    }
  }

  private let app: String
  private let base: String
  private let shown: [String]
  private let refusals: [Refusal]

  /// - Parameters:
  ///   - base: the policy that the app ran under, which this one inherits; a file cannot be inherited, and is added to.
  ///   - shown: the folders that it shows already; a list replaces the inherited one.
  init(app: String, base: String, shown: [String] = [], refusals: [Refusal]) {
    self.app = app
    self.base = base
    self.shown = shown
    var seen: Set<Refusal> = []
    self.refusals = refusals.filter { seen.insert($0).inserted }
  }

  /// - Parameter exists: whether something is at a path of the host: a policy shows nothing that is not there.
  func text(exists: (String) -> Bool) -> String {
    var lines = [
      "# What \(comment(app)) was refused under the policy \(comment(base)), and what would have granted it.",
      "# Look at each line before you use it, above all at those marked RISKY.", "",
      PolicyLibrary.isPath(base) ? "# Put them into that file." : "inherits = \(TOMLText.quoted(base))", "",
    ]
    var shown = shown
    let known = shown.count
    var others: [String] = []
    for refusal in refusals.sorted(by: { ($0.subject, $0.operation) < ($1.subject, $1.operation) }) {
      switch refusal.rule {
      case "SBX-2" where refusal.operation == "read" && exists(refusal.subject):
        if let fault = HostFolder.check(refusal.subject) {
          others.append("# read \(comment(refusal.subject)): no policy shows it, since \(fault); the user picks it")
        } else if !shown.contains(refusal.subject) {
          shown.append(refusal.subject)
        }
      case "SBX-2" where refusal.operation == "read":
        others.append("# read \(comment(refusal.subject)): there is nothing there")
      case "network": break
      default:
        others.append(
          "# \(refusal.operation) \(comment(refusal.subject)) (\(refusal.rule)): \(comment(refusal.remedy))")
      }
    }
    if shown.count > known {
      lines += ["[system]", "read_only = ["]
      lines += shown.map { "  \(TOMLText.quoted($0)),\(Self.isPersonal($0) ? "  # RISKY: a user's own" : "")" }
      lines += ["]", ""]
    }
    if refusals.contains(where: { $0.rule == "network" }) {
      lines += [
        "[network]", "# \"loopback\" is enough where only the app's own processes talk to each other.",
        "access = \"host\"  # RISKY: the host's network, with every service on it", "",
      ]
    }
    if !others.isEmpty {
      lines += ["# Not for a policy to grant:"] + others + [""]
    }
    if refusals.isEmpty { lines += ["# Nothing was refused: the policy as it is was enough.", ""] }
    return lines.joined(separator: "\n")
  }

  private static func isPersonal(_ path: String) -> Bool {
    ["/home/", "/root/", "/srv/", "/mnt/", "/media/"].contains { path.hasPrefix($0) }
  }

  /// Text for a comment: on one line, and read as it is written, even if an app wrote it.
  private func comment(_ text: String) -> String { printable(text) }
}
