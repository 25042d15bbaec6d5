import ArgumentParser
import Launcher
import Testing

@testable import AmbitCommands

/// Options of Ambit's own that stand behind the app's name.
@Suite struct OwnOptionTests {
  /// The warning of both readers of a command line, which have to agree on what the app's arguments are.
  private func warning(_ words: String...) throws -> String? {
    let arguments = try RunCommand.parse(words).arguments
    if let plain = RunArguments(words) { #expect(plain.arguments == arguments) }
    return OwnOption.warning(words, arguments: arguments.count)
  }

  @Test func `one behind the app's name is warned about, with what to do`() throws {
    let policy = try #require(try warning("Editor.app", "--policy", "strict"))
    #expect(policy.contains("Editor.app got --policy as an argument of its own"))
    #expect(policy.contains("ambit run --policy strict Editor.app"))
    #expect(policy.contains("“--”"))
    #expect(try warning("/usr/bin/ed", "-s", "x", "--pick=a.txt")?.contains("ambit run --pick=a.txt ed") == true)
    #expect(try warning("--trace", "ed", "--trace", "x")?.contains("ambit run --trace ed") == true)
    #expect(try warning("ed", "--allow-entitlement")?.contains("ambit run --allow-entitlement ed") == true)
  }

  @Test func `what is not one of them is the app's, and nothing is said`() throws {
    for words in [
      ["ed"], ["ed", "policy"], ["ed", "-p", "x"], ["ed", "--polic", "x"], ["ed", "--policyx=1"], ["ed", "--help"],
      ["ed", "x--policy"], ["--policy", "teach", "ed", "a"], ["ed", ""],
    ] {
      let arguments = try RunCommand.parse(words).arguments.count
      #expect(OwnOption.warning(words, arguments: arguments) == nil, "\(words)")
    }
  }

  @Test func `two dashes before the app's name or its arguments silence it, and behind them they do not`() throws {
    #expect(try warning("--", "ed", "--policy", "x") == nil)
    #expect(try warning("ed", "--", "--policy", "x") == nil)
    #expect(try warning("--trace", "--", "ed", "a", "--policy=x") == nil)
    #expect(try warning("ed", "--policy", "x", "--") != nil)
  }

  @Test func `each of the command's options is known`() {
    let help = RunCommand.helpMessage(columns: 200)
    let options = help.split(separator: "\n").flatMap { line -> [String] in
      // An option's line begins with its names.
      let words = line.split(whereSeparator: { " ,".contains($0) }).map(String.init)
      guard line.hasPrefix("  -") else { return [] }
      return words.prefix(2).filter { $0.hasPrefix("--") }
    }
    #expect(Set(options).subtracting(["--help", "--version"]) == Set(OwnOption.names), "\(help)")
  }
}
