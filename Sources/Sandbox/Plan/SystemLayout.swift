internal import Kernel

/// The part of the host's system that a sandbox is to show: the entries that exist here, and the links among them.
///
/// Looked at once, before planning, so that a plan is a pure value of this and the request.
package struct SystemLayout: Equatable, Sendable {
  package enum Entry: Equatable, Sendable {
    case directory
    case file
    /// A link that is copied as text, since its target lies in a folder that is shown as well.
    case link(String)
  }

  /// By absolute path, in the order of ``candidates``.
  package var entries: [(path: String, entry: Entry)]

  package init(entries: [(path: String, entry: Entry)]) { self.entries = entries }

  package static func == (a: SystemLayout, b: SystemLayout) -> Bool {
    a.entries.elementsEqual(b.entries) { $0.path == $1.path && $0.entry == $1.entry }
  }

  /// Programs and libraries, and those settings that name no user and no machine.
  package static let candidates: [String] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/fonts", "/etc/inputrc",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/magic", "/etc/mime.types",
    "/etc/pki", "/etc/profile.d", "/etc/python3", "/etc/ssl", "/etc/terminfo", "/etc/timezone", "/etc/vim",
  ]

  /// Looks at this machine.
  package static func current() -> SystemLayout {
    SystemLayout(
      entries: candidates.compactMap { path in
        guard let found = try? Descriptor.open(path, flags: [.path, .noFollow]), let status = try? found.status()
        else { return nil }
        switch status.kind {
        case .directory: return (path, .directory)
        case .regular: return (path, .file)
        case .symlink:
          guard let text = try? found.linkText() else { return nil }
          return (path, .link(text))
        case .other: return nil
        }
      })
  }
}
