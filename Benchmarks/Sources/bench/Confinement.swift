import Foundation

/// A program to be measured, and the files that it expects to find open.
struct Contender {
  let name: String
  var arguments: [String]
  /// By the number that each is open at.
  var opens: [Int32: String] = [:]
}

/// What `ambit plan --format json` says about a launch, as far as another launcher could do it.
private struct Plan: Decodable {
  struct Entry: Decodable {
    let path: String
    let kind: String
    let from: String?
    let to: String?
    let attributes: [String]?
    let size: String?
  }
  let root: [Entry]
  let environment: [String: String]
  let insideID: Int
  let directory: String
}

extension Bench {
  /// What every launch is set beside: Ambit's default policy, bubblewrap with the same confinement and Ambit's filter,
  /// bubblewrap with no more than the namespaces and a root, and nothing at all.
  func launchContenders() throws -> [Contender] {
    guard let bubblewrap = find("bwrap") else { throw Unavailable("install bubblewrap to compare with it") }
    var confined = try confinedBubblewrap()
    confined.arguments = [bubblewrap] + confined.arguments + ["/bin/true"]
    return [
      Contender(name: "ambit", arguments: [ambit, "run", "/bin/true"]), confined,
      Contender(name: "bare", arguments: [bubblewrap] + bareBubblewrap + ["/bin/true"]),
    ]
  }

  /// Ambit's plan in bubblewrap's words. Landlock, limits, the session's key ring and the broker it does not have.
  private func confinedBubblewrap() throws -> Contender {
    // Makes the container, and has the filter compiled.
    _ = try Child.timed([ambit, "run", "/bin/true"], environment: environment)
    let text = try Child.lines(
      [ambit, "plan", "--format", "json", "/bin/true"], environment: environment, errors: "\(scratch)/errors")
    let plan = try JSONDecoder().decode(Plan.self, from: Data(text.joined(separator: "\n").utf8))
    var contender = Contender(name: "confined", arguments: [])
    contender.arguments = [
      "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "ambit", "--uid",
      "\(plan.insideID)", "--gid", "\(plan.insideID)", "--clearenv",
    ]
    for (name, value) in plan.environment { contender.arguments += ["--setenv", name, value] }
    for entry in plan.root { try add(entry, to: &contender) }
    contender.arguments += ["--remount-ro", "/", "--chdir", plan.directory]
    contender.opens[9] = try compiledFilter()
    contender.arguments += ["--seccomp", "9"]
    return contender
  }

  private func add(_ entry: Plan.Entry, to contender: inout Contender) throws {
    let path = entry.path
    var isDirectory: ObjCBool = false
    switch entry.kind {
    case "directory" where path == "/dev": contender.arguments += ["--dev", path]
    case "tmpfs": contender.arguments += ["--size", "\(bytes(entry.size))", "--perms", "1777", "--tmpfs", path]
    // bubblewrap's own /dev has the rest of it.
    case _ where path.hasPrefix("/dev/"): break
    case "directory": contender.arguments += ["--perms", "0755", "--dir", path]
    case "link": contender.arguments += ["--symlink", entry.to ?? "", path]
    case "bind" where path == "/home/user":
      // Ambit's own belongs to the app's id on the host, which bubblewrap has none of.
      contender.arguments += ["--bind", try folder("container"), path]
    case "bind": contender.arguments += ["--ro-bind", entry.from ?? path, path]
    case "file":
      let number = Int32(20 + contender.opens.count)
      let file = "\(try folder("files"))/\((path as NSString).lastPathComponent)"
      try Data("\(path)\n".utf8).write(to: URL(fileURLWithPath: file))
      contender.opens[number] = file
      contender.arguments += ["--perms", "0444", "--file", "\(number)", path]
    case "proc": contender.arguments += ["--proc", path]
    case "masked" where unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory):
      contender.arguments += isDirectory.boolValue ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path]
    case "documents": contender.arguments += ["--perms", "0755", "--tmpfs", path]
    // What is read-only of /proc, bubblewrap makes so by itself. A broker's socket it has not.
    default: break
    }
  }

  private func bytes(_ size: String?) -> Int { (Int(size?.dropLast() ?? "") ?? 64) << 20 }

  /// Ambit's own filter, compiled, as it is kept once it has been used.
  private func compiledFilter() throws -> String {
    let path = "\(scratch)/standard.bpf"
    if FileManager.default.fileExists(atPath: path) { return path }
    let folder = "\(scratch)/home/state/filters"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    // Behind the program stands its digest.
    guard names.count == 1, let content = FileManager.default.contents(atPath: "\(folder)/\(names[0])")?.dropLast(32),
      FileManager.default.createFile(atPath: path, contents: Data(content))
    else { throw Unavailable("Ambit's filter is not in \(folder)") }
    return path
  }

  /// The namespaces, the system's folders and a /tmp.
  private var bareBubblewrap: [String] {
    var arguments = ["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64"] {
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: folder) {
        arguments += ["--symlink", target, folder]
      } else if FileManager.default.fileExists(atPath: folder) {
        arguments += ["--ro-bind", folder, folder]
      }
    }
    return arguments + ["--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
  }
}
