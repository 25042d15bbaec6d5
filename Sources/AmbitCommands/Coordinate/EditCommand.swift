internal import ArgumentParser
internal import Kernel
internal import Launcher
internal import Paths
internal import Terminal
internal import Wire

/// `ambit edit`: an editor on a copy, which takes the file's place in its turn.
struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Edit a file that apps use too: a copy is edited, and takes the file's place in one step.",
    discussion: """
      Apps that present the file save first; then it is copied, and the editor opens the copy. Apps go on using the file \
      meanwhile. Afterwards they let go of it, the new text takes its place in one step, and they are told. Mode, owner and \
      attributes stay.

      If the file has changed meanwhile, it is left as it is: your text is kept, and a line says where. The same holds for every \
      other failure, and if the editor fails.

        ambit edit notes.txt
        EDITOR='code --wait' ambit edit notes.txt

      The editor is $VISUAL, or $EDITOR, or vi.

      Exit status: 0 written, or nothing to write; 1 not written, your text is kept; 125 the file is not free or cannot be \
      read; the editor's own, if that is not 0.
      """)

  @Argument(help: ArgumentHelp("The file. It is made if it is not there.", valueName: "file")) var file: String
  @Option(help: ArgumentHelp("How long to wait for others, each time: 30 by default.", valueName: "seconds"))
  var timeout: Double?

  func validate() throws {
    if let timeout, !(0...86400).contains(timeout) { throw ValidationError("--timeout takes 0 to 86400 seconds") }
  }

  func run() throws {
    let path = try HostPath.resolved(file)
    var terms = CoordinatedAccess.Terms("ambit edit", timeout: timeout)
    let draft = try EditedDraft(of: path, terms)
    let status = try Foreground.run(["/bin/sh", "-c", "\(Self.editor) \"$@\"", "sh", draft.path])
    guard status == 0 else {
      let sentence = "the editor ended with status \(status), and \(printable(path)) is as it was."
      Failure(try draft.hasChanged ? "\(sentence) \(draft.note)" : sentence).report()
      if try !draft.hasChanged { draft.remove() }
      throw ExitCode(status)
    }
    guard try draft.hasChanged else {
      draft.remove()
      return try Output.standard.write("\(printable(path)) is as it was.\n")
    }
    terms.note = " \(draft.note)"
    do {
      let access = try CoordinatedAccess([draft.intent], terms)
      let place = access.paths.first ?? path
      try draft.replace(place)
      access.done()
      draft.remove()
      try Output.standard.write("\(printable(place)) is written.\n")
    } catch let error as Failure {
      throw Failure("\(error.description) \(draft.note)", status: error.status)
    } catch let error as KernelError {
      throw Failure("\(printable(path)) is not written: \(error). \(draft.note)", status: 1)
    }
  }

  private static var editor: String {
    let variables = ThisProcess.environment
    return [variables["VISUAL"], variables["EDITOR"]].compactMap(\.self).first { !$0.isEmpty } ?? "vi"
  }
}
