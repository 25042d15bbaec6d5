internal import Folders
package import Kernel
internal import Paths
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit`: launches apps by itself, and becomes the tools for everything else.
package enum AmbitLauncher {
  /// Comes from the tools, with their findings.
  private static let resolvedOption = "--resolved"

  /// Runs the command that the arguments ask for, and ends the process with its exit status.
  package static func main() -> Never {
    StandardDescriptors.fill()
    StandardDescriptors.keepChildren()
    fixHome()
    let words = Array(ThisProcess.arguments.dropFirst())
    do {
      if words.count == 1, words[0] == "--version" {
        print(AmbitVersion.current)
        exit(0)
      }
      let environment = ThisProcess.environment
      // Scripts stop many brokers, and the tools take ten times as long to start.
      if words == ["broker", "stop"] {
        try BrokerConnection.stop(.current(environment: environment))
        exit(0)
      }
      guard words.first == "run", let request = try request(Array(words.dropFirst()), environment) else {
        throw becomeTools()
      }
      exit(try AppSession(request, folders: try .current(environment: environment), environment: environment).run())
    } catch let failure as Failure {
      failure.report()
      exit(failure.status)
    } catch {
      Failure("\(error)").report()
      exit(125)
    }
  }

  /// A relative `AMBIT_HOME` means a folder here, for this process and for the broker that it starts elsewhere.
  package static func fixHome() {
    guard let home = unsafe getenv("AMBIT_HOME").map({ unsafe String(cString: $0) }), !home.isEmpty,
      !home.isAbsolutePath
    else { return }
    unsafe setenv("AMBIT_HOME", "\(ThisProcess.directory)/\(home)", 1)
  }

  /// `nil` if the tools have to look at it.
  private static func request(_ words: [String], _ environment: [String: String]) throws -> LaunchRequest? {
    if words.first == resolvedOption { return try resolved(Array(words.dropFirst())) }
    guard let plain = RunArguments(words) else { return nil }
    if let warning = OwnOption.warning(words, arguments: plain.arguments.count) { Failure.say(warning) }
    return try LaunchRequest(plain, environment: environment)
  }

  /// `--resolved DESCRIPTOR APP ARGUMENTS…`: the tools' findings, in a file in memory. The app's name is there for listings of
  /// processes.
  private static func resolved(_ words: [String]) throws -> LaunchRequest {
    guard words.count >= 2, let number = Int32(words[0]), number > 2 else {
      throw Failure("\(resolvedOption) is for Ambit's own use.")
    }
    let content = try JSONValue(parsing: try MemoryFile.content(of: Descriptor(owning: number)))
    guard case .object(let json) = content else { throw Failure("\(resolvedOption) leads to something else.") }
    return try LaunchRequest(json: json, arguments: Array(words.dropFirst(2)))
  }

  /// Becomes the launcher, which finds the request in an open file.
  ///
  /// - Parameter app: as the user called it.
  package static func become(_ launcher: String, _ request: LaunchRequest, app: String) throws(KernelError)
    -> KernelError
  {
    let file = try MemoryFile.sealed("ambit-request", Array(request.json.text.utf8))
    let number = try file.inheritable()
    return ThisProcess.become(
      launcher, ["ambit", "run", resolvedOption, "\(number)", app] + request.arguments)
  }

  private static func becomeTools() -> Failure {
    guard let tools = Programs.tools.path else {
      return Failure("\(Programs.tools.rawValue) is not where this program is; install Ambit again, whole.")
    }
    return Failure("\(ThisProcess.become(tools, ["ambit"] + ThisProcess.arguments.dropFirst()))")
  }
}
