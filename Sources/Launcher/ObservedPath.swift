internal import Kernel
internal import Paths
internal import Sandbox
internal import SystemPackage

/// Where a path of an app's leads, seen from outside: its links followed inside the sandbox, and its existing part.
///
/// For explanations only. By the time the kernel follows the path itself, the app may have changed its meaning.
struct ObservedPath: Equatable {
  /// Absolute, inside.
  let path: String
  let presence: AccessRules.Presence

  /// - Parameters:
  ///   - thread: the calling thread.
  ///   - folder: the number of the thread's descriptor from which a relative path starts; `nil` is the current folder.
  ///   - root: the sandbox's.
  /// - Returns: `nil` if it cannot be told.
  init?(_ bytes: [UInt8], from folder: Int32?, thread: Int32, root: Descriptor) {
    let text = String(kernel: bytes)
    guard !text.isEmpty else { return nil }
    var start = ""
    if !text.isAbsolutePath {
      let link = folder.map { "/proc/\(thread)/fd/\($0)" } ?? "/proc/\(thread)/cwd"
      guard let found = try? Descriptor.open(link, flags: [.path, .noFollow]).linkText(), found.isAbsolutePath else {
        return nil
      }
      start = found
    }
    let whole = ProgramSearch.normal("\(start)/\(text)")
    if Self.isPersonal(whole) { return nil }
    guard let found = Self.find(whole, below: root) else { return nil }
    (path, presence) = found
  }

  /// Links there mean another thing to each process that follows them. The kernel's own files in `/proc` do not.
  private static func isPersonal(_ path: String) -> Bool {
    if path == "/proc" || path.lies(below: "/dev") { return true }
    guard let name = path.path(within: "/proc")?.pathNames.first else { return false }
    return ["self", "thread-self", "net", "mounts"].contains(name) || name.allSatisfy(\.isNumber)
  }

  /// The longest existing part of the path, and the rest as it is written. A link to a missing file is followed as well: the app's
  /// aim is the link's target.
  ///
  /// Each missing name takes two calls, and links to missing files can add thousands of names. Beyond the limits the path cannot be told:
  /// an app must neither keep the launcher busy nor fill its memory with paths.
  private static func find(_ whole: String, below root: Descriptor) -> (String, AccessRules.Presence)? {
    // From the last name to the first.
    var rest: [String] = []
    var restLength = 0
    var links = 0
    // Nearly always all of it is there.
    var name = whole == "/" ? "." : whole.path(within: "/") ?? whole
    while true {
      do throws(KernelError) {
        let found = try Descriptor.open(name, below: root, flags: .path, resolve: [.inRoot, .noMagicLinks])
        let here = try place(of: found)
        let path = rest.isEmpty ? here : here.path(of: rest.reversed().joined(separator: "/"))
        let placeholder = try isPlaceholder(here, found)
        if placeholder { return (path, .placeholder) }
        if rest.isEmpty { return (path, .present) }
        return (path, isOfGrant(here) && !found.isOnReadOnlyMount ? .makeable : .missing)
      } catch {
        guard error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory, name != "." else { return nil }
      }
      var parts = name.pathNames
      if let target = deadLink(name, below: root) {
        links += 1
        guard links <= 40 else { return nil }
        parts = ProgramSearch.normal(target).pathNames
      } else {
        let missing = parts.removeLast()
        restLength += missing.utf8.count + 1
        guard rest.count < mostMissing, restLength <= longestMissing else { return nil }
        rest.append(missing)
      }
      name = parts.isEmpty ? "." : parts.joined(separator: "/")
    }
  }

  /// Names, and the bytes of all of them: `PATH_MAX`, in which programs fit a path.
  private static let mostMissing = 256
  private static let longestMissing = 4096

  /// Where a link that leads nowhere would lead, absolute; `nil` if there is no link.
  private static func deadLink(_ name: String, below root: Descriptor) -> String? {
    guard
      let found = try? Descriptor.open(
        name, below: root, flags: [.path, .noFollow], resolve: [.inRoot, .noMagicLinks]),
      (try? found.status())?.kind == .symlink, let text = try? found.linkText()
    else { return nil }
    if text.isAbsolutePath { return text }
    return (try? place(of: found))?.parentPath?.path(of: text)
  }

  private static func place(of found: Descriptor) throws(KernelError) -> String {
    String(kernel: try Descriptor.linkBytes("/proc/self/fd/\(found.rawValue)"))
  }

  /// `/documents/<grant>`, or below it.
  private static func isOfGrant(_ path: String) -> Bool { path.lies(below: InsidePath.documents) }

  /// `/documents/<grant>/<name>` without any permissions, in a folder that is not the app's own.
  private static func isPlaceholder(_ path: String, _ found: Descriptor) throws(KernelError) -> Bool {
    guard isOfGrant(path), path.pathNames.count == 3, found.isOnReadOnlyMount else { return false }
    return try found.status().mode & 0o777 == 0
  }
}
