internal import AmbitKit
internal import ArgumentParser
internal import Foundation
internal import Kernel

struct Open: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a command with an open document as its standard input.",
    discussion: """
      The document has to be started: `ambitctl start URL`. With --write the command's descriptor 0 can write as well.
      The URL may be of something in a folder that was picked: the folder's URL with the path behind the folder's name. With \
      --create the file is made if nothing is there.
      Exit status: the command's own; 125 when the document cannot be opened.
      """)

  @OptionGroup var document: ScopedURLArgument
  @Flag(help: "Open for writing as well.") var write = false
  @Flag(help: "With --write: make a file in a picked folder.") var create = false
  @Argument(parsing: .postTerminator, help: "The command, after `--`.") var command: [String]

  func validate() throws {
    if create, !write { throw ValidationError("--create makes a file to write to; add --write") }
    if command.isEmpty { throw ValidationError("a command is missing; write it after “--”") }
  }

  func run() throws {
    var status: Int32 = 125
    try Console.explaining(status: 125) {
      let child = try ForegroundProcess.holdingSignals()
      let descriptor = try SecurityScope.openDescriptor(document.url, writing: write, creating: create)
      guard dup2(descriptor, 0) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EBADF) }
      close(descriptor)
      status = child.runSaying(command)
    }
    throw ExitCode(status)
  }
}

struct Release: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Give a document back for good: the app's right to it ends, in all of its launches.")

  @OptionGroup var document: ScopedURLArgument

  func run() throws {
    try Console.explaining { try SecurityScope.release(document.url) }
  }
}

struct Pass: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what gives another app this app's right to a document.",
    discussion: """
      Only that app can redeem it, and its right ends with this app's. Needs the entitlement io.ambit.pass-grants, or a policy \
      with pass = "any".
      """)

  @OptionGroup var document: ScopedURLArgument
  @Option(help: ArgumentHelp("The other app.", valueName: "bundle-id")) var to: String
  @Flag(help: "For writing as well.") var write = false

  func run() throws {
    try Console.explaining {
      try Console.print(String(decoding: SecurityScope.pass(document.url, to: to, writing: write), as: UTF8.self))
    }
  }
}

struct Redeem: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take a right that another app has passed on, and print the document's scoped URL.")

  @Argument(help: "A file with what `pass` printed; standard input when left out.") var file: String?

  func run() throws {
    try Console.explaining {
      let input = try file.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .standardInput
      try Console.print(SecurityScope.redeem(try input.read(upToCount: 1 << 20) ?? Data()).absoluteString)
    }
  }
}
