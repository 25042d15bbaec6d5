internal import Foundation
internal import Kernel

#if canImport(Glibc)
  internal import Glibc
#endif

/// The targets of an escape: files, sockets and processes of a made-up user, in a folder that goes away afterwards.
///
/// Every user may read it: the sandbox must keep an app away, not the modes of files. No other user may write it, since root may
/// run this.
final class Stage {
  let folder: String
  /// In every file that must not be read from inside, and in a variable of the launcher's environment.
  let token: String
  /// The token in the environment of the launcher.
  static let secretName = "AMBIT_VERIFY_SECRET"

  var canary: String { "\(folder)/canary" }
  var home: String { "\(folder)/home" }
  var ambitHome: String { "\(folder)/ambit" }
  /// A folder that the app is given, and a file that it is given for reading.
  var granted: String { "\(folder)/granted" }
  var document: String { "\(folder)/document" }
  /// The container under a launcher that has none of its own; and that of controls.
  var container: String { "\(folder)/container" }
  var planted: String { "\(container)/planted" }
  /// The target of a planted link: nothing may be made here, and its marker must not be seen inside.
  var victim: String { "\(folder)/victim" }
  var marker: String { "marker" }
  var program: String { "\(folder)/Battery.app/battery" }
  var bundle: String { "\(folder)/Battery.app" }
  var lender: String { "\(folder)/Lender.app" }

  static let identifier = "io.ambit.verify"
  static let lenderIdentifier = "io.ambit.verify.lender"
  var ambitContainer: String { "\(ambitHome)/data/containers/\(Self.identifier)" }

  /// - Parameters:
  ///   - battery: the battery's program as it was built.
  ///   - entitlements: the property list of the app that the sandbox is for.
  init(battery: String, entitlements: String?) throws {
    // Short, because sockets are made below it and a socket's path has at most 107 bytes.
    let base = FileManager.default.temporaryDirectory.path
    var template = Array("\(base)/ambit-verify-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw KernelError.last("mkdtemp", base) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    token = (0..<3).map { _ in String(UInt32.random(in: .min ... .max), radix: 16) }.joined()
    do { try make(battery, entitlements) } catch {
      remove()
      throw error
    }
  }

  private func make(_ battery: String, _ entitlements: String?) throws {
    _ = unsafe chmod(folder, 0o755)
    let folders = [home, ambitHome, bundle, lender, granted, container, victim]
    for path in folders + ["\(folder)/inherited", "\(granted)/part", "\(home)/limit"] { try makeFolder(path) }
    _ = unsafe chmod(ambitHome, 0o700)
    for (path, identifier) in [(bundle, Self.identifier), (lender, Self.lenderIdentifier)] {
      try FileManager.default.copyItem(atPath: battery, toPath: "\(path)/battery")
      _ = unsafe chmod("\(path)/battery", 0o755)
      try write(manifest(identifier), "\(path)/Info.plist")
      if let entitlements {
        try FileManager.default.copyItem(atPath: entitlements, toPath: "\(path)/Entitlements.plist")
      }
    }
    try write("\(token)\n", canary)
    try write("marker\n", "\(victim)/\(marker)")
    try FileManager.default.copyItem(atPath: battery, toPath: "\(granted)/tool")
    _ = unsafe chmod("\(granted)/tool", 0o755)
    try FileManager.default.createSymbolicLink(atPath: "\(granted)/out", withDestinationPath: canary)
    try write("\(token) inside\n", "\(granted)/part/inside")
    if Namespaces.isHostRoot {
      try FileManager.default.copyItem(atPath: battery, toPath: "\(granted)/tool-setuid")
      // Owned by `nobody`, and not by root: it lies where every user of this machine could run it.
      _ = unsafe chown("\(granted)/tool-setuid", 65534, 65534)
      _ = unsafe chmod("\(granted)/tool-setuid", 0o4755)
      // /dev/zero by another name: harmless where it is honoured.
      _ = unsafe mknod("\(granted)/device", S_IFCHR | 0o644, 1 << 8 | 5)
    }
    try reset()
  }

  /// Restores the things that a run has used up.
  func reset() throws {
    try write("\(token)\n", "\(granted)/notes")
    try? FileManager.default.removeItem(atPath: document)
    try write("\(token) read only\n", document)
  }

  /// The properties of a file that must not change when it is given for reading.
  func fingerprint(_ path: String) -> String {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return "gone" }
    return
      "\(status.st_ino) \(status.st_size) \(status.st_mode) \(status.st_uid) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
  }

  /// Whether something was made in the folder that planted links lead to.
  var victimIsUntouched: Bool {
    (try? FileManager.default.contentsOfDirectory(atPath: victim)) == [marker]
  }

  /// Removes everything that was made there.
  func clearVictim() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: victim)) ?? [] where name != marker {
      try? FileManager.default.removeItem(atPath: "\(victim)/\(name)")
    }
  }

  func write(_ text: String, _ path: String) throws {
    // A program that runs unconfined has this folder as well; links that it put there are not followed.
    let file = try Descriptor.open(path, flags: [.write, .create, .truncate, .noFollow], mode: 0o644)
    try file.writeAll(Array(text.utf8))
    _ = fchmod(file.rawValue, 0o644)
  }

  func makeFolder(_ path: String) throws(KernelError) {
    try KernelError.check("mkdir", path) { unsafe mkdir(path, 0o755) }
    try KernelError.check("chmod", path) { unsafe chmod(path, 0o755) }
  }

  private func manifest(_ identifier: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
      <key>CFBundleIdentifier</key><string>\(identifier)</string>
      <key>CFBundleExecutable</key><string>battery</string>
      <key>CFBundleName</key><string>Battery</string>
      <key>CFBundleVersion</key><string>1</string>
    </dict></plist>

    """
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
