// Makes a manual page in mdoc(7) from what a program says of itself.
//
// usage: PROGRAM --experimental-dump-help | swift scripts/manual.swift >PROGRAM.1
//
// The pages are made from the programs' own declarations, so that --help and the manual never differ. Swift
// ArgumentParser has a package plugin for this; it builds every program a second time, in debug, for each page, and its
// pages leave out which values an option takes. This runs in the interpreter and needs no build.

import Foundation

struct Tool: Decodable { var command: Command }

struct Command: Decodable {
  var commandName: String
  var shouldDisplay: Bool?
  var abstract: String?
  var discussion: String?
  var subcommands: [Command]?
  var arguments: [Argument]?

  var shown: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
  var shownSubcommands: [Command] {
    (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
  }
}

struct Argument: Decodable {
  struct Name: Decodable {
    var kind: String
    var name: String
    var spelled: String { kind == "long" ? "--\(name)" : "-\(name)" }
  }
  var kind: String
  var shouldDisplay: Bool
  var isOptional: Bool
  var isRepeating: Bool
  var names: [Name]?
  var preferredName: Name?
  var valueName: String?
  var defaultValue: String?
  var allValues: [String]?
  var abstract: String?
  var discussion: String?
}

/// Text that roff shows as it is: backslashes doubled, no line that starts like a request, no hyphen taken for a dash.
func text(_ raw: String) -> String {
  raw.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
    .split(separator: "\n", omittingEmptySubsequences: false)
    .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }
    .joined(separator: "\n")
}

/// Paragraphs; indented lines are kept as they stand, for they are examples.
func body(_ raw: String) -> [String] {
  var lines: [String] = []
  var inExample = false
  for line in raw.split(separator: "\n", omittingEmptySubsequences: false) {
    let isExample = line.hasPrefix("  ")
    if isExample != inExample && !line.isEmpty {
      lines.append(isExample ? ".Bd -literal -offset indent" : ".Ed")
      inExample = isExample
    }
    if line.isEmpty {
      lines.append(inExample ? "" : ".Pp")
    } else {
      lines.append(text(isExample ? line.drop { $0 == " " }.description : String(line)))
    }
  }
  if inExample { lines.append(".Ed") }
  return lines
}

func value(_ argument: Argument) -> String { argument.valueName ?? "value" }

func synopsis(_ argument: Argument) -> String {
  var core: String
  if argument.kind == "positional" {
    core = "Ar \(text(value(argument)))"
  } else {
    let name = argument.preferredName ?? argument.names?.first
    core = "Cm \(text(name?.spelled ?? ""))"
    if argument.kind == "option" { core += " Ar \(text(value(argument)))" }
  }
  if argument.isRepeating { core += " No ..." }
  return argument.isOptional || argument.kind == "flag" ? ".Op \(core)" : ".\(core)"
}

func entry(_ argument: Argument) -> [String] {
  var head: String
  if argument.kind == "positional" {
    head = ".It Ar \(text(value(argument)))"
  } else {
    head = ".It Cm " + (argument.names ?? []).map { text($0.spelled) }.joined(separator: " , Cm ")
    if argument.kind == "option" { head += " Ar \(text(value(argument)))" }
  }
  var lines = [head]
  if let abstract = argument.abstract, !abstract.isEmpty { lines += body(abstract) }
  var notes: [String] = []
  if let values = argument.allValues, !values.isEmpty { notes.append("Values: \(values.joined(separator: ", ")).") }
  if let standard = argument.defaultValue, argument.kind == "option" { notes.append("Default: \(standard).") }
  lines += notes.map(text)
  if let discussion = argument.discussion { lines += [".Pp"] + body(discussion) }
  return lines
}

func list(_ arguments: [Argument]) -> [String] {
  arguments.isEmpty ? [] : [".Bl -tag -width indent"] + arguments.flatMap(entry) + [".El"]
}

/// A command's subcommands, each under a heading with its whole name; their own follow.
func sections(of command: Command, path: [String]) -> [String] {
  command.shownSubcommands.flatMap { child -> [String] in
    let name = path + [child.commandName]
    // --help and --version are the same everywhere; they are described once.
    let own = child.shown.filter { !["help", "version"].contains($0.preferredName?.name ?? "") }
    var lines = [".Ss \(text(name.joined(separator: " ")))"]
    if child.shownSubcommands.isEmpty {
      lines += [".Bd -ragged -compact", ".Nm \(text(name.dropFirst().joined(separator: " ")))"]
      lines += own.map(synopsis) + [".Ed", ".Pp"]
    }
    if let abstract = child.abstract { lines += body(abstract) }
    if let discussion = child.discussion { lines += [".Pp"] + body(discussion) }
    return lines + list(own) + sections(of: child, path: name)
  }
}

func page(_ root: Command) -> String {
  let name = root.commandName
  let day = ISO8601DateFormatter.string(from: Date(), timeZone: .gmt, formatOptions: [.withFullDate])
  var lines = [
    ".Dd \(ProcessInfo.processInfo.environment["MANUAL_DATE"] ?? day)", ".Dt \(name.uppercased()) 1", ".Os Ambit",
    ".Sh NAME", ".Nm \(name)", ".Nd \(text(root.abstract ?? ""))", ".Sh SYNOPSIS",
  ]
  if root.shownSubcommands.isEmpty {
    lines += [".Nm"] + root.shown.map(synopsis)
  } else {
    for child in root.shownSubcommands {
      lines += [".Nm", ".Cm \(text(child.commandName))", ".Op Ar arguments No ..."]
    }
  }
  lines += [".Sh DESCRIPTION"] + body(root.abstract ?? "")
  if let discussion = root.discussion { lines += [".Pp"] + body(discussion) }
  lines += list(root.shown)
  if !root.shownSubcommands.isEmpty { lines += [".Sh COMMANDS"] + sections(of: root, path: [name]) }
  lines += [".Sh SEE ALSO"]
  lines += name == "ambit" ? [".Xr ambitctl 1 ,", ".Xr bwrap 1 ,", ".Xr seccomp 2"] : [".Xr ambit 1"]
  return lines.joined(separator: "\n") + "\n"
}

let input = FileHandle.standardInput.readDataToEndOfFile()
do {
  print(page(try JSONDecoder().decode(Tool.self, from: input).command), terminator: "")
} catch {
  FileHandle.standardError.write(Data("manual: what came in is no --experimental-dump-help: \(error)\n".utf8))
  exit(1)
}
