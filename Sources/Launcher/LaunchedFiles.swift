package import Kernel
internal import Paths
internal import Sandbox
internal import SystemPackage
package import Wire

/// The files that say which app a request launches, opened as locations: looked at by the broker on these descriptors, and not by
/// their paths again.
package struct LaunchedFiles {
  package let files: [LauncherInterface.AppFile]
  /// As many as ``files``, in the same order.
  package let descriptors: [Descriptor]
  /// The script that the program, an interpreter, is given (``ScriptRule``).
  package let script: String?
  /// The file that is executed, as it is now.
  package let executed: FileStatus

  package init(_ request: LaunchRequest) throws(Failure) {
    do throws(KernelError) {
      switch request.program {
      case .bundle(let path, let executable):
        let folder = try Descriptor.open(path, flags: [.path, .directory])
        func open(_ name: String) throws(KernelError) -> Descriptor {
          try Descriptor.open(name, below: folder, flags: .place, resolve: [.beneath, .noSymlinks])
        }
        // On macOS everything of a bundle is in a folder within it.
        let contents = executable.hasSlash ? "\(executable.pathNames[0])/" : ""
        let program = try open(executable)
        var found: [(LauncherInterface.AppFile, Descriptor)] = [
          (.folder, folder), (.manifest, try open(contents + "Info.plist")), (.executable, program),
        ]
        // The first counts (``DeclaredFiles``).
        for name in ["Entitlements.plist", "archived-expanded-entitlements.xcent"] where found.count == 3 {
          do throws(KernelError) { found.append((.entitlements, try open(contents + name))) } catch {
            if error.errno != .noSuchFileOrDirectory { throw error }
          }
        }
        (files, descriptors) = (found.map(\.0), found.map(\.1))
        script = nil
        executed = try program.status()
      case .file(let path):
        let program = try Descriptor.open(path, flags: .path)
        executed = try program.status()
        files = [.folder, .executable]
        if let name = ScriptRule.script(program: path, arguments: request.arguments),
          let file = try? Descriptor.open(name, flags: .path), (try? file.status())?.kind == .regular
        {
          script = name
          descriptors = [try Self.folder(of: name), file]
        } else {
          script = nil
          descriptors = [try Self.folder(of: path), program]
        }
      }
    } catch {
      throw Failure("\(request.executable): cannot be looked at: \(error)", status: 126)
    }
  }

  private static func folder(of path: String) throws(KernelError) -> Descriptor {
    try Descriptor.open(path.parentPath ?? "/", flags: [.path, .directory])
  }
}

extension LaunchRequest {
  /// The call to the broker, with the files that it looks at.
  package func prepareCall(_ environment: [String: String], _ files: LaunchedFiles) -> LauncherInterface.PrepareCall {
    var call = prepareCall(environment)
    call.files = files.files
    call.script = files.script
    call.given = given.map(\.message)
    return call
  }
}
