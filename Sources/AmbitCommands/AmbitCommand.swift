package import ArgumentParser
internal import CommandParsing
internal import Folders
internal import Kernel
internal import Launcher
internal import Terminal
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit`.
package struct AmbitCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "ambit",
    abstract: "Run apps in a sandbox, and hand them one document at a time.",
    discussion: """
      An app that Ambit runs sees its own container and nothing of your files. When it wants a document it asks, you \
      choose it in a picker that the app cannot see, and the app gets that document and no other. It can turn its \
      access on and off, keep it across restarts, and find the document again after you renamed or moved it. What was \
      decided is in the audit log.

        ambit run Editor.app             run an app; its picker is in your terminal
        ambit run --pick notes.txt Editor.app
                                         the same, with your choice made beforehand
        ambit plan Editor.app            the sandbox that it would get, drawn
        ambit why Editor.app read PATH   whether it may, and by which rule
        ambit policy show default        what a policy says, and where from
        ambit seccomp explain FILE       what a seccomp profile does, call by call
        ambit ps                         what is running, and what it may touch
        ambit suspend org.example.Ed     stop a running app until ambit resume
        ambit stop org.example.Ed        end a running app
        ambit kill --memory-pressure APP end a suspended app, as the system does
        ambit grants                     which app may use which document
        ambit grant APP PATH             let an app use a document, unasked
        ambit revoke --document PATH     take a document back, at once
        ambit identity list              which app each identifier belongs to
        ambit bookmark inspect FILE      what an app's bookmark leads to
        ambit coordinate write FILE -- COMMAND
                                         use a file in turn with apps that have it
        ambit cp | mv | rm | edit        the same for everyday commands
        ambit trash | duplicate | tag | favourite
                                         trash, copies, tags and favourites
        ambit query APP PREDICATE        the documents that an app would find
        ambit coordination               which app has a file now, and who waits
        ambit versions report.txt        its earlier contents, to be restored
        ambit types explain FILE         its content type, and the rule that decided
        ambit handlers FILE              the apps that open it, and their order
        ambit open notes.md              open a document with its app
        ambit share notes.md             the apps that take it: the share sheet
        ambit crashcheck --document FILE -- COMMAND
                                         what a crash during a save may leave
        ambit audit log                  all that was granted, used and refused
        ambit audit explain Editor.app   what it could do, by whose decision
        ambit rule PCK-9                 the promise that a message cites
        ambit doctor                     what this machine offers, or lacks
        ambit verify                     try to escape, in every known way
      """,
    version: AmbitVersion.current,
    subcommands: [
      RunCommand.self, PlanCommand.self, WhyCommand.self, LearnCommand.self, PolicyCommand.self, SeccompCommand.self,
      VerifyCommand.self,
      PsCommand.self, SuspendCommand.self, ResumeCommand.self, StopCommand.self, KillCommand.self, BookmarkCommand.self,
      GrantsCommand.self, GrantCommand.self, RevokeCommand.self, AppCommand.self,
      IdentityCommand.self, AuditCommand.self, RuleCommand.self,
      CoordinateCommand.self, CopyCommand.self, MoveCommand.self, RemoveCommand.self, EditCommand.self,
      TrashCommand.self, DuplicateCommand.self, TagCommand.self, FavouriteCommand.self, FileActCommand.self,
      CoordinationCommand.self, QueryCommand.self, VersionsCommand.self, CrashcheckCommand.self,
      TypesCommand.self, HandlersCommand.self, ThumbnailCommand.self, PreviewCommand.self, PreviewPaneCommand.self,
      RecentsCommand.self,
      SearchCommand.self, BrowseCommand.self, ProviderCommand.self, CloudCommand.self, OpenCommand.self,
      ShareCommand.self,
      DropCommand.self,
      DoctorCommand.self,
      LessonCommand.self, ConformCommand.self, ConformWorkerCommand.self, ScenarioCommand.self, BrokerCommand.self,
    ] + ofTestBuilds)

  #if AMBIT_MUTANTS
    private static let ofTestBuilds: [any ParsableCommand.Type] = [MutantsCommand.self]
  #else
    private static let ofTestBuilds: [any ParsableCommand.Type] = []
  #endif

  package init() {}

  /// Runs the command that the arguments ask for, and ends the process with its exit status.
  package static func launch() -> Never {
    StandardDescriptors.fill()
    StandardDescriptors.keepChildren()
    AmbitLauncher.fixHome()
    do {
      let words = Array(ThisProcess.arguments.dropFirst())
      if let code = try BrokerCommand.Serve.serve(words) { throw code }
      if words.first == "help", let unknown = UnknownCommand(words.dropFirst(), of: Self.self) { throw unknown.failure }
      var command: any ParsableCommand
      do { command = try parseCalled(words) } catch {
        throw UnknownCommand(words[...], of: Self.self)?.failure ?? error
      }
      // The parser would say how “ambit” is used, and not this command.
      do { try command.run() } catch let error as ValidationError {
        let lines = error.message.split(separator: "\n", omittingEmptySubsequences: false)
        throw Failure(sentences: lines.map { String($0) }, status: 64)
      }
      exit()
    } catch let failure as Failure {
      failure.report()
      exit(withError: ExitCode(failure.status))
    } catch let code as ExitCode {
      // Not the parser's way out, which first works out a help text that was not asked for.
      Glibc.exit(code.rawValue)
    } catch let error where error is ValidationError || error is CleanExit {
      end(with: error)
    } catch let error as any CustomStringConvertible & Error {
      // Ambit's own errors are sentences; the parser's know how to say themselves.
      guard error is StateError || error is KernelError || error is WireError else { end(with: error) }
      Failure(error.description).report()
      exit(withError: ExitCode(125))
    } catch {
      end(with: error)
    }
  }

  /// Ends as the parser does. Its messages repeat arguments, which a shell may have made of the names of files: they must not
  /// command the terminal.
  private static func end(with error: any Error) -> Never {
    let code = exitCode(for: error)
    // Help, and other answers that were asked for.
    guard code.rawValue != 0 else { exit(withError: error) }
    let message = fullMessage(for: error, columns: nil)
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) + "\n" }
    if !message.isEmpty { try? Output.error.write(lines.joined()) }
    Glibc.exit(code.rawValue)
  }
}
