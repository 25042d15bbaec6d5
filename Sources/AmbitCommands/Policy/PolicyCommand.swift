internal import ArgumentParser
internal import Broker
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Policy

/// `ambit policy`: the available policies, and their content.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "List policies, show what one says and where from, and check your own.",
    discussion: """
      A policy is a TOML file that says what an app may do, whatever the app asks for. Yours lie in \
      ~/.config/ambit/policies; the built-in ones are there without a file. A machine-wide one, /etc/ambit/policy.toml, \
      takes away from all of them and adds nothing.

        ambit policy list
        ambit policy show viewer
        ambit policy check ~/.config/ambit/policies/*.toml
        ambit policy reference | less
      """,
    subcommands: [PolicyListCommand.self, PolicyShowCommand.self, PolicyCheckCommand.self, PolicyReferenceCommand.self])
}

/// Where this user's policies are looked for.
struct UserPolicies {
  let library: PolicyLibrary
  let folders: AmbitFolders

  init() throws(Failure) {
    do throws(StateError) { folders = try AmbitFolders.current(environment: ThisProcess.environment) } catch {
      throw Failure(error.description)
    }
    library = PolicyLibrary(directories: [URL(fileURLWithPath: folders.policies, isDirectory: true)])
  }

  func resolve(_ nameOrPath: String) throws -> ResolvedPolicy {
    do throws(PolicyError) { return try library.resolve(nameOrPath) } catch { throw Failure("\(error)") }
  }

  /// The most that this machine's owner lets any of them permit.
  func machinePolicies() throws(Failure) -> [MachinePolicy] {
    do throws(StateError) {
      var policies: [MachinePolicy] = []
      for file in try MachinePolicyFile.all(folders) {
        do throws(PolicyError) { policies.append(try MachinePolicy(file.bytes, file: file.path)) } catch {
          throw StateError("\(error)")
        }
      }
      return policies
    } catch { throw Failure(error.description) }
  }
}
