import Foundation
import TestSupport
import Testing

@testable import Folders

@Suite struct `Where Ambit keeps its things` {
  private func folders(_ environment: [String: String], home: String = "/home/ann") -> [String] {
    let folders = AmbitFolders(environment: environment, home: home)
    return [folders.data, folders.state, folders.runtime, folders.configuration]
  }

  private let byDefault = [
    "/home/ann/.local/share/ambit", "/home/ann/.local/state/ambit", "/home/ann/.local/state/ambit/run",
    "/home/ann/.config/ambit",
  ]

  @Test func `below the home folder where nothing else is said`() {
    #expect(folders([:]) == byDefault)
    #expect(folders(["HOME": "/elsewhere"]) == byDefault, "the home folder has been decided by the caller")
  }

  @Test func `each kind where its XDG variable says`() {
    #expect(
      folders([
        "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s/", "XDG_RUNTIME_DIR": "/run/user/1000", "XDG_CONFIG_HOME": "/c//",
      ]) == ["/d/ambit", "/s/ambit", "/run/user/1000/ambit", "/c/ambit"])
    #expect(folders(["XDG_STATE_HOME": "/s"])[2] == "/s/ambit/run", "sockets follow the state without a session")
  }

  @Test(arguments: ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "AMBIT_HOME"])
  func `as if a variable were not there when it is no absolute path`(name: String) {
    for value in ["", "relative", "./x", "~/x", " /x"] { #expect(folders([name: value]) == byDefault, "\(value)") }
  }

  @Test func `all of them below AMBIT_HOME, which wins`() {
    let all = ["/demo/data", "/demo/state", "/demo/run", "/demo/config"]
    #expect(folders(["AMBIT_HOME": "/demo"]) == all)
    #expect(folders(["AMBIT_HOME": "/demo/"]) == all)
    #expect(folders(["AMBIT_HOME": "/demo", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/r"]) == all)
  }

  @Test func `each file below the folder of its kind`() {
    let folders = AmbitFolders(environment: ["AMBIT_HOME": "/demo"], home: "/home/ann")
    #expect(folders.containers == "/demo/data/containers")
    for path in [folders.grants, folders.sealingKey, folders.auditLog, folders.filters, folders.brokerLog] {
      #expect(path.hasPrefix("/demo/state/"))
    }
    #expect(folders.policies == "/demo/config/policies")
    #expect(folders.home == "/home/ann")
  }

  @Test func `with the home folder that the system has, where HOME is no absolute path`() throws {
    #expect(try AmbitFolders.current(environment: ["HOME": "/nowhere/ann/"]).home == "/nowhere/ann")
    for environment in [[:], ["HOME": ""], ["HOME": "ann"]] {
      #expect(try AmbitFolders.current(environment: environment).home.hasPrefix("/"))
    }
  }
}

@Suite struct `Whose Ambit's folders may be` {
  private let other: UInt32 = 61_234

  private func refusal(_ folder: TemporaryFolder, as user: UInt32) -> String? {
    let folders = AmbitFolders(environment: ["AMBIT_HOME": "\(folder.path)/home/ambit"], home: folder.path)
    do throws(StateError) { try folders.check(as: user) } catch { return error.description }
    return nil
  }

  /// In which others write nothing.
  private func closed() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try #require(unsafe chmod(folder.path, 0o755) == 0)
    return folder
  }

  private func made() throws -> TemporaryFolder {
    let folder = try closed()
    for name in ["data", "state", "run", "config/policies"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/home/ambit/\(name)", withIntermediateDirectories: true)
    }
    return folder
  }

  @Test func `one's own, also before they are there`() throws {
    #expect(refusal(try made(), as: geteuid()) == nil)
    #expect(refusal(try closed(), as: geteuid()) == nil)
  }

  /// Also those of root, which is whom the top of the tree belongs to.
  @Test(
    .enabled(if: geteuid() == 0, "only root gives files away"),
    arguments: [
      "home", "home/ambit", "home/ambit/data", "home/ambit/state", "home/ambit/run", "home/ambit/config",
    ])
  func `not those of a third user, nor any that lie in a third user's folder`(name: String) throws {
    let folder = try made()
    try #require(unsafe chown("\(folder.path)/\(name)", other, other) == 0)
    #expect(refusal(folder, as: other) == nil)
    for user in [0, other + 1] {
      let sentence = refusal(folder, as: user)
      #expect(sentence?.contains("belongs to user \(other), and neither to you nor to root") == true, "\(user)")
      #expect(sentence?.contains("\(folder.path)/\(name)") == true && sentence?.contains("AMBIT_HOME") == true)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func `not through a link that is another's, and through one's own only to what is one's own`() throws {
    let folder = try made()
    let (home, elsewhere) = ("\(folder.path)/home", "\(folder.path)/elsewhere")
    try FileManager.default.moveItem(atPath: home, toPath: elsewhere)
    for target in [elsewhere, "elsewhere", "./elsewhere/ambit/../"] {
      try FileManager.default.createSymbolicLink(atPath: home, withDestinationPath: target)
      #expect(refusal(folder, as: 0) == nil, "\(target)")
      try #require(unsafe lchown(home, other, other) == 0)
      #expect(refusal(folder, as: 0)?.contains("\(home), on the way to it, belongs to user \(other)") == true)
      try FileManager.default.removeItem(atPath: home)
    }
    try FileManager.default.createSymbolicLink(atPath: home, withDestinationPath: elsewhere)
    try #require(unsafe chown(elsewhere, other, other) == 0)
    #expect(refusal(folder, as: 0)?.contains("\(elsewhere), on the way to it, belongs to user \(other)") == true)
    try FileManager.default.removeItem(atPath: home)
    try FileManager.default.createSymbolicLink(atPath: home, withDestinationPath: "home")
    #expect(refusal(folder, as: 0)?.contains("without end") == true)
  }

  @Test func `not in a folder that everybody may write and where nobody's is safe`() throws {
    let folder = try made()
    try #require(unsafe chmod("\(folder.path)/home", 0o777) == 0)
    #expect(refusal(folder, as: geteuid())?.contains("can be written by everybody") == true)
    try #require(unsafe chmod("\(folder.path)/home", 0o1777) == 0)
    #expect(refusal(folder, as: geteuid()) == nil)
  }
}

@Suite struct `Making Ambit's folders` {
  private func folders(_ folder: TemporaryFolder, below name: String = "ambit") -> AmbitFolders {
    AmbitFolders(environment: ["AMBIT_HOME": "\(folder.path)/\(name)"], home: folder.path)
  }

  @Test func `makes what is missing, for the owner only, and can be done again`() throws {
    let folder = try TemporaryFolder()
    for _ in 0..<2 {
      try folders(folder, below: "a/b").make()
      for name in ["a", "a/b", "a/b/data", "a/b/data/containers", "a/b/state", "a/b/run"] {
        #expect(try folder.mode(name) == 0o700, "\(name)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/a/b/config"), "settings are the user's to make")
  }

  @Test func `leaves the mode of what is there, if nobody else may write`() throws {
    let folder = try TemporaryFolder()
    let state = "\(folder.path)/ambit/state"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try #require(unsafe chmod(state, 0o755) == 0)
    try folders(folder).make()
    #expect(try folder.mode("ambit/state") == 0o755)
  }

  @Test(arguments: ["data", "data/containers", "state", "run"], [0o770, 0o702, 0o777, 0o1777, 0o720])
  func `refuses a folder that others may write, and says how to mend it`(name: String, mode: Int) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/ambit/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try #require(unsafe chmod(path, mode_t(mode)) == 0)
    let error = #expect(throws: StateError.self) { try folders(folder).make() }
    let sentence = error?.description ?? ""
    #expect(sentence.hasPrefix("\(path): "))
    #expect(sentence.contains("others may write"))
    #expect(sentence.contains("chmod go-w"))
    #expect(sentence.contains("AMBIT_HOME"))
  }

  @Test(arguments: ["ambit", "ambit/data", "ambit/state", "ambit/run"])
  func `refuses a file in the way, and leaves it`(name: String) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: StateError.self) { try folders(folder).make() }
    #expect(error?.description.contains(path) == true)
    #expect(error?.description.contains("ENOTDIR") == true)
    #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
  }

  @Test func `says which folder cannot be made, and what to do`() throws {
    let error = #expect(throws: StateError.self) {
      try AmbitFolders(environment: ["AMBIT_HOME": "/proc/ambit"], home: "/").make()
    }
    #expect(error?.description.contains("/proc/ambit/data") == true)
    #expect(error?.description.contains("AMBIT_HOME") == true)
  }

  /// Root could put files there; but who owns a folder can replace what is in it.
  @Test func `refuses a folder that belongs to somebody else`() throws {
    let folder = try TemporaryFolder()
    // An ordinary user can make no folder that is another's; a place where it may make none is refused as well.
    var state = "/usr"
    if geteuid() == 0 {
      state = "\(folder.path)/theirs"
      try FileManager.default.createDirectory(atPath: "\(state)/ambit", withIntermediateDirectories: true)
      try #require(unsafe chown("\(state)/ambit", 61_234, 61_234) == 0)
    }
    let theirs = AmbitFolders(
      environment: ["XDG_DATA_HOME": "\(folder.path)/data", "XDG_STATE_HOME": state, "XDG_RUNTIME_DIR": folder.path],
      home: folder.path)
    let error = #expect(throws: StateError.self) { try theirs.make() }
    #expect(error?.description.hasPrefix("\(state)/ambit: ") == true)
    #expect(error?.description.contains(geteuid() == 0 ? "belongs to user 61234" : "EACCES") == true)
  }
}

@Suite struct `SBX-15: what Ambit's own folders keep from being granted` {
  @Test func `everything in them, and folders that hold one of them`() throws {
    let folder = try TemporaryFolder()
    let folders = AmbitFolders(environment: ["AMBIT_HOME": "\(folder.path)/ambit"], home: "\(folder.path)/home")
    let rules = folders.grantRules
    for path in [folders.grants, folders.sealingKey, folders.auditLog, folders.policies, "\(folders.containers)/a/b"] {
      #expect(rules.refusal(of: .file, at: path) != nil, "\(path)")
      #expect(rules.refusal(of: .folder, at: path) != nil, "\(path)")
    }
    #expect(rules.refusal(of: .folder, at: folder.path) != nil)
    #expect(rules.refusal(of: .folder, at: "\(folder.path)/home") != nil)
    #expect(rules.refusal(of: .folder, at: "\(folder.path)/home/Papers") == nil)
    #expect(rules.refusal(of: .file, at: "\(folder.path)/ambitious") == nil)
  }

  /// The kernel tells the path of an open document with every link resolved.
  @Test func `also where they are named through a link`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: "\(folder.path)/real/home", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/link", withDestinationPath: "\(folder.path)/real")
    let folders = AmbitFolders(
      environment: ["AMBIT_HOME": "\(folder.path)/link/ambit"], home: "\(folder.path)/link/home")
    try folders.make()
    let rules = folders.grantRules
    #expect(rules.home == "\(folder.path)/real/home")
    #expect(rules.refusal(of: .file, at: "\(folder.path)/real/ambit/state/sealing.key") != nil)
    // The folder of settings has not been made, and is Ambit's own all the same once it is.
    #expect(rules.refusal(of: .file, at: "\(folder.path)/real/ambit/config/policies/mine.toml") != nil)
  }
}
